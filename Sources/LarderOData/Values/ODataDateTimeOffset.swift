/// `Edm.DateTimeOffset`: a timestamp with a local date and time, and their offset from UTC.
///
/// Equality, order and hash compare points in time: `10:00+00:00 == 12:00+02:00`. The local fields and the offset are
/// kept for printing; ``isIdentical(to:)`` compares them too. A leap second is ordered between `:59` and the next
/// minute.
public struct ODataDateTimeOffset: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The local date.
  public let date: ODataDate
  private let storedOffset: Int16
  /// The local time.
  public let time: ODataTimeOfDay

  /// The minutes that the local time is ahead of UTC, -1439 to 1439.
  public var offsetMinutes: Int { Int(storedOffset) }

  /// Creates a timestamp from local date and time and their offset in minutes; nil if the offset is a day or more.
  public init?(date: ODataDate, time: ODataTimeOfDay, offsetMinutes: Int = 0) {
    guard offsetMinutes.magnitude < 1440 else { return nil }
    self.date = date
    self.time = time
    storedOffset = Int16(offsetMinutes)
  }

  /// Parses `YYYY-MM-DDThh:mm`, optionally seconds and up to 12 fractional digits, and `Z` or `±hh:mm`.
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { ODataDateTimeOffset(&$0) }) else { return nil }
    self = value
  }

  init?(_ cursor: inout ByteCursor) {
    guard let local = ODataDateTime(&cursor), !local.isFinerThanPicoseconds else { return nil }
    if cursor.take(letter: UInt8(ascii: "Z")) {
      self.init(date: local.date, time: local.time)
      return
    }
    let isNegative = cursor.peek == UInt8(ascii: "-")
    guard isNegative || cursor.peek == UInt8(ascii: "+") else { return nil }
    cursor.advance()
    guard let hours = cursor.digits(2), hours < 24 else { return nil }
    // Some JSON libraries omit the colon.
    _ = cursor.take(UInt8(ascii: ":"))
    guard let minutes = cursor.digits(2), minutes < 60 else { return nil }
    let offset = hours * 60 + minutes
    self.init(date: local.date, time: local.time, offsetMinutes: isNegative ? -offset : offset)
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) {
    ODataDateTime(date: date, time: time).write(into: &bytes)
    guard storedOffset != 0 else {
      bytes.append(UInt8(ascii: "Z"))
      return
    }
    bytes.append(UInt8(ascii: storedOffset < 0 ? "-" : "+"))
    bytes.append(decimal: storedOffset.magnitude / 60, width: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(decimal: storedOffset.magnitude % 60, width: 2)
  }

  /// `YYYY-MM-DDThh:mm:ss`, a fraction if there is one, and `Z` or `±hh:mm`.
  public var description: String { String(writing: write) }

  /// Seconds from 1970-01-01T00:00:00Z to the timestamp; a leap second counts as the second before it.
  package var secondsSince1970: Int64 {
    ODataDateTime(date: date, time: time).secondsSince1970 - Int64(storedOffset) * 60
  }

  /// Milliseconds since 1970-01-01T00:00:00 in local time; nil if there is a fraction of a millisecond.
  var localMilliseconds: Int64? { ODataDateTime(date: date, time: time).millisecondsSince1970 }

  /// The timestamp that is the given number of seconds after 1970-01-01T00:00:00Z, with that offset; nil beyond the
  /// range.
  package init?(secondsSince1970 seconds: Int64, picosecond: UInt64 = 0, offsetMinutes: Int = 0) {
    let (shifted, overflow) = seconds.addingReportingOverflow(
      Int64(clamping: offsetMinutes).multipliedReportingOverflow(by: 60).partialValue)
    guard offsetMinutes.magnitude < 1440, !overflow,
      let local = ODataDateTime(secondsSince1970: shifted, picosecond: picosecond)
    else { return nil }
    self.init(date: local.date, time: local.time, offsetMinutes: offsetMinutes)
  }

  /// Returns this point in time with another offset; nil if the offset is a day or more, or would move a leap second
  /// away from the end of a minute.
  public func with(offsetMinutes: Int) -> ODataDateTimeOffset? {
    guard offsetMinutes.magnitude < 1440 else { return nil }
    guard
      let moved = ODataDateTimeOffset(
        secondsSince1970: secondsSince1970, picosecond: time.picosecond, offsetMinutes: offsetMinutes)
    else { return nil }
    guard time.second == 60 else { return moved }
    guard
      let leap = ODataTimeOfDay(
        hour: moved.time.hour, minute: moved.time.minute, second: 60, picosecond: time.picosecond)
    else { return nil }
    return ODataDateTimeOffset(date: moved.date, time: leap, offsetMinutes: offsetMinutes)
  }

  private var instant: (Int64, UInt64) { (secondsSince1970, time.picosecondOfSecond) }

  /// True if point in time, local time and offset are all equal.
  public func isIdentical(to other: ODataDateTimeOffset) -> Bool {
    date == other.date && time == other.time && storedOffset == other.storedOffset
  }

  /// Whether two timestamps are the same point in time.
  public static func == (left: ODataDateTimeOffset, right: ODataDateTimeOffset) -> Bool {
    left.instant == right.instant
  }

  /// Hashes the point in time.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(secondsSince1970)
    hasher.combine(time.picosecondOfSecond)
  }

  /// Orders by point in time.
  public static func < (left: ODataDateTimeOffset, right: ODataDateTimeOffset) -> Bool {
    left.instant < right.instant
  }
}
