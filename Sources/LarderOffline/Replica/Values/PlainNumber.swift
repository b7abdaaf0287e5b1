/// Reads numbers in place, in the spellings that services commonly write.
enum PlainNumber {
  /// Powers of ten that are exact as `Double`.
  private static let powers: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
  ]

  /// Reads a number of at most 15 digits without an exponent, correctly rounded: the digits and the power of ten are
  /// both exact, so only the division rounds. For `Edm.Single`, it may have at most 7 digits and is rounded to a
  /// single. Nil for all others.
  static func real(_ text: TextBytes, isSingle: Bool) -> Double? {
    let isNegative = text[0] == UInt8(ascii: "-")
    var index = isNegative ? 1 : 0
    let start = index
    var digits: Int64 = 0
    var scale = 0
    var point = -1
    while index < text.count {
      let byte = text[index]
      if byte &- 0x30 < 10 {
        digits = digits &* 10 &+ Int64(byte &- 0x30)
        if point >= 0 { scale += 1 }
      } else if byte == UInt8(ascii: "."), point < 0, index > start {
        point = index
      } else {
        return nil
      }
      index += 1
      if index - start > (isSingle ? 8 : 16) { return nil }
    }
    guard index > start, point != index - 1, scale < powers.count else { return nil }
    if isSingle {
      guard digits < 1 << 24, scale <= 10 else { return nil }
      let number = Float(digits) / Float(powers[scale])
      return Double(isNegative ? -number : number)
    }
    guard digits < 1 << 53 else { return nil }
    let number = Double(digits) / powers[scale]
    return isNegative ? -number : number
  }

  /// Whether a text is a decimal in the form of a JSON number, of at most 100 characters.
  static func isDecimal(_ text: TextBytes) -> Bool {
    guard text.count <= 100 else { return false }
    var index = text[0] == UInt8(ascii: "-") ? 1 : 0
    let integerEnd = text.digitsEnd(index)
    guard integerEnd > index, text[index] != 0x30 || integerEnd == index + 1 else { return false }
    index = integerEnd
    if text[index] == UInt8(ascii: ".") {
      let end = text.digitsEnd(index + 1)
      guard end > index + 1 else { return false }
      index = end
    }
    if index < text.count, text.has(letter: UInt8(ascii: "e"), at: index) {
      index += 1
      if text[index] == UInt8(ascii: "-") || text[index] == UInt8(ascii: "+") { index += 1 }
      let end = text.digitsEnd(index)
      // A longer exponent may be out of range.
      guard end > index, end - index <= 8 else { return false }
      index = end
    }
    return index == text.count
  }
}
