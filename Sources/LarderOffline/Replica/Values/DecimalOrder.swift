import LarderStorage

extension SQLCollation {
  /// Orders decimals by value, whatever their spelling; other texts come last, by bytes.
  static let decimal = unsafe SQLCollation("larder_decimal") { (left, right) in
    unsafe DecimalText.order(TextBytes(left), TextBytes(right))
  }
}

/// A decimal, parsed in place: nothing is copied, and the number of digits is not limited.
struct DecimalText {
  /// The kinds of values in their order: -INF, negative numbers, zero, positive numbers, INF, NaN.
  enum Rank: Int { case negativeInfinity, negative, zero, positive, infinity, nan }

  let rank: Rank
  private let text: TextBytes
  /// The first digit that is not zero, and the end of the digits; a point may be among them.
  private var first = 0
  private var end = 0
  /// The power of ten of the first digit.
  private var power: Int64 = 0

  /// The largest exponent that is accepted.
  private static let largestExponent: Int64 = 999_999_999

  /// Parses `-12.50`, `1e-7`, `INF`, `-INF`, `NaN`; nil for anything else.
  init?(_ text: TextBytes) {
    self.text = text
    let isNegative = text[0] == UInt8(ascii: "-")
    var index = isNegative || text[0] == UInt8(ascii: "+") ? 1 : 0
    while text[index] == 0x30, text[index + 1] &- 0x30 < 10 { index += 1 }
    let start = index
    let point = text.digitsEnd(index)
    index = point
    if text[point] == UInt8(ascii: "."), text[point + 1] &- 0x30 < 10 { index = text.digitsEnd(point + 1) }
    guard index > start else {
      guard let special = DecimalText.special(text) else { return nil }
      rank = special
      return
    }
    end = index
    var exponent: Int64 = 0
    if text.has(letter: UInt8(ascii: "e"), at: index), index < text.count {
      guard let value = DecimalText.exponent(text, index + 1) else { return nil }
      exponent = value
    } else if index != text.count {
      return nil
    }
    first = start
    while first < end, text[first] == 0x30 || text[first] == UInt8(ascii: ".") { first += 1 }
    guard first < end else {
      rank = .zero
      return
    }
    rank = isNegative ? .negative : .positive
    power = exponent + Int64(first < point ? point - first - 1 : point - first)
  }

  private static func special(_ text: TextBytes) -> Rank? {
    if text.ends(with: "INF", at: 0) { return .infinity }
    if text.ends(with: "NaN", at: 0) { return .nan }
    return text[0] == UInt8(ascii: "-") && text.ends(with: "INF", at: 1) ? .negativeInfinity : nil
  }

  private static func exponent(_ text: TextBytes, _ start: Int) -> Int64? {
    let isNegative = text[start] == UInt8(ascii: "-")
    var index = isNegative || text[start] == UInt8(ascii: "+") ? start + 1 : start
    guard index < text.count else { return nil }
    var value: Int64 = 0
    while index < text.count {
      let digit = text[index] &- 0x30
      guard digit < 10 else { return nil }
      value = value * 10 + Int64(digit)
      guard value <= largestExponent else { return nil }
      index += 1
    }
    return isNegative ? -value : value
  }

  static func order(_ left: TextBytes, _ right: TextBytes) -> Int {
    guard let one = DecimalText(left) else {
      return DecimalText(right) == nil ? TextBytes.order(left, right) : 1
    }
    guard let other = DecimalText(right) else { return -1 }
    return order(one, other)
  }

  static func order(_ left: DecimalText, _ right: DecimalText) -> Int {
    if left.rank != right.rank { return left.rank.rawValue - right.rank.rawValue }
    switch left.rank {
    case .positive: return magnitudeOrder(left, right)
    case .negative: return -magnitudeOrder(left, right)
    default: return 0
    }
  }

  private static func magnitudeOrder(_ left: DecimalText, _ right: DecimalText) -> Int {
    if left.power != right.power { return left.power < right.power ? -1 : 1 }
    var index = left.first
    var other = right.first
    while index < left.end || other < right.end {
      if left.text[index] == UInt8(ascii: "."), index < left.end { index += 1 }
      if right.text[other] == UInt8(ascii: "."), other < right.end { other += 1 }
      let one = index < left.end ? left.text[index] : 0x30
      let two = other < right.end ? right.text[other] : 0x30
      if one != two { return one < two ? -1 : 1 }
      index += 1
      other += 1
    }
    return 0
  }
}
