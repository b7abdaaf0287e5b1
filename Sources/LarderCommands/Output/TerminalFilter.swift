/// What all output passes on its way to a terminal: only text gets there, and what would steer the terminal, or would be
/// there unseen, is shown by its number (`\u{1B}`, and `\x{9B}` for a byte that is no text).
///
/// | passes | |
/// | --- | --- |
/// | line feed, tab, a carriage return before a line feed | |
/// | joiners (U+200C, U+200D) behind a letter or sign beyond ASCII | Persian and Indic words, emoji of several parts |
/// | variation selectors behind such a sign, a digit, `#` or `*` | emoji |
/// | a ``TerminalControl`` of this process | colour, progress |
struct TerminalFilter: Sendable {
  /// What may go on in the next bytes: the start of a character, or a carriage return.
  private var rest: [UInt8] = []
  /// The scalar before; a joiner shows by what it joins.
  private var former: Unicode.Scalar = "\n"

  /// The bytes to write for those given; what they leave open comes with the next ones.
  mutating func filter(_ given: [UInt8]) -> [UInt8] {
    let bytes = rest + given
    rest = []
    var out: [UInt8] = []
    out.reserveCapacity(bytes.count)
    var place = 0
    while place < bytes.count {
      if let control = TerminalControl.control(in: bytes, at: place) {
        out += control.bytes
        place = control.end
        continue
      }
      switch UTF8Step(bytes, at: place) {
      case .open:
        rest = Array(bytes[place...])
        return out
      case .invalid:
        show(bytes[place], &out)
        place += 1
      case .scalar("\r", _) where place + 1 == bytes.count:
        rest = [0x0D]
        return out
      case .scalar("\r", _) where bytes[place + 1] == 0x0A:
        out += [0x0D, 0x0A]
        former = "\n"
        place += 2
      case .scalar(let scalar, let length):
        if passes(scalar) { out += bytes[place..<place + length] } else { out += TerminalText.number(scalar).utf8 }
        former = scalar
        place += length
      }
    }
    return out
  }

  /// What is left open when nothing follows.
  mutating func finish() -> [UInt8] {
    var out: [UInt8] = []
    for byte in rest { if byte == 0x0D { out += TerminalText.number("\r").utf8 } else { show(byte, &out) } }
    rest = []
    return out
  }

  private mutating func show(_ byte: UInt8, _ out: inout [UInt8]) {
    out += "\\x{\(String(byte, radix: 16, uppercase: true))}".utf8
    former = "}"
  }

  private func passes(_ scalar: Unicode.Scalar) -> Bool {
    if !TerminalText.isUnseen(scalar) { return true }
    let follows = !former.isASCII && (!TerminalText.isUnseen(former) || TerminalText.isSelector(former))
    switch scalar.value {
    case 0x200C, 0x200D: return follows
    case _ where TerminalText.isSelector(scalar):
      return follows && !TerminalText.isSelector(former) || ("0"..."9").contains(former) || ["#", "*"].contains(former)
    default: return false
    }
  }
}

/// One character at a place of UTF-8.
private enum UTF8Step {
  case scalar(Unicode.Scalar, Int)
  /// The bytes end in its midst.
  case open
  case invalid

  init(_ bytes: [UInt8], at place: Int) {
    let first = bytes[place]
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
      guard place + offset < bytes.count else {
        self = .open
        return
      }
      let byte = bytes[place + offset]
      guard (offset == 1 ? second : 0x80...0xBF).contains(byte) else {
        self = .invalid
        return
      }
      value = value << 6 | UInt32(byte & 0x3F)
    }
    self = Unicode.Scalar(value).map { .scalar($0, length) } ?? .invalid
  }
}

/// A sequence of our own that steers a terminal: for colour, and for progress that is drawn again.
///
/// In a text it carries a number that is drawn anew in each process, so that no text from outside can have one.
/// ``TerminalFilter`` makes the real sequence of it.
enum TerminalControl {
  private static let escape: UInt8 = 0x1B
  private static let mark =
    [escape] + Array(String(UInt64.random(in: 0...UInt64.max), radix: 16).utf8) + [UInt8(ascii: "_")]
  private static let start = String(decoding: mark, as: UTF8.self)

  /// To the line's beginning.
  static let lineStart = sequence("[G")
  /// Takes away what stands behind the cursor on its line.
  static let clearLine = sequence("[K")
  /// Takes away what stands behind the cursor, and below.
  static let clearBelow = sequence("[J")
  /// So many lines up.
  static func up(_ lines: Int) -> String { sequence("[\(lines)A") }
  /// Letters in a colour or weight (ECMA-48, SGR).
  static func graphic(_ code: String) -> String { sequence("[\(code)m") }

  private static func sequence(_ text: String) -> String { start + text + "\u{1B}" }

  /// The real sequence of the one at a place, and where that ends; nil for anything else.
  static func control(in bytes: [UInt8], at place: Int) -> (bytes: [UInt8], end: Int)? {
    guard bytes[place] == escape, bytes[place...].starts(with: mark) else { return nil }
    let text = bytes[(place + mark.count)...].prefix { $0 != escape }
    return ([escape] + text, min(text.endIndex + 1, bytes.count))
  }
}

/// What of a text would steer a terminal or not be seen.
enum TerminalText {
  /// A text on one line.
  static func line(_ text: String) -> String {
    guard text.contains(where: \.isNewline) else { return text }
    return text.split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  /// A text as ``TerminalFilter`` shows it, where its width matters.
  static func shown(_ text: String) -> String {
    var filter = TerminalFilter()
    let bytes = filter.filter(Array(text.utf8)) + filter.finish()
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Whether bytes are text: UTF-8 without controls of ASCII, of which line ends and tabs are none.
  static func isShowable(_ bytes: [UInt8]) -> Bool {
    guard let text = String(validating: bytes, as: UTF8.self) else { return false }
    // A carriage return alone writes over what stands on the line.
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

  /// Controls, line and paragraph separators, what directs the writing, and all that Unicode wants shown as nothing, tags and
  /// joiners among them; neither line feed nor tab.
  static func isUnseen(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A: return false
    case 0..<0x20, 0x7F..<0xA0: return true
    case 0x20..<0x7F: return false
    // Annotations between lines; a language's tag that Unicode no longer counts among what shows as nothing.
    case 0x2028, 0x2029, 0xFFF9...0xFFFB, 0xE0001: return true
    default: return scalar.properties.isDefaultIgnorableCodePoint
    }
  }

  static func isSelector(_ scalar: Unicode.Scalar) -> Bool { (0xFE00...0xFE0F).contains(scalar.value) }
}
