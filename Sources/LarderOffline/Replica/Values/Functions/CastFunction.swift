import LarderOData
import LarderService
import LarderStorage

extension ReplicaSQL {
  /// `cast` between primitive types (URL Conventions 4.01 §5.1.1.10.1): NULL if it fails.
  static let cast = SQLFunction("larder_cast", argumentCount: 3) { (arguments, result) throws(SQLFunctionError) in
    guard !arguments.isNull(0) else { return }
    let types = try arguments.cached(1) { () throws(SQLFunctionError) in
      try CastTypes(from: arguments.text(1), to: arguments.text(2))
    }
    // Other rows may name other types.
    let current =
      types.names == [arguments.text(1), arguments.text(2)]
      ? types : try CastTypes(from: arguments.text(1), to: arguments.text(2))
    if let value = current.cast(arguments) { result.value(value) }
  }
}

private final class CastTypes: Sendable {
  let names: [String]
  let source: EdmPrimitiveType
  let target: EdmPrimitiveType

  init(from source: String, to target: String) throws(SQLFunctionError) {
    guard let sourceType = EdmPrimitiveType(qualifiedName: source),
      let targetType = EdmPrimitiveType(qualifiedName: target)
    else {
      throw SQLFunctionError("cast from \(source) to \(target)")
    }
    names = [source, target]
    self.source = sourceType
    self.target = targetType
  }

  func cast(_ arguments: borrowing SQLArguments) -> SQLValue? {
    if source == target { return same(arguments) }
    if target == .string { return text(arguments).map { .text($0) } }
    if source == .string { return parse(arguments.text(0)) }
    if source.isNumberType, target.isNumberType { return SQLNumber(arguments, 0).flatMap(number) }
    // Both are stored as durations. An abstract geo type accepts all types of its space.
    if source.isLength, target.isLength { return same(arguments) }
    if let space = source.geoSpace, target == (space == .geography ? .geography : .geometry) { return same(arguments) }
    return nil
  }

  private func same(_ arguments: borrowing SQLArguments) -> SQLValue? {
    switch arguments.storageClass(0) {
    case .null: nil
    case .integer: .integer(arguments.int64(0))
    case .real: .real(arguments.real(0))
    case .text: .text(arguments.text(0))
    case .blob: unsafe .blob(Array(arguments.bytes(0)))
    }
  }

  /// The literal of the value.
  private func text(_ arguments: borrowing SQLArguments) -> String? {
    switch source {
    case .boolean: return arguments.int64(0) == 0 ? "false" : "true"
    case .binary: return try? ODataValue.binary(unsafe Array(arguments.bytes(0))).text()
    case .single where arguments.storageClass(0) == .real:
      return try? ODataValue.single(Float(arguments.real(0))).text()
    default:
      if source.geoSpace != nil {
        guard let node = try? JSONNode(unsafe Array(arguments.utf8(0))) else { return nil }
        guard case .geo(var geo)? = try? ODataValue(json: node, type: source, dialect: .v4) else { return nil }
        // A value without an SRID has the facet's default (CSDL 4.01 §7.2.6).
        geo.srid = geo.srid ?? (geo.space == .geography ? 4326 : 0)
        return try? ODataValue.geo(geo).text()
      }
      if case .real(let number)? = SQLNumber(arguments, 0), arguments.storageClass(0) == .real {
        return try? ODataValue.double(number).text()
      }
      return arguments.text(0)
    }
  }

  private func parse(_ text: String) -> SQLValue? {
    var value = try? ODataValue(text: text, type: target)
    if value == nil, target == .dateTimeOffset { value = try? ODataValue(text: text + "Z", type: target) }
    guard let value, let storage = ColumnStorage(.primitive(target), model: CastTypes.noModel) else { return nil }
    return try? storage.sqlValue(of: value, type: .primitive(target))
  }

  private static let noModel = EdmModel(version: .v4, schemas: [])

  /// The number in the target type, rounded as `round` does; nil if it does not fit.
  private func number(_ number: SQLNumber) -> SQLValue? {
    switch target {
    case .double: return real(number.real)
    case .single:
      let single = if case .real(let double) = number { Float(double) } else { Float(number.decimal) }
      guard single.isFinite || !number.real.isFinite else { return nil }
      return real(Double(single))
    case .decimal: return .text(number.decimal.description)
    default:
      guard case .decimal(let integer) = SQLNumber.decimal(number.decimal).rounded(.halfAwayFromZero),
        let value = Int64(exactly: integer), target.integerRange.contains(value)
      else { return nil }
      return .integer(value)
    }
  }

  private func real(_ number: Double) -> SQLValue { number.isNaN ? .text("NaN") : .real(number) }
}

extension EdmPrimitiveType {
  fileprivate var isNumberType: Bool {
    switch self {
    case .byte, .sbyte, .int16, .int32, .int64, .single, .double, .decimal: true
    default: false
    }
  }

  fileprivate var isLength: Bool { self == .duration || self == .time }
}
