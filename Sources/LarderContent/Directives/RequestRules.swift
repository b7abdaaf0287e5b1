package import LarderHTTP

/// The parts of a request that the caching rules need, read in one pass over its fields.
package struct RequestRules: Sendable, Hashable {
  /// How the method affects the cache.
  package var method: MethodKind
  /// The request's `Cache-Control`. `Pragma` is deprecated and not read (RFC 9111 §5.4).
  package var cacheControl: CacheControl
  /// True if the request has a `Range` field (RFC 9110 §14.2).
  package var hasRange: Bool
  /// True if the request has a precondition of its own (RFC 9110 §13.1): `If-Match`, `If-None-Match`,
  /// `If-Modified-Since`, `If-Unmodified-Since` or `If-Range`.
  package var isConditional: Bool
  /// The request's own `Host`, which names the resource with the URL (RFC 9110 §7.1).
  package var host: String?

  /// How a method affects the cache (RFC 9110 §9.2, RFC 9111 §4, §4.4).
  package enum MethodKind: Sendable, Hashable {
    /// Served from the cache and stored.
    case get
    /// Served from stored responses to GET; its response updates them.
    case head
    /// Bypasses the cache and does not change it.
    case safe
    /// Bypasses the cache and invalidates what it may have changed. Includes unknown methods.
    case unsafe
  }

  /// Reads a request's method and fields.
  package init(method: HTTPMethod, fields: HTTPFields) {
    self.method = MethodKind(method)
    cacheControl = CacheControl()
    hasRange = false
    isConditional = false
    for field in fields {
      let name = field.name.canonicalName
      switch name.utf8.count {
      case 4: if name == "host" { host = field.value }
      case 5: if name == "range" { hasRange = true }
      case 8: if name == "if-match" || name == "if-range" { isConditional = true }
      case 13:
        if name == "cache-control" { cacheControl.read(field.value) }
        if name == "if-none-match" { isConditional = true }
      case 17: if name == "if-modified-since" { isConditional = true }
      case 19: if name == "if-unmodified-since" { isConditional = true }
      default: break
      }
    }
  }

  /// Reads a request.
  package init(_ request: HTTPRequest) { self.init(method: request.method, fields: request.fields) }
}

extension RequestRules.MethodKind {
  /// The kind of a method; safe methods are those that the IANA registry lists as safe.
  package init(_ method: HTTPMethod) {
    switch method.rawValue {
    case "GET": self = .get
    case "HEAD": self = .head
    case "OPTIONS", "TRACE", "PROPFIND", "REPORT", "SEARCH", "QUERY", "PRI": self = .safe
    default: self = .unsafe
    }
  }
}
