// Strings, numbers and words: the tokens that may cross the border of a chunk.
extension JSONLexer {
  /// Reads a name or string, from its opening quote.
  @inline(__always)
  mutating func string(
    _ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool, kind: JSONToken.Kind
  ) throws(JSONError) -> JSONToken? {
    let start = position + 1
    var index = scanned > 0 ? position + scanned : start
    while true {
      index = JSONLexer.skipPlain(bytes, from: index)
      guard index - start <= limits.stringBytes else {
        throw error(.tokenTooLong(limit: limits.stringBytes), at: position)
      }
      guard index < bytes.count else { return try suspend(at: index, isFinal: isFinal) }
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        let token = JSONToken(kind, start: start, end: index, isEscaped: scannedEscape)
        position = index + 1
        scanned = 0
        scannedEscape = false
        if kind == .name { completeName() } else { completeScalar() }
        return token
      }
      let length = byte == UInt8(ascii: "\\") ? try escape(bytes, index) : try sequence(bytes, index)
      if length == 0 { return try suspend(at: index, isFinal: isFinal) }
      index += length
    }
  }

  /// Returns the first byte from `start` on that is not plain ASCII inside a string: checks eight at a time, then one
  /// by one.
  @inline(__always)
  static func skipPlain(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
    var index = start
    let count = bytes.count
    let raw = UnsafeRawBufferPointer(bytes)
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    while count - index >= 8 {
      let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
      let quotes = word ^ (ones &* 0x22)
      let slashes = word ^ (ones &* 0x5C)
      // Sets a byte's top bit if the byte is a quote, a backslash, below 0x20 or above 0x7F. Borrows can set only bits
      // above a true one, and only the lowest is used.
      let stops = ((quotes &- ones) & ~quotes | (slashes &- ones) & ~slashes | (word &- ones &* 0x20) | word) & highs
      if stops != 0 { return index + stops.trailingZeroBitCount >> 3 }
      index += 8
    }
    while index < count {
      let byte = bytes[index]
      if byte == 0x22 || byte == 0x5C || byte < 0x20 || byte > 0x7F { break }
      index += 1
    }
    return index
  }

  /// Returns the length of an escape in bytes; 0 if it is incomplete.
  private mutating func escape(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) throws(JSONError) -> Int {
    scannedEscape = true
    guard index + 1 < bytes.count else { return 0 }
    if JSONText.simpleEscape(bytes[index + 1]) != nil { return 2 }
    guard bytes[index + 1] == UInt8(ascii: "u") else { throw error(.invalidEscape, at: index) }
    guard index + 6 <= bytes.count else { return 0 }
    guard let high = JSONText.hex4(bytes, index + 2) else { throw error(.invalidEscape, at: index) }
    if high & 0xFC00 == 0xDC00 { throw error(.loneSurrogate, at: index) }
    guard high & 0xFC00 == 0xD800 else { return 6 }
    guard index + 12 <= bytes.count else {
      // The available bytes may already show that no second escape follows.
      let isUnpaired =
        index + 6 < bytes.count && bytes[index + 6] != UInt8(ascii: "\\")
        || index + 7 < bytes.count && bytes[index + 7] != UInt8(ascii: "u")
      if isUnpaired { throw error(.loneSurrogate, at: index) }
      return 0
    }
    guard bytes[index + 6] == UInt8(ascii: "\\"), bytes[index + 7] == UInt8(ascii: "u"),
      let low = JSONText.hex4(bytes, index + 8), low & 0xFC00 == 0xDC00
    else { throw error(.loneSurrogate, at: index) }
    return 12
  }

  /// Returns the length of a UTF-8 sequence of two or more bytes (Unicode 3.9, table 3-7); 0 if it is incomplete.
  private func sequence(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) throws(JSONError) -> Int {
    let first = bytes[index]
    if first < 0x20 { throw error(.controlCharacter(first), at: index) }
    let length: Int
    var low: UInt8 = 0x80
    var high: UInt8 = 0xBF
    switch first {
    case 0xC2...0xDF: length = 2
    case 0xE0...0xEF:
      length = 3
      if first == 0xE0 { low = 0xA0 } else if first == 0xED { high = 0x9F }
    case 0xF0...0xF4:
      length = 4
      if first == 0xF0 { low = 0x90 } else if first == 0xF4 { high = 0x8F }
    default: throw error(.invalidUTF8, at: index)
    }
    for offset in 1..<length {
      guard index + offset < bytes.count else { return 0 }
      let byte = bytes[index + offset]
      guard byte >= low, byte <= high else { throw error(.invalidUTF8, at: index) }
      low = 0x80
      high = 0xBF
    }
    return length
  }

  /// Leaves the incomplete token for the next call; throws if no call follows.
  private mutating func suspend(at index: Int, isFinal: Bool) throws(JSONError) -> JSONToken? {
    if isFinal { throw error(.unexpectedEnd, at: bytesEnd(index)) }
    scanned = index - position
    return nil
  }

  private func bytesEnd(_ index: Int) -> Int { max(index, position) }

  /// Reads a number, from its first character (RFC 8259 §6).
  @inline(__always)
  mutating func number(_ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool) throws(JSONError) -> JSONToken? {
    var index = position + scanned
    while index < bytes.count, JSONLexer.isNumberByte(bytes[index]) { index += 1 }
    guard index - position <= limits.numberBytes else {
      throw error(.tokenTooLong(limit: limits.numberBytes), at: position)
    }
    if index == bytes.count, !isFinal {
      scanned = index - position
      return nil
    }
    guard JSONLexer.isNumber(bytes, position, index) else { throw error(.invalidNumber, at: position) }
    let token = JSONToken(.number, start: position, end: index)
    position = index
    scanned = 0
    completeScalar()
    return token
  }

  @inline(__always)
  private static func isNumberByte(_ byte: UInt8) -> Bool {
    byte >= 0x30 && byte <= 0x39 || byte == 0x2E || byte == 0x2D || byte == 0x2B || byte | 0x20 == 0x65
  }

  /// Whether the bytes between two positions are a number by the grammar.
  static func isNumber(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Bool {
    var index = start
    func digits() -> Bool {
      let first = index
      while index < end, bytes[index] >= 0x30, bytes[index] <= 0x39 { index += 1 }
      return index > first
    }
    if index < end, bytes[index] == UInt8(ascii: "-") { index += 1 }
    if index < end, bytes[index] == UInt8(ascii: "0") { index += 1 } else if !digits() { return false }
    if index < end, bytes[index] == UInt8(ascii: ".") {
      index += 1
      if !digits() { return false }
    }
    if index < end, bytes[index] | 0x20 == UInt8(ascii: "e") {
      index += 1
      if index < end, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") { index += 1 }
      if !digits() { return false }
    }
    return index == end
  }

  /// Reads one of the three words.
  mutating func literal(
    _ word: StaticString, _ kind: JSONToken.Kind, _ bytes: UnsafeBufferPointer<UInt8>, isFinal: Bool
  ) throws(JSONError) -> JSONToken? {
    let length = word.utf8CodeUnitCount
    let there = min(length, bytes.count - position)
    for offset in 0..<there where bytes[position + offset] != word.utf8Start[offset] {
      throw error(.invalidLiteral, at: position)
    }
    guard there == length else {
      if isFinal { throw error(.unexpectedEnd, at: bytes.count) }
      return nil
    }
    let token = JSONToken(kind, start: position, end: position + length)
    position += length
    completeScalar()
    return token
  }
}
