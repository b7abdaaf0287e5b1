/// `Edm.TimeOfDay`: a time from hour to picosecond. A leap second (`:60`) is kept.
public struct ODataTimeOfDay: Sendable, Hashable, Comparable, CustomStringConvertible {
  /// Hour, minute, second and picosecond from the highest bits down, so that its order is the order of time.
  private let packed: UInt64

  /// The hour, 0 to 23.
  public var hour: Int { Int(packed >> 52) }
  /// The minute, 0 to 59.
  public var minute: Int { Int(packed >> 46 & 0x3F) }
  /// The second, 0 to 60; 60 is a leap second.
  public var second: Int { Int(packed >> 40 & 0x3F) }
  /// The picosecond, 0 to 999,999,999,999.
  public var picosecond: UInt64 { packed & 0xFF_FFFF_FFFF }

  /// 00:00:00
  public static let midnight = ODataTimeOfDay(packed: 0)

  private init(packed: UInt64) { self.packed = packed }

  /// Creates a time; nil if a part is out of range.
  public init?(hour: Int, minute: Int, second: Int = 0, picosecond: UInt64 = 0) {
    guard (0...23).contains(hour), (0...59).contains(minute), (0...60).contains(second), picosecond < 1_000_000_000_000
    else { return nil }
    packed = UInt64(hour) << 52 | UInt64(minute) << 46 | UInt64(second) << 40 | picosecond
  }

  /// Parses `hh:mm`, `hh:mm:ss` and up to 12 fractional digits (ABNF `timeOfDayValue`).
  public init?(_ text: String) {
    guard let value = ByteCursor.whole(text, { ODataTimeOfDay(&$0) }) else { return nil }
    self = value
  }

  init?(_ cursor: inout ByteCursor) {
    var further = ""
    self.init(&cursor, further: &further)
    guard further.isEmpty else { return nil }
  }

  /// Reads a time whose fraction may have more digits than the type holds.
  init?(_ cursor: inout ByteCursor, further: inout String) {
    guard let hour = cursor.digits(2), cursor.take(UInt8(ascii: ":")), let minute = cursor.digits(2) else { return nil }
    var second = 0
    var picosecond: UInt64 = 0
    if cursor.take(UInt8(ascii: ":")) {
      guard let digits = cursor.digits(2) else { return nil }
      second = digits
      if cursor.take(UInt8(ascii: ".")) {
        guard let fraction = cursor.picoseconds(further: &further) else { return nil }
        picosecond = fraction
      }
    }
    self.init(hour: hour, minute: minute, second: second, picosecond: picosecond)
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) { write(into: &bytes, further: "") }

  /// Appends the text with further digits of the fraction.
  func write(into bytes: inout [UInt8], further: String) {
    bytes.append(decimal: hour, width: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(decimal: minute, width: 2)
    bytes.append(UInt8(ascii: ":"))
    bytes.append(decimal: second, width: 2)
    bytes.append(picoseconds: picosecond, further: further)
  }

  /// `hh:mm:ss`, with a fraction, without trailing zeros, if there is one.
  public var description: String { String(writing: write) }

  /// Seconds since midnight; a leap second counts as the second before it.
  var secondOfDay: Int64 { Int64(hour) * 3600 + Int64(minute) * 60 + Int64(min(second, 59)) }

  /// Picoseconds after ``secondOfDay``: those of a leap second follow those of the second before it.
  var picosecondOfSecond: UInt64 { picosecond + (second == 60 ? 1_000_000_000_000 : 0) }

  /// Creates a time from a second of the day, 0 to 86,399.
  init?(secondOfDay: Int64, picosecond: UInt64) {
    guard (0..<86_400).contains(secondOfDay) else { return nil }
    self.init(
      hour: Int(secondOfDay / 3600), minute: Int(secondOfDay / 60 % 60), second: Int(secondOfDay % 60),
      picosecond: picosecond)
  }

  /// Orders by time.
  public static func < (left: ODataTimeOfDay, right: ODataTimeOfDay) -> Bool { left.packed < right.packed }
}
