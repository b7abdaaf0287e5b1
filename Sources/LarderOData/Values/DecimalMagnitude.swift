/// An unsigned integer of any length, for exact arithmetic.
struct DecimalMagnitude: Equatable {
  private static let base: UInt64 = 1_000_000_000

  /// Nine decimal digits each, the lowest first; no trailing zero limbs.
  private var limbs: [UInt32]

  private init(limbs: [UInt32]) {
    self.limbs = limbs
    trim()
  }

  /// Creates a number from digits, 0 to 9 each, the highest first.
  init(digits: some BidirectionalCollection<UInt8>) {
    limbs = []
    var limb: UInt32 = 0
    var power: UInt32 = 1
    for digit in digits.reversed() {
      limb += UInt32(digit) * power
      power *= 10
      if power == 1_000_000_000 {
        limbs.append(limb)
        (limb, power) = (0, 1)
      }
    }
    if limb > 0 { limbs.append(limb) }
    trim()
  }

  private mutating func trim() { while limbs.last == 0 { limbs.removeLast() } }

  var isZero: Bool { limbs.isEmpty }

  /// The digits, 0 to 9 each, the highest first; one zero for zero.
  var digits: [UInt8] {
    guard let top = limbs.last else { return [0] }
    var digits: [UInt8] = []
    digits.reserveCapacity(limbs.count * 9)
    for limb in limbs.dropLast() {
      var rest = limb
      for _ in 0..<9 {
        digits.append(UInt8(truncatingIfNeeded: rest % 10))
        rest /= 10
      }
    }
    var rest = top
    while rest > 0 {
      digits.append(UInt8(truncatingIfNeeded: rest % 10))
      rest /= 10
    }
    digits.reverse()
    return digits
  }

  /// The number multiplied by a power of ten.
  func shifted(_ power: Int) -> DecimalMagnitude {
    guard power > 0, !isZero else { return self }
    var result = DecimalMagnitude(limbs: [UInt32](repeating: 0, count: power / 9) + limbs)
    var factor: UInt32 = 1
    for _ in 0..<power % 9 { factor *= 10 }
    if factor > 1 { result = result * DecimalMagnitude(limbs: [factor]) }
    return result
  }

  static func < (left: DecimalMagnitude, right: DecimalMagnitude) -> Bool {
    if left.limbs.count != right.limbs.count { return left.limbs.count < right.limbs.count }
    for index in left.limbs.indices.reversed() where left.limbs[index] != right.limbs[index] {
      return left.limbs[index] < right.limbs[index]
    }
    return false
  }

  static func + (left: DecimalMagnitude, right: DecimalMagnitude) -> DecimalMagnitude {
    var sum: [UInt32] = []
    var carry: UInt64 = 0
    for index in 0..<max(left.limbs.count, right.limbs.count) {
      carry += index < left.limbs.count ? UInt64(left.limbs[index]) : 0
      carry += index < right.limbs.count ? UInt64(right.limbs[index]) : 0
      sum.append(UInt32(truncatingIfNeeded: carry % base))
      carry /= base
    }
    if carry > 0 { sum.append(UInt32(truncatingIfNeeded: carry)) }
    return DecimalMagnitude(limbs: sum)
  }

  /// The difference from a number that is not larger.
  static func - (left: DecimalMagnitude, right: DecimalMagnitude) -> DecimalMagnitude {
    var limbs = left.limbs
    var borrow: Int64 = 0
    for index in limbs.indices {
      var difference = Int64(limbs[index]) - borrow
      if index < right.limbs.count { difference -= Int64(right.limbs[index]) }
      borrow = difference < 0 ? 1 : 0
      limbs[index] = UInt32(truncatingIfNeeded: difference + borrow * Int64(base))
    }
    return DecimalMagnitude(limbs: limbs)
  }

  static func * (left: DecimalMagnitude, right: DecimalMagnitude) -> DecimalMagnitude {
    guard !left.isZero, !right.isZero else { return DecimalMagnitude(limbs: []) }
    var product = [UInt32](repeating: 0, count: left.limbs.count + right.limbs.count)
    for (place, one) in left.limbs.enumerated() {
      var carry: UInt64 = 0
      for (offset, other) in right.limbs.enumerated() {
        carry += UInt64(product[place + offset]) + UInt64(one) * UInt64(other)
        product[place + offset] = UInt32(truncatingIfNeeded: carry % base)
        carry /= base
      }
      product[place + right.limbs.count] = UInt32(truncatingIfNeeded: carry)
    }
    return DecimalMagnitude(limbs: product)
  }

  /// Quotient and remainder of the division by a number that is not zero.
  func divided(by divisor: DecimalMagnitude) -> (quotient: DecimalMagnitude, remainder: DecimalMagnitude) {
    guard let top = divisor.limbs.last else { return (self, DecimalMagnitude(limbs: [])) }
    if self < divisor { return (DecimalMagnitude(limbs: []), self) }
    guard divisor.limbs.count > 1 else { return divided(by: top) }
    // Both numbers are multiplied by a factor that makes the divisor's highest limb larger than half of the base. An
    // estimate of each quotient limb by the highest limbs is then too large by two at most.
    let factor = DecimalMagnitude(limbs: [UInt32(DecimalMagnitude.base / (UInt64(top) + 1))])
    let scaled = (divisor * factor).limbs
    var rest = (self * factor).limbs
    rest.append(0)
    let count = scaled.count
    var quotient = [UInt32](repeating: 0, count: rest.count - count)
    for place in (0..<rest.count - count).reversed() {
      let high = UInt64(rest[place + count]) * DecimalMagnitude.base + UInt64(rest[place + count - 1])
      var guess = min(high / UInt64(scaled[count - 1]), DecimalMagnitude.base - 1)
      while !DecimalMagnitude.subtract(scaled, times: guess, from: &rest, at: place) { guess -= 1 }
      quotient[place] = UInt32(truncatingIfNeeded: guess)
    }
    let remainder = DecimalMagnitude(limbs: rest).divided(by: factor.limbs[0]).quotient
    return (DecimalMagnitude(limbs: quotient), remainder)
  }

  /// Subtracts a multiple; if the number is too small, subtracts nothing and returns false.
  private static func subtract(
    _ divisor: [UInt32], times factor: UInt64, from rest: inout [UInt32], at place: Int
  ) -> Bool {
    var part = Array(rest[place...(place + divisor.count)])
    var carry: UInt64 = 0
    var borrow: Int64 = 0
    for index in part.indices {
      carry += (index < divisor.count ? UInt64(divisor[index]) : 0) * factor
      let difference = Int64(part[index]) - borrow - Int64(carry % base)
      carry /= base
      borrow = difference < 0 ? 1 : 0
      part[index] = UInt32(truncatingIfNeeded: difference + borrow * Int64(base))
    }
    guard borrow == 0, carry == 0 else { return false }
    rest.replaceSubrange(place...(place + divisor.count), with: part)
    return true
  }

  private func divided(by small: UInt32) -> (quotient: DecimalMagnitude, remainder: DecimalMagnitude) {
    var quotient = limbs
    var rest: UInt64 = 0
    for index in limbs.indices.reversed() {
      rest = rest * DecimalMagnitude.base + UInt64(limbs[index])
      quotient[index] = UInt32(truncatingIfNeeded: rest / UInt64(small))
      rest %= UInt64(small)
    }
    return (DecimalMagnitude(limbs: quotient), DecimalMagnitude(limbs: [UInt32(truncatingIfNeeded: rest)]))
  }
}
