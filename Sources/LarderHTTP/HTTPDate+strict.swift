@_spi(Stores) import LarderCore

extension HTTPDate {
  /// Parses a date in one of the three forms of RFC 9110 §5.6.7 into seconds since 1970; nil for anything else.
  ///
  /// `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`, letters in any
  /// case (RFC 9111 §4.2). The day's name must be valid, but is not compared with the date. A second of 60 counts as
  /// 59.
  ///
  /// - Parameter now: seconds since 1970. A year of two digits that would be more than 50 years later is read as the
  ///   same year of the century before.
  package static func strictUnixTime(_ text: String, now: Int64) -> Int64? {
    var text = text
    return text.withUTF8 { bytes in
      if bytes.count == 29, bytes[3] == 0x2C { return fixed(bytes) }
      if bytes.count == 24 { return asctime(bytes) }
      return rfc850(bytes, now: now)
    }
  }

  /// Parses an IMF-fixdate: 29 bytes.
  private static func fixed(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard weekday(bytes, at: 0), bytes[4] == 0x20, bytes[7] == 0x20, bytes[11] == 0x20, bytes[16] == 0x20,
      endsInGMT(bytes, at: 25), let day = twoDigits(bytes, 5), let month = month(bytes, at: 8),
      let century = twoDigits(bytes, 12), let year = twoDigits(bytes, 14), let time = timeOfDay(bytes, at: 17)
    else { return nil }
    return seconds(year: century * 100 + year, month: month, day: day, time: time)
  }

  /// Parses an asctime date: 24 bytes, the day with a space in place of a leading zero.
  private static func asctime(_ bytes: UnsafeBufferPointer<UInt8>) -> Int64? {
    guard weekday(bytes, at: 0), bytes[3] == 0x20, bytes[7] == 0x20, bytes[10] == 0x20, bytes[19] == 0x20,
      let month = month(bytes, at: 4), let time = timeOfDay(bytes, at: 11),
      let century = twoDigits(bytes, 20), let year = twoDigits(bytes, 22),
      let day = bytes[8] == 0x20 ? digit(bytes[9]) : twoDigits(bytes, 8)
    else { return nil }
    return seconds(year: century * 100 + year, month: month, day: day, time: time)
  }

  /// Parses an rfc850-date: the day's whole name and a year of two digits.
  private static func rfc850(_ bytes: UnsafeBufferPointer<UInt8>, now: Int64) -> Int64? {
    guard let comma = bytes.firstIndex(of: 0x2C), bytes.count == comma + 24, longWeekday(bytes, length: comma) else {
      return nil
    }
    let start = comma + 2
    guard bytes[comma + 1] == 0x20, bytes[start + 2] == 0x2D, bytes[start + 6] == 0x2D, bytes[start + 9] == 0x20,
      endsInGMT(bytes, at: start + 18), let day = twoDigits(bytes, start), let month = month(bytes, at: start + 3),
      let short = twoDigits(bytes, start + 7), let time = timeOfDay(bytes, at: start + 10)
    else { return nil }
    let thisYear = GregorianCalendar.date(daysSince1970: floorDivide(now, 86_400)).year
    var year = thisYear - thisYear % 100 + short
    if year > thisYear + 50 { year -= 100 }
    return seconds(year: year, month: month, day: day, time: time)
  }

  private static func seconds(year: Int, month: Int, day: Int, time: Int) -> Int64? {
    guard day >= 1, day <= GregorianCalendar.days(inMonth: month, year: year) else { return nil }
    return GregorianCalendar.daysSince1970(year: year, month: month, day: day) * 86_400 + Int64(time)
  }

  private static func digit(_ byte: UInt8) -> Int? {
    let value = byte &- 0x30
    return value <= 9 ? Int(value) : nil
  }

  /// Two digits.
  private static func twoDigits(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> Int? {
    guard let tens = digit(bytes[index]), let ones = digit(bytes[index + 1]) else { return nil }
    return tens * 10 + ones
  }

  /// `hh:mm:ss` in seconds.
  private static func timeOfDay(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
    guard bytes[index + 2] == 0x3A, bytes[index + 5] == 0x3A, let hour = twoDigits(bytes, index),
      let minute = twoDigits(bytes, index + 3), let second = twoDigits(bytes, index + 6), hour < 24, minute < 60,
      second <= 60
    else { return nil }
    return hour * 3600 + minute * 60 + min(second, 59)
  }

  private static func endsInGMT(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
    bytes[index] == 0x20 && threeLetters(bytes, index + 1) == 0x676D74
  }

  /// Three letters in lower case as one number; 0 if one is not a letter.
  private static func threeLetters(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int) -> UInt32 {
    var number: UInt32 = 0
    for byte in bytes[index..<(index + 3)] {
      let letter = byte | 0x20
      guard letter >= 0x61, letter <= 0x7A else { return 0 }
      number = number << 8 | UInt32(letter)
    }
    return number
  }

  private static func month(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int? {
    switch threeLetters(bytes, index) {
    case 0x6A616E: 1
    case 0x666562: 2
    case 0x6D6172: 3
    case 0x617072: 4
    case 0x6D6179: 5
    case 0x6A756E: 6
    case 0x6A756C: 7
    case 0x617567: 8
    case 0x736570: 9
    case 0x6F6374: 10
    case 0x6E6F76: 11
    case 0x646563: 12
    default: nil
    }
  }

  private static func weekday(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Bool {
    switch threeLetters(bytes, index) {
    case 0x6D6F6E, 0x747565, 0x776564, 0x746875, 0x667269, 0x736174, 0x73756E: true
    default: false
    }
  }

  private static func longWeekday(_ bytes: UnsafeBufferPointer<UInt8>, length: Int) -> Bool {
    let name = bytes[..<length].lazy.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
    return ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].contains {
      $0.utf8.elementsEqual(name)
    }
  }
}
