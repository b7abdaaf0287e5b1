@_spi(Stores) import LarderCore

extension HTTPDate {
  /// Formats a date as fields contain it, `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110 §5.6.7).
  ///
  /// - Parameter unixTime: seconds since 1970, clamped to the years 0 to 9999, which are all that the format has.
  package static func text(_ unixTime: Int64) -> String {
    let seconds = min(max(unixTime, -62_167_219_200), 253_402_300_799)
    let days = floorDivide(seconds, 86_400)
    let time = Int(seconds - days * 86_400)
    let date = GregorianCalendar.date(daysSince1970: days)
    // 1970-01-01 was a Thursday.
    let weekday = Int(((days + 4) % 7 + 7) % 7)
    return String(unsafeUninitializedCapacity: 29) { bytes in
      func put(_ value: Int, at index: Int) {
        bytes[index] = 0x30 + UInt8(value / 10 % 10)
        bytes[index + 1] = 0x30 + UInt8(value % 10)
      }
      func put(_ names: StaticString, _ number: Int, at index: Int) {
        for offset in 0..<3 { bytes[index + offset] = names.utf8Start[number * 3 + offset] }
      }
      for (index, byte) in zip(0..., "---, -- --- ---- --:--:-- GMT".utf8) { bytes[index] = byte }
      put("SunMonTueWedThuFriSat", weekday, at: 0)
      put(date.day, at: 5)
      put("JanFebMarAprMayJunJulAugSepOctNovDec", date.month - 1, at: 8)
      put(date.year / 100, at: 12)
      put(date.year % 100, at: 14)
      put(time / 3600, at: 17)
      put(time / 60 % 60, at: 20)
      put(time % 60, at: 23)
      return 29
    }
  }

  static func floorDivide(_ value: Int64, _ divisor: Int64) -> Int64 {
    let quotient = value / divisor
    return value % divisor < 0 ? quotient - 1 : quotient
  }
}
