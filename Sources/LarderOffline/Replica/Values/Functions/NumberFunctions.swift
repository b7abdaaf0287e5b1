import LarderOData
import LarderStorage

extension ReplicaSQL {
  /// Arithmetic and rounding.
  static let numbers: [SQLFunction] = [
    binary("larder_add", SQLNumber.add),
    binary("larder_sub", SQLNumber.subtract),
    binary("larder_mul", SQLNumber.multiply),
    binary("larder_div", SQLNumber.divide),
    binary("larder_divby", SQLNumber.divideBy),
    binary("larder_mod", SQLNumber.modulo),
    unary("larder_neg") { (number) throws(SQLFunctionError) in try number.negated() },
    unary("larder_round") { (number) throws(SQLFunctionError) in number.rounded(.halfAwayFromZero) },
    unary("larder_floor") { (number) throws(SQLFunctionError) in number.rounded(.down) },
    unary("larder_ceiling") { (number) throws(SQLFunctionError) in number.rounded(.up) },
    unary("larder_to_decimal") { (number) throws(SQLFunctionError) in .decimal(number.decimal) },
    unary("larder_to_real") { (number) throws(SQLFunctionError) in .real(number.real) },
    SQLFunction("larder_compare", argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = SQLNumber(arguments, 0), let right = SQLNumber(arguments, 1),
        let order = SQLNumber.compare(left, right)
      else { return }
      result.integer(Int64(order))
    },
    // Checks the size of an intermediate result. A query above the limit fails; its result is never truncated.
    SQLFunction("larder_bounded", argumentCount: 3) { (arguments, result) throws(SQLFunctionError) in
      let number = arguments.int64(0)
      guard number <= arguments.int64(1) else {
        let message = unsafe String(decoding: arguments.utf8(2), as: UTF8.self)
        throw SQLFunctionError("\(message): the limit is \(arguments.int64(1))")
      }
      result.integer(number)
    },
  ]

  private static func binary(
    _ name: String,
    _ body: @escaping @Sendable (SQLNumber, SQLNumber) throws(SQLFunctionError) -> SQLNumber
  ) -> SQLFunction {
    SQLFunction(name, argumentCount: 2) { (arguments, result) throws(SQLFunctionError) in
      guard let left = SQLNumber(arguments, 0), let right = SQLNumber(arguments, 1) else { return }
      try body(left, right).set(result)
    }
  }

  private static func unary(
    _ name: String, _ body: @escaping @Sendable (SQLNumber) throws(SQLFunctionError) -> SQLNumber
  ) -> SQLFunction {
    SQLFunction(name, argumentCount: 1) { (arguments, result) throws(SQLFunctionError) in
      guard let number = SQLNumber(arguments, 0) else { return }
      try body(number).set(result)
    }
  }

  /// Sums and averages.
  static let aggregates: [SQLAggregate] = [
    SQLAggregate("larder_sum", argumentCount: 1) { NumberSum(isAverage: false) },
    SQLAggregate("larder_average", argumentCount: 1) { NumberSum(isAverage: true) },
    SQLAggregate("larder_duration_sum", argumentCount: 1) { DurationSum(isAverage: false) },
    SQLAggregate("larder_duration_average", argumentCount: 1) { DurationSum(isAverage: true) },
  ]
}

/// Adds the numbers of a group: integers and decimals exactly; for floating-point numbers, the rounding error of each
/// step is kept separately.
private final class NumberSum: SQLAggregateState {
  private let isAverage: Bool
  private var count: Int64 = 0
  private var integerSum: Int128 = 0
  private var decimal: ODataDecimal?
  private var real: Double?
  private var lost = 0.0

  init(isAverage: Bool) { self.isAverage = isAverage }

  func add(_ arguments: borrowing SQLArguments) throws(SQLFunctionError) {
    guard let number = SQLNumber(arguments, 0) else { return }
    count += 1
    switch number {
    case .integer(let number): integerSum += Int128(number)
    case .decimal(let number):
      guard let sum = decimal else {
        decimal = number
        return
      }
      if case .decimal(let next) = try SQLNumber.decimal({ () throws(ODataArithmeticError) in try sum.adding(number) })
      {
        decimal = next
      }
    case .real(let number):
      let sum = real ?? 0
      let next = sum + number
      if next.isFinite {
        lost += abs(sum) >= abs(number) ? (sum - next) + number : (number - next) + sum
      }
      real = next
    }
  }

  func finish(_ result: borrowing SQLResult) throws(SQLFunctionError) {
    guard count > 0 else { return }
    let total = try sum()
    guard isAverage else { return total.set(result) }
    if case .real(let number) = total { return SQLNumber.real(number / Double(count)).set(result) }
    try SQLNumber.divideBy(total, .integer(count)).set(result)
  }

  private func sum() throws(SQLFunctionError) -> SQLNumber {
    let exact = ODataDecimal(integerSum, exponent: 0)
    if let real {
      let rest = try SQLNumber.decimal { () throws(ODataArithmeticError) in try exact.adding(decimal ?? 0) }
      return .real(real + lost + rest.real)
    }
    if let decimal {
      return try SQLNumber.decimal { () throws(ODataArithmeticError) in try decimal.adding(exact) }
    }
    if isAverage { return .decimal(exact) }
    guard let number = Int64(exactly: integerSum) else {
      throw SQLFunctionError("integer overflow: the sum is beyond 64 bits")
    }
    return .integer(number)
  }
}

/// Adds durations of a group.
private final class DurationSum: SQLAggregateState {
  private let isAverage: Bool
  private var count: Int64 = 0
  private var picoseconds: Int128 = 0

  init(isAverage: Bool) { self.isAverage = isAverage }

  func add(_ arguments: borrowing SQLArguments) throws(SQLFunctionError) {
    guard let duration = SQLDuration(arguments, 0) else { return }
    count += 1
    picoseconds = try SQLDuration.check(picoseconds.addingReportingOverflow(duration.picoseconds)).picoseconds
  }

  func finish(_ result: borrowing SQLResult) throws(SQLFunctionError) {
    guard count > 0 else { return }
    let total = SQLDuration(picoseconds: picoseconds)
    try (isAverage ? try total.divided(by: .integer(count)) : total).set(result)
  }
}
