@_spi(Stores) import LarderCore

/// `Edm.Date`: a date in the proleptic Gregorian calendar, without a time zone.
///
/// Years range from -999,999,999 to 999,999,999; year 0 exists and is a leap year (ISO 8601, XML Schema 1.1 §3.3.9).
public struct ODataDate: Sendable, Hashable, Comparable, CustomStringConvertible {
  private let storedYear: Int32
  private let storedMonth: UInt8
  private let storedDay: UInt8

  /// The year, negative before year 0.
  public var year: Int { Int(storedYear) }
  /// The month, 1 to 12.
  public var month: Int { Int(storedMonth) }
  /// The day, 1 to 31.
  public var day: Int { Int(storedDay) }

  /// The largest year; its negative is the smallest.
  package static let maximumYear = 999_999_999

  /// Creates a date; nil if there is no such day.
  public init?(year: Int, month: Int, day: Int) {
    guard year.magnitude <= UInt(ODataDate.maximumYear), (1...12).contains(month), day >= 1,
      day <= GregorianCalendar.days(inMonth: month, year: year)
    else { return nil }
    storedYear = Int32(year)
    storedMonth = UInt8(month)
    storedDay = UInt8(day)
  }

  /// Parses `YYYY-MM-DD`, with years of more than four digits and negative ones too (ABNF `dateValue`).
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { ODataDate(&$0) }) else { return nil }
    self = value
  }

  init?(_ cursor: inout ByteCursor) {
    let isNegative = cursor.take(UInt8(ascii: "-"))
    let isZeroLed = cursor.peek == 0x30
    let run = cursor.digitRun()
    guard run.count >= 4, run.count == 4 || !isZeroLed, let digits = run.value,
      digits <= UInt64(ODataDate.maximumYear), cursor.take(UInt8(ascii: "-")), let month = cursor.digits(2),
      cursor.take(UInt8(ascii: "-")), let day = cursor.digits(2)
    else { return nil }
    self.init(year: isNegative ? -Int(digits) : Int(digits), month: month, day: day)
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) {
    if storedYear < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(decimal: storedYear.magnitude, width: 4)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(decimal: storedMonth, width: 2)
    bytes.append(UInt8(ascii: "-"))
    bytes.append(decimal: storedDay, width: 2)
  }

  /// `YYYY-MM-DD`
  public var description: String { String(writing: write) }

  /// Orders by time.
  public static func < (left: ODataDate, right: ODataDate) -> Bool {
    (left.storedYear, left.storedMonth, left.storedDay) < (right.storedYear, right.storedMonth, right.storedDay)
  }
}

extension ODataDate {
  /// Days since 1970-01-01, negative before.
  package var daysSince1970: Int64 {
    GregorianCalendar.daysSince1970(year: Int(storedYear), month: Int(storedMonth), day: Int(storedDay))
  }

  /// The date that is the given number of days after 1970-01-01; nil beyond the range of years.
  package init?(daysSince1970 days: Int64) {
    guard days.magnitude < 366_000_000_000 else { return nil }
    let date = GregorianCalendar.date(daysSince1970: days)
    self.init(year: date.year, month: date.month, day: date.day)
  }
}
