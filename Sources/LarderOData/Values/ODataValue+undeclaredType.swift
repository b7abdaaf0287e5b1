extension ODataValue {
  /// The name of the value's type without `Edm.`, if JSON alone does not show it (JSON Format 4.01 §4.6.3): it is written
  /// with undeclared properties.
  package var undeclaredTypeName: String? {
    switch self {
    case .byte: "Byte"
    case .sbyte: "SByte"
    case .int16: "Int16"
    case .int32: "Int32"
    case .int64: "Int64"
    case .single: "Single"
    case .double(let number): number.isFinite && number.rounded() != number ? nil : "Double"
    case .decimal: "Decimal"
    case .guid: "Guid"
    case .binary: "Binary"
    case .date: "Date"
    case .timeOfDay: "TimeOfDay"
    case .dateTimeOffset: "DateTimeOffset"
    case .duration: "Duration"
    case .geo(let geo): geo.type.rawValue
    case .collection(let items): items.lazy.compactMap(\.undeclaredTypeName).first.map { "Collection(\($0))" }
    case .null, .boolean, .string, .dateTime, .enumeration, .complex, .untypedNumber: nil
    }
  }
}
