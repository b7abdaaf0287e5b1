/// The state machine that splits JSON into tokens and validates it (RFC 8259). It owns no bytes: each call gets the
/// available bytes, which begin where those of the last call began unless ``advance(by:)`` was called.
///
/// An incomplete token is left for the next call, and a long string is not scanned twice.
struct JSONLexer {
  enum Expectation: UInt8 { case value, valueOrEnd, name, nameOrEnd, colon, commaOrEnd, nothing }

  let limits: JSONLimits
  /// The first byte that was not taken yet, in the bytes of the current call.
  var position = 0
  /// The number of open brackets.
  var depth = 0
  /// The number of bytes of the text before the first byte of the current call.
  private(set) var base = 0
  private var line = 1
  private var lineStart = 0
  private var expectation = Expectation.value
  private var inObject = false
  private var containers: [Bool] = []
  private var isBOMChecked = false
  /// The scanned length of the token at `position`; 0 if scanning has not begun.
  var scanned = 0
  var scannedEscape = false

  init(limits: JSONLimits = JSONLimits()) { self.limits = limits }

  /// Whether the one value of the text is complete.
  var isComplete: Bool { expectation == .nothing }

  /// Tells the lexer that `count` bytes before `position` were removed from the start of the bytes.
  mutating func advance(by count: Int) {
    base += count
    position -= count
  }

  /// Returns the next token; nil if more bytes are needed, or, with `isFinal`, at the end of a complete text.
  mutating func next(_ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool) throws(JSONError) -> JSONToken? {
    if !isBOMChecked, try !checkByteOrderMark(bytes, isFinal: isFinal) { return nil }
    while true {
      guard skipWhiteSpace(bytes) else {
        if isFinal, expectation != .nothing { throw error(.unexpectedEnd, at: position) }
        return nil
      }
      let byte = bytes[position]
      switch expectation {
      case .value, .valueOrEnd: return try value(byte, bytes, isFinal: isFinal)
      case .name, .nameOrEnd:
        if byte == UInt8(ascii: "\"") { return try string(bytes, isFinal: isFinal, kind: .name) }
        if byte == UInt8(ascii: "}"), expectation == .nameOrEnd { return end(.endObject) }
        throw unexpected(byte, expectation == .name ? "a name" : "a name or '}'")
      case .colon:
        guard byte == UInt8(ascii: ":") else { throw unexpected(byte, "':'") }
        position += 1
        expectation = .value
      case .commaOrEnd:
        if byte == UInt8(ascii: ",") {
          position += 1
          expectation = inObject ? .name : .value
        } else if byte == (inObject ? UInt8(ascii: "}") : UInt8(ascii: "]")) {
          return end(inObject ? .endObject : .endArray)
        } else {
          throw unexpected(byte, inObject ? "',' or '}'" : "',' or ']'")
        }
      case .nothing: throw error(.trailingContent, at: position)
      }
    }
  }

  /// Creates an error at an offset into the current bytes. Its line is correct for the token being read.
  func error(_ problem: JSONError.Problem, at index: Int) -> JSONError {
    let offset = base + index
    return JSONError(problem, offset: offset, line: line, column: max(1, offset - lineStart + 1))
  }

  mutating func completeScalar() { expectation = depth == 0 ? .nothing : .commaOrEnd }

  mutating func completeName() { expectation = .colon }

  private func unexpected(_ byte: UInt8, _ expected: String) -> JSONError {
    error(.unexpectedByte(byte, expected: expected), at: position)
  }

  private mutating func value(
    _ byte: UInt8, _ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool
  ) throws(JSONError) -> JSONToken? {
    switch byte {
    case UInt8(ascii: "\""): return try string(bytes, isFinal: isFinal, kind: .string)
    case UInt8(ascii: "-"), 0x30...0x39: return try number(bytes, isFinal: isFinal)
    case UInt8(ascii: "{"): return try begin(.beginObject)
    case UInt8(ascii: "["): return try begin(.beginArray)
    case UInt8(ascii: "]") where expectation == .valueOrEnd: return end(.endArray)
    case UInt8(ascii: "t"): return try literal("true", .true, bytes, isFinal: isFinal)
    case UInt8(ascii: "f"): return try literal("false", .false, bytes, isFinal: isFinal)
    case UInt8(ascii: "n"): return try literal("null", .null, bytes, isFinal: isFinal)
    case 0x41...0x5A, 0x61...0x7A: throw error(.invalidLiteral, at: position)
    default: throw unexpected(byte, expectation == .value ? "a value" : "a value or ']'")
    }
  }

  private mutating func begin(_ kind: JSONToken.Kind) throws(JSONError) -> JSONToken {
    guard depth < limits.depth else { throw error(.tooDeep(limit: limits.depth), at: position) }
    containers.append(inObject)
    depth += 1
    inObject = kind == .beginObject
    expectation = inObject ? .nameOrEnd : .valueOrEnd
    position += 1
    return JSONToken(kind, start: position - 1, end: position)
  }

  private mutating func end(_ kind: JSONToken.Kind) -> JSONToken {
    depth -= 1
    inObject = containers.popLast() ?? false
    completeScalar()
    position += 1
    return JSONToken(kind, start: position - 1, end: position)
  }

  /// Moves to the next byte that is not white space; false if there is none.
  @inline(__always)
  private mutating func skipWhiteSpace(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
    var index = position
    while index < bytes.count {
      let byte = bytes[index]
      if byte > 0x20 { break }
      if byte == 0x0A {
        line += 1
        lineStart = base + index + 1
      } else if byte != 0x20, byte != 0x0D, byte != 0x09 {
        break
      }
      index += 1
    }
    position = index
    return index < bytes.count
  }

  /// Skips a byte order mark (RFC 8259 §8.1 lets a reader do so); false if more bytes are needed to detect it.
  private mutating func checkByteOrderMark(
    _ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool
  ) throws(JSONError) -> Bool {
    guard let first = bytes.first else {
      if isFinal { throw error(.unexpectedEnd, at: 0) }
      return false
    }
    if first == 0xFE || first == 0xFF || first == 0x00 { throw error(.notUTF8, at: 0) }
    if first == 0xEF {
      guard bytes.count >= 3 || isFinal else { return false }
      guard bytes.count >= 3, bytes[1] == 0xBB, bytes[2] == 0xBF else { throw error(.notUTF8, at: 0) }
      position = 3
      lineStart = 3
    }
    isBOMChecked = true
    return true
  }
}
