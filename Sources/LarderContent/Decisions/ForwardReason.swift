/// Why a request goes to the network: the values of `fwd` in `Cache-Status` (RFC 9211 §2.2).
package enum ForwardReason: String, Sendable, Hashable {
  /// The cache was told to stay out of it.
  case bypass
  /// The method is not answered from caches.
  case method
  /// Nothing is stored under the URL.
  case uriMiss = "uri-miss"
  /// Something is stored under the URL, and nothing that fits the request's fields.
  case varyMiss = "vary-miss"
  /// Nothing fit, for one of the two reasons above.
  case miss
  /// A fresh response was there; the request did not allow its use.
  case request
  /// A response was there, but stale, or in need of validation.
  case stale
  /// A response was there, but not all of what is asked for.
  case partial
}
