import LarderHTTP

/// The response fields that the cache stores, and their form as text.
enum CacheFields {
  /// True for fields that are never stored: credentials, sessions, and fields of one connection (RFC 9111 §3.1).
  static func isDropped(_ name: HTTPFieldName) -> Bool {
    switch name.canonicalName {
    case "set-cookie", "set-cookie2", "authorization", "authentication-info", "proxy-authenticate",
      "proxy-authorization", "proxy-authentication-info", "www-authenticate", "x-csrf-token", "connection",
      "keep-alive",
      "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade":
      true
    default: false
    }
  }

  /// The fields that may be stored.
  static func storable(_ fields: HTTPFields) -> HTTPFields {
    HTTPFields(fields.filter { !isDropped($0.name) && $0.isValid })
  }

  /// The fields of a stored response after a 304 (RFC 9111 §3.2): the new values, except for fields about the content.
  static func updated(_ old: HTTPFields, by new: HTTPFields) -> HTTPFields {
    var fields = old
    var updatedNames: Set<HTTPFieldName> = []
    for field in storable(new) where !describesContent(field.name) {
      if updatedNames.insert(field.name).inserted {
        fields[field.name] = field.value
      } else {
        fields.append(field.name, field.value)
      }
    }
    return fields
  }

  /// True if two lists of fields differ at most in the time they were sent.
  static func areAlike(_ left: HTTPFields, _ right: HTTPFields) -> Bool {
    func lasting(_ fields: HTTPFields) -> [HTTPField] { fields.filter { !isOfOneResponse($0.name) } }
    return lasting(left) == lasting(right)
  }

  private static func isOfOneResponse(_ name: HTTPFieldName) -> Bool {
    name == .date || name == "Age" || name.canonicalName.hasPrefix("sap-perf") || name == "sap-processing-info"
  }

  private static func describesContent(_ name: HTTPFieldName) -> Bool {
    name == .contentLength || name == .contentType || name == .contentEncoding || name == "Content-Range"
      || name == .odataVersion || name == .dataServiceVersion
  }

  // MARK: As text

  /// The fields as text, one line for each field.
  static func text(_ fields: HTTPFields) -> String {
    var text = ""
    for field in fields {
      text += field.name.rawName
      text += ":"
      text += field.value
      text += "\n"
    }
    return text
  }

  static func byteCount(_ fields: HTTPFields) -> Int {
    fields.reduce(0) { $0 + $1.name.rawName.utf8.count + $1.value.utf8.count + 2 }
  }

  /// Reads what ``text(_:)`` wrote. Lines without a colon, which it never writes, are skipped.
  static func fields(_ text: String) -> HTTPFields {
    var fields: [HTTPField] = []
    var rest = text.utf8[...]
    while let end = rest.firstIndex(of: 0x0A) {
      let line = rest[..<end]
      rest = rest[rest.index(after: end)...]
      guard let colon = line.firstIndex(of: 0x3A) else { continue }
      fields.append(
        HTTPField(
          name: HTTPFieldName(String(line[..<colon]) ?? ""), value: String(line[line.index(after: colon)...]) ?? "")
      )
    }
    return HTTPFields(fields)
  }
}
