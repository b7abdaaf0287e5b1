/// Swift source text, line by line with its indentation.
struct SwiftText {
  private(set) var text = ""
  private var depth = 0
  /// `public `, `package ` or nothing, before each declaration that others use.
  let access: String

  init(_ access: GeneratorOptions.Access) { self.access = access == .internal ? "" : access.rawValue + " " }

  /// Writes a line.
  mutating func line(_ line: String) {
    if !line.isEmpty {
      for _ in 0..<depth { text += "  " }
      text += line
    }
    text += "\n"
  }

  /// Writes a declaration with the access level.
  mutating func declare(_ declaration: String) { line(access + declaration) }

  /// Writes lines between braces.
  mutating func block(_ head: String, _ body: (inout SwiftText) -> Void) {
    line(head + " {")
    depth += 1
    body(&self)
    depth -= 1
    line("}")
  }

  /// Writes a declaration with the access level and a body.
  mutating func declareBlock(_ head: String, _ body: (inout SwiftText) -> Void) { block(access + head, body) }

  /// Writes lines between parentheses, each item on its own line.
  mutating func list(_ head: String, _ items: [String], _ end: String) {
    guard !items.isEmpty else { return line(head + end) }
    line(head)
    depth += 1
    for (place, item) in items.enumerated() { line(item + (place == items.count - 1 ? "" : ",")) }
    depth -= 1
    line(end)
  }

  /// Writes a doc comment; the first paragraph of `texts`, or else `fallback`, is its summary.
  mutating func document(_ texts: [String], else fallback: String) {
    for (place, text) in (texts.isEmpty ? [fallback] : texts).enumerated() {
      if place > 0 { line("///") }
      line("/// " + text)
    }
  }

  /// A string literal.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\" + String(scalar)
      case _ where scalar.properties.generalCategory == .control: literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }
}
