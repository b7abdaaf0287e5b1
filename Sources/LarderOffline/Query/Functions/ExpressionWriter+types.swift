import LarderOData
import LarderStorage

// `cast`, `isof`, `isdefined` (URL Conventions 4.01 §5.1.1.10).
extension ExpressionWriter {
  func cast(_ expression: ODataBoundExpression?, _ type: ODataBoundType) throws -> SQLOperand {
    guard let expression, type.item.structure == nil, !type.isCollection else {
      guard type.item.isEntity, !type.isCollection else {
        throw OfflineODataError.unsupported("cast to \(type) as a value")
      }
      return try value(of: try place(expression, type))
    }
    let value = try operand(expression)
    let nullable = ODataBoundType(type.item, isNullable: true)
    if value.literal == .null {
      return SQLOperand(text: .atom("NULL"), storage: type.storage, type: nullable, literal: .null)
    }
    if case .enumeration(let declared) = type.item { return try cast(value, to: declared, nullable) }
    guard let target = type.item.primitive else { throw OfflineODataError.unsupported("cast to \(type)") }
    if case .enumeration(let declared) = value.type.item { return try cast(value, from: declared, target, nullable) }
    if value.type.item.primitive == target { return value }
    let source: SQLText
    if let primitive = value.type.item.primitive {
      source = SQLText(.text(primitive.qualifiedName))
    } else {
      source =
        "CASE typeof(\(value.text)) WHEN 'integer' THEN 'Edm.Int64' WHEN 'real' THEN 'Edm.Double' ELSE 'Edm.String' END"
    }
    return SQLOperand(
      text: .atom("larder_cast(\(value.text), \(source), \(value: .text(target.qualifiedName)))"),
      storage: ColumnStorage(target), type: nullable, canBeNaN: target == .double || target == .single)
  }

  /// The place of a path after a cast.
  private func place(_ expression: ODataBoundExpression?, _ type: ODataBoundType) throws -> PathPlace {
    guard let structure = type.item.structure else { throw OfflineODataError.unsupported("cast to \(type)") }
    let start = try expression.map { try place($0) } ?? environment.current.map { PathPlace(scope: $0) }
    guard let start else { throw OfflineODataError.unsupported("cast without an instance") }
    return try cast(start, to: structure)
  }

  /// Casts a name or a number to an enumeration type.
  private func cast(
    _ value: SQLOperand, to declared: ODataDeclaredEnum, _ type: ODataBoundType
  ) throws -> SQLOperand {
    switch value.storage {
    case .enumeration, .integer:
      return SQLOperand(text: value.text, storage: .enumeration, type: type, isNullable: value.isNullable)
    case .string, nil:
      guard !declared.enumeration.isFlags else {
        throw OfflineODataError.unsupported("cast of a string to \(declared.name), which has flags")
      }
      var text: SQLText = "CASE \(value.text)"
      for member in declared.enumeration.members {
        text.append(" WHEN \(value: .text(member.name)) THEN \(value: .integer(member.value))")
      }
      text.append(" END")
      return SQLOperand(text: .atom(text), storage: .enumeration, type: type)
    default: throw OfflineODataError.unsupported("cast of \(value.type) to \(declared.name)")
    }
  }

  /// Casts an enumeration value to a name or a number.
  private func cast(
    _ value: SQLOperand, from declared: ODataDeclaredEnum, _ target: EdmPrimitiveType, _ type: ODataBoundType
  ) throws -> SQLOperand {
    if target.isWhole {
      return SQLOperand(
        text: .atom("larder_cast(\(value.text), 'Edm.Int64', \(value: .text(target.qualifiedName)))"),
        storage: .integer, type: type)
    }
    guard target == .string, !declared.enumeration.isFlags else {
      throw OfflineODataError.unsupported("cast of \(declared.name) to \(target.qualifiedName)")
    }
    var text: SQLText = "CASE \(value.text)"
    for member in declared.enumeration.members {
      text.append(" WHEN \(value: .integer(member.value)) THEN \(value: .text(member.name))")
    }
    text.append(" ELSE CAST(\(value.text) AS TEXT) END")
    return SQLOperand(text: .atom(text), storage: .string, type: type)
  }

  // MARK: isof

  func isof(_ expression: ODataBoundExpression?, _ type: ODataBoundType) throws -> SQLText {
    guard let structure = type.item.structure, !type.isCollection else {
      guard let expression else { return .atom("0") }
      return try isof(primitive: expression, type)
    }
    let start: PathPlace?
    if let expression {
      guard !expression.isNull else { return .atom("0") }
      start = try place(expression)
    } else {
      start = environment.current.map { PathPlace(scope: $0) }
    }
    guard let start, !start.isCollection else { throw OfflineODataError.unsupported("isof of a collection") }
    switch start.scope {
    case .entity(let entity):
      var conditions: [SQLText] = []
      if let numbers = entity.guardedBy { conditions.append(try typeCondition(numbers, entity)) }
      if let numbers = narrowingTypes(structure, in: entity.table, known: entity.guardedBy == nil ? entity.type : nil) {
        conditions.append(try typeCondition(numbers, entity))
      }
      let condition = conditions.isEmpty ? SQLText.atom("1") : SQLText.joined(conditions.map(\.operand), " AND ")
      guard let rows = start.rows else { return condition.operand }
      return .atom("EXISTS (SELECT 1 \(rows.from(condition)))")
    case .complex(let complex):
      let condition = try typeCondition(of: complex, structure)
      guard let rows = start.rows else { return .atom("ifnull(\(condition), 0)") }
      return .atom("EXISTS (SELECT 1 \(rows.from(condition)))")
    case .json(let json):
      let isOfType = JSONPlace.isOf(types(of: structure), json.json, declared: json.type)
      return .atom("ifnull(\(start.rows.map { $0.value(isOfType) } ?? isOfType), 0)")
    default: throw OfflineODataError.unsupported("isof on a value without a structured type")
    }
  }

  /// The type of a primitive expression is known from the model, so `isof` depends on the row only if the value can be
  /// null.
  private func isof(primitive expression: ODataBoundExpression, _ type: ODataBoundType) throws -> SQLText {
    guard !expression.isNull else { return .atom("0") }
    guard expression.type.item != .untyped, !type.isCollection, type.item != .untyped else {
      throw OfflineODataError.unsupported("isof of an untyped value")
    }
    let isSame =
      expression.type.item == type.item
      || expression.type.item.primitive != nil && expression.type.item.primitive == type.item.primitive
    return isSame ? try isNull(expression, false) : .atom("0")
  }

  // MARK: isdefined

  func isdefined(_ path: ODataBoundPath) throws -> SQLText {
    guard case .dynamic? = path.segments.last?.kind else { return .atom("1") }
    let place = try place(path)
    guard case .json(let json) = place.scope else { return .atom("1") }
    let kind = place.rows.map { $0.value(json.kind) } ?? json.kind
    return .atom("(\(kind) IS NOT NULL)")
  }
}
