import LarderOData

// The facets of a property (CSDL 4.01 §7.2). Facets that the model omits restrict nothing.
extension RowReader {
  /// Throws 400 if a value is longer, larger or finer than the property allows.
  func check(_ value: ODataValue, _ property: EdmProperty) throws(ServiceFault) {
    let inherited = model.model.underlying(property.type).facets
    let precision = property.facets.precision ?? inherited.precision
    if case .limit(let limit)? = property.facets.maxLength ?? inherited.maxLength {
      let length: Int? =
        switch value {
        case .string(let text): text.unicodeScalars.count
        case .binary(let bytes): bytes.count
        default: nil
        }
      if let length, length > limit {
        throw ServiceFault(400, "'\(property.name)': the length \(length) is more than MaxLength, which is \(limit).")
      }
    }
    switch value {
    case .decimal(let number):
      try check(number, property: property, precision: precision, scale: property.facets.scale ?? inherited.scale)
    case .dateTimeOffset(let time): try check(time.time.picosecond, property, precision)
    case .timeOfDay(let time): try check(time.picosecond, property, precision)
    case .duration(let duration): try check(duration.picoseconds.magnitude, property, precision)
    default: break
    }
  }

  private func check(
    _ number: ODataDecimal, property: EdmProperty, precision: Int?, scale: EdmScale?
  ) throws(ServiceFault) {
    // Zeros at the end of a fraction are no digits of the number.
    guard case .decimal(let number) = TestModel.canonical(.decimal(number)), number.isFinite else { return }
    let fraction = max(0, number.scale)
    if case .digits(let limit)? = scale {
      guard fraction <= limit else {
        throw ServiceFault(
          400, "'\(property.name)': \(number) has more digits after the point than Scale, which is \(limit).")
      }
      // A zero before the point is no digit of the number either.
      let isBelowOne = number.digitCount <= number.scale || number == 0
      guard precision.map({ isBelowOne || number.digitCount - number.scale <= $0 - limit }) ?? true else {
        throw tooManyDigits(number, property, precision)
      }
    } else if scale != .floating {
      guard precision.map({ max(number.digitCount, fraction, number.digitCount - number.scale) <= $0 }) ?? true else {
        throw tooManyDigits(number, property, precision)
      }
    }
  }

  private func tooManyDigits(_ number: ODataDecimal, _ property: EdmProperty, _ precision: Int?) -> ServiceFault {
    ServiceFault(400, "'\(property.name)': \(number) has more digits than Precision \(precision ?? 0) and Scale allow.")
  }

  private func check(_ picosecond: UInt64, _ property: EdmProperty, _ precision: Int?) throws(ServiceFault) {
    guard let precision, precision < 12 else { return }
    let unit = (0..<(12 - max(0, precision))).reduce(UInt64(1)) { unit, _ in unit * 10 }
    guard picosecond.isMultiple(of: unit) else {
      throw ServiceFault(
        400, "'\(property.name)': the second's fraction has more digits than Precision, which is \(precision).")
    }
  }
}
