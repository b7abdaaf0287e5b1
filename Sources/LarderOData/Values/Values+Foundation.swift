#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

// Bridges to Foundation's types. If those are narrower, the doc comment says what is rounded or rejected.
extension Date {
  /// Converts a timestamp; it is rounded to what a `Double` of seconds holds (better than a microsecond for this
  /// century).
  public init(_ timestamp: ODataDateTimeOffset) {
    self.init(
      timeIntervalSince1970: Double(timestamp.secondsSince1970) + Double(timestamp.time.picosecondOfSecond) / 1e12)
  }

  /// Converts a timestamp, read as UTC; it is rounded to what a `Double` of seconds holds.
  public init(utc clock: ODataDateTime) {
    self.init(
      timeIntervalSince1970: Double(clock.secondsSince1970) + Double(clock.time.picosecondOfSecond) / 1e12)
  }

  /// Converts a date to its midnight in UTC.
  public init(utc day: ODataDate) { self.init(timeIntervalSince1970: Double(day.daysSince1970) * 86_400) }

  /// Seconds and picoseconds since 1970, rounded to the microsecond; nil for dates that no calendar has.
  fileprivate var clock: (seconds: Int64, picosecond: UInt64)? {
    let whole = timeIntervalSince1970.rounded(.down)
    guard whole.isFinite, whole.magnitude < 1e17 else { return nil }
    let microseconds = ((timeIntervalSince1970 - whole) * 1e6).rounded()
    return microseconds >= 1e6
      ? (Int64(whole) + 1, 0) : (Int64(whole), UInt64(microseconds) * 1_000_000)
  }
}

extension ODataDateTimeOffset {
  /// Converts a date to the microsecond, with the given offset; nil outside ``ODataDate``'s years.
  public init?(_ date: Date, offsetMinutes: Int = 0) {
    guard let clock = date.clock else { return nil }
    self.init(secondsSince1970: clock.seconds, picosecond: clock.picosecond, offsetMinutes: offsetMinutes)
  }
}

extension ODataDateTime {
  /// Converts a date to UTC, to the microsecond; nil outside ``ODataDate``'s years.
  public init?(utc date: Date) {
    guard let clock = date.clock else { return nil }
    self.init(secondsSince1970: clock.seconds, picosecond: clock.picosecond)
  }
}

extension UUID {
  /// Converts a GUID: both have the same 128 bits.
  public init(_ guid: ODataGuid) {
    func byte(_ index: Int) -> UInt8 {
      UInt8(truncatingIfNeeded: (index < 8 ? guid.high : guid.low) >> UInt64(56 - index % 8 * 8))
    }
    self.init(
      uuid: (
        byte(0), byte(1), byte(2), byte(3), byte(4), byte(5), byte(6), byte(7), byte(8), byte(9), byte(10), byte(11),
        byte(12), byte(13), byte(14), byte(15)
      ))
  }
}

extension ODataGuid {
  /// Converts a UUID: both have the same 128 bits.
  public init(_ uuid: UUID) {
    var high: UInt64 = 0
    var low: UInt64 = 0
    withUnsafeBytes(of: uuid.uuid) { bytes in
      for byte in bytes.prefix(8) { high = high << 8 | UInt64(byte) }
      for byte in bytes.dropFirst(8) { low = low << 8 | UInt64(byte) }
    }
    self.init(high: high, low: low)
  }
}

extension ODataValue {
  /// Creates an `Edm.Binary` from the bytes.
  public static func binary(_ data: Data) -> ODataValue { .binary([UInt8](data)) }

  /// The bytes of an `Edm.Binary`; nil for other values.
  public var data: Data? { if case .binary(let bytes) = self { Data(bytes) } else { nil } }
}

extension Decimal {
  /// Converts a decimal; nil for INF and -INF, more than 38 digits, and exponents outside -128 to 127.
  public init?(exactly number: ODataDecimal) {
    if number.isNaN {
      self = .nan
      return
    }
    guard number.isFinite, number.digitCount <= 38, (-128...127).contains(number.exponent) else { return nil }
    // Two halves of at most 19 digits each fit into 64 bits.
    let digits = number.digits
    var halves: [UInt64] = []
    for part in [digits.dropLast(19), digits.suffix(19)] { halves.append(part.reduce(0) { $0 * 10 + UInt64($1) }) }
    let shift = Decimal(sign: .plus, exponent: 19, significand: Decimal(halves[0]))
    let magnitude = shift + Decimal(halves[1])
    self = Decimal(sign: number.signum < 0 ? .minus : .plus, exponent: Int(number.exponent), significand: magnitude)
  }
}

extension ODataDecimal {
  /// Converts a decimal exactly.
  public init(_ number: Decimal) { self = ODataDecimal(number.description) ?? .nan }
}

extension ODataDuration {
  /// Converts a duration; nil if a part of a picosecond would be lost.
  public init?(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    guard attoseconds % 1_000_000 == 0 else { return nil }
    self.init(seconds: seconds, picoseconds: attoseconds / 1_000_000)
  }
}

extension Duration {
  /// Converts a duration exactly.
  public init(_ duration: ODataDuration) {
    self.init(secondsComponent: duration.seconds, attosecondsComponent: duration.picoseconds * 1_000_000)
  }
}
