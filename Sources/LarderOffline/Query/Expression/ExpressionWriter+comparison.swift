import LarderOData
import LarderStorage

// Comparisons (URL Conventions 4.01 §5.1.1.1.1 to §5.1.1.1.6).
extension ExpressionWriter {
  /// The condition of a comparison or `has`; nil for arithmetic.
  func binary(
    _ name: ODataBinaryOperator, _ left: ODataBoundExpression, _ right: ODataBoundExpression, wants: Wanted
  ) throws -> Condition? {
    switch name {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      if left.isNull || right.isNull {
        guard name == .equal || name == .notEqual || holdsOfNulls(name) else { return Condition(text: .atom("0")) }
        return Condition(text: try isNull(left.isNull ? right : left, name != .notEqual))
      }
      if isStructured(left) || isStructured(right) { return try structures(name, left, right) }
      return try compare(name, try operand(left), try operand(right), wants: wants)
    case .has:
      let (one, other) = (try operand(left), try operand(right))
      guard one.storage == .enumeration, other.storage == .enumeration else {
        throw OfflineODataError.unsupported("has on a value of an unknown enumeration")
      }
      return Condition(
        text: "(\(operand: one.text) & \(operand: other.text)) = \(operand: other.text)",
        isNullable: one.isNullable || other.isNullable)
    default: return nil
    }
  }

  /// Whether an order comparison of two nulls is true. In V4 `le` and `ge` are, because null equals itself (4.0 and
  /// 4.01 §5.1.1.1.4, §5.1.1.1.6); in V2 and V3 they are false if either operand is null ([MS-ODATA] 2.2.3.6.1.1.5).
  private func holdsOfNulls(_ name: ODataBinaryOperator) -> Bool {
    (name == .lessOrEqual || name == .greaterOrEqual) && statement.question.plan.model.version >= .v4
  }

  private func isStructured(_ expression: ODataBoundExpression) -> Bool {
    expression.type.isCollection || expression.type.item.hasMembers && !expression.type.item.isEntity
  }

  private func structures(
    _ name: ODataBinaryOperator, _ left: ODataBoundExpression, _ right: ODataBoundExpression
  ) throws -> Condition {
    if name == .equal || name == .notEqual, let equal = try equalStructures(left, right) {
      return Condition(text: name == .equal ? equal : .atom("(NOT \(equal))"))
    }
    return Condition(text: try equal(name, try json(left), try json(right)))
  }

  private func equal(_ name: ODataBinaryOperator, _ left: SQLText, _ right: SQLText) throws -> SQLText {
    guard name == .equal || name == .notEqual else {
      throw OfflineODataError.unsupported("\(name.rawValue) on complex values or collections")
    }
    let equal: SQLText = .atom("larder_json_equal(\(left), \(right))")
    return name == .equal
      ? .atom("ifnull(\(equal), \(left) IS NULL AND \(right) IS NULL)")
      : .atom("(NOT ifnull(\(equal), \(left) IS NULL AND \(right) IS NULL))")
  }

  /// The condition that a value is null, or that it is not.
  func isNull(_ expression: ODataBoundExpression, _ isWanted: Bool) throws -> SQLText {
    if expression.isNull { return .atom(isWanted ? "1" : "0") }
    if case .path(let path) = expression.kind, !isCountOrQuantifier(path) {
      let place = try place(path)
      switch place.scope {
      case .entity(let entity):
        guard let rows = place.rows else { return try isNull(entity, isWanted) }
        let exists: SQLText = .atom("EXISTS (SELECT 1 \(rows.from()))")
        return isWanted ? .atom("(NOT \(exists))") : exists
      case .complex(let complex):
        return test(try marker(of: complex, place.rows), isWanted)
      case .json(let json):
        let kind = place.rows.map { $0.value(json.kind) } ?? json.kind
        return .atom("(ifnull(\(kind), 'null') \(isWanted ? "=" : "<>") 'null')")
      case .value(let value):
        return test(place.rows.map { $0.value(value.text) } ?? value.text, isWanted)
      case .row, .nested: return .atom(isWanted ? "0" : "1")
      }
    }
    return test(try operand(expression).text, isWanted)
  }

  private func test(_ text: SQLText, _ isNull: Bool) -> SQLText {
    isNull ? "\(operand: text) IS NULL" : "\(operand: text) IS NOT NULL"
  }

  private func isNull(_ entity: EntityScope, _ isWanted: Bool) throws -> SQLText {
    guard let numbers = entity.guardedBy else { return .atom(isWanted ? "0" : "1") }
    let isOfType = try typeCondition(numbers, entity)
    return isWanted ? .atom("(NOT \(operand: isOfType))") : isOfType
  }

  private func marker(of complex: ComplexScope, _ rows: RelatedRows?) throws -> SQLText {
    guard let marker = complex.owner.table.column(complex.path, on: complex.owner.type) else {
      throw OfflineODataError.unsupported("'\(complex.path.joined(separator: "/"))'")
    }
    var text = try reference(marker, of: complex.owner)
    if complex.isCast, let type = complex.type {
      text = .atom("CASE WHEN \(try typeCondition(of: complex, type)) THEN \(text) END")
    }
    return rows.map { $0.value(text) } ?? text
  }

  private func isCountOrQuantifier(_ path: ODataBoundPath) -> Bool {
    switch path.segments.last?.kind {
    case .count, .any, .all: true
    default: false
    }
  }

  // MARK: Two values

  func compare(
    _ name: ODataBinaryOperator, _ left: SQLOperand, _ right: SQLOperand, wants: Wanted
  ) throws -> Condition {
    let isEquality = name == .equal || name == .notEqual
    if isNaN(left) || isNaN(right) { return Condition(text: .atom(name == .notEqual ? "1" : "0")) }
    let (one, other) = try comparable(left, right)
    let isNullable = one.isNullable || other.isNullable
    if isEquality { return Condition(text: equality(name, one, other, wants)) }
    let symbol: SQLText =
      switch name {
      case .less: "<"
      case .lessOrEqual: "<="
      case .greater: ">"
      default: ">="
      }
    var text: SQLText = "\(side(one, other)) \(symbol) \(operand: other.text)"
    // SQLite orders texts, and so the text NaN, after all numbers.
    let greater = name == .less || name == .lessOrEqual ? other : one
    if greater.mayBeNaN, greater.literal == nil { text = .atom("(\(text) AND \(operand: greater.text) <= 9e999)") }
    if one.storage == nil || other.storage == nil { text = .atom("(\(text) AND \(sameClass(one, other)))") }
    // If an operand is never null, the comparison keeps the form that an index can serve.
    if holdsOfNulls(name), one.isNullable, other.isNullable {
      text = .atom("(\(operand: text) OR \(operand: one.text) IS NULL AND \(operand: other.text) IS NULL)")
    }
    // NULL is not true, which is enough for a test of truth; if the value matters, the comparison must be false instead
    // of NULL.
    if wants == .value, isNullable { text = "\(operand: text) IS TRUE" }
    return Condition(text: text)
  }

  private func isNaN(_ operand: SQLOperand) -> Bool {
    switch operand.literal {
    case .double(let number): number.isNaN
    case .single(let number): number.isNaN
    default: false
    }
  }

  private func equality(
    _ name: ODataBinaryOperator, _ one: SQLOperand, _ other: SQLOperand, _ wants: Wanted
  ) -> SQLText {
    let left = side(one, other)
    let right = other.text.operand
    let canBeNaN = one.mayBeNaN && other.mayBeNaN
    if name == .equal {
      // An index can serve `=`. If only truth matters, NULL instead of false is enough.
      let bothNull = one.isNullable && other.isNullable
      let isPlain = !bothNull && (wants == .truth || !one.isNullable && !other.isNullable)
      let text: SQLText = isPlain ? "\(left) = \(right)" : "\(left) IS \(right)"
      return canBeNaN ? .atom("(\(text) AND \(operand: one.text) IS NOT 'NaN')") : text
    }
    let isPlain = !one.isNullable && !other.isNullable
    let text: SQLText = isPlain ? "\(left) <> \(right)" : "\(left) IS NOT \(right)"
    return canBeNaN ? .atom("(\(text) OR \(operand: one.text) IS 'NaN')") : text
  }

  /// The left operand, with an explicit collation if neither side has one already.
  private func side(_ one: SQLOperand, _ other: SQLOperand) -> SQLText {
    let needsNone = one.hasCollation || other.hasCollation && one.literal != nil
    if needsNone, other.text.hasInnerCollation { return one.explicitlyCollated }
    return needsNone ? one.text.operand : one.collated.operand
  }

  /// The condition that two JSON scalars are of the same kind: only such scalars can be ordered.
  private func sameClass(_ one: SQLOperand, _ other: SQLOperand) -> SQLText {
    func kind(_ operand: SQLOperand) -> SQLText {
      "typeof(\(operand.text)) IN ('integer', 'real')"
    }
    switch (one.storage, other.storage) {
    case (nil, nil): return "(\(kind(one))) = (\(kind(other)))"
    case (nil, let known?): return known.isNumber ? kind(one) : "typeof(\(one.text)) = 'text'"
    case (let known?, nil): return known.isNumber ? kind(other) : "typeof(\(other.text)) = 'text'"
    default: return .atom("1")
    }
  }

  // MARK: Comparable forms

  /// Both operands in one form, so that SQLite's comparison is exact.
  private func comparable(_ left: SQLOperand, _ right: SQLOperand) throws -> (SQLOperand, SQLOperand) {
    if left.type.item.isEntity || right.type.item.isEntity { return (left, right) }
    switch (left.storage, right.storage) {
    case (let one?, let other?) where one == other: return (single(left, right), single(right, left))
    case (let one?, let other?) where one.isNumber && other.isNumber: return try numbers(left, right)
    case (nil, let known?) where known.isNumber: return (left, try untyped(right))
    case (let known?, nil) where known.isNumber: return (try untyped(left), right)
    default: return (left, right)
    }
  }

  /// Numbers of two storages. A literal takes the form of the other operand; a decimal that is compared with a double
  /// becomes a double.
  private func numbers(_ left: SQLOperand, _ right: SQLOperand) throws -> (SQLOperand, SQLOperand) {
    if let literal = right.literal, let storage = left.storage, (storage, right.storage) != (.decimal, .real) {
      return (left, try fitted(literal, right, to: left, storage))
    }
    if let literal = left.literal, let storage = right.storage, (storage, left.storage) != (.decimal, .real) {
      return (try fitted(literal, left, to: right, storage), right)
    }
    if left.storage == .real || right.storage == .real { return (real(left), real(right)) }
    return (decimal(left), decimal(right))
  }

  /// A literal that is compared with a column of another numeric storage: in the column's form, or in one that compares
  /// exactly with it.
  private func fitted(
    _ value: ODataValue, _ literal: SQLOperand, to other: SQLOperand, _ storage: ColumnStorage
  ) throws -> SQLOperand {
    var literal = literal
    switch (storage, literal.storage) {
    case (.real, _):
      guard var number = SQLLiteral.double(value) else { break }
      if other.type.item.primitive == .single { number = Double(Float(number)) }
      literal.text = SQLText(.real(number))
      literal.storage = .real
    case (.decimal, .integer):
      if let number = SQLLiteral.value(value, as: .decimal) { literal.text = SQLText(number) }
      literal.storage = .decimal
    case (.integer, .decimal), (.enumeration, .decimal):
      guard let decimal = SQLLiteral.decimal(value) else { break }
      literal.text = SQLText(ExpressionWriter.between(decimal))
      literal.storage = .integer
    default: break
    }
    return literal
  }

  /// A number that compares with integers in the same way as a decimal: SQLite compares INTEGER with REAL exactly.
  private static func between(_ decimal: ODataDecimal) -> SQLValue {
    if let whole = Int64(exactly: decimal) { return .integer(whole) }
    let near = Double(decimal)
    guard near == near.rounded(), near.magnitude < 0x1p53 else { return .real(near) }
    // The decimal is so close to an integer that its double is that integer. The value half-way to the next integer
    // compares in the same way.
    return .real(ODataDecimal(near) < decimal ? near + 0.5 : near - 0.5)
  }

  func real(_ operand: SQLOperand) -> SQLOperand {
    guard operand.storage == .decimal else { return operand }
    var operand = operand
    if let literal = operand.literal, let number = SQLLiteral.double(literal) {
      operand.text = SQLText(.real(number))
    } else {
      operand.text = .atom("larder_to_real(\(operand.text))")
      operand.mayBeNaN = true
    }
    operand.storage = .real
    operand.hasCollation = false
    return operand
  }

  func decimal(_ operand: SQLOperand) -> SQLOperand {
    guard operand.storage == .integer else { return operand }
    var operand = operand
    if let literal = operand.literal, let number = SQLLiteral.value(literal, as: .decimal) {
      operand.text = SQLText(number)
    } else {
      operand.text = .atom("larder_to_decimal(\(operand.text))")
    }
    operand.storage = .decimal
    operand.hasCollation = false
    return operand
  }

  /// A number that is compared with a scalar from JSON, which is INTEGER or REAL.
  private func untyped(_ operand: SQLOperand) throws -> SQLOperand { real(operand) }

  /// A literal that is compared with a single, in the precision of a single.
  private func single(_ operand: SQLOperand, _ other: SQLOperand) -> SQLOperand {
    guard operand.storage == .real, other.type.item.primitive == .single, operand.type.item.primitive != .single,
      case .decimal(let number)? = operand.literal
    else { return operand }
    var operand = operand
    operand.text = SQLText(.real(Double(Float(Double(number)))))
    return operand
  }
}

extension ColumnStorage {
  /// Whether values are numbers.
  var isNumber: Bool { self == .integer || self == .real || self == .decimal }
}
