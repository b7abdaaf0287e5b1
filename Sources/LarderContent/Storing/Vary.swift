package import LarderHTTP

/// The fields of the request that selected a response (RFC 9110 §12.5.5, RFC 9111 §4.1).
package struct Vary: Sendable, Hashable {
  /// The names in lower case, sorted, each once.
  package private(set) var names: [String]
  /// True where `*` is among them: no request but the first is known to match.
  package private(set) var matchesNothing: Bool

  /// How many names are followed; a response with more matches nothing.
  package static let limit = 64

  /// Names nothing.
  package init() {
    names = []
    matchesNothing = false
  }

  /// The names in a response's `Vary` fields; nil where it has none.
  package init?(_ fields: HTTPFields) {
    self.init()
    var isPresent = false
    for field in fields where field.name.canonicalName == "vary" {
      isPresent = true
      add(field.value)
    }
    if !isPresent { return nil }
  }

  /// True where the response does not depend on the request's fields.
  package var isEmpty: Bool { names.isEmpty && !matchesNothing }

  /// Takes in one field line.
  mutating func add(_ value: String) {
    let bytes = FieldText.lowercased(value)
    for range in FieldText.ranges(bytes, quotes: false) {
      let name = String(decoding: bytes[range], as: UTF8.self)
      if name == "*" { matchesNothing = true }
      if names.contains(name) { continue }
      // So many fields are never all the same again.
      if names.count == Vary.limit {
        matchesNothing = true
        break
      }
      names.append(name)
    }
    if names.count > 1 { names.sort() }
  }

  /// The request's fields of these names, normalised, for storing beside the response; what it lacks is not in it.
  package func selecting(_ request: HTTPFields) -> HTTPFields { Vary.selecting(names, request) }

  /// The request's fields of some names, normalised, in the order of the names.
  package static func selecting(_ names: [String], _ request: HTTPFields) -> HTTPFields {
    var selecting = HTTPFields()
    for name in names {
      if let value = SelectingField.value(of: name, in: request) { selecting.append(HTTPFieldName(name), value) }
    }
    return selecting
  }
}
