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
        guard name == .equal || name == .notEqual || isTrueForNulls(name) else { return Condition(text: .atom("0")) }
        return Condition(text: try isNull(left.isNull ? right : left, name != .notEqual))
      }
      if isStructured(left) || isStructured(right) { return try structures(name, left, right) }
      return try compare(name, try operand(left), try operand(right), wants: wants)
    case .has:
      let (lhs, rhs) = (try operand(left), try operand(right))
      guard lhs.storage == .enumeration, rhs.storage == .enumeration else {
        throw OfflineODataError.unsupported("has on a value of an unknown enumeration")
      }
      return Condition(
        text: "(\(operand: lhs.text) & \(operand: rhs.text)) = \(operand: rhs.text)",
        isNullable: lhs.isNullable || rhs.isNullable)
    default: return nil
    }
  }

  /// Whether an order comparison of two nulls is true. In V4 `le` and `ge` are, because null equals itself (4.0 and
  /// 4.01 §5.1.1.1.4, §5.1.1.1.6); in V2 and V3 they are false if either operand is null ([MS-ODATA] 2.2.3.6.1.1.5).
  private func isTrueForNulls(_ name: ODataBinaryOperator) -> Bool {
    (name == .lessOrEqual || name == .greaterOrEqual) && statement.context.plan.model.version >= .v4
  }

  private func isStructured(_ expression: ODataBoundExpression) -> Bool {
    expression.type.isCollection || expression.type.item.isStructured && !expression.type.item.isEntity
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
    let (lhs, rhs) = try comparable(left, right)
    let isNullable = lhs.isNullable || rhs.isNullable
    if isEquality { return Condition(text: equality(name, lhs: lhs, rhs: rhs, wants: wants)) }
    let symbol: SQLText =
      switch name {
      case .less: "<"
      case .lessOrEqual: "<="
      case .greater: ">"
      default: ">="
      }
    var text: SQLText = "\(side(lhs, rhs)) \(symbol) \(operand: rhs.text)"
    // SQLite orders texts, and so the text NaN, after all numbers.
    let greater = name == .less || name == .lessOrEqual ? rhs : lhs
    if greater.canBeNaN, greater.literal == nil { text = .atom("(\(text) AND \(operand: greater.text) <= 9e999)") }
    if lhs.storage == nil || rhs.storage == nil { text = .atom("(\(text) AND \(sameClass(lhs, rhs)))") }
    // If an operand is never null, the comparison keeps the form that an index can serve.
    if isTrueForNulls(name), lhs.isNullable, rhs.isNullable {
      text = .atom("(\(operand: text) OR \(operand: lhs.text) IS NULL AND \(operand: rhs.text) IS NULL)")
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
    _ name: ODataBinaryOperator, lhs: SQLOperand, rhs: SQLOperand, wants: Wanted
  ) -> SQLText {
    let left = side(lhs, rhs)
    let right = rhs.text.operand
    let canBeNaN = lhs.canBeNaN && rhs.canBeNaN
    if name == .equal {
      // An index can serve `=`. If only truth matters, NULL instead of false is enough.
      let bothNull = lhs.isNullable && rhs.isNullable
      let isPlain = !bothNull && (wants == .truth || !lhs.isNullable && !rhs.isNullable)
      let text: SQLText = isPlain ? "\(left) = \(right)" : "\(left) IS \(right)"
      return canBeNaN ? .atom("(\(text) AND \(operand: lhs.text) IS NOT 'NaN')") : text
    }
    let isPlain = !lhs.isNullable && !rhs.isNullable
    let text: SQLText = isPlain ? "\(left) <> \(right)" : "\(left) IS NOT \(right)"
    return canBeNaN ? .atom("(\(text) OR \(operand: lhs.text) IS 'NaN')") : text
  }

  /// The left operand, with an explicit collation if neither side has one already.
  private func side(_ lhs: SQLOperand, _ rhs: SQLOperand) -> SQLText {
    let needsNone = lhs.hasCollation || rhs.hasCollation && lhs.literal != nil
    if needsNone, rhs.text.hasInnerCollation { return lhs.explicitlyCollated }
    return needsNone ? lhs.text.operand : lhs.collated.operand
  }

  /// The condition that two JSON scalars are of the same kind: only such scalars can be ordered.
  private func sameClass(_ lhs: SQLOperand, _ rhs: SQLOperand) -> SQLText {
    func kind(_ operand: SQLOperand) -> SQLText {
      "typeof(\(operand.text)) IN ('integer', 'real')"
    }
    switch (lhs.storage, rhs.storage) {
    case (nil, nil): return "(\(kind(lhs))) = (\(kind(rhs)))"
    case (nil, let storage?): return storage.isNumber ? kind(lhs) : "typeof(\(lhs.text)) = 'text'"
    case (let storage?, nil): return storage.isNumber ? kind(rhs) : "typeof(\(rhs.text)) = 'text'"
    default: return .atom("1")
    }
  }

  // MARK: Comparable forms

  /// Both operands in one form, so that SQLite's comparison is exact.
  private func comparable(_ left: SQLOperand, _ right: SQLOperand) throws -> (SQLOperand, SQLOperand) {
    if left.type.item.isEntity || right.type.item.isEntity { return (left, right) }
    switch (left.storage, right.storage) {
    case (let lhs?, let rhs?) where lhs == rhs: return (single(left, right), single(right, left))
    case (let lhs?, let rhs?) where lhs.isNumber && rhs.isNumber: return try numbers(left, right)
    case (nil, let storage?) where storage.isNumber: return (left, try untyped(right))
    case (let storage?, nil) where storage.isNumber: return (try untyped(left), right)
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
    _ value: ODataValue, _ literal: SQLOperand, to rhs: SQLOperand, _ storage: ColumnStorage
  ) throws -> SQLOperand {
    var literal = literal
    switch (storage, literal.storage) {
    case (.real, _):
      guard var number = SQLLiteral.double(value) else { break }
      if rhs.type.item.primitive == .single { number = Double(Float(number)) }
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
    if let integer = Int64(exactly: decimal) { return .integer(integer) }
    let nearest = Double(decimal)
    guard nearest == nearest.rounded(), nearest.magnitude < 0x1p53 else { return .real(nearest) }
    // The decimal is so close to an integer that its double is that integer. The value half-way to the next integer
    // compares in the same way.
    return .real(ODataDecimal(nearest) < decimal ? nearest + 0.5 : nearest - 0.5)
  }

  func real(_ operand: SQLOperand) -> SQLOperand {
    guard operand.storage == .decimal else { return operand }
    var operand = operand
    if let literal = operand.literal, let number = SQLLiteral.double(literal) {
      operand.text = SQLText(.real(number))
    } else {
      operand.text = .atom("larder_to_real(\(operand.text))")
      operand.canBeNaN = true
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
  private func single(_ operand: SQLOperand, _ rhs: SQLOperand) -> SQLOperand {
    guard operand.storage == .real, rhs.type.item.primitive == .single, operand.type.item.primitive != .single,
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
