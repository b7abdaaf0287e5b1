/// One of the streams that a command writes to: the process's own, or a test's.
package struct OutputPort: Sendable {
  /// Whether a person is looking on.
  package let isTerminal: Bool
  /// Whether colour and bold may be used.
  package let style: TextStyle
  /// How many characters a line of the terminal has; nil where that is not known.
  package var columns: Int? { width() }
  private let width: @Sendable () -> Int?
  private let sink: @Sendable ([UInt8]) throws(OutputError) -> Void
  private let end: @Sendable () -> Void

  /// A port on a function that takes all bytes it is given or throws, and one that is told when nothing follows.
  package init(
    isTerminal: Bool = false, style: TextStyle = .plain, columns: @escaping @Sendable () -> Int? = { nil },
    end: @escaping @Sendable () -> Void = {},
    sink: @escaping @Sendable ([UInt8]) throws(OutputError) -> Void
  ) {
    self.isTerminal = isTerminal
    self.style = style
    self.width = columns
    self.end = end
    self.sink = sink
  }

  /// Nothing follows: who reads it need not wait for the end of the process.
  package func close() { end() }

  /// Writes bytes as they are.
  package func write(_ bytes: [UInt8]) throws(OutputError) { if !bytes.isEmpty { try sink(bytes) } }

  /// Writes a text as it is.
  package func write(_ text: String) throws(OutputError) { try write(Array(text.utf8)) }

  /// Writes a line.
  package func line(_ text: String) throws(OutputError) { try write(text + "\n") }
}

/// Why output did not get out.
package enum OutputError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The reader of the pipe has gone. Nothing is wrong: it has what it wanted.
  case closed
  /// The file or device refuses; the text is the system's.
  case refused(String)

  /// Safe to show to a person.
  package var description: String {
    switch self {
    case .closed: "The reader of the output has gone."
    case .refused(let reason): "The output cannot be written: \(reason)."
    }
  }
}

/// Bold and colour, or neither.
package struct TextStyle: Sendable, Hashable {
  private let isOn: Bool

  /// No escapes at all.
  package static let plain = TextStyle(isOn: false)
  /// ECMA-48 escapes.
  package static let colour = TextStyle(isOn: true)

  /// For a terminal, unless the environment says no (`NO_COLOR`, `TERM=dumb`).
  package static func forTerminal(environment: [String: String]) -> TextStyle {
    let refused = environment["NO_COLOR"].map { !$0.isEmpty } ?? false
    return refused || environment["TERM"] == "dumb" || environment["TERM"] == nil ? .plain : .colour
  }

  func bold(_ text: String) -> String { escape(text, "1") }
  func dim(_ text: String) -> String { escape(text, "2") }
  func red(_ text: String) -> String { escape(text, "31") }
  func yellow(_ text: String) -> String { escape(text, "33") }

  private func escape(_ text: String, _ code: String) -> String {
    isOn && !text.isEmpty ? "\u{1B}[\(code)m\(text)\u{1B}[0m" : text
  }
}

/// Text from outside, made harmless for a terminal.
enum TerminalText {
  /// The text without control characters (C0, DEL, C1) other than line feed and tab: a server's message must not
  /// move the cursor or rename the window.
  static func safe(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isUnsafe) else { return text }
    var scalars = String.UnicodeScalarView()
    for scalar in text.unicodeScalars { scalars.append(isUnsafe(scalar) ? "\u{FFFD}" : scalar) }
    return String(scalars)
  }

  /// The same on one line.
  static func line(_ text: String) -> String {
    let text = safe(text)
    guard text.contains(where: \.isNewline) else { return text }
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// Whether bytes are text that a terminal can show.
  static func isShowable(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    // A carriage return alone writes over what stands on the line.
    var isReturn = false
    for scalar in text.unicodeScalars {
      if isReturn && scalar != "\n" { return false }
      isReturn = scalar == "\r"
      if isUnsafe(scalar) && !isReturn { return false }
    }
    return !isReturn
  }

  private static func isUnsafe(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: false
    case 0..<0x20, 0x7F..<0xA0, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
