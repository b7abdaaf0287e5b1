import LarderHTTP

/// Converts header fields of messages that pass a proxy (RFC 9110 §7.6).
enum ForwardedFields {
  /// A request's fields for upstream: without those of the connection, and without `Host`, `Content-Length` and
  /// `Expect`, which the transport and the server handle.
  static func request(_ fields: HTTPFields) -> HTTPFields {
    let named = fields.namedByConnection
    var forwarded: [HTTPField] = []
    forwarded.reserveCapacity(fields.count + 2)
    for field in fields where !isDropped(field.name.canonicalName) && !named.contains(field.name.canonicalName) {
      forwarded.append(field)
    }
    return HTTPFields(forwarded)
  }

  /// Removes the connection's fields from a response for the client, in place. Does nothing without a `Connection`
  /// field: the server itself omits the usual fields of a connection, and it needs `Content-Length`.
  static func dropConnection(_ fields: inout HTTPFields) {
    guard fields.contains(connection) else { return }
    let named = fields.namedByConnection.subtracting(neverNamed)
    fields = HTTPFields(fields.filter { $0.name != connection && !named.contains($0.name.canonicalName) })
  }

  /// Whether a response's fields must be changed for the client: whether `Connection` or one of ``references`` is among
  /// them. This is rare. The lengths of the names are compared first, which costs next to nothing.
  static func mayChange(_ fields: HTTPFields) -> Bool {
    fields.contains { field in
      switch field.name.canonicalName.utf8.count {
      case 8, 10, 16: field.name == connection || references.contains(field.name)
      default: false
      }
    }
  }

  /// The response fields whose values are references.
  static let references: [HTTPFieldName] = [.location, "Content-Location"]

  /// Created once, because a name from a literal costs an allocation.
  static let connection: HTTPFieldName = "Connection"
  static let host: HTTPFieldName = "Host"
  static let via: HTTPFieldName = "Via"

  /// Fields that a valid `Connection` field never lists (RFC 9110 §7.6.1). In responses they are kept even if it does.
  private static let neverNamed: Set<String> = [
    "cache-control", "vary", "content-length", "date", "age", "cache-status",
  ]

  private static func isDropped(_ name: String) -> Bool {
    switch name.utf8.count {
    case 2: name == "te"
    case 4: name == "host"
    case 6: name == "expect"
    case 7: name == "trailer" || name == "upgrade"
    case 10: name == "connection" || name == "keep-alive"
    case 14: name == "content-length"
    case 16: name == "proxy-connection"
    case 17: name == "transfer-encoding"
    default: false
    }
  }
}
