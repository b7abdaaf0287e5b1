import LarderOData
import LarderService
import LarderStorage

extension DecodedScalar {
  /// Reads the value of a column.
  init(
    _ row: borrowing Row, column: Int32, storage: ColumnStorage, type: ODataBoundType, model: EdmModel
  ) throws {
    switch row.storageClass(column) {
    case .null: self = .null
    case .real: self = .real(row.real(column))
    case .blob: self = unsafe .bytes(Array(row.rawBytes(column)))
    case .text:
      switch storage {
      case .json, .geo, .dynamic:
        let node = unsafe try ResultTypes.node(Array(row.utf8(column)))
        self.init(node, storage == .geo ? .untyped : ValueType(type, in: model))
      case .complex, .stream: self = .compound
      default: self.init(row.utf8Text(column), storage.textType)
      }
    case .integer:
      let number = row.integer(column)
      switch storage {
      case .boolean: self = .boolean(number != 0)
      case .enumeration:
        var name = String(number)
        if case .enumeration(let names) = ValueType(type, in: model) { name = names.name(number) ?? name }
        self = .member(number, name)
      default: self = .integer(number)
      }
    }
  }
}

extension ColumnStorage {
  /// The type whose text a column contains.
  fileprivate var textType: EdmPrimitiveType {
    switch self {
    case .decimal: .decimal
    case .integer: .int64
    case .real: .double
    case .date: .date
    case .dateTimeOffset: .dateTimeOffset
    case .dateTime: .dateTime
    case .duration: .duration
    case .guid: .guid
    case .timeOfDay: .timeOfDay
    case .boolean, .string, .binary, .enumeration, .geo, .json, .complex, .dynamic, .stream: .string
    }
  }
}
