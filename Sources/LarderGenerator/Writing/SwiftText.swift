/// Swift source text, line by line with its indentation.
struct SwiftText {
  private(set) var text = ""
  private var depth = 0
  /// `public `, `package ` or nothing, before each declaration that others use.
  let access: String

  init(_ access: GeneratorOptions.Access) { self.access = access == .internal ? "" : access.rawValue + " " }

  /// Writes a line. It stays one line, whatever the names of the service in its comment contain.
  mutating func line(_ line: String) {
    if !line.isEmpty {
      for _ in 0..<depth { text += "  " }
      text += SwiftText.singleLine(line)
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

  /// Writes the attribute of a deprecated declaration.
  mutating func deprecate(_ deprecation: String?) {
    guard let deprecation else { return }
    line("@available(*, deprecated\(deprecation.isEmpty ? "" : ", message: \(SwiftText.literal(deprecation))"))")
  }

  /// The text for the documentation of a deprecated declaration that generated code uses itself: with the attribute,
  /// the compiler would warn of that code.
  static func note(_ deprecation: String?) -> [String] {
    deprecation.map { [$0.isEmpty ? "Deprecated." : "Deprecated: " + $0] } ?? []
  }

  /// A string literal.
  static func literal(_ text: String) -> String {
    var literal = "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"", "\\": literal += "\\" + String(scalar)
      case _ where breaksLine(scalar) || scalar.properties.generalCategory == .format:
        literal += "\\u{\(String(scalar.value, radix: 16))}"
      default: literal.unicodeScalars.append(scalar)
      }
    }
    return literal + "\""
  }

  /// The text with a space for each run of line breaks and control characters, and without the characters that change the
  /// direction of the text around them: an editor would show it as other code.
  private static func singleLine(_ line: String) -> String {
    guard !line.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else { return line }
    var single = String.UnicodeScalarView()
    var isInBreak = false
    for scalar in line.unicodeScalars where !scalar.properties.isBidiControl {
      let isBreak = breaksLine(scalar)
      if !isBreak { single.append(scalar) } else if !isInBreak { single.append(" ") }
      isInBreak = isBreak
    }
    return String(single)
  }

  private static func breaksLine(_ scalar: Unicode.Scalar) -> Bool {
    [.control, .lineSeparator, .paragraphSeparator].contains(scalar.properties.generalCategory)
  }
}
