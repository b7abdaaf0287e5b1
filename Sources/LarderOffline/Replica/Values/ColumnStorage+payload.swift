import LarderOData
import LarderService
import LarderStorage

// Conversion of a payload's bytes to a cell. The spellings that services commonly write are checked in place and copied
// once; all others are read by the value types, which accept every spelling, and are then written in the column's form.
extension ColumnStorage {
  /// Appends a scalar of a payload as a cell, checked against its type.
  ///
  /// - Parameter type: the property's declared type, without the names of type definitions.
  /// - Throws: `ODataValueError` if the scalar is not a value of the type. The batch is then unchanged.
  func append(
    _ scalar: PayloadScalar, type: EdmTypeReference, model: EdmModel, to batch: inout RowBatch
  ) throws(ODataValueError) {
    guard !scalar.isNull else { return batch.appendNull() }
    if self == .string, scalar.kind == .string {
      guard scalar.isEscaped else { return unsafe batch.append(text: scalar.bytes) }
      return batch.appendText { scalar.write(into: &$0) }
    }
    guard case .primitive(let primitive) = type else {
      return try appendUnusual(scalar, type: type, model: model, batch: &batch)
    }
    let text = unsafe TextBytes(scalar.bytes)
    let isPlain = scalar.kind == .string && !scalar.isEscaped
    switch self {
    case .boolean:
      if let flag = scalar.boolean { return batch.append(integer: flag ? 1 : 0) }
    case .integer:
      if scalar.kind == .number || primitive == .int64, let number = scalar.int64 {
        return batch.append(integer: try ColumnStorage.check(number, primitive, scalar))
      }
    case .real:
      if scalar.kind == .number, let number = PlainNumber.real(text, isSingle: primitive == .single) {
        return batch.append(real: number)
      }
    case .decimal:
      if scalar.kind == .number || isPlain, PlainNumber.isDecimal(text) { return batch.append(text) }
    case .guid: if isPlain, PlainText.isGuid(text) { return batch.append(text) }
    case .date: if isPlain, PlainText.isDate(text) { return batch.append(text) }
    case .dateTimeOffset:
      if isPlain, PlainText.isTimestamp(text, hasOffset: true) { return batch.append(text) }
      if scalar.dialect == .v2, Ticks.append(text, hasOffset: true, to: &batch) { return }
    case .dateTime:
      if isPlain, PlainText.isTimestamp(text, hasOffset: false) { return batch.append(text) }
      if scalar.dialect == .v2, Ticks.append(text, hasOffset: false, to: &batch) { return }
    case .timeOfDay: if isPlain, text.count == 8, PlainText.isTime(text, from: 0) { return batch.append(text) }
    case .duration: if isPlain, PlainText.isDuration(text) { return batch.append(text) }
    default: break
    }
    try appendUnusual(scalar, type: type, model: model, batch: &batch)
  }

  /// Appends a value of a local change, or of a payload that was decoded as a whole.
  func append(
    _ value: ODataValue, type: EdmTypeReference, model: EdmModel, to batch: inout RowBatch
  ) throws(ODataValueError) {
    batch.append(try sqlValue(of: value, type: type, model: model))
  }

  private func appendUnusual(
    _ scalar: PayloadScalar, type: EdmTypeReference, model: EdmModel, batch: inout RowBatch
  ) throws(ODataValueError) {
    if self == .enumeration {
      guard let declared = type.name.flatMap(model.enumType) else {
        throw ODataValueError(.notSupported("an enumeration without a declared type"), type: nil, text: scalar.string)
      }
      return batch.append(integer: try EnumerationValue.read(scalar, declared))
    }
    if case .primitive(let primitive) = type {
      return try append(try scalar.value(as: primitive), type: type, model: model, to: &batch)
    }
    try append(try scalar.value(), type: type, model: model, to: &batch)
  }

  private static func check(
    _ number: Int64, _ type: EdmPrimitiveType, _ scalar: PayloadScalar
  ) throws(ODataValueError) -> Int64 {
    guard type.integerRange.contains(number) else {
      throw ODataValueError(.outOfRange, type: type, text: scalar.string)
    }
    return number
  }
}

extension RowBatch {
  /// Appends a copy of a text.
  mutating func append(_ text: TextBytes) { unsafe append(text: text.bytes) }
}

extension ReplicaColumn {
  /// Appends a scalar of a payload as the column's cell. An error names the property.
  func append(_ scalar: PayloadScalar, model: EdmModel, to batch: inout RowBatch) throws(ColumnValueError) {
    do throws(ODataValueError) { try storage.append(scalar, type: type, model: model, to: &batch) } catch {
      throw ColumnValueError(property: path.joined(separator: "/"), cause: error)
    }
  }

  /// Appends a value as the column's cell. An error names the property.
  func append(_ value: ODataValue, model: EdmModel, to batch: inout RowBatch) throws(ColumnValueError) {
    do throws(ODataValueError) { try storage.append(value, type: type, model: model, to: &batch) } catch {
      throw ColumnValueError(property: path.joined(separator: "/"), cause: error)
    }
  }
}

/// The error for a value that is not of its property's type.
struct ColumnValueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The entity, if it is known.
  var entity: String?
  /// Whether the property is part of the entity's key.
  var isOfKey = false
  /// The property's path.
  let property: String
  /// What is wrong with the value.
  let cause: ODataValueError

  /// The entity and the property, and what is wrong.
  var description: String { "\(entity.map { $0 + "/" } ?? "")\(property): \(cause)" }

  init(property: String, cause: ODataValueError) { (self.property, self.cause) = (property, cause) }
}

extension ColumnValueError: ErrorWithCure {
  /// What to do about the value. A key cannot be left out of `$select`.
  var cure: String {
    isOfKey
      ? "It is part of a key: report it to the service, or leave such entities out with keepsRawValues (--raw-values)."
      : OfflineODataError.valueCure
  }
}
