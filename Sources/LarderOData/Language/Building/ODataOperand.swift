/// An expression with values of a known type: a property, a literal, or a computation with them.
///
/// Operands come from ``ODataInstance`` and are combined with operators and methods; a condition is an
/// `ODataOperand<Bool>`. Values are added as values, never as text.
public struct ODataOperand<Value: ODataPrimitive>: Sendable {
  /// The expression, not yet converted to a version: ``ODataFilter`` does that.
  package let expression: ODataExpression

  init(_ kind: ODataExpression.Kind) { expression = ODataExpression(kind) }

  init(path: ODataPath) { expression = path.instanceExpression }

  init(of expression: ODataExpression) { self.expression = expression }

  /// A literal.
  public init(_ value: Value) { expression = value.odataExpression }

  /// null
  public static var null: ODataOperand { ODataOperand(of: ODataExpression(.literal(.null))) }

  static func literal(_ value: Value?) -> ODataExpression {
    value?.odataExpression ?? ODataExpression(.literal(.null))
  }

  static func compare(
    _ kind: ODataBinaryOperator, _ left: ODataExpression, _ right: ODataExpression
  ) -> ODataOperand<Bool> { ODataOperand<Bool>(.binary(kind, left, right)) }
}

extension ODataPath {
  /// The path as an expression; the instance itself is `$it` if it has no other name.
  var instanceExpression: ODataExpression {
    guard root == .implicit, segments.isEmpty else { return ODataExpression(.path(self)) }
    return ODataExpression(.path(ODataPath(root: .this, [])))
  }
}

// Equality of values, and with null.
extension ODataOperand {
  /// `eq`
  public static func == (left: ODataOperand, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.equal, left.expression, right.expression)
  }

  /// `eq` a value, or null.
  public static func == (left: ODataOperand, right: Value?) -> ODataOperand<Bool> {
    compare(.equal, left.expression, literal(right))
  }

  /// `eq` a value, or null.
  public static func == (left: Value?, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.equal, literal(left), right.expression)
  }

  /// `ne`
  public static func != (left: ODataOperand, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.notEqual, left.expression, right.expression)
  }

  /// `ne` a value, or null.
  public static func != (left: ODataOperand, right: Value?) -> ODataOperand<Bool> {
    compare(.notEqual, left.expression, literal(right))
  }

  /// `ne` a value, or null.
  public static func != (left: Value?, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.notEqual, literal(left), right.expression)
  }

  /// `in` a list of values. For V2, which has no lists, comparisons joined by `or`.
  public func `in`(_ values: [Value]) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.membership(expression, ODataExpression(.list(values.map(\.odataExpression)))))
  }

  /// `in` a collection.
  public func `in`(_ values: ODataValues<Value>) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.membership(expression, values.path.instanceExpression))
  }

  /// The value for `$orderby`, in ascending order.
  public var ascending: ODataOrderByItem { ODataOrderByItem(expression) }
  /// The value for `$orderby`, in descending order.
  public var descending: ODataOrderByItem { ODataOrderByItem(expression, isDescending: true) }

  /// `cast(…,type)` (§5.1.1.10.1)
  public func cast<Target: ODataPrimitive>(to type: Target.Type) -> ODataOperand<Target> {
    ODataOperand<Target>(.cast(expression, ODataTypeName(Target.odataTypeName)))
  }

  /// `case(condition:value,…,true:otherwise)`; null if no condition is true and `otherwise` is not given (§5.1.1.10.3).
  public static func when(
    _ branches: (ODataOperand<Bool>, ODataOperand)..., otherwise: ODataOperand? = nil
  ) -> ODataOperand {
    var all = branches.map { ODataConditionalBranch(condition: $0.0.expression, value: $0.1.expression) }
    if let otherwise {
      all.append(ODataConditionalBranch(condition: true.odataExpression, value: otherwise.expression))
    }
    return ODataOperand(.conditional(all))
  }
}

// Order.
extension ODataOperand where Value: ODataOrdered {
  /// `lt`
  public static func < (left: ODataOperand, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.less, left.expression, right.expression)
  }

  /// `lt` a value.
  public static func < (left: ODataOperand, right: Value) -> ODataOperand<Bool> {
    compare(.less, left.expression, right.odataExpression)
  }

  /// `lt`, with the value first.
  public static func < (left: Value, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.less, left.odataExpression, right.expression)
  }

  /// `le`
  public static func <= (left: ODataOperand, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.lessOrEqual, left.expression, right.expression)
  }

  /// `le` a value.
  public static func <= (left: ODataOperand, right: Value) -> ODataOperand<Bool> {
    compare(.lessOrEqual, left.expression, right.odataExpression)
  }

  /// `le`, with the value first.
  public static func <= (left: Value, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.lessOrEqual, left.odataExpression, right.expression)
  }

  /// `gt`
  public static func > (left: ODataOperand, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.greater, left.expression, right.expression)
  }

  /// `gt` a value.
  public static func > (left: ODataOperand, right: Value) -> ODataOperand<Bool> {
    compare(.greater, left.expression, right.odataExpression)
  }

  /// `gt`, with the value first.
  public static func > (left: Value, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.greater, left.odataExpression, right.expression)
  }

  /// `ge`
  public static func >= (left: ODataOperand, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.greaterOrEqual, left.expression, right.expression)
  }

  /// `ge` a value.
  public static func >= (left: ODataOperand, right: Value) -> ODataOperand<Bool> {
    compare(.greaterOrEqual, left.expression, right.odataExpression)
  }

  /// `ge`, with the value first.
  public static func >= (left: Value, right: ODataOperand) -> ODataOperand<Bool> {
    compare(.greaterOrEqual, left.odataExpression, right.expression)
  }
}

// Conditions.
extension ODataOperand<Bool> {
  /// `and`
  public static func && (left: ODataOperand<Bool>, right: ODataOperand<Bool>) -> ODataOperand<Bool> {
    ODataOperand(of: .all([left.expression, right.expression]))
  }

  /// `or`
  public static func || (left: ODataOperand<Bool>, right: ODataOperand<Bool>) -> ODataOperand<Bool> {
    ODataOperand(of: .any([left.expression, right.expression]))
  }

  /// `not`
  public static prefix func ! (operand: ODataOperand<Bool>) -> ODataOperand<Bool> {
    ODataOperand(.not(operand.expression))
  }
}

extension ODataExpression {
  /// Joins expressions with `and`, as one chain; `true` if there are none.
  package static func all(_ operands: [ODataExpression]) -> ODataExpression {
    let flat = operands.flatMap { operand in
      if case .and(let inner) = operand.kind { inner } else { [operand] }
    }
    guard flat.count > 1 else { return flat.first ?? true.odataExpression }
    return ODataExpression(.and(flat))
  }

  /// Joins expressions with `or`, as one chain; `false` if there are none.
  package static func any(_ operands: [ODataExpression]) -> ODataExpression {
    let flat = operands.flatMap { operand in
      if case .or(let inner) = operand.kind { inner } else { [operand] }
    }
    guard flat.count > 1 else { return flat.first ?? false.odataExpression }
    return ODataExpression(.or(flat))
  }
}
