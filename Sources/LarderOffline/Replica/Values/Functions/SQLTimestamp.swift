import LarderOData
import LarderStorage

/// A duration as SQL stores it.
struct SQLDuration {
  static let second: Int128 = 1_000_000_000_000

  let picoseconds: Int128

  init(picoseconds: Int128) { self.picoseconds = picoseconds }

  /// Reads an argument; nil for NULL and for other values.
  init?(_ arguments: borrowing SQLArguments, _ index: Int) {
    guard arguments.storageClass(index) == .text, let value = unsafe ODataDuration(utf8: arguments.utf8(index)) else {
      return nil
    }
    picoseconds = Int128(value.seconds) * SQLDuration.second + Int128(value.picoseconds)
  }

  static func check(_ result: (partialValue: Int128, overflow: Bool)) throws(SQLFunctionError) -> SQLDuration {
    if result.overflow { throw SQLFunctionError("a duration is out of range") }
    return SQLDuration(picoseconds: result.partialValue)
  }

  func set(_ result: borrowing SQLResult) throws(SQLFunctionError) {
    let (seconds, rest) = picoseconds.quotientAndRemainder(dividingBy: SQLDuration.second)
    guard let wholeSeconds = Int64(exactly: seconds),
      let value = ODataDuration(seconds: wholeSeconds, picoseconds: Int64(rest))
    else {
      throw SQLFunctionError("a duration is out of range")
    }
    var bytes: [UInt8] = []
    value.write(into: &bytes)
    result.text(bytes)
  }

  /// The exact length in seconds.
  var totalSeconds: ODataDecimal { ODataDecimal(picoseconds, exponent: -12).rounded(scale: 12, .down).withoutZeros }

  func multiplied(by number: SQLNumber) throws(SQLFunctionError) -> SQLDuration {
    if case .integer(let factor) = number {
      return try SQLDuration.check(picoseconds.multipliedReportingOverflow(by: Int128(factor)))
    }
    let product = try SQLNumber.decimal { () throws(ODataArithmeticError) in
      try ODataDecimal(picoseconds, exponent: 0).multiplied(by: number.decimal)
    }
    return try SQLDuration(product.decimal)
  }

  func divided(by number: SQLNumber) throws(SQLFunctionError) -> SQLDuration {
    let quotient = try SQLNumber.decimal { () throws(ODataArithmeticError) in
      try ODataDecimal(picoseconds, exponent: 0).divided(by: number.decimal)
    }
    return try SQLDuration(quotient.decimal)
  }

  private init(_ number: ODataDecimal) throws(SQLFunctionError) {
    guard let whole = number.whole(scale: 0) else { throw SQLFunctionError("a duration is out of range") }
    picoseconds = whole
  }
}

extension ODataDecimal {
  /// The number without trailing zeros after the point.
  var withoutZeros: ODataDecimal {
    var number = self
    while number.scale > 0 {
      let shorter = number.rounded(scale: number.scale - 1, .down)
      guard shorter == number else { break }
      number = shorter
    }
    return number
  }
}

/// A date or timestamp as SQL stores it, with its kind.
enum SQLTimestamp {
  case date(ODataDate)
  case dateTime(ODataDateTime)
  case dateTimeOffset(ODataDateTimeOffset)

  /// Reads an argument; nil for NULL and for other values.
  init?(_ arguments: borrowing SQLArguments, _ index: Int) {
    guard arguments.storageClass(index) == .text else { return nil }
    let bytes = unsafe arguments.utf8(index)
    if let timestamp = unsafe ODataDateTimeOffset(utf8: bytes) {
      self = .dateTimeOffset(timestamp)
    } else if let date = unsafe ODataDate(utf8: bytes) {
      self = .date(date)
    } else if let timestamp = unsafe ODataDateTime(utf8: bytes) {
      self = .dateTime(timestamp)
    } else {
      return nil
    }
  }

  var date: ODataDate {
    switch self {
    case .date(let date): date
    case .dateTime(let timestamp): timestamp.date
    case .dateTimeOffset(let timestamp): timestamp.date
    }
  }

  var time: ODataTimeOfDay {
    switch self {
    case .date: .midnight
    case .dateTime(let timestamp): timestamp.time
    case .dateTimeOffset(let timestamp): timestamp.time
    }
  }

  /// The picoseconds since 1970-01-01T00:00:00, of the local clock if there is no offset.
  private var picoseconds: Int128 {
    let seconds: Int64 =
      switch self {
      case .date(let date): date.daysSince1970 * 86_400
      case .dateTime(let timestamp): timestamp.secondsSince1970
      case .dateTimeOffset(let timestamp): timestamp.secondsSince1970
      }
    return Int128(seconds) * SQLDuration.second + Int128(time.picosecond)
  }

  private var kind: Int {
    switch self {
    case .date: 0
    case .dateTime: 1
    case .dateTimeOffset: 2
    }
  }

  /// Adds a duration in picoseconds. A date counts as the beginning of its day, and the remaining part of a day is
  /// dropped (§5.1.1.2.1).
  func adding(_ duration: Int128) throws(SQLFunctionError) -> SQLTimestamp {
    let total = picoseconds + duration
    var (seconds, rest) = total.quotientAndRemainder(dividingBy: SQLDuration.second)
    if rest < 0 {
      seconds -= 1
      rest += SQLDuration.second
    }
    guard let seconds = Int64(exactly: seconds) else { throw SQLTimestamp.outOfRange }
    switch self {
    case .date:
      let days = seconds >= 0 ? seconds / 86_400 : -((-seconds + 86_399) / 86_400)
      guard let date = ODataDate(daysSince1970: days) else { throw SQLTimestamp.outOfRange }
      return .date(date)
    case .dateTime:
      guard let timestamp = ODataDateTime(secondsSince1970: seconds, picosecond: UInt64(rest)) else {
        throw SQLTimestamp.outOfRange
      }
      return .dateTime(timestamp)
    case .dateTimeOffset(let old):
      guard
        let timestamp = ODataDateTimeOffset(
          secondsSince1970: seconds, picosecond: UInt64(rest), offsetMinutes: old.offsetMinutes)
      else { throw SQLTimestamp.outOfRange }
      return .dateTimeOffset(timestamp)
    }
  }

  private static let outOfRange = SQLFunctionError("a date or timestamp is out of range")

  /// The difference from another value of the same kind; nil for another kind.
  func since(_ other: SQLTimestamp) -> SQLDuration? {
    kind == other.kind ? SQLDuration(picoseconds: picoseconds - other.picoseconds) : nil
  }

  func set(_ result: borrowing SQLResult) {
    var bytes: [UInt8] = []
    switch self {
    case .date(let date): date.write(into: &bytes)
    case .dateTime(let timestamp): timestamp.write(into: &bytes)
    case .dateTimeOffset(let timestamp): timestamp.write(into: &bytes)
    }
    result.text(bytes)
  }
}
