/// The reason why there is no result.
package enum ODataArithmeticError: Error, Sendable, Hashable {
  case divisionByZero
  /// The result has more digits, or a larger exponent, than supported.
  case outOfRange
}

/// The rounding of dropped digits.
package enum ODataRounding: Sendable, Hashable {
  case down, up, halfAwayFromZero, halfToEven
}

// Arithmetic, exact except for quotients (URL Conventions 4.01 §5.1.1.2). INF and NaN behave as in IEEE 754.
extension ODataDecimal {
  /// The most digits that an operation supports.
  private static let workingDigits = 5000
  /// The number of digits of a non-terminating quotient.
  private static let quotientDigits = 28

  /// The sum; its scale is the larger one.
  package func adding(_ other: ODataDecimal) throws(ODataArithmeticError) -> ODataDecimal {
    if case .small(let one, let power) = storage, case .small(let two, let otherPower) = other.storage {
      let gap = Int64(power) - Int64(otherPower)
      if gap.magnitude <= 18 {
        let sum =
          gap >= 0
          ? Int128(one) * ODataDecimal.power(gap) + Int128(two) : Int128(one) + Int128(two) * ODataDecimal.power(-gap)
        return ODataDecimal(sum, exponent: min(power, otherPower))
      }
    }
    guard isFinite, other.isFinite else {
      if isNaN || other.isNaN || (!isFinite && !other.isFinite && self != other) { return .nan }
      return isFinite ? other : self
    }
    let exponent = min(self.exponent, other.exponent)
    let one = try magnitude(exponent: exponent)
    let two = try other.magnitude(exponent: exponent)
    let isNegative = signum < 0
    if isNegative == (other.signum < 0) { return ODataDecimal(one + two, isNegative, exponent) }
    return one < two ? ODataDecimal(two - one, !isNegative, exponent) : ODataDecimal(one - two, isNegative, exponent)
  }

  /// The difference.
  package func subtracting(_ other: ODataDecimal) throws(ODataArithmeticError) -> ODataDecimal {
    try adding(other.negated)
  }

  /// The product; its scale is the sum of both.
  package func multiplied(by other: ODataDecimal) throws(ODataArithmeticError) -> ODataDecimal {
    guard isFinite, other.isFinite else {
      let sign = signum * other.signum
      return isNaN || other.isNaN || sign == 0 ? .nan : sign < 0 ? .negativeInfinity : .infinity
    }
    let power = try ODataDecimal.checked(Int64(exponent) + Int64(other.exponent))
    if case .small(let one, _) = storage, case .small(let two, _) = other.storage {
      return ODataDecimal(Int128(one) * Int128(two), exponent: power)
    }
    guard digitCount + other.digitCount <= ODataDecimal.workingDigits else { throw .outOfRange }
    let product = DecimalMagnitude(digits: digits) * DecimalMagnitude(digits: other.digits)
    return ODataDecimal(product, signum * other.signum < 0, power)
  }

  /// The quotient: exact if it terminates within 28 digits, else 28 digits, the last one rounded half to even.
  package func divided(by other: ODataDecimal) throws(ODataArithmeticError) -> ODataDecimal {
    guard isFinite, other.isFinite else {
      if isNaN || other.isNaN || (!isFinite && !other.isFinite) { return .nan }
      if isFinite { return 0 }
      return (signum < 0) != (other.signum < 0) ? .negativeInfinity : .infinity
    }
    guard other.signum != 0 else { throw .divisionByZero }
    let ideal = Int64(exponent) - Int64(other.exponent)
    guard signum != 0 else { return ODataDecimal(storage: .small(significand: 0, exponent: 0)) }
    guard digitCount + other.digitCount <= ODataDecimal.workingDigits else { throw .outOfRange }
    let shift = max(0, ODataDecimal.quotientDigits + 1 + other.digitCount - digitCount)
    let divisor = DecimalMagnitude(digits: other.digits)
    let (quotient, remainder) = DecimalMagnitude(digits: digits).shifted(shift).divided(by: divisor)
    var rounded = quotient.digits
    var power = ideal - Int64(shift)
    // The remainder of the division is below all digits: it only decides a half.
    if !remainder.isZero {
      rounded.append(1)
      power -= 1
    }
    let dropCount = rounded.count - ODataDecimal.quotientDigits
    if dropCount > 0 {
      rounded = ODataDecimal.round(rounded, cutting: dropCount, .halfToEven, isNegative: false)
      power += Int64(dropCount)
    }
    while power < ideal, rounded.count > 1, rounded.last == 0 {
      rounded.removeLast()
      power += 1
    }
    return ODataDecimal(
      DecimalMagnitude(digits: rounded), (signum < 0) != (other.signum < 0), try ODataDecimal.checked(power))
  }

  /// The remainder of the division by another number; it has the sign of this number.
  package func remainder(dividingBy other: ODataDecimal) throws(ODataArithmeticError) -> ODataDecimal {
    guard isFinite, other.isFinite else { return isFinite && !other.isNaN ? self : .nan }
    guard other.signum != 0 else { throw .divisionByZero }
    let exponent = min(self.exponent, other.exponent)
    let divisor = try other.magnitude(exponent: exponent)
    return ODataDecimal(try magnitude(exponent: exponent).divided(by: divisor).remainder, signum < 0, exponent)
  }

  /// The negated number.
  package var negated: ODataDecimal {
    switch storage {
    case .small(let significand, let exponent): ODataDecimal(-Int128(significand), exponent: exponent)
    case .big(let big):
      ODataDecimal(storage: .big(Big(isNegative: !big.isNegative, exponent: big.exponent, digits: big.digits)))
    case .infinity: .negativeInfinity
    case .negativeInfinity: .infinity
    case .nan: .nan
    }
  }

  /// The number rounded to at most `scale` digits after the decimal point.
  package func rounded(scale: Int = 0, _ rule: ODataRounding) -> ODataDecimal {
    let dropCount = -Int64(exponent) - Int64(scale)
    guard isFinite, dropCount > 0 else { return self }
    let power = Int32(clamping: -scale)
    var digits = digits
    // One digit more than there are is a zero: all further digits would be zeros too.
    let missing = min(Int64(Int32.max), dropCount) - Int64(digits.count)
    if missing > 0 { digits = [UInt8](repeating: 0, count: missing > 1 ? 2 : 1) + digits }
    let rounded = ODataDecimal.round(
      digits, cutting: min(Int(clamping: dropCount), digits.count), rule, isNegative: signum < 0)
    return ODataDecimal(DecimalMagnitude(digits: rounded), signum < 0, power)
  }

  /// The number multiplied by a power of ten and rounded half to even to a whole number; nil beyond 128 bits.
  package func whole(scale: Int) -> Int128? {
    guard isFinite, Int64(exponent) + Int64(digitCount) < 100 else { return nil }
    let rounded = rounded(scale: scale, .halfToEven)
    var value: Int128 = 0
    for digit in rounded.digits {
      let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) = tens.addingReportingOverflow(Int128(digit))
      if tooBig || overflow { return nil }
      value = sum
    }
    if value == 0 { return 0 }
    for _ in 0..<max(0, Int(rounded.exponent) + scale) {
      let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
      if tooBig { return nil }
      value = tens
    }
    return signum < 0 ? -value : value
  }

  /// Creates a number from a whole number and a power of ten.
  package init(_ number: Int128, exponent: Int32) {
    if let small = Int64(exactly: number) {
      storage = .small(significand: small, exponent: exponent)
    } else {
      storage = .big(
        Big(isNegative: number < 0, exponent: exponent, digits: String(number.magnitude).utf8.map { $0 - 0x30 }))
    }
  }

  // MARK: Parts

  private static func power(_ exponent: Int64) -> Int128 {
    var power: Int128 = 1
    for _ in 0..<exponent { power *= 10 }
    return power
  }

  private static func checked(_ exponent: Int64) throws(ODataArithmeticError) -> Int32 {
    guard exponent.magnitude <= UInt64(exponentLimit), let power = Int32(exactly: exponent) else { throw .outOfRange }
    return power
  }

  private init(_ magnitude: DecimalMagnitude, _ isNegative: Bool, _ exponent: Int32) {
    let digits = magnitude.digits
    if digits.count <= 18 {
      let value = digits.reduce(Int64(0)) { $0 * 10 + Int64($1) }
      storage = .small(significand: isNegative ? -value : value, exponent: exponent)
    } else {
      storage = .big(Big(isNegative: isNegative, exponent: exponent, digits: digits))
    }
  }

  /// The digits as a whole number of a smaller power of ten.
  private func magnitude(exponent: Int32) throws(ODataArithmeticError) -> DecimalMagnitude {
    guard signum != 0 else { return DecimalMagnitude(digits: []) }
    let shift = Int64(self.exponent) - Int64(exponent)
    guard shift + Int64(digitCount) <= Int64(ODataDecimal.workingDigits) else { throw .outOfRange }
    return DecimalMagnitude(digits: digits).shifted(Int(shift))
  }

  /// Drops the last digits, and rounds the others.
  private static func round(
    _ digits: [UInt8], cutting dropCount: Int, _ rule: ODataRounding, isNegative: Bool
  ) -> [UInt8] {
    var rounded = Array(digits.dropLast(dropCount))
    let dropped = digits.suffix(dropCount)
    let first = dropped.first ?? 0
    let isExact = dropped.allSatisfy { $0 == 0 }
    let isHalf = first == 5 && dropped.dropFirst().allSatisfy { $0 == 0 }
    let grows: Bool =
      switch rule {
      case .down: isNegative && !isExact
      case .up: !isNegative && !isExact
      case .halfAwayFromZero: first >= 5
      case .halfToEven: isHalf ? (rounded.last ?? 0) % 2 == 1 : first >= 5
      }
    guard grows else { return rounded.isEmpty ? [0] : rounded }
    var place = rounded.count - 1
    while place >= 0, rounded[place] == 9 {
      rounded[place] = 0
      place -= 1
    }
    if place >= 0 { rounded[place] += 1 } else { rounded.insert(1, at: 0) }
    return rounded
  }
}
