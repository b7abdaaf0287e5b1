import LarderOData
import LarderService
import LarderStorage

// Conversion between OData values and cells.
extension ColumnStorage {
  /// The cell for the value of a literal or of a local change.
  ///
  /// - Parameters:
  ///   - type: the property's type; needed for enumerations and JSON.
  ///   - model: the model of the service; needed for enumerations and JSON.
  /// - Throws: `ODataValueError` if the column cannot store the value.
  func sqlValue(
    of value: ODataValue, type: EdmTypeReference? = nil, model: EdmModel? = nil
  ) throws(ODataValueError) -> SQLValue {
    if value == .null { return .null }
    switch self {
    case .boolean: if case .boolean(let flag) = value { return .integer(flag ? 1 : 0) }
    case .integer:
      if let number = value.wholeNumber {
        guard (type?.primitive ?? .int64).integerRange.contains(number) else {
          throw ODataValueError(.outOfRange, type: type?.primitive, text: String(number))
        }
        return .integer(number)
      }
    case .real: if let number = ColumnStorage.real(value, type?.primitive) { return number }
    case .decimal: if let number = value.exactNumber { return .text(number.description) }
    case .string: if case .string(let text) = value { return .text(text) }
    case .binary: if case .binary(let bytes) = value { return .blob(bytes) }
    case .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay, .duration:
      if let text = ColumnStorage.text(value, self) { return .text(text) }
    case .enumeration: if let number = try ColumnStorage.enumeration(value, type, model) { return .integer(number) }
    case .geo:
      if case .geo(let geo) = value {
        var writer = JSONWriter()
        writer.node(try geo.geoJSON())
        return .text(String(decoding: writer.bytes, as: UTF8.self))
      }
    case .json, .complex, .dynamic, .stream:
      var writer = JSONWriter()
      try writer.canonical(value, type: type ?? .abstract(.untyped), model: model)
      return .text(String(decoding: writer.bytes, as: UTF8.self))
    }
    throw ODataValueError(.wrongKind(value.type?.qualifiedName ?? "The value"), type: type?.primitive, text: "")
  }

  private static func real(_ value: ODataValue, _ type: EdmPrimitiveType?) -> SQLValue? {
    let number: Double
    switch value {
    case .double(let double): number = double
    case .single(let single): number = Double(single)
    default:
      guard let exact = value.exactNumber else { return nil }
      number = type == .single ? Double(Float(exact)) : Double(exact)
    }
    let rounded = type == .single ? Double(Float(number)) : number
    // SQLite's REAL has no NaN.
    return rounded.isNaN ? .text("NaN") : .real(rounded)
  }

  private static func text(_ value: ODataValue, _ storage: ColumnStorage) -> String? {
    switch (value, storage) {
    case (.guid(let guid), .guid): guid.description
    case (.date(let date), .date): date.description
    case (.dateTimeOffset(let timestamp), .dateTimeOffset): timestamp.description
    case (.dateTime(let timestamp), .dateTime): timestamp.description
    case (.dateTime(let timestamp), .dateTimeOffset): timestamp.description + "Z"
    case (.timeOfDay(let time), .timeOfDay): time.description
    case (.duration(let duration), .duration): duration.description
    default: nil
    }
  }

  private static func enumeration(
    _ value: ODataValue, _ type: EdmTypeReference?, _ model: EdmModel?
  ) throws(ODataValueError) -> Int64? {
    if let number = value.wholeNumber { return number }
    guard case .enumeration(let text) = value else { return nil }
    if let number = Int64(text) { return number }
    guard let declared = type?.name.flatMap({ model?.enumType($0) }) else { return nil }
    return try EnumerationValue.read(text, declared)
  }

  /// The value of a cell.
  ///
  /// - Throws: `ODataValueError` if the cell does not contain a value of the type, as after damage.
  func value(
    of row: borrowing Row, _ column: Int32, type: EdmTypeReference, model: EdmModel? = nil
  ) throws(ODataValueError) -> ODataValue {
    let primitive = type.isCollection ? nil : type.primitive
    switch row.storageClass(column) {
    case .null: return .null
    case .integer: return try ColumnStorage.value(row.integer(column), storage: self, type: type, model: model)
    case .real:
      let number = row.real(column)
      switch primitive {
      case .single: return .single(Float(number))
      case .decimal: return .decimal(ODataDecimal(number))
      default: return .double(number)
      }
    case .blob: return unsafe .binary(Array(row.rawBytes(column)))
    case .text: break
    }
    let text = unsafe String(decoding: row.utf8(column), as: UTF8.self)
    switch self {
    case .string: return .string(text)
    case .enumeration: return .enumeration(text)
    case .geo, .json, .complex, .dynamic, .stream:
      return try CanonicalJSON.value(text, type: type, model: model)
    case .boolean, .integer, .real, .decimal, .guid, .date, .dateTimeOffset, .dateTime, .timeOfDay, .duration, .binary:
      return try ODataValue(text: text, type: primitive ?? natural)
    }
  }

  private static func value(
    _ number: Int64, storage: ColumnStorage, type: EdmTypeReference, model: EdmModel?
  ) throws(ODataValueError) -> ODataValue {
    if storage == .enumeration {
      let declared = type.name.flatMap { model?.enumType($0) }
      return .enumeration(declared.map { EnumerationValue.text(number, $0) } ?? String(number))
    }
    return try ODataValue(whole: number, type: type.primitive ?? storage.natural)
  }

  /// The type of the storage's values, if no declared type is known.
  private var natural: EdmPrimitiveType {
    switch self {
    case .boolean: .boolean
    case .integer, .enumeration: .int64
    case .real: .double
    case .decimal: .decimal
    case .guid: .guid
    case .date: .date
    case .dateTimeOffset: .dateTimeOffset
    case .dateTime: .dateTime
    case .timeOfDay: .timeOfDay
    case .duration: .duration
    case .binary: .binary
    case .string, .geo, .json, .complex, .dynamic, .stream: .string
    }
  }
}

extension ODataValue {
  /// The value of an integer, or of a decimal without a fraction; nil for other values and beyond 64 bits.
  var wholeNumber: Int64? {
    switch self {
    case .byte(let number): Int64(number)
    case .sbyte(let number): Int64(number)
    case .int16(let number): Int64(number)
    case .int32(let number): Int64(number)
    case .int64(let number): number
    case .decimal(let number), .untypedNumber(let number): Int64(exactly: number)
    default: nil
    }
  }

  /// The value of a number of any type, in the shortest digits that identify it.
  var exactNumber: ODataDecimal? {
    switch self {
    case .decimal(let number), .untypedNumber(let number): number
    case .double(let number): ODataDecimal(number)
    case .single(let number): ODataDecimal(number.description) ?? ODataDecimal(Double(number))
    default: wholeNumber.map { ODataDecimal($0) }
    }
  }

  /// Creates a value of a numeric type, or a Boolean, from a whole number.
  init(whole number: Int64, type: EdmPrimitiveType) throws(ODataValueError) {
    guard type.integerRange.contains(number) else {
      throw ODataValueError(.outOfRange, type: type, text: String(number))
    }
    switch type {
    case .boolean: self = .boolean(number != 0)
    case .byte: self = .byte(UInt8(clamping: number))
    case .sbyte: self = .sbyte(Int8(clamping: number))
    case .int16: self = .int16(Int16(clamping: number))
    case .int32: self = .int32(Int32(clamping: number))
    case .single: self = .single(Float(number))
    case .double: self = .double(Double(number))
    case .decimal: self = .decimal(ODataDecimal(number))
    default: self = .int64(number)
    }
  }
}
