package import LarderHTTP

/// The fields of the request that selected a response (RFC 9110 §12.5.5, RFC 9111 §4.1).
package struct Vary: Sendable, Hashable {
  /// The names in lower case, sorted, each once.
  package private(set) var names: [String]
  /// True if the names include `*`: only the first request is known to match.
  package private(set) var matchesNothing: Bool

  /// The maximum number of names; a response with more matches nothing.
  package static let limit = 64

  /// Creates an empty value without names.
  package init() {
    names = []
    matchesNothing = false
  }

  /// The names in a response's `Vary` fields; nil if it has none.
  package init?(_ fields: HTTPFields) {
    self.init()
    var isPresent = false
    for field in fields where field.name.canonicalName == "vary" {
      isPresent = true
      add(field.value)
    }
    if !isPresent { return nil }
  }

  /// True if the response does not depend on the request's fields.
  package var isEmpty: Bool { names.isEmpty && !matchesNothing }

  /// Adds one field line.
  mutating func add(_ value: String) {
    let bytes = FieldText.lowercased(value)
    for range in FieldText.ranges(bytes, quotes: false) {
      let name = String(decoding: bytes[range], as: UTF8.self)
      if name == "*" { matchesNothing = true }
      if names.contains(name) { continue }
      // Two requests never agree in this many fields.
      if names.count == Vary.limit {
        matchesNothing = true
        break
      }
      names.append(name)
    }
    if names.count > 1 { names.sort() }
  }

  /// The request's normalised fields of these names, for storing beside the response. Fields that the request does not
  /// have are not included.
  package func selecting(_ request: HTTPFields) -> HTTPFields { Vary.selecting(names, request) }

  /// The request's normalised fields of some names, in the order of the names.
  package static func selecting(_ names: [String], _ request: HTTPFields) -> HTTPFields {
    var selecting = HTTPFields()
    for name in names {
      if let value = SelectingField.value(of: name, in: request) { selecting.append(HTTPFieldName(name), value) }
    }
    return selecting
  }
}
