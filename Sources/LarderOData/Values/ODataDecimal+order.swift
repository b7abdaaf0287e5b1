extension ODataDecimal: Comparable, Hashable {
  /// The number in its one form without trailing zeros.
  private var normalized: Storage {
    switch storage {
    case .small(var significand, var exponent):
      if significand == 0 { return .small(significand: 0, exponent: 0) }
      while significand % 10 == 0 {
        significand /= 10
        exponent += 1
      }
      return .small(significand: significand, exponent: exponent)
    case .big(let big):
      let zeros = big.digits.reversed().prefix { $0 == 0 }.count
      let digits = big.digits.dropLast(zeros)
      let exponent = big.exponent + Int32(zeros)
      if digits.count <= 19, let small = ODataDecimal.int64(digits, isNegative: big.isNegative) {
        return .small(significand: small, exponent: exponent)
      }
      return .big(Big(isNegative: big.isNegative, exponent: exponent, digits: digits))
    default: return storage
    }
  }

  private static func int64(_ digits: some Collection<UInt8>, isNegative: Bool) -> Int64? {
    var value: Int64 = 0
    for digit in digits {
      let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow) =
        isNegative ? tens.subtractingReportingOverflow(Int64(digit)) : tens.addingReportingOverflow(Int64(digit))
      if tooBig || overflow { return nil }
      value = sum
    }
    return value
  }

  /// Whether both are numerically equal, whatever the scale; NaN equals NaN.
  public static func == (left: ODataDecimal, right: ODataDecimal) -> Bool {
    if case .small(let first, let firstExponent) = left.storage,
      case .small(let second, let secondExponent) = right.storage, firstExponent == secondExponent
    {
      return first == second
    }
    return left.normalized == right.normalized
  }

  /// Hashes the number; equal numbers have equal hashes.
  public func hash(into hasher: inout Hasher) {
    switch normalized {
    case .small(let significand, let exponent):
      hasher.combine(significand)
      hasher.combine(exponent)
    case .big(let big): hasher.combine(big.packed)
    case .infinity: hasher.combine(1)
    case .negativeInfinity: hasher.combine(2)
    case .nan: hasher.combine(3)
    }
  }

  /// Whether one is numerically less: -INF before every number, INF after them, NaN after INF.
  public static func < (left: ODataDecimal, right: ODataDecimal) -> Bool {
    if case .small(let first, let firstExponent) = left.storage,
      case .small(let second, let secondExponent) = right.storage, firstExponent == secondExponent
    {
      return first < second
    }
    if left.rank != right.rank { return left.rank < right.rank }
    guard left.isFinite, left.signum != 0 else { return false }
    let isBelow = ODataDecimal.magnitudeOrder(left, right)
    return left.signum > 0 ? isBelow < 0 : isBelow > 0
  }

  /// The class in the order: -INF, negative, zero, positive, INF, NaN.
  private var rank: UInt8 {
    switch storage {
    case .negativeInfinity: 1
    case .infinity: 5
    case .nan: 6
    default: UInt8(3 + signum)
    }
  }

  /// The exponent of the first digit.
  private var leadingPower: Int64 { Int64(exponent) + Int64(digitCount) - 1 }

  private static func magnitudeOrder(_ left: ODataDecimal, _ right: ODataDecimal) -> Int {
    if left.leadingPower != right.leadingPower { return left.leadingPower < right.leadingPower ? -1 : 1 }
    let first = left.digits
    let second = right.digits
    for index in 0..<max(first.count, second.count) {
      let one = index < first.count ? first[index] : 0
      let other = index < second.count ? second[index] : 0
      if one != other { return one < other ? -1 : 1 }
    }
    return 0
  }

  /// Bytes whose bytewise order is the order of the numbers; equal numbers have equal keys.
  ///
  /// Shape: the class (1 to 6), then for numbers other than zero the leading exponent (4 bytes), the digits two by two,
  /// and an end mark; for negative numbers all of these inverted. A database can compare such keys exactly.
  package var sortKey: [UInt8] {
    let rank = rank
    var key = [rank]
    guard rank == 2 || rank == 4 else { return key }
    let inversion: UInt8 = rank == 2 ? 0xFF : 0
    let biased = UInt32(truncatingIfNeeded: leadingPower) ^ 0x8000_0000
    for shift in [24, 16, 8, 0] { key.append(UInt8(truncatingIfNeeded: biased >> UInt32(shift)) ^ inversion) }
    var digits = digits[...]
    while digits.last == 0 { digits.removeLast() }
    var index = digits.startIndex
    while index < digits.endIndex {
      let low = index + 1 < digits.endIndex ? digits[index + 1] : 0
      key.append((digits[index] * 10 + low + 1) ^ inversion)
      index += 2
    }
    key.append(inversion)
    return key
  }
}

extension Int64 {
  /// Converts a decimal; nil if it has a fraction, is not finite, or is out of range.
  public init?(exactly decimal: ODataDecimal) {
    guard let value = try? decimal.whole() else { return nil }
    self = value
  }
}

extension Double {
  /// The nearest `Double`, correctly rounded (ties to even); infinity beyond its range, zero below it.
  public init(_ decimal: ODataDecimal) {
    switch decimal.storage {
    case .infinity: self = .infinity
    case .negativeInfinity: self = -.infinity
    case .nan: self = .nan
    case .small(let significand, let exponent) where significand.magnitude < 1 << 53 && exponent == 0:
      self = Double(significand)
    case .small, .big: self = Double(decimal.exponentDescription) ?? .nan
    }
  }
}

extension Float {
  /// The nearest `Float`, rounded once; infinity beyond its range, zero below it.
  public init(_ decimal: ODataDecimal) {
    switch decimal.storage {
    case .infinity: self = .infinity
    case .negativeInfinity: self = -.infinity
    case .nan: self = .nan
    case .small, .big: self = Float(decimal.exponentDescription) ?? .nan
    }
  }
}

extension ODataDecimal {
  /// The number as 64 bits.
  func whole() throws(ODataValueError.Problem) -> Int64 {
    guard case .small(var significand, var exponent) = normalized else {
      if case .big(let big) = storage, big.exponent < 0 { throw .fractional }
      throw .outOfRange
    }
    if exponent < 0 { throw .fractional }
    while exponent > 0 {
      let (tens, overflow) = significand.multipliedReportingOverflow(by: 10)
      if overflow { throw .outOfRange }
      significand = tens
      exponent -= 1
    }
    return significand
  }
}
