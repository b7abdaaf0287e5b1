/// `Edm.DateTime` of V1 to V3: a date and a time without a time zone.
public struct ODataDateTime: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// The date.
  public var date: ODataDate {
    switch storage {
    case .plain(let date, _), .fine(let date, _, _): date
    }
  }
  /// The time.
  public var time: ODataTimeOfDay {
    switch storage {
    case .plain(_, let time), .fine(_, let time, _): time
    }
  }
  /// The digits of the fraction after the picoseconds, without trailing zeros; almost always empty.
  private var further: String { if case .fine(_, _, let further) = storage { further } else { "" } }

  /// Nearly all values are plain. The others are stored outside of the value, so that values stay small.
  private enum Storage: Sendable, Hashable {
    case plain(ODataDate, ODataTimeOfDay)
    indirect case fine(ODataDate, ODataTimeOfDay, further: String)
  }
  private let storage: Storage

  /// Whether the fraction has digits after the picoseconds, which only services outside the standard write. They are
  /// kept, compared and printed, but are not in ``time``.
  package var isFinerThanPicoseconds: Bool { if case .fine = storage { true } else { false } }

  /// Creates a timestamp from a date and a time.
  public init(date: ODataDate, time: ODataTimeOfDay = .midnight) {
    self.init(date: date, time: time, further: "")
  }

  private init(date: ODataDate, time: ODataTimeOfDay, further: String) {
    storage = further.isEmpty ? .plain(date, time) : .fine(date, time, further: further)
  }

  /// Parses `YYYY-MM-DDThh:mm`, optionally with seconds and a fraction; nil if a time zone follows.
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { ODataDateTime(&$0) }) else { return nil }
    self = value
  }

  init?(_ cursor: inout ByteCursor) {
    var further = ""
    guard let date = ODataDate(&cursor), cursor.take(letter: UInt8(ascii: "T")),
      let time = ODataTimeOfDay(&cursor, further: &further)
    else { return nil }
    self.init(date: date, time: time, further: further)
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) {
    date.write(into: &bytes)
    bytes.append(UInt8(ascii: "T"))
    time.write(into: &bytes, further: further)
  }

  /// `YYYY-MM-DDThh:mm:ss`, with a fraction if there is one.
  public var description: String { String(writing: write) }

  /// Orders by time.
  public static func < (left: ODataDateTime, right: ODataDateTime) -> Bool {
    if left.date != right.date { return left.date < right.date }
    return left.time != right.time ? left.time < right.time : left.further < right.further
  }

  /// Seconds since 1970-01-01T00:00:00, negative before.
  package var secondsSince1970: Int64 { date.daysSince1970 * 86_400 + time.secondOfDay }

  /// Creates a timestamp from seconds since 1970 and a fraction; nil beyond the range of years.
  package init?(secondsSince1970 seconds: Int64, picosecond: UInt64) {
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    guard let date = ODataDate(daysSince1970: days),
      let time = ODataTimeOfDay(secondOfDay: seconds - days * 86_400, picosecond: picosecond)
    else { return nil }
    self.init(date: date, time: time)
  }

  /// The timestamp that is the given number of milliseconds after 1970-01-01T00:00:00; nil beyond the range of years.
  package init?(millisecondsSince1970 milliseconds: Int64) {
    let rest = milliseconds % 1000
    let seconds = milliseconds / 1000 - (rest < 0 ? 1 : 0)
    self.init(secondsSince1970: seconds, picosecond: UInt64(rest < 0 ? rest + 1000 : rest) * 1_000_000_000)
  }

  /// Whole milliseconds since 1970-01-01T00:00:00; nil if a part of a millisecond would be lost, as in a leap second.
  package var millisecondsSince1970: Int64? {
    guard time.second < 60, time.picosecond % 1_000_000_000 == 0, further.isEmpty else { return nil }
    return secondsSince1970 * 1000 + Int64(time.picosecond / 1_000_000_000)
  }

  /// Ticks of 100 ns since 0001-01-01T00:00:00, the unit of V2; nil if a part of a tick would be lost, in a leap
  /// second, and outside the years 1 to 9999.
  package var ticks: Int64? {
    guard (1...9999).contains(date.year), time.second < 60, time.picosecond % 100_000 == 0, further.isEmpty
    else { return nil }
    return (secondsSince1970 + 62_135_596_800) * 10_000_000 + Int64(time.picosecond / 100_000)
  }
}
