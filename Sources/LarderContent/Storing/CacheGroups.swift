package import LarderHTTP

/// The groups that responses belong to (RFC 9875).
package enum CacheGroups {
  /// How many groups of one response count; the rest is ignored (§2 asks for at least 32).
  package static let limit = 128
  /// How many bytes a group's name may have; longer ones are ignored (§2 asks for at least 32).
  package static let nameLimit = 256

  /// The groups that a response's `Cache-Groups` names (§2).
  package static func names(of response: HTTPFields) -> [String] { names(response.values(of: "Cache-Groups")) }

  /// True where a response says which groups it belongs to, were it to none.
  package static func areNamed(in response: HTTPFields) -> Bool { response.contains("Cache-Groups") }

  /// The names in the lines of one of the two fields; none where the field is malformed (RFC 9651 §4.2).
  static func names(_ lines: [String]) -> [String] {
    guard !lines.isEmpty, let members = try? StructuredField.list(lines.joined(separator: ", ")) else { return [] }
    var names: [String] = []
    for member in members {
      guard case .item(let item) = member, case .string(let name) = item.value else { return [] }
      if name.utf8.count <= nameLimit, names.count < limit, !names.contains(name) { names.append(name) }
    }
    return names
  }
}
