package import LarderHTTP

/// Reads the groups that responses belong to (RFC 9875).
package enum CacheGroups {
  /// The maximum number of groups of one response; further ones are ignored (§2 requires at least 32).
  package static let limit = 128
  /// The maximum number of bytes of a group's name; longer ones are ignored (§2 requires at least 32).
  package static let nameLimit = 256

  /// The groups in a response's `Cache-Groups` (§2).
  package static func names(of response: HTTPFields) -> [String] { names(response.values(of: "Cache-Groups")) }

  /// True if a response declares its groups, even an empty list.
  package static func areNamed(in response: HTTPFields) -> Bool { response.contains("Cache-Groups") }

  /// The names in the lines of one of the two fields; empty if the field is malformed (RFC 9651 §4.2).
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
