/// The bytes of a text, read in place. Indexes beyond the end return zeros.
///
/// It is valid as long as its source: the call of a function or collation, or a row.
@safe struct TextBytes {
  private let start: UnsafePointer<UInt8>?
  let count: Int

  @inline(__always)
  init(_ bytes: UnsafeBufferPointer<UInt8>) {
    unsafe start = bytes.baseAddress
    count = unsafe bytes.baseAddress == nil ? 0 : bytes.count
  }

  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    unsafe start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    count = unsafe bytes.baseAddress == nil ? 0 : bytes.count
  }

  @inline(__always)
  subscript(index: Int) -> UInt8 {
    guard let start = unsafe start, index >= 0, index < count else { return 0 }
    return unsafe start[index]
  }

  /// Eight bytes from an index on, the first one lowest; nil if there are fewer.
  @inline(__always)
  func word(_ index: Int) -> UInt64? {
    guard let start = unsafe start, index >= 0, count - index >= 8 else { return nil }
    return unsafe UInt64(littleEndian: UnsafeRawPointer(start + index).loadUnaligned(as: UInt64.self))
  }

  var bytes: UnsafeBufferPointer<UInt8> { unsafe UnsafeBufferPointer(start: start, count: count) }

  var string: String { unsafe String(decoding: bytes, as: UTF8.self) }

  /// A part of the text, clamped to its length.
  @inline(__always)
  func part(_ range: Range<Int>) -> TextBytes {
    let range = range.clamped(to: 0..<count)
    return unsafe TextBytes(UnsafeBufferPointer(rebasing: bytes[range]))
  }

  /// The index after the digits that start at an index.
  @inline(__always)
  func digitsEnd(_ index: Int) -> Int {
    var index = index
    while self[index] &- 0x30 < 10 { index += 1 }
    return index
  }

  /// The number of the two digits at an index; nil if they are not digits.
  @inline(__always)
  func twoDigits(_ index: Int) -> UInt64? {
    let tens = self[index] &- 0x30
    let ones = self[index + 1] &- 0x30
    guard tens < 10, ones < 10 else { return nil }
    return UInt64(tens) * 10 + UInt64(ones)
  }

  /// Whether the byte at an index is an ASCII letter, in either case.
  @inline(__always)
  func has(letter: UInt8, at index: Int) -> Bool { self[index] | 0x20 == letter | 0x20 }

  /// Whether the text from an index to its end is a word, in either case.
  func ends(with word: StaticString, at index: Int) -> Bool {
    guard count - index == word.utf8CodeUnitCount else { return false }
    for offset in 0..<word.utf8CodeUnitCount {
      let letter = unsafe word.utf8Start[offset]
      guard has(letter: letter, at: index + offset) else { return false }
    }
    return true
  }

  /// The order of two texts: negative, 0 or positive, by bytes, then the shorter one first.
  static func order(_ left: TextBytes, _ right: TextBytes) -> Int {
    let common = min(left.count, right.count)
    var index = 0
    while let one = left.word(index), let other = right.word(index) {
      if one != other { return one.byteSwapped < other.byteSwapped ? -1 : 1 }
      index += 8
    }
    while index < common {
      if left[index] != right[index] { return left[index] < right[index] ? -1 : 1 }
      index += 1
    }
    return left.count - right.count
  }

  /// The order of two runs of digits after a point. Trailing zeros do not count.
  static func fractionOrder(_ left: TextBytes, _ right: TextBytes) -> Int {
    for index in 0..<max(left.count, right.count) {
      let one = index < left.count ? left[index] : 0x30
      let other = index < right.count ? right[index] : 0x30
      if one != other { return one < other ? -1 : 1 }
    }
    return 0
  }

  /// Whether all bytes are the digit zero.
  var isZeros: Bool {
    for index in 0..<count where self[index] != 0x30 { return false }
    return true
  }
}
