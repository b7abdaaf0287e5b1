/// Filters all output to a terminal: only text passes. Characters that would control the terminal or be invisible are
/// shown by their number (`\u{1B}`, and `\x{9B}` for a byte that is not text).
///
/// | passes | |
/// | --- | --- |
/// | line feed, tab, a carriage return before a line feed | |
/// | joiners (U+200C, U+200D) after a letter or sign beyond ASCII | Persian and Indic words, emoji of several parts |
/// | variation selectors after such a sign, a digit, `#` or `*` | emoji |
/// | a ``TerminalControl`` of this process | colour, progress |
struct TerminalFilter: Sendable {
  /// Bytes whose meaning depends on the next ones: the start of a character, or a carriage return.
  private var rest: [UInt8] = []
  /// The scalar before; it decides whether a joiner passes.
  private var previous: Unicode.Scalar = "\n"

  /// The filtered bytes; an incomplete end is written with the next ones.
  mutating func filter(_ given: [UInt8]) -> [UInt8] {
    let bytes = rest + given
    rest = []
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var index = 0
    while index < bytes.count {
      if let control = TerminalControl.control(in: bytes, at: index) {
        out += control.bytes
        index = control.end
        continue
      }
      switch UTF8Step(bytes, at: index) {
      case .incomplete:
        rest = Array(bytes[index...])
        return out
      case .invalid:
        writeEscaped(bytes[index], &out)
        index += 1
      case .scalar("\r", _) where index + 1 == bytes.count:
        rest = [0x0D]
        return out
      case .scalar("\r", _) where bytes[index + 1] == 0x0A:
        out += [0x0D, 0x0A]
        previous = "\n"
        index += 2
      case .scalar(let scalar, let length):
        if isAllowed(scalar) { out += bytes[index..<index + length] } else { out += TerminalText.number(scalar).utf8 }
        previous = scalar
        index += length
      }
    }
    return out
  }

  /// The incomplete end, if no bytes follow.
  mutating func finish() -> [UInt8] {
    var out: [UInt8] = []
    for byte in rest { if byte == 0x0D { out += TerminalText.number("\r").utf8 } else { writeEscaped(byte, &out) } }
    rest = []
    return out
  }

  private mutating func writeEscaped(_ byte: UInt8, _ out: inout [UInt8]) {
    out += "\\x{\(String(byte, radix: 16, uppercase: true))}".utf8
    previous = "}"
  }

  private func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
    if !TerminalText.isInvisible(scalar) { return true }
    let follows = !previous.isASCII && (!TerminalText.isInvisible(previous) || TerminalText.isSelector(previous))
    switch scalar.value {
    case 0x200C, 0x200D: return follows
    case _ where TerminalText.isSelector(scalar):
      return follows && !TerminalText.isSelector(previous) || ("0"..."9").contains(previous)
        || ["#", "*"].contains(previous)
    default: return false
    }
  }
}

/// One character at an index of UTF-8.
private enum UTF8Step {
  case scalar(Unicode.Scalar, Int)
  /// The bytes end inside a character.
  case incomplete
  case invalid

  init(_ bytes: [UInt8], at index: Int) {
    let first = bytes[index]
    // The well-formed sequences (The Unicode Standard, table 3-7).
    let (length, second): (Int, ClosedRange<UInt8>)
    switch first {
    case 0..<0x80:
      self = .scalar(Unicode.Scalar(first), 1)
      return
    case 0xC2...0xDF: (length, second) = (2, 0x80...0xBF)
    case 0xE0: (length, second) = (3, 0xA0...0xBF)
    case 0xED: (length, second) = (3, 0x80...0x9F)
    case 0xE1...0xEF: (length, second) = (3, 0x80...0xBF)
    case 0xF0: (length, second) = (4, 0x90...0xBF)
    case 0xF1...0xF3: (length, second) = (4, 0x80...0xBF)
    case 0xF4: (length, second) = (4, 0x80...0x8F)
    default:
      self = .invalid
      return
    }
    var value = UInt32(first) & (0x7F >> UInt32(length))
    for offset in 1..<length {
      guard index + offset < bytes.count else {
        self = .incomplete
        return
      }
      let byte = bytes[index + offset]
      guard (offset == 1 ? second : 0x80...0xBF).contains(byte) else {
        self = .invalid
        return
      }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    self = Unicode.Scalar(value).map { .scalar($0, length) } ?? .invalid
  }
}

/// A control sequence that this process creates for a terminal: for colour, and for progress that is redrawn.
///
/// In a text it carries a random number that is new in each process, so that no text from outside can contain one.
/// ``TerminalFilter`` replaces it with the real sequence.
enum TerminalControl {
  private static let escape: UInt8 = 0x1B
  private static let mark =
    [escape] + Array(String(UInt64.random(in: 0...UInt64.max), radix: 16).utf8) + [UInt8(ascii: "_")]
  private static let start = String(decoding: mark, as: UTF8.self)

  /// Moves the cursor to the beginning of the line.
  static let lineStart = sequence("[G")
  /// Erases the line from the cursor on.
  static let clearLine = sequence("[K")
  /// Erases from the cursor to the end of the screen.
  static let clearBelow = sequence("[J")
  /// Moves the cursor up by `lines` lines.
  static func up(_ lines: Int) -> String { sequence("[\(lines)A") }
  /// Sets the colour or weight of the text (ECMA-48, SGR).
  static func graphic(_ code: String) -> String { sequence("[\(code)m") }

  private static func sequence(_ text: String) -> String { start + text + "\u{1B}" }

  /// The real sequence for the one at an index, and the index after it; nil for anything else.
  static func control(in bytes: [UInt8], at index: Int) -> (bytes: [UInt8], end: Int)? {
    guard bytes[index] == escape, bytes[index...].starts(with: mark) else { return nil }
    let text = bytes[(index + mark.count)...].prefix { $0 != escape }
    return ([escape] + text, min(text.endIndex + 1, bytes.count))
  }
}

/// Recognizes text that would control a terminal or be invisible.
enum TerminalText {
  /// A text on one line.
  static func line(_ text: String) -> String {
    guard text.contains(where: \.isNewline) else { return text }
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// A text as ``TerminalFilter`` shows it, for code that needs its width.
  static func filtered(_ text: String) -> String {
    var filter = TerminalFilter()
    let bytes = filter.filter(Array(text.utf8)) + filter.finish()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether bytes are text: UTF-8 without ASCII control characters, except for line ends and tabs.
  static func isShowable(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    // A carriage return alone would overwrite the line.
    var isReturn = false
    for scalar in text.unicodeScalars {
      if isReturn && scalar != "\n" { return false }
      isReturn = scalar == "\r"
      if scalar.value < 0x20, !["\t", "\n", "\r"].contains(scalar) { return false }
    }
    return !isReturn
  }

  static func number(_ scalar: Unicode.Scalar) -> String {
    "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
  }

  /// Whether a scalar is shown by its number: control characters, line and paragraph separators, directional
  /// formatting, and everything that Unicode defines as invisible, including tags and joiners; neither line feed nor
  /// tab.
  static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: return false
    case 0..<0x20, 0x7F..<0xA0: return true
    case 0x20..<0x7F: return false
    // Interlinear annotations, and the language tag, which Unicode no longer counts as invisible.
    case 0x2028, 0x2029, 0xFFF9...0xFFFB, 0xE0001: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  static func isSelector(_ scalar: Unicode.Scalar) -> Bool { (0xFE00...0xFE0F).contains(scalar.value) }
}
