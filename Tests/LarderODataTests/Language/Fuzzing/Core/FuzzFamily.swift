import LarderOData

/// Texts of any length: one part again and again.
struct FuzzFamily: Sendable, CustomStringConvertible {
  let entry: FuzzEntry
  var before = ""
  /// The repeated part.
  let part: String
  var after = ""
  /// The text at the end, repeated as often as the part.
  var closing = ""
  var version = ODataVersion.v401

  var description: String { "\(entry.rawValue) \(before)\(part)…" }

  func text(count: Int) -> String {
    before + String(repeating: part, count: count) + after + String(repeating: closing, count: count)
  }

  func text(bytes: Int) -> String { text(count: max(bytes / part.utf8.count, 1)) }
}
