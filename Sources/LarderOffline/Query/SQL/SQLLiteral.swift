import LarderOData
import LarderStorage

/// Converts literals to parameters, in the form in which a column stores its values.
enum SQLLiteral {
  /// The value as a column of a storage holds it; nil if the storage has no such value.
  static func value(_ value: ODataValue, as storage: ColumnStorage) -> SQLValue? {
    if value == .null { return .null }
    switch storage {
    case .boolean: if case .boolean(let flag) = value { return .integer(flag ? 1 : 0) }
    case .integer, .enumeration: return wholeNumber(value).map { .integer($0) }
    case .real: return real(value)
    case .decimal: return decimal(value).map { .text($0.description) }
    case .string: if case .string(let text) = value { return .text(text) }
    case .binary: if case .binary(let bytes) = value { return .blob(bytes) }
    case .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay, .duration: return (try? value.text()).map { .text($0) }
    case .geo, .json, .complex, .dynamic, .stream: return nil
    }
    return nil
  }

  /// The value in the form of its own type.
  static func value(_ value: ODataValue) -> SQLValue? {
    if value == .null { return .null }
    guard let type = value.type else { return nil }
    return self.value(value, as: ColumnStorage(type))
  }

  static func wholeNumber(_ value: ODataValue) -> Int64? {
    switch value {
    case .byte(let number): Int64(number)
    case .sbyte(let number): Int64(number)
    case .int16(let number): Int64(number)
    case .int32(let number): Int64(number)
    case .int64(let number): number
    default: nil
    }
  }

  static func decimal(_ value: ODataValue) -> ODataDecimal? {
    switch value {
    case .decimal(let number), .untypedNumber(let number): number
    default: wholeNumber(value).map { ODataDecimal($0) }
    }
  }

  static func double(_ value: ODataValue) -> Double? {
    switch value {
    case .double(let number): number
    case .single(let number): Double(number)
    case .decimal(let number), .untypedNumber(let number): Double(number)
    default: wholeNumber(value).map { Double($0) }
    }
  }

  /// NaN is stored as the text `NaN`, because SQLite has no such number.
  private static func real(_ value: ODataValue) -> SQLValue? {
    double(value).map { $0.isNaN ? .text("NaN") : .real($0) }
  }
}
