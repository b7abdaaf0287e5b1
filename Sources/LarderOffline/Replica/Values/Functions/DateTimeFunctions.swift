import LarderOData
import LarderStorage

extension ReplicaSQL {
  /// Arithmetic of dates, timestamps and durations, and their parts.
  static let timestamps: [SQLFunction] = [
    moved("larder_moment_add", 1), moved("larder_moment_sub", -1),
    SQLFunction("larder_moment_diff", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = SQLTimestamp(arguments, 0), let right = SQLTimestamp(arguments, 1), let gap = left.since(right)
      else {
        return
      }
      try gap.set(result)
    },
    SQLFunction("larder_duration_add", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = SQLDuration(arguments, 0), let right = SQLDuration(arguments, 1) else { return }
      try SQLDuration.check(left.picoseconds.addingReportingOverflow(right.picoseconds)).set(result)
    },
    SQLFunction("larder_duration_sub", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = SQLDuration(arguments, 0), let right = SQLDuration(arguments, 1) else { return }
      try SQLDuration.check(left.picoseconds.subtractingReportingOverflow(right.picoseconds)).set(result)
    },
    SQLFunction("larder_duration_neg", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let duration = SQLDuration(arguments, 0) else { return }
      try SQLDuration(picoseconds: -duration.picoseconds).set(result)
    },
    SQLFunction("larder_duration_mul", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let duration = SQLDuration(arguments, 0), let number = SQLNumber(arguments, 1) else { return }
      try duration.multiplied(by: number).set(result)
    },
    SQLFunction("larder_duration_div", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let duration = SQLDuration(arguments, 0), let number = SQLNumber(arguments, 1) else { return }
      try duration.divided(by: number).set(result)
    },
    SQLFunction("larder_totalseconds", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let duration = SQLDuration(arguments, 0) else { return }
      SQLNumber.decimal(duration.totalSeconds).set(result)
    },
    date("larder_year") { $0.year }, date("larder_month") { $0.month }, date("larder_day") { $0.day },
    time("larder_hour") { $0.hour }, time("larder_minute") { $0.minute }, time("larder_second") { $0.second },
    SQLFunction("larder_fractionalseconds", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let time = clock(arguments) else { return }
      SQLNumber.decimal(ODataDecimal(Int128(time.picosecond), exponent: -12).withoutZeros).set(result)
    },
    SQLFunction("larder_totaloffsetminutes", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard case .dateTimeOffset(let timestamp)? = SQLTimestamp(arguments, 0) else { return }
      result.integer(Int64(timestamp.offsetMinutes))
    },
    SQLFunction("larder_date", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let timestamp = SQLTimestamp(arguments, 0) else { return }
      SQLTimestamp.date(timestamp.date).set(result)
    },
    SQLFunction("larder_time", argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let time = clock(arguments) else { return }
      var bytes: [UInt8] = []
      time.write(into: &bytes)
      result.text(bytes)
    },
  ]

  private static func moved(_ name: String, _ sign: Int128) -> SQLFunction {
    SQLFunction(name, argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let timestamp = SQLTimestamp(arguments, 0), let duration = SQLDuration(arguments, 1) else { return }
      try timestamp.adding(sign * duration.picoseconds).set(result)
    }
  }

  private static func date(_ name: String, _ part: @escaping @Sendable (ODataDate) -> Int) -> SQLFunction {
    SQLFunction(name, argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let timestamp = SQLTimestamp(arguments, 0) else { return }
      result.integer(Int64(part(timestamp.date)))
    }
  }

  private static func time(_ name: String, _ part: @escaping @Sendable (ODataTimeOfDay) -> Int) -> SQLFunction {
    SQLFunction(name, argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let time = clock(arguments) else { return }
      result.integer(Int64(part(time)))
    }
  }

  /// The time of a timestamp, a time of day, or V2's Edm.Time; nil for NULL and for other values.
  private static func clock(_ arguments: borrowing SQLArguments) -> ODataTimeOfDay? {
    guard arguments.storageClass(0) == .text else { return nil }
    let text = unsafe TextBytes(arguments.utf8(0))
    if text[2] == UInt8(ascii: ":") { return unsafe ODataTimeOfDay(utf8: text.bytes) }
    guard text.has(letter: UInt8(ascii: "P"), at: 0) else { return SQLTimestamp(arguments, 0)?.time }
    guard let duration = unsafe ODataDuration(utf8: text.bytes), duration.seconds < 86_400 else { return nil }
    let second = Int(duration.seconds)
    return ODataTimeOfDay(
      hour: second / 3600, minute: second / 60 % 60, second: second % 60, picosecond: UInt64(duration.picoseconds))
  }
}
