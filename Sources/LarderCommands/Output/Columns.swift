/// Formats columns of text.
enum Columns {
  /// The width of the widest entry, up to a limit.
  static func width(_ texts: [String]) -> Int { min(texts.map(\.count).max() ?? 0, 40) }

  static func pad(_ text: String, _ width: Int) -> String {
    text + String(repeating: " ", count: max(0, width - text.count))
  }

  static func padLeft(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.count)) + text
  }

  /// The notes that are not nil, joined; empty if there are none.
  static func notes(_ notes: [String?], gap: String = "") -> String {
    let text = notes.compactMap { $0 }.joined(separator: ", ")
    return text.isEmpty ? "" : gap + text
  }
}
