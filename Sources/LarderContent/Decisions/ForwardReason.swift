/// Why a request goes to the network: the values of `fwd` in `Cache-Status` (RFC 9211 §2.2).
package enum ForwardReason: String, Sendable, Hashable {
  /// The cache was configured not to handle the request.
  case bypass
  /// Requests with this method are not served from caches.
  case method
  /// Nothing is stored under the URL.
  case uriMiss = "uri-miss"
  /// A response is stored under the URL, but none that matches the request's fields.
  case varyMiss = "vary-miss"
  /// No stored response matches, for one of the two reasons above.
  case miss
  /// There is a fresh response, but the request does not allow its use.
  case request
  /// There is a response, but it is stale or must be validated.
  case stale
  /// There is a response, but it does not contain all requested bytes.
  case partial
}
