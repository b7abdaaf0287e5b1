/// Reads and writes hexadecimal digits.
@_spi(Stores)
public enum Hexadecimal {
  /// The value of a digit of either case; nil for other bytes.
  @inlinable
  public static func value(_ digit: UInt8) -> UInt8? {
    switch digit {
    case 0x30...0x39: digit - 0x30
    case 0x41...0x46: digit - 0x37
    case 0x61...0x66: digit - 0x57
    default: nil
    }
  }

  /// The lower-case digit of a number below 16.
  @inlinable
  public static func lower(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x57 &+ value }

  /// The upper-case digit of a number below 16.
  @inlinable
  public static func upper(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x37 &+ value }

  /// The lower-case digits of bytes, two for each.
  @inlinable
  public static func text(_ bytes: some Sequence<UInt8>) -> String {
    var digits: [UInt8] = []
    digits.reserveCapacity(2 * bytes.underestimatedCount)
    for byte in bytes {
      digits.append(lower(byte >> 4))
      digits.append(lower(byte & 0x0F))
    }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The bytes that digits of either case represent; nil if a character is no digit or the number of digits is odd.
  @inlinable
  public static func bytes(_ digits: some Collection<UInt8>) -> [UInt8]? {
    guard digits.count.isMultiple(of: 2) else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(digits.count / 2)
    var rest = digits.makeIterator()
    while let first = rest.next(), let second = rest.next() {
      guard let high = value(first), let low = value(second) else { return nil }
      bytes.append(high << 4 | low)
    }
    return bytes
  }

  /// The lowest digits of a number, in lower case.
  @inlinable
  public static func text(_ number: UInt64, digits: Int) -> String {
    String(unsafeUninitializedCapacity: digits) { buffer in
      write(number, digits: digits, to: buffer, at: 0)
      return digits
    }
  }

  /// Writes the lowest digits of a number in lower case; the buffer has room for them.
  @inlinable @inline(__always)
  public static func write(
    _ number: UInt64, digits: Int, to buffer: UnsafeMutableBufferPointer<UInt8>, at start: Int
  ) {
    var rest = number
    var place = start &+ digits
    while place > start {
      place &-= 1
      // `place` is within the digits that the caller has room for.
      buffer[place] = lower(UInt8(truncatingIfNeeded: rest) & 0xF)
      rest &>>= 4
    }
  }

  /// Parses at most 16 lower-case digits. Nil if there are other characters or no digits.
  @inlinable
  public static func number(_ digits: some Collection<UInt8>) -> UInt64? {
    guard !digits.isEmpty, digits.count <= 16 else { return nil }
    var number: UInt64 = 0
    for digit in digits {
      guard !(0x41...0x46).contains(digit), let value = value(digit) else { return nil }
      number = number &<< 4 | UInt64(value)
    }
    return number
  }
}
