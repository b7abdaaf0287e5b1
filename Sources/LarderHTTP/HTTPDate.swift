@_spi(Stores) import LarderCore

/// Dates of header fields: parsed strictly (RFC 9110 §5.6.7) or leniently like those of cookies (RFC 6265 §5.1.1), and
/// formatted.
package enum HTTPDate {
  /// Seconds since 1970 in UTC, from any form that servers send; nil for a text that is no date.
  package static func unixTime(_ text: String) -> Int64? {
    var date = Fields()
    for token in text.utf8.split(whereSeparator: isDelimiter) { date.assign(Array(token)) }
    return date.unixTime
  }

  private struct Fields {
    var time: (hour: Int, minute: Int, second: Int)?
    var day: Int?
    var month: Int?
    var year: Int?

    /// Assigns a token to the first field that is still empty and that it fits.
    mutating func assign(_ token: [UInt8]) {
      if time == nil, let value = HTTPDate.time(token) {
        time = value
      } else if day == nil, let value = HTTPDate.number(token, digits: 1...2) {
        day = value
      } else if month == nil, let value = HTTPDate.month(token) {
        month = value
      } else if year == nil, let value = HTTPDate.number(token, digits: 2...4) {
        year = value
      }
    }

    var unixTime: Int64? {
      guard let time, let day, let month, var year else { return nil }
      if (70...99).contains(year) { year += 1900 } else if (0...69).contains(year) { year += 2000 }
      guard year >= 1601, day >= 1, day <= GregorianCalendar.days(inMonth: month, year: year) else { return nil }
      guard time.hour <= 23, time.minute <= 59, time.second <= 60 else { return nil }
      let seconds = time.hour * 3600 + time.minute * 60 + min(time.second, 59)
      return GregorianCalendar.daysSince1970(year: year, month: month, day: day) * 86_400 + Int64(seconds)
    }
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  /// `hh:mm:ss`, one or two digits each.
  private static func time(_ token: [UInt8]) -> (hour: Int, minute: Int, second: Int)? {
    let parts = token.split(separator: 0x3A, omittingEmptySubsequences: false)
    guard parts.count == 3, let hour = number(Array(parts[0]), digits: 1...2, isWhole: true),
      let minute = number(Array(parts[1]), digits: 1...2, isWhole: true),
      let second = number(Array(parts[2]), digits: 1...2)
    else { return nil }
    return (hour, minute, second)
  }

  /// The digits that a token begins with, if their number is in the allowed range.
  private static func number(_ token: [UInt8], digits: ClosedRange<Int>, isWhole: Bool = false) -> Int? {
    let leading = token.prefix { $0 >= 0x30 && $0 <= 0x39 }
    guard digits.contains(leading.count), !isWhole || leading.count == token.count else { return nil }
    return leading.reduce(0) { $0 * 10 + Int($1 - 0x30) }
  }

  private static func month(_ token: [UInt8]) -> Int? {
    let name = String(decoding: token.prefix(3), as: UTF8.self).lowercased()
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    return names.firstIndex(of: name).map { $0 + 1 }
  }
}
