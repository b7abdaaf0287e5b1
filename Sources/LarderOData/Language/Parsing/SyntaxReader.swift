@_spi(Stores) import LarderCore

/// Reads a text of the OData language, left to right. Percent-encoding is decoded before anything is read. Each byte
/// keeps its original position and whether it was encoded: the separators of a URL (`/ ? & = #`) separate only if they
/// are not encoded.
///
/// The parser consists of extensions of this type: each method reads one rule of the grammar. It begins at ``index``
/// and leaves it after the text that it read, or throws.
struct SyntaxReader {
  /// The original text.
  let text: String
  /// The bytes of the text, percent-decoded.
  let bytes: ReadBytes
  /// The original position of each byte, and one more for the end; nil if nothing was encoded.
  private let origins: [Int32]?
  /// The version and the limits.
  let options: ODataParserOptions
  /// The position of the next byte.
  var index = 0
  /// The end of the part that is read.
  var end: Int
  /// The number of open levels.
  private(set) var depth = 0
  /// The lambda variables in scope, the innermost last.
  var variables: [String] = []
  /// The times of day in the conditions of `case`; nil before the first.
  var conditionTimes: ConditionTimes?
  /// A range that was examined and does not belong to the parsed text, for example white space that no operator
  /// follows. If an error occurs in it, its position is the end of the range.
  private var failedLookahead = (from: Int32(-1), to: Int32(-1))
  /// Stops recursion before the end of the stack.
  private var stack = StackGuard()

  /// Creates a reader; if `isLenient`, a `%` that encodes nothing is kept.
  init(_ text: String, options: ODataParserOptions, isLenient: Bool = false) throws(ODataSyntaxError) {
    self.text = text
    self.options = options
    var source = text
    let decoded = source.withUTF8 { SyntaxReader.decode($0, isPercentEncoded: options.isPercentEncoded) }
    if let place = decoded.invalid, !isLenient {
      throw ODataSyntaxError(.invalidPercentEncoding, offset: place, in: text)
    }
    bytes = ReadBytes(decoded.bytes)
    origins = decoded.origins
    end = decoded.bytes.count
    if decoded.origins != nil, String(validating: decoded.bytes, as: UTF8.self) == nil {
      throw ODataSyntaxError(.invalidUTF8, offset: offset(of: decoded.firstInvalidUTF8), in: text)
    }
  }

  var dialect: ODataDialect { options.version.dialect }
  /// Whether words are read in any case, and options without `$` (4.01).
  var isRelaxed: Bool { options.version >= .v401 }
}

// Percent-decoding.
extension SyntaxReader {
  private struct DecodedText {
    var bytes: [UInt8] = []
    var origins: [Int32]?
    /// The position of a byte that is not a digit where the first `%` needs one.
    var invalid: Int?

    /// The position of the first byte that does not continue UTF-8.
    var firstInvalidUTF8: Int {
      var decoder = UTF8()
      var iterator = bytes.makeIterator()
      var place = 0
      while true {
        switch decoder.decode(&iterator) {
        case .scalarValue(let scalar): place += UTF8.width(scalar)
        case .emptyInput, .error: return place
        }
      }
    }
  }

  private static func decode(_ source: UnsafeBufferPointer<UInt8>, isPercentEncoded: Bool) -> DecodedText {
    guard isPercentEncoded, source.contains(UInt8(ascii: "%")), source.count < Int32.max else {
      return DecodedText(bytes: Array(source))
    }
    var decoded = DecodedText()
    decoded.bytes.reserveCapacity(source.count)
    var origins: [Int32] = []
    origins.reserveCapacity(source.count + 1)
    var place = 0
    while place < source.count {
      origins.append(Int32(truncatingIfNeeded: place))
      if source[place] == UInt8(ascii: "%") {
        if place + 2 < source.count, let high = Hexadecimal.value(source[place + 1]),
          let low = Hexadecimal.value(source[place + 2])
        {
          decoded.bytes.append(high << 4 | low)
          place += 3
          continue
        }
        let isHalf = place + 1 < source.count && Hexadecimal.value(source[place + 1]) != nil
        decoded.invalid = decoded.invalid ?? place + (isHalf ? 2 : 1)
      }
      decoded.bytes.append(source[place])
      place += 1
    }
    origins.append(Int32(truncatingIfNeeded: source.count))
    decoded.origins = origins
    return decoded
  }

  /// The original position of a byte.
  func offset(of place: Int) -> Int {
    guard let origins else { return min(place, bytes.count) }
    return Int(origins[min(max(place, 0), bytes.count)])
  }

  /// Whether a byte was percent-encoded.
  func isEncoded(_ place: Int) -> Bool {
    guard let origins, place >= 0, place < bytes.count else { return false }
    return origins[place + 1] - origins[place] == 3
  }
}

// Looking at and taking bytes. None of these methods reads past `end`.
extension SyntaxReader {
  var isAtEnd: Bool { index >= end }
  /// The next byte; 0 at the end, which no rule contains.
  var peek: UInt8 { index < end ? bytes[index] : 0 }
  /// The position of the next byte.
  var position: SourcePosition { SourcePosition(offset: offset(of: index)) }

  func peek(ahead: Int) -> UInt8 { index + ahead < end ? bytes[index + ahead] : 0 }

  /// Takes a byte, encoded or not.
  mutating func take(_ byte: UInt8) -> Bool {
    guard index < end, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  /// Takes a byte that is not encoded.
  mutating func take(plain byte: UInt8) -> Bool {
    guard index < end, bytes[index] == byte, !isEncoded(index) else { return false }
    index += 1
    return true
  }

  /// Takes a text exactly.
  mutating func take(exact word: StaticString) -> Bool {
    guard hasWord(word, at: index, anyCase: false) else { return false }
    index += word.utf8CodeUnitCount
    return true
  }

  /// Takes a word, in any case if the version allows that.
  mutating func take(word: StaticString) -> Bool {
    guard hasWord(word, at: index, anyCase: isRelaxed) else { return false }
    index += word.utf8CodeUnitCount
    return true
  }

  /// Whether the text at a position is an ASCII word.
  func hasWord(_ word: StaticString, at place: Int, anyCase: Bool) -> Bool {
    let count = word.utf8CodeUnitCount
    guard place + count <= end else { return false }
    let start = word.utf8Start
    for step in 0..<count where bytes[place + step] != start[step] {
      let letter = start[step] | 0x20
      guard anyCase, letter >= 0x61, letter <= 0x7A, bytes[place + step] | 0x20 == letter else { return false }
    }
    return true
  }

  /// Takes a byte, or throws an error that names it.
  mutating func demand(_ byte: UInt8) throws(ODataSyntaxError) {
    guard take(byte) else { throw unexpected("'\(Character(Unicode.Scalar(byte)))'") }
  }

  /// Skips BWS: optional white space.
  mutating func skipSpace() {
    while index < end, bytes[index] == 0x20 || bytes[index] == 0x09 { index += 1 }
  }

  /// Takes RWS: required white space; takes nothing if there is none.
  mutating func takeSpace() -> Bool {
    let start = index
    skipSpace()
    return index > start
  }

  /// An error at the next byte.
  func unexpected(_ expected: String...) -> ODataSyntaxError { error(.unexpected(expected: expected)) }

  /// An error at a position; by default at the next byte.
  func error(_ problem: ODataSyntaxError.Problem, at place: Int? = nil) -> ODataSyntaxError {
    ODataSyntaxError(problem, offset: offset(of: endOfFailedLookahead(place ?? index)), in: text)
  }

  /// The position to report for an error at a place.
  private func endOfFailedLookahead(_ place: Int) -> Int {
    guard place >= Int(failedLookahead.from) else { return place }
    let last =
      failedLookahead.to == .min ? endOfPartialTimestamp(from: Int(failedLookahead.from)) : Int(failedLookahead.to)
    return place < last ? last : place
  }

  /// Records that the text might have continued up to a position, and did not.
  mutating func noteFailedLookahead(to place: Int) { noteFailedLookahead(from: index, to: place) }

  /// Records that a text which began at `start` might have continued up to a position, and did not.
  mutating func noteFailedLookahead(from start: Int, to place: Int) {
    failedLookahead = (Int32(clamping: start), Int32(clamping: place))
  }

  /// Records that a timestamp or GUID may have begun where a number did. How far it extends is computed only if an
  /// error needs it.
  mutating func notePossibleTimestamp(from start: Int) { failedLookahead = (Int32(clamping: start), .min) }

  mutating func forgetFailedLookahead() { failedLookahead = (-1, -1) }

  /// The text between two positions.
  func string(_ range: Range<Int>) -> String { bytes.string(range) }

  /// Reads one level deeper.
  mutating func nested<Value>(
    _ read: (inout SyntaxReader) throws(ODataSyntaxError) -> Value
  ) throws(ODataSyntaxError) -> Value {
    try enter()
    defer { leave() }
    return try read(&self)
  }

  /// Begins a level, which ``leave()`` ends; after an error nothing more is read.
  mutating func enter() throws(ODataSyntaxError) {
    guard depth < options.maxDepth else { throw error(.tooDeep(limit: options.maxDepth)) }
    guard !stack.isSpent(at: depth, usual: 100) else { throw error(.tooDeep(limit: depth)) }
    depth += 1
  }

  mutating func leave() { depth -= 1 }

  /// Throws if a chain of `count` operators of one kind exceeds the allowed depth.
  func checkChain(_ count: Int) throws(ODataSyntaxError) {
    guard depth + count <= options.maxDepth else { throw error(.tooDeep(limit: options.maxDepth)) }
  }

  /// Reads a part and throws if text follows it.
  mutating func readToEnd<Value>(
    _ read: (inout SyntaxReader) throws(ODataSyntaxError) -> Value
  ) throws(ODataSyntaxError) -> Value {
    let value = try read(&self)
    guard isAtEnd else { throw error(.unexpected(expected: [])) }
    return value
  }
}
