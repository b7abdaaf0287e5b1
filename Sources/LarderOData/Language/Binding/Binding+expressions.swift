// Expressions (URL Conventions 4.01 §5.1.1). Each kind has its own method, so that one level of nesting needs little
// stack.
extension Binding {
  /// Binds an expression; its literals keep the types of their forms.
  func bind(_ expression: ODataExpression) throws(ODataBindingError) -> ODataBoundExpression {
    try enter(expression.position)
    defer { leave() }
    let position = expression.position
    switch expression.kind {
    case .literal(let value): return literal(value, at: position)
    case .enumeration(let value): return try enumeration(value, at: position)
    case .path(let path):
      if let existence = existence(path, at: position) { return try bind(existence) }
      return try self.path(path, at: position)
    case .and(let parts): return try logical(parts, isAnd: true, at: position)
    case .or(let parts): return try logical(parts, isAnd: false, at: position)
    case .not(let operand): return try not(operand, at: position)
    case .negate(let operand): return try negate(operand, at: position)
    case .binary(let name, let left, let right): return try binary(name, left, right, at: position)
    case .membership(let left, let right): return try membership(left, right, at: position)
    case .list(let items): return try list(items, at: position)
    case .call(let function, let arguments): return try call(function, arguments, at: position)
    case .cast(let operand, let type): return try cast(operand, type, at: position)
    case .isof(let operand, let type): return try isof(operand, type, at: position)
    case .conditional(let branches): return try conditional(branches, at: position)
    case .isdefined(let path): return try isdefined(path, at: position)
    case .array(let items): return try array(items, at: position)
    case .object(let members): return try object(members, at: position)
    }
  }

  /// Binds a Boolean expression (ABNF `boolCommonExpr`).
  func condition(_ expression: ODataExpression) throws(ODataBindingError) -> ODataBoundExpression {
    var bound = try bind(expression)
    if bound.isConstant { bound = try convert(bound, to: .primitive(.boolean)) }
    guard isBoolean(bound.type) else {
      throw error(.wrongType(expected: "Edm.Boolean", found: "\(bound.type)"), at: expression.position)
    }
    return bound
  }

  private func isBoolean(_ type: ODataBoundType) -> Bool {
    !type.isCollection && (type.item.primitive == .boolean || type.item.isOpen)
  }

  private func logical(
    _ parts: [ODataExpression], isAnd: Bool, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var bound: [ODataBoundExpression] = []
    bound.reserveCapacity(parts.count)
    var isNullable = false
    for part in parts {
      let part = try condition(part)
      isNullable = isNullable || part.type.isNullable
      // The value of an alias can be a chain inside a chain: they become one node.
      if isAnd, case .and(let inner) = part.kind {
        bound += inner
      } else if !isAnd, case .or(let inner) = part.kind {
        bound += inner
      } else {
        bound.append(part)
      }
    }
    return ODataBoundExpression(
      isAnd ? .and(bound) : .or(bound), .primitive(.boolean, isNullable: isNullable), at: position)
  }

  private func not(
    _ operand: ODataExpression, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let bound = try condition(operand)
    return ODataBoundExpression(.not(bound), .primitive(.boolean, isNullable: bound.type.isNullable), at: position)
  }

  private func negate(
    _ operand: ODataExpression, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var bound = try bind(operand)
    if case .literal(.string) = bound.kind { bound = try convert(bound, to: .primitive(.duration)) }
    guard !bound.type.isCollection,
      bound.type.item.isOpen || bound.type.item.primitive.map({ $0.isNumeric || $0.isDuration }) == true
    else { throw error(.wrongType(expected: "a number or Edm.Duration", found: "\(bound.type)"), at: position) }
    return ODataBoundExpression(.negate(bound), bound.type, at: position)
  }

  private func list(
    _ items: [ODataExpression], at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let bound = try all(items)
    return ODataBoundExpression(.list(bound), collectionType(of: bound), at: position)
  }

  private func array(
    _ items: [ODataExpression], at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let bound = try all(items)
    return ODataBoundExpression(.array(bound), collectionType(of: bound), at: position)
  }

  func all(_ items: [ODataExpression]) throws(ODataBindingError) -> [ODataBoundExpression] {
    var bound: [ODataBoundExpression] = []
    bound.reserveCapacity(items.count)
    for item in items { bound.append(try bind(item)) }
    return bound
  }

  /// The type of a collection: the type that all its items can be promoted to, else any type.
  func collectionType(of items: [ODataBoundExpression]) -> ODataBoundType {
    var common: ODataBoundType?
    for item in items {
      if item.type.isCollection { return ODataBoundType(.untyped, isCollection: true, isNullable: true) }
      guard let current = common else {
        common = item.type
        continue
      }
      guard let next = ODataBoundType.common(current, item.type) else {
        return ODataBoundType(.untyped, isCollection: true, isNullable: true)
      }
      common = next
    }
    return ODataBoundType(common?.item ?? .untyped, isCollection: true, isNullable: common?.isNullable ?? false)
  }

  private func object(
    _ members: [ODataObjectMember], at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var bound: [ODataBoundMember] = []
    var names: Set<String> = []
    for member in members {
      guard names.insert(member.name).inserted else { throw error(.duplicate("'\(member.name)'"), at: position) }
      bound.append(ODataBoundMember(name: member.name, property: nil, value: try bind(member.value)))
    }
    return ODataBoundExpression(.object(bound), ODataBoundType(.untyped), at: position)
  }

  /// The type of a `case` expression: the type of all its results if they agree, the promoted type if all are numbers,
  /// else untyped (§5.1.1.12.1).
  private func conditional(
    _ branches: [ODataConditionalBranch], at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    var bound: [ODataBoundBranch] = []
    var type: ODataBoundType?
    var isComplete = false
    for branch in branches {
      let condition = try condition(branch.condition)
      let value = try bind(branch.value)
      if case .literal(.boolean(true)) = condition.kind { isComplete = true }
      type = type.map { ODataBoundType.common($0, value.type) ?? .untyped } ?? value.type
      bound.append(ODataBoundBranch(condition: condition, value: value))
    }
    let result = type ?? .null
    return ODataBoundExpression(.conditional(bound), isComplete ? result : result.nullable(), at: position)
  }

  private func isdefined(
    _ path: ODataPath, at position: SourcePosition
  ) throws(ODataBindingError) -> ODataBoundExpression {
    let bound = try self.path(path, at: position)
    guard case .path(let path) = bound.kind else {
      throw error(.wrongType(expected: "a path", found: "\(bound.type)"), at: position)
    }
    return ODataBoundExpression(.isdefined(path), .boolean, at: position)
  }
}
