import LarderOData
import LarderStorage

/// Writes bound expressions as SQL, for a statement and an environment.
///
/// Comparisons are two-valued and everything else is three-valued, as the standard requires (URL Conventions 4.01
/// §5.1.1.1). If only truth matters, a comparison keeps the plain form that an index can serve, because NULL is not
/// true; otherwise it is guarded against NULL.
struct ExpressionWriter {
  let statement: SelectStatement
  let environment: Environment

  /// What the caller needs to know of a condition.
  enum Wanted {
    /// Only whether it is true: false and NULL are equivalent.
    case truth
    /// The value: true, false or null.
    case value
  }

  /// A condition as SQL.
  struct Condition {
    var text: SQLText
    /// Whether it may be NULL. A condition that is written for ``Wanted/truth`` may also be NULL instead of false.
    var isNullable = false
  }

  /// Writes a condition of which only the truth matters.
  func condition(_ expression: ODataBoundExpression) throws -> SQLText { try test(expression, wants: .truth).text }

  // MARK: Conditions

  func test(_ expression: ODataBoundExpression, wants: Wanted) throws -> Condition {
    let written = try statement.context.nested { try condition(expression, wants) }
    try written.text.checkLength()
    return written
  }

  private func condition(_ expression: ODataBoundExpression, _ wants: Wanted) throws -> Condition {
    switch expression.kind {
    case .and(let parts): return try logical(parts, " AND ", wants)
    case .or(let parts): return try logical(parts, " OR ", wants)
    case .not(let operand):
      let inner = try test(operand, wants: .value)
      return Condition(text: .atom("(NOT \(operand: inner.text))"), isNullable: inner.isNullable)
    case .binary(let name, let left, let right):
      if let condition = try binary(name, left, right, wants: wants) { return condition }
    case .membership(let left, let right): return try membership(left, right, wants: wants)
    case .call(let function, let arguments):
      if let condition = try truth(of: function, arguments, expression) { return condition }
    case .isof(let operand, let type): return Condition(text: try isof(operand, type))
    case .isdefined(let path): return Condition(text: try isdefined(path))
    case .literal(.boolean(let flag)): return Condition(text: flag ? .atom("1") : .atom("0"))
    case .path(let path):
      if let condition = try quantified(path) { return condition }
    default: break
    }
    let value = try operand(expression)
    // An untyped value is true if it is the JSON literal: other numbers and texts are not conditions.
    if value.storage == nil { return Condition(text: "\(operand: value.text) IS 1") }
    return Condition(text: value.text, isNullable: value.isNullable)
  }

  private func logical(
    _ parts: [ODataBoundExpression], _ separator: SQLText, _ wants: Wanted
  ) throws -> Condition {
    let tests = try parts.map { try test($0, wants: wants) }
    return Condition(
      text: ExpressionWriter.chain(tests.map(\.text.operand), separator),
      isNullable: tests.contains(where: \.isNullable))
  }

  /// Joins operands to a chain. SQLite parses a chain as a tree that is as deep as the chain is long, and accepts a
  /// depth of at most 1000.
  static func chain(_ parts: [SQLText], _ separator: SQLText) -> SQLText {
    var parts = parts
    while parts.count > 200 {
      parts = stride(from: 0, to: parts.count, by: 200).map { start in
        SQLText.joined(Array(parts[start..<min(start + 200, parts.count)]), separator).operand
      }
    }
    return SQLText.joined(parts, separator)
  }

  // MARK: Values

  func operand(_ expression: ODataBoundExpression) throws -> SQLOperand {
    let operand = try statement.context.nested { try value(of: expression) }
    try operand.text.checkLength()
    return operand
  }

  private func value(of expression: ODataBoundExpression) throws -> SQLOperand {
    switch expression.kind {
    case .literal(let value): return try literal(value, expression.type)
    case .enumeration(_, let value):
      return SQLOperand(
        text: SQLText(.integer(value)), storage: .enumeration, type: expression.type, isNullable: false,
        literal: .int64(value))
    case .path(let path): return try value(of: path)
    case .negate(let operand): return try negated(expression, operand)
    case .binary: if let value = try arithmetic(expression) { return value }
    case .call(let function, let arguments):
      if let value = try call(function, arguments, expression) { return value }
    case .cast(let operand, let type): return try cast(operand, type)
    case .conditional(let branches): return try conditional(branches, expression.type)
    case .array, .object: return try structured(expression)
    case .list: throw OfflineODataError.unsupported("a list outside in")
    case .and, .or, .not, .membership, .isof, .isdefined: break
    }
    return try tested(expression)
  }

  /// A condition as a value.
  private func tested(_ expression: ODataBoundExpression) throws -> SQLOperand {
    let condition = try test(expression, wants: .value)
    // In ORDER BY and GROUP BY, a bare number would be the number of a column.
    let text = Int64(condition.text.sql).map { SQLText(.integer($0)) } ?? condition.text
    return SQLOperand(
      text: text, storage: .boolean, type: .plain(.boolean), isNullable: condition.isNullable)
  }

  private func literal(_ value: ODataValue, _ type: ODataBoundType) throws -> SQLOperand {
    if case .geo(let geo) = value {
      let json = try ODataValue.geo(geo).json(ODataJSONFormat(version: .v401))
      return SQLOperand(
        text: SQLText(.text(json)), storage: .geo, type: type, isNullable: false, literal: value)
    }
    guard let bound = SQLLiteral.value(value) else {
      throw OfflineODataError.unsupported("the literal of type \(type)")
    }
    let storage = value.type.map { ColumnStorage($0) }
    return SQLOperand(
      text: SQLText(bound), storage: storage, type: type, isNullable: value == .null, literal: value,
      canBeNaN: bound == .text("NaN"))
  }

  /// The value of a path.
  private func value(of path: ODataBoundPath) throws -> SQLOperand {
    if case .count(let options)? = path.segments.last?.kind { return try counted(path, options) }
    if let condition = try quantified(path) {
      return SQLOperand(
        text: condition.text, storage: .boolean, type: .plain(.boolean, isNullable: false), isNullable: false)
    }
    return try value(of: try place(path))
  }

  func value(of place: PathPlace) throws -> SQLOperand {
    var operand: SQLOperand
    switch place.scope {
    case .value(let value): operand = value
    case .json(let json):
      let isScalar = !json.type.isCollection && !json.type.item.isStructured
      operand = SQLOperand(text: isScalar ? json.scalar : json.json, storage: isScalar ? nil : .json, type: json.type)
    case .entity(let entity) where !place.isCollection:
      // An entity is compared by its identity.
      operand = SQLOperand(
        text: try system(.id, of: entity), storage: .integer, type: ODataBoundType(.structure(entity.type)))
    case .entity: throw OfflineODataError.unsupported("a collection of entities as a value")
    case .complex: throw OfflineODataError.unsupported("a complex value as an operand")
    case .row, .nested: throw OfflineODataError.unsupported("a row as an operand")
    }
    if let rows = place.rows {
      operand.text = rows.value(operand.text)
      operand.hasCollation = false
      operand.isNullable = true
    }
    return operand
  }

  /// A constant array or object as JSON.
  private func structured(_ expression: ODataBoundExpression) throws -> SQLOperand {
    let value = try ExpressionWriter.constant(expression)
    let json = try value.json(ODataJSONFormat(version: .v401))
    return SQLOperand(
      text: SQLText(.text(json)), storage: .json, type: expression.type, isNullable: false, literal: value)
  }

  private static func constant(_ expression: ODataBoundExpression) throws -> ODataValue {
    switch expression.kind {
    // JSON columns store decimals and durations as strings, and enumerations as numbers.
    case .literal(.decimal(let number)): return .string(number.description)
    case .literal(let value): return value
    case .enumeration(_, let value): return .int64(value)
    case .array(let items), .list(let items): return .collection(try items.map { try constant($0) })
    case .object(let members):
      let properties = try members.filter { !$0.name.contains("@") }
        .map { ODataProperty($0.name, try constant($0.value)) }
      return .complex(ODataComplexValue(properties: properties))
    default: throw OfflineODataError.unsupported("an expression inside an array or object")
    }
  }
}
