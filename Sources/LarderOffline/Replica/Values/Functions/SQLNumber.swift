import LarderOData
import LarderStorage

/// A number as SQL stores it. The storage class determines its case.
enum SQLNumber {
  case integer(Int64)
  case real(Double)
  case decimal(ODataDecimal)

  /// Reads an argument; nil for NULL and for other values. The text `NaN` may come from a REAL or a decimal; it has the
  /// same effect with all other numbers.
  init?(_ arguments: borrowing SQLArguments, _ index: Int) {
    switch arguments.storageClass(index) {
    case .integer: self = .integer(arguments.int64(index))
    case .real: self = .real(arguments.real(index))
    case .text:
      guard let decimal = unsafe ODataDecimal(utf8: arguments.utf8(index)) else { return nil }
      self = .decimal(decimal)
    case .blob, .null: return nil
    }
  }

  /// The number as an exact decimal; for a REAL, the shortest digits that identify it.
  var decimal: ODataDecimal {
    switch self {
    case .integer(let number): ODataDecimal(number)
    case .real(let number): ODataDecimal(number)
    case .decimal(let number): number
    }
  }

  /// The nearest floating-point number.
  var real: Double {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    case .decimal(let number): Double(number)
    }
  }

  /// Sets the number as a result. NaN becomes a text.
  func set(_ result: borrowing SQLResult) {
    switch self {
    case .integer(let number): result.integer(number)
    case .real(let number): if number.isNaN { result.text("NaN") } else { result.real(number) }
    case .decimal(let number):
      var bytes: [UInt8] = []
      number.write(into: &bytes)
      result.text(bytes)
    }
  }

  private static func fits(
    _ result: (partialValue: Int64, overflow: Bool)
  ) throws(SQLFunctionError) -> SQLNumber {
    if result.overflow { throw SQLFunctionError("integer overflow: the result is beyond 64 bits") }
    return .integer(result.partialValue)
  }

  /// Runs decimal arithmetic, and throws its errors as errors of the function.
  static func decimal(
    _ body: () throws(ODataArithmeticError) -> ODataDecimal
  ) throws(SQLFunctionError) -> SQLNumber {
    do throws(ODataArithmeticError) { return .decimal(try body()) } catch {
      switch error {
      case .divisionByZero: throw SQLFunctionError("division by zero")
      case .outOfRange: throw SQLFunctionError("a decimal number has too many digits")
      }
    }
  }

  // MARK: Arithmetic

  static func add(_ left: SQLNumber, _ right: SQLNumber) throws(SQLFunctionError) -> SQLNumber {
    switch (left, right) {
    case (.integer(let one), .integer(let two)): try fits(one.addingReportingOverflow(two))
    case (.real, _), (_, .real): .real(left.real + right.real)
    default: try decimal { () throws(ODataArithmeticError) in try left.decimal.adding(right.decimal) }
    }
  }

  static func subtract(_ left: SQLNumber, _ right: SQLNumber) throws(SQLFunctionError) -> SQLNumber {
    switch (left, right) {
    case (.integer(let one), .integer(let two)): try fits(one.subtractingReportingOverflow(two))
    case (.real, _), (_, .real): .real(left.real - right.real)
    default: try decimal { () throws(ODataArithmeticError) in try left.decimal.subtracting(right.decimal) }
    }
  }

  static func multiply(_ left: SQLNumber, _ right: SQLNumber) throws(SQLFunctionError) -> SQLNumber {
    switch (left, right) {
    case (.integer(let one), .integer(let two)): try fits(one.multipliedReportingOverflow(by: two))
    case (.real, _), (_, .real): .real(left.real * right.real)
    default: try decimal { () throws(ODataArithmeticError) in try left.decimal.multiplied(by: right.decimal) }
    }
  }

  /// Divides as in §5.1.1.2.5: the quotient of two integers is an integer.
  static func divide(_ left: SQLNumber, _ right: SQLNumber) throws(SQLFunctionError) -> SQLNumber {
    switch (left, right) {
    case (.integer(let one), .integer(let two)):
      guard two != 0 else { throw SQLFunctionError("division by zero") }
      return try fits(one.dividedReportingOverflow(by: two))
    case (.real, _), (_, .real): return .real(left.real / right.real)
    default:
      return try decimal { () throws(ODataArithmeticError) in try left.decimal.divided(by: right.decimal) }
    }
  }

  /// Divides as in §5.1.1.2.5: integers become decimals, and a division by zero does not fail.
  static func divideBy(_ left: SQLNumber, _ right: SQLNumber) throws(SQLFunctionError) -> SQLNumber {
    switch (left, right) {
    case (.real, _), (_, .real): return .real(left.real / right.real)
    default:
      let divisor = right.decimal
      if divisor == 0 {
        let dividend = left.decimal
        return .decimal(dividend.isNaN || dividend == 0 ? .nan : dividend < 0 ? .negativeInfinity : .infinity)
      }
      return try decimal { () throws(ODataArithmeticError) in try left.decimal.divided(by: divisor) }
    }
  }

  /// The remainder of a division (§5.1.1.2.6).
  static func modulo(_ left: SQLNumber, _ right: SQLNumber) throws(SQLFunctionError) -> SQLNumber {
    switch (left, right) {
    case (.integer(let one), .integer(let two)):
      guard two != 0 else { throw SQLFunctionError("division by zero") }
      return .integer(two == -1 ? 0 : one % two)
    case (.real, _), (_, .real):
      let divisor = right.real
      guard divisor != 0 else { throw SQLFunctionError("division by zero") }
      return .real(left.real.truncatingRemainder(dividingBy: divisor))
    default:
      return try decimal { () throws(ODataArithmeticError) in
        try left.decimal.remainder(dividingBy: right.decimal)
      }
    }
  }

  func negated() throws(SQLFunctionError) -> SQLNumber {
    switch self {
    case .integer(let number): try SQLNumber.fits(Int64(0).subtractingReportingOverflow(number))
    case .real(let number): .real(-number)
    case .decimal(let number): .decimal(number.negated)
    }
  }

  /// The nearest whole number by a rule, in the class of the number.
  func rounded(_ rule: ODataRounding) -> SQLNumber {
    switch self {
    case .integer: return self
    case .decimal(let number): return .decimal(number.rounded(rule))
    case .real(let number):
      switch rule {
      case .down: return .real(number.rounded(.down))
      case .up: return .real(number.rounded(.up))
      case .halfAwayFromZero: return .real(number.rounded(.toNearestOrAwayFromZero))
      case .halfToEven: return .real(number.rounded(.toNearestOrEven))
      }
    }
  }

  /// The order of two numbers: negative, 0 or positive. It is exact for all classes; nil if one number is NaN.
  static func compare(_ left: SQLNumber, _ right: SQLNumber) -> Int? {
    switch (left, right) {
    case (.integer(let one), .integer(let two)): return one < two ? -1 : one == two ? 0 : 1
    case (.real(let one), .real(let two)): return one < two ? -1 : one == two ? 0 : one > two ? 1 : nil
    default:
      // Rounding keeps the order, so the nearest floating-point numbers decide if they differ.
      let (leftReal, rightReal) = (left.real, right.real)
      if leftReal != rightReal, !leftReal.isNaN, !rightReal.isNaN { return leftReal < rightReal ? -1 : 1 }
      let (one, two) = (left.whollyExact, right.whollyExact)
      if one.isNaN || two.isNaN { return nil }
      return one < two ? -1 : one == two ? 0 : 1
    }
  }

  /// All digits of the number, including those of a REAL: 0.1 is slightly more than a tenth.
  private var whollyExact: ODataDecimal {
    guard case .real(let number) = self, number.isFinite, number != 0 else { return decimal }
    // The number is significand · 2^power, with a whole significand. Its digits are the significand times 5 to the
    // power of the number of places after the point.
    var power = Int(number.exponent) - 52
    var significand = number.significandBitPattern
    if number.isNormal { significand |= 1 << 52 } else { power = -1074 }
    while power < 0, significand & 1 == 0 {
      significand >>= 1
      power += 1
    }
    var factor: ODataDecimal = power < 0 ? 5 : 2
    var result = ODataDecimal(significand)
    var rest = power.magnitude
    while rest > 0 {
      if rest & 1 == 1, let next = try? result.multiplied(by: factor) { result = next }
      rest >>= 1
      if rest > 0, let square = try? factor.multiplied(by: factor) { factor = square }
    }
    if power < 0, let tenths = ODataDecimal(significand: 1, exponent: power),
      let scaled = try? result.multiplied(by: tenths)
    {
      result = scaled
    }
    return number < 0 ? result.negated : result
  }
}
