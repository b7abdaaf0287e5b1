extension ODataValue {
  /// Converts a number to another numeric type; nil if that type cannot hold it, or if the value is not a number.
  ///
  /// An integer becomes a floating number only if nothing is lost. Decimal digits become the nearest floating number,
  /// and a floating number the shortest decimal digits that read back as it: `1.1` stays `1.1`, and no Decimal is ever
  /// computed from the binary fraction of a Double.
  func exactly(_ type: EdmPrimitiveType) -> ODataValue? {
    switch self {
    case .byte(let number): ODataValue.number(Int64(number), type)
    case .sbyte(let number): ODataValue.number(Int64(number), type)
    case .int16(let number): ODataValue.number(Int64(number), type)
    case .int32(let number): ODataValue.number(Int64(number), type)
    case .int64(let number): ODataValue.number(number, type)
    case .decimal(let number): ODataValue.number(number, type)
    case .double(let number): ODataValue.number(number, ODataDecimal(number), type)
    case .single(let number): ODataValue.number(Double(number), ODataDecimal(number.description), type)
    default: nil
    }
  }

  private static func number(_ number: Int64, _ type: EdmPrimitiveType) -> ODataValue? {
    switch type {
    case .byte: UInt8(exactly: number).map { .byte($0) }
    case .sbyte: Int8(exactly: number).map { .sbyte($0) }
    case .int16: Int16(exactly: number).map { .int16($0) }
    case .int32: Int32(exactly: number).map { .int32($0) }
    case .int64: .int64(number)
    case .decimal: .decimal(ODataDecimal(number))
    case .single: Float(exactly: number).map { .single($0) }
    case .double: Double(exactly: number).map { .double($0) }
    default: nil
    }
  }

  private static func number(_ decimal: ODataDecimal, _ type: EdmPrimitiveType) -> ODataValue? {
    switch type {
    case .decimal: return .decimal(decimal)
    case .double:
      let number = Double(decimal)
      return number.isInfinite && decimal.isFinite ? nil : .double(number)
    case .single:
      let number = Float(decimal)
      return number.isInfinite && decimal.isFinite ? nil : .single(number)
    default: return (try? decimal.whole()).flatMap { ODataValue.number($0, type) }
    }
  }

  private static func number(_ double: Double, _ digits: ODataDecimal?, _ type: EdmPrimitiveType) -> ODataValue? {
    switch type {
    case .double: return .double(double)
    case .single:
      let number = Float(double)
      return number.isInfinite && double.isFinite ? nil : .single(number)
    case .decimal where !double.isFinite: return .decimal(ODataDecimal(double))
    case .decimal: return digits.map { .decimal($0) }
    default: return Int64(exactly: double).flatMap { ODataValue.number($0, type) }
    }
  }
}
