@_spi(Stores) import LarderCore
import LarderOData

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Converts the text of a column to Foundation types, without an intermediate string if possible.
package enum ScalarText {
  // MARK: Dates and times

  /// Reads `YYYY-MM-DD` or `YYYY-MM-DDThh:mm:ss`, with an optional fraction and an optional `Z` or offset. A time
  /// without an offset is in UTC.
  package static func date(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
    guard bytes.count >= 10, let days = days(bytes) else { return slowDate(bytes) }
    if bytes.count == 10 { return Date(timeIntervalSince1970: Double(days) * 86_400) }
    guard bytes.count >= 19, let hour = digits(bytes, 11), let minute = digits(bytes, 14),
      let second = digits(bytes, 17), bytes[13] == 0x3A, bytes[16] == 0x3A, hour < 24, minute < 60,
      second < 60, bytes[10] | 0x20 == 0x74
    else { return slowDate(bytes) }
    var seconds = Double(days * 86_400 + hour * 3600 + minute * 60 + second)
    var index = 19
    if index < bytes.count, bytes[index] == 0x2E {
      index += 1
      var fraction = 0
      var scale = 1
      while index < bytes.count, bytes[index] &- 0x30 <= 9, scale < 1_000_000_000_000 {
        fraction = fraction * 10 + Int(bytes[index] &- 0x30)
        scale *= 10
        index += 1
      }
      // The number is rounded once, as in the slow function.
      seconds += Double(fraction) / Double(scale)
    }
    if index == bytes.count { return Date(timeIntervalSince1970: seconds) }
    if bytes[index] | 0x20 == 0x7A, index + 1 == bytes.count { return Date(timeIntervalSince1970: seconds) }
    return slowDate(bytes)
  }

  /// The number of days since 1970 of the `YYYY-MM-DD` at the beginning.
  private static func days(_ bytes: UnsafeBufferPointer<UInt8>) -> Int? {
    guard let century = digits(bytes, 0), let ofCentury = digits(bytes, 2),
      let month = digits(bytes, 5), let day = digits(bytes, 8), bytes[4] == 0x2D,
      bytes[7] == 0x2D, (1...12).contains(month), (1...31).contains(day)
    else { return nil }
    return Int(GregorianCalendar.daysSince1970(year: century * 100 + ofCentury, month: month, day: day))
  }

  @inline(__always)
  private static func digits(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
    guard index + 1 < bytes.count else { return nil }
    let (tens, ones) = (bytes[index] &- 0x30, bytes[index + 1] &- 0x30)
    return tens <= 9 && ones <= 9 ? Int(tens) * 10 + Int(ones) : nil
  }

  private static func slowDate(_ bytes: UnsafeBufferPointer<UInt8>) -> Date? {
    let text = String(decoding: bytes, as: UTF8.self)
    if let timestamp = ODataDateTimeOffset(text) { return Date(timestamp) }
    if let clock = ODataDateTime(text) { return Date(utc: clock) }
    return ODataDate(text).map { Date(utc: $0) }
  }

  // MARK: Numbers

  /// Reads a decimal; nil if Foundation's `Decimal` has not enough digits.
  package static func decimal(_ bytes: UnsafeBufferPointer<UInt8>) -> Decimal? {
    var significand: UInt64 = 0
    var exponent = 0
    var index = 0
    var isAfterPoint = false
    let isNegative = bytes.first == 0x2D
    if isNegative { index = 1 }
    // Nineteen digits fit.
    guard index < bytes.count, bytes.count - index <= 18 else { return slowDecimal(bytes) }
    while index < bytes.count {
      let byte = bytes[index]
      if byte &- 0x30 <= 9 {
        significand = significand * 10 + UInt64(byte &- 0x30)
        if isAfterPoint { exponent -= 1 }
      } else if byte == 0x2E, !isAfterPoint {
        isAfterPoint = true
      } else {
        return slowDecimal(bytes)
      }
      index += 1
    }
    return Decimal(sign: isNegative ? .minus : .plus, exponent: exponent, significand: Decimal(significand))
  }

  private static func slowDecimal(_ bytes: UnsafeBufferPointer<UInt8>) -> Decimal? {
    ODataDecimal(String(decoding: bytes, as: UTF8.self)).flatMap { Decimal(exactly: $0) }
  }

  // MARK: Identifiers

  /// Reads `8-4-4-4-12` hexadecimal digits of either case; nil for anything else.
  package static func uuid(_ bytes: UnsafeBufferPointer<UInt8>) -> UUID? {
    guard bytes.count == 36, bytes[8] == 0x2D, bytes[13] == 0x2D, bytes[18] == 0x2D,
      bytes[23] == 0x2D, let first = hexadecimal(bytes, 0, 8),
      let second = hexadecimal(bytes, 9, 4),
      let third = hexadecimal(bytes, 14, 4), let fourth = hexadecimal(bytes, 19, 4),
      let fifth = hexadecimal(bytes, 24, 12)
    else { return nil }
    return UUID(ODataGuid(high: first << 32 | second << 16 | third, low: fourth << 48 | fifth))
  }

  /// Reads `count` hexadecimal digits from a position on. The caller has checked that they are within the buffer.
  @inline(__always)
  private static func hexadecimal(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ count: Int) -> UInt64? {
    var number: UInt64 = 0
    var isDigits = true
    for index in start..<(start + count) {
      let byte = bytes[index]
      let (digit, letter) = (byte &- 0x30, (byte | 0x20) &- 0x61)
      isDigits = isDigits && (digit <= 9 || letter <= 5)
      number = number << 4 | UInt64(digit <= 9 ? digit : letter &+ 10)
    }
    return isDigits ? number : nil
  }
}
