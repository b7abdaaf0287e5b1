extension ODataDecimal {
  /// Reads a number at the cursor (ABNF `decimalValue`), up to its last digit.
  init(_ cursor: inout ByteCursor) throws(ODataValueError.Problem) {
    if let special = ODataDecimal.special(&cursor) {
      self = special
      return
    }
    let isNegative = cursor.take(UInt8(ascii: "-"))
    if !isNegative { _ = cursor.take(UInt8(ascii: "+")) }
    while cursor.peek == 0x30, cursor.byte(ahead: 1) &- 0x30 < 10 { cursor.advance() }
    let start = cursor.index
    let whole = cursor.digitRun()
    var fractionDigits = 0
    if cursor.peek == UInt8(ascii: "."), cursor.byte(ahead: 1) &- 0x30 < 10 {
      cursor.advance()
      fractionDigits = cursor.digitRun().count
    }
    guard whole.count + fractionDigits > 0 else { throw .malformed }
    guard whole.count + fractionDigits <= ODataDecimal.digitLimit else {
      throw .tooLong(limit: ODataDecimal.digitLimit)
    }
    let mantissa = cursor.slice(start..<cursor.index)
    let power = try ODataDecimal.exponent(&cursor)
    let exponent = power - Int64(fractionDigits)
    guard exponent.magnitude <= UInt64(ODataDecimal.exponentLimit) else { throw .outOfRange }
    self = ODataDecimal(mantissa, isNegative: isNegative, exponent: Int32(exponent))
  }

  private static func special(_ cursor: inout ByteCursor) -> ODataDecimal? {
    switch cursor.peek {
    case UInt8(ascii: "I") where cursor.take(word: "INF"): return .infinity
    case UInt8(ascii: "N") where cursor.take(word: "NaN"): return .nan
    case UInt8(ascii: "-") where cursor.byte(ahead: 1) == UInt8(ascii: "I"):
      return cursor.take(word: "-INF") ? .negativeInfinity : nil
    default: return nil
    }
  }

  /// The power of ten after an `e`; 0 if there is none.
  private static func exponent(_ cursor: inout ByteCursor) throws(ODataValueError.Problem) -> Int64 {
    guard cursor.peek | 0x20 == UInt8(ascii: "e") else { return 0 }
    cursor.advance()
    let isNegative = cursor.take(UInt8(ascii: "-"))
    if !isNegative { _ = cursor.take(UInt8(ascii: "+")) }
    let run = cursor.digitRun()
    guard run.count > 0 else { throw .malformed }
    guard let value = run.value, value <= UInt64(exponentLimit) else { throw .outOfRange }
    return isNegative ? -Int64(value) : Int64(value)
  }

  /// Creates a number from digits with at most one point among them.
  private init(_ mantissa: UnsafeBufferPointer<UInt8>, isNegative: Bool, exponent: Int32) {
    var value: Int64 = 0
    var fits = true
    for byte in mantissa where byte != UInt8(ascii: ".") {
      let (tens, tooBig) = value.multipliedReportingOverflow(by: 10)
      let digit = Int64(byte & 0x0F)
      let (sum, overflow) = isNegative ? tens.subtractingReportingOverflow(digit) : tens.addingReportingOverflow(digit)
      if tooBig || overflow {
        fits = false
        break
      }
      value = sum
    }
    if fits {
      storage = .small(significand: value, exponent: exponent)
    } else {
      let digits = mantissa.filter { $0 != UInt8(ascii: ".") }.map { $0 & 0x0F }.drop { $0 == 0 }
      storage = .big(Big(isNegative: isNegative, exponent: exponent, digits: digits))
    }
  }
}

extension ODataDecimal: CustomStringConvertible {
  /// The most zeros that ``description`` writes before it uses an exponent.
  private static let longestPlain: Int64 = 400

  /// Plain notation with the number's scale (`-12.50`); exponent notation if the plain one would need hundreds of
  /// zeros.
  public var description: String { String(writing: write) }

  /// Exponent notation with one digit before the point: `-1.250E+1`.
  package var exponentDescription: String {
    var bytes: [UInt8] = []
    if !writeSpecial(into: &bytes) { writeExponentForm(digits, into: &bytes) }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Appends the text of ``description``.
  package func write(into bytes: inout [UInt8]) {
    if case .small(let significand, 0) = storage {
      bytes.append(decimal: significand)
      return
    }
    if writeSpecial(into: &bytes) { return }
    let digits = digits
    let exponent = Int64(exponent)
    let padding = exponent >= 0 ? exponent : -exponent - Int64(digits.count)
    guard padding <= ODataDecimal.longestPlain || digits == [0] && exponent > 0 else {
      writeExponentForm(digits, into: &bytes)
      return
    }
    if signum < 0 { bytes.append(UInt8(ascii: "-")) }
    if exponent >= 0 {
      for digit in digits { bytes.append(0x30 + digit) }
      if digits != [0] { for _ in 0..<exponent { bytes.append(0x30) } }
      return
    }
    let whole = max(0, digits.count + Int(exponent))
    if whole == 0 { bytes.append(0x30) }
    for digit in digits.prefix(whole) { bytes.append(0x30 + digit) }
    bytes.append(UInt8(ascii: "."))
    if padding > 0 { for _ in 0..<padding { bytes.append(0x30) } }
    for digit in digits.dropFirst(whole) { bytes.append(0x30 + digit) }
  }

  private func writeSpecial(into bytes: inout [UInt8]) -> Bool {
    switch storage {
    case .small, .big: return false
    case .infinity: bytes.append(ascii: "INF")
    case .negativeInfinity: bytes.append(ascii: "-INF")
    case .nan: bytes.append(ascii: "NaN")
    }
    return true
  }

  private func writeExponentForm(_ digits: [UInt8], into bytes: inout [UInt8]) {
    if signum < 0 { bytes.append(UInt8(ascii: "-")) }
    bytes.append(0x30 + (digits.first ?? 0))
    if digits.count > 1 {
      bytes.append(UInt8(ascii: "."))
      for digit in digits.dropFirst() { bytes.append(0x30 + digit) }
    }
    let power = Int64(exponent) + Int64(digits.count) - 1
    bytes.append(UInt8(ascii: "E"))
    if power >= 0 { bytes.append(UInt8(ascii: "+")) }
    bytes.append(decimal: power)
  }
}
