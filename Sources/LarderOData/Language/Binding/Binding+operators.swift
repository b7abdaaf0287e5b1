// Binary operators (URL Conventions 4.01 §5.1.1.1, §5.1.1.2).
extension Binding {
  func binary(
    _ name: ODataBinaryOperator, _ left: ODataExpression, _ right: ODataExpression, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var left = try bind(left)
    var right = try bind(right)
    let type: ODataBoundType
    switch name {
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      try check(comparison: name, &left, &right, at: position)
      type = .boolean
    case .has: type = try has(&left, &right, at: position)
    case .add, .subtract, .multiply, .divide, .divideBy, .modulo:
      type = try arithmetic(name, &left, &right, at: position)
    }
    return ODataBoundExpression(.binary(name, left, right), type, at: position)
  }

  private func wrongOperands(
    _ name: String, _ left: ODataBoundExpression, _ right: ODataBoundExpression, at position: SourcePosition
  ) -> ODataBindingError {
    // The literal was converted to the other operand's type.
    func operand(_ side: ODataBoundExpression) -> String { side.isNull ? "null" : "\(side.type)" }
    return error(.wrongOperands(name, left: operand(left), right: operand(right)), at: position)
  }

  /// Converts a literal to the type of the other operand, if that type holds it exactly.
  private func unify(_ left: inout ODataBoundExpression, _ right: inout ODataBoundExpression) throws(ODataBindingError)
  {
    switch (left.isConstant, right.isConstant) {
    case (true, false): left = try convert(left, to: right.type.item)
    case (false, true): right = try convert(right, to: left.type.item)
    case (false, false): break
    // Two literals keep the types of their forms, except null and arrays.
    case (true, true):
      if left.isNull {
        left = try convert(left, to: right.type.item)
      } else if right.isNull {
        right = try convert(right, to: left.type.item)
      }
    }
  }

  private func check(
    comparison name: ODataBinaryOperator, _ left: inout ODataBoundExpression, _ right: inout ODataBoundExpression,
    at position: SourcePosition
  ) throws(ODataBindingError) {
    try unify(&left, &right)
    let isEquality = name == .equal || name == .notEqual
    guard let common = ODataBoundType.promoted(left.type, right.type),
      isEquality ? isEquatable(common, left, right) : isOrdered(common)
    else { throw wrongOperands(name.rawValue, left, right, at: position) }
  }

  /// Whether two values can be compared for equality: streams and geo values only with null.
  private func isEquatable(_ type: ODataBoundType, _ left: ODataBoundExpression, _ right: ODataBoundExpression) -> Bool
  {
    guard let primitive = type.item.primitive, primitive == .stream || primitive.geoSpace != nil else { return true }
    return left.isNull || right.isNull
  }

  func isOrdered(_ type: ODataBoundType) -> Bool {
    guard !type.isCollection else { return false }
    switch type.item {
    case .primitive, .definition:
      guard let primitive = type.item.primitive else { return false }
      return primitive != .stream && primitive != .binary && primitive.geoSpace == nil
    case .enumeration: return true
    case .structure, .shape: return false
    default: return type.item.isOpen
    }
  }

  private func has(
    _ left: inout ODataBoundExpression, _ right: inout ODataBoundExpression, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundType {
    try unify(&left, &right)
    func isEnumeration(_ type: ODataBoundType) -> Bool {
      guard !type.isCollection else { return false }
      if case .enumeration = type.item { return true }
      return type.item.isOpen
    }
    guard isEnumeration(left.type), isEnumeration(right.type), ODataBoundType.promoted(left.type, right.type) != nil
    else { throw wrongOperands("has", left, right, at: position) }
    return .primitive(.boolean, isNullable: left.type.isNullable || right.type.isNullable)
  }

  func membership(
    _ left: ODataExpression, _ right: ODataExpression, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var left = try bind(left)
    var right = try bind(right)
    guard right.type.isCollection || right.type.item.isOpen && !right.isConstant || right.isNull else {
      throw wrongOperands("in", left, right, at: position)
    }
    if !left.isConstant { right = try convert(right, to: left.type.item) }
    if left.isConstant, !right.isConstant { left = try convert(left, to: right.type.item) }
    let items: [ODataBoundExpression]
    switch right.kind {
    case .list(let list), .array(let list): items = list
    default: items = []
    }
    for item in items {
      guard let common = ODataBoundType.promoted(left.type, item.type), isEquatable(common, left, item) else {
        throw wrongOperands("in", left, item, at: item.position.offset == nil ? position : item.position)
      }
    }
    if items.isEmpty, !right.isNull, right.type.item != .untyped {
      // A collection inside a collection has no type of its own: arrays are compared with arrays.
      guard left.type.isCollection || ODataBoundType.promoted(left.type, right.type.single) != nil else {
        throw wrongOperands("in", left, right, at: position)
      }
    }
    return ODataBoundExpression(.membership(left, right), .boolean, at: position)
  }
}

// Arithmetic (§5.1.1.2).
extension Binding {
  fileprivate func arithmetic(
    _ name: ODataBinaryOperator, _ left: inout ODataBoundExpression, _ right: inout ODataBoundExpression,
    at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundType {
    (left, right) = try promotingLiteral(left, right)
    guard !left.type.isCollection, !right.type.isCollection, let item = result(name, left.type.item, right.type.item)
    else { throw wrongOperands(name.rawValue, left, right, at: position) }
    return ODataBoundType(item, isNullable: left.type.isNullable || right.type.isNullable)
  }

  /// Converts a literal to the type that both operands are promoted to.
  private func promotingLiteral(
    _ left: ODataBoundExpression, _ right: ODataBoundExpression
  ) throws(ODataBindingError) -> (ODataBoundExpression, ODataBoundExpression) {
    guard left.isConstant != right.isConstant else { return (left, right) }
    let (literal, other) = left.isConstant ? (left, right) : (right, left)
    guard let type = other.type.item.primitive else { return (left, right) }
    var converted = literal
    if case .literal(.string) = literal.kind, type.isDuration || type.isTimestamp || type == .date {
      converted = try convert(literal, to: .primitive(.duration))
    } else if let number = literal.type.item.primitive, let promoted = EdmPrimitiveType.promoted(number, type) {
      converted = try convert(literal, to: .primitive(promoted))
    }
    return left.isConstant ? (converted, right) : (left, converted)
  }

  private func result(
    _ name: ODataBinaryOperator, _ left: ODataBoundType.Item, _ right: ODataBoundType.Item
  ) -> ODataBoundType.Item? {
    guard let one = left.primitive, let other = right.primitive else {
      let primitive = left.primitive ?? right.primitive
      guard left.isOpen || left.primitive != nil, right.isOpen || right.primitive != nil else { return nil }
      if let primitive, !primitive.isNumeric, !primitive.isDuration, !primitive.isTimestamp, primitive != .date {
        return nil
      }
      return left == .null && primitive != nil ? right : right == .null && primitive != nil ? left : .untyped
    }
    if let number = EdmPrimitiveType.promoted(one, other) {
      if name == .divideBy, number.isInteger { return .primitive(.decimal) }
      // V2 has no arithmetic with integers of less than 32 bits ([MS-ODATA] §2.2.3.6.1.2.1).
      if dialect == .v2, number.isInteger, number != .int64 { return .primitive(.int32) }
      return .primitive(number)
    }
    switch (name, one, other) {
    case (.add, _, _) where other.isDuration, (.subtract, _, _) where other.isDuration:
      return one.isTimestamp || one == .date ? .primitive(one) : one.isDuration ? .primitive(.duration) : nil
    case (.subtract, _, _) where one == other && (one.isTimestamp || one == .date): return .primitive(.duration)
    case (.multiply, _, _) where one.isDuration && other.isNumeric || one.isNumeric && other.isDuration,
      (.divide, _, _) where one.isDuration && other.isNumeric,
      (.divideBy, _, _) where one.isDuration && other.isNumeric:
      return .primitive(.duration)
    default: return nil
    }
  }
}
