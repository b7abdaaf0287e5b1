/// Reads ASCII forms from bytes, left to right, never past the end.
struct ByteCursor {
  private let bytes: UnsafeBufferPointer<UInt8>
  private(set) var index = 0

  init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

  var isAtEnd: Bool { index >= bytes.count }
  var remaining: Int { bytes.count - index }
  /// The next byte; 0 at the end (no form read here contains a NUL).
  var peek: UInt8 { index < bytes.count ? bytes[index] : 0 }

  func byte(ahead: Int) -> UInt8 { index + ahead < bytes.count ? bytes[index + ahead] : 0 }

  mutating func advance() { if index < bytes.count { index += 1 } }

  mutating func take(_ byte: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] == byte else { return false }
    index += 1
    return true
  }

  /// Takes an ASCII letter in either case.
  mutating func take(letter: UInt8) -> Bool {
    guard index < bytes.count, bytes[index] | 0x20 == letter | 0x20 else { return false }
    index += 1
    return true
  }

  /// Takes a word of ASCII letters in any case; takes nothing if another text follows.
  mutating func take(word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard remaining >= count else { return false }
    for offset in 0..<count where bytes[index + offset] | 0x20 != word.utf8Start[offset] | 0x20 { return false }
    index += count
    return true
  }

  /// Whether the rest of the text is exactly this word.
  func isRest(_ word: StaticString) -> Bool {
    let count = word.utf8CodeUnitCount
    guard remaining == count else { return false }
    return (0..<count).allSatisfy { bytes[index + $0] == word.utf8Start[$0] }
  }

  /// A fixed number of digits (at most 9); nil if there are fewer.
  mutating func digits(_ count: Int) -> Int? {
    guard remaining >= count else { return nil }
    var value = 0
    for offset in 0..<count {
      let digit = bytes[index + offset] &- 0x30
      guard digit < 10 else { return nil }
      value = value * 10 + Int(digit)
    }
    index += count
    return value
  }

  /// All digits from here: their number, and their value, which is nil if it does not fit 64 bits.
  mutating func digitRun() -> (count: Int, value: UInt64?) {
    let start = index
    var value: UInt64? = 0
    while index < bytes.count {
      let digit = bytes[index] &- 0x30
      guard digit < 10 else { break }
      if let number = value {
        let (tens, tooBig) = number.multipliedReportingOverflow(by: 10)
        let (sum, overflow) = tens.addingReportingOverflow(UInt64(digit))
        value = tooBig || overflow ? nil : sum
      }
      index += 1
    }
    return (index - start, value)
  }

  /// The digits after a point as picoseconds: 1 to 12 of them, more only if they are zeros.
  mutating func picoseconds() -> UInt64? {
    var further = ""
    guard let value = picoseconds(further: &further), further.isEmpty else { return nil }
    return value
  }

  /// The first 12 digits after a point as picoseconds, and the digits after them, without trailing zeros.
  mutating func picoseconds(further: inout String) -> UInt64? {
    var value: UInt64 = 0
    var count = 0
    var rest: [UInt8] = []
    while index < bytes.count {
      let digit = bytes[index] &- 0x30
      guard digit < 10 else { break }
      if count < 12 { value = value * 10 + UInt64(digit) } else { rest.append(bytes[index]) }
      count += 1
      index += 1
    }
    guard count > 0 else { return nil }
    while rest.last == 0x30 { rest.removeLast() }
    further = String(decoding: rest, as: UTF8.self)
    while count < 12 {
      value *= 10
      count += 1
    }
    return value
  }

  func slice(_ range: Range<Int>) -> UnsafeBufferPointer<UInt8> {
    UnsafeBufferPointer(rebasing: bytes[range.clamped(to: 0..<bytes.count)])
  }

  /// The unread bytes.
  var rest: UnsafeBufferPointer<UInt8> { slice(index..<bytes.count) }
}

extension ByteCursor {
  /// Reads a whole text; nil if text remains or the reader returns nil.
  static func whole<Value>(_ text: String, _ read: (inout ByteCursor) -> Value?) -> Value? {
    var text = text
    return text.withUTF8 { bytes in
      var cursor = ByteCursor(bytes)
      guard let value = read(&cursor), cursor.isAtEnd else { return nil }
      return value
    }
  }
}

extension String {
  /// Creates the text whose bytes a function appends.
  init(writing write: (inout [UInt8]) -> Void) {
    var bytes: [UInt8] = []
    write(&bytes)
    self.init(decoding: bytes, as: UTF8.self)
  }
}

extension [UInt8] {
  /// Appends a number in decimal, padded with zeros.
  mutating func append(decimal number: some BinaryInteger, width: Int = 1) {
    var scratch: (UInt64, Int) = (UInt64(clamping: number.magnitude), 1)
    var power: UInt64 = 1
    while scratch.0 / power >= 10 {
      power *= 10
      scratch.1 += 1
    }
    if number < 0 { append(0x2D) }
    for _ in 0..<Swift.max(0, width - scratch.1) { append(0x30) }
    while power > 0 {
      append(0x30 + UInt8(scratch.0 / power % 10))
      power /= 10
    }
  }

  /// Appends a point and picoseconds without trailing zeros; nothing for zero.
  mutating func append(picoseconds: UInt64) {
    guard picoseconds > 0 else { return }
    append(0x2E)
    append(decimal: picoseconds, width: 12)
    while last == 0x30 { removeLast() }
  }

  /// Appends a fraction of a second with digits after its picoseconds.
  mutating func append(picoseconds: UInt64, further: some StringProtocol) {
    guard !further.isEmpty else { return append(picoseconds: picoseconds) }
    append(0x2E)
    append(decimal: picoseconds, width: 12)
    append(contentsOf: further.utf8)
  }

  mutating func append(ascii text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }
}
