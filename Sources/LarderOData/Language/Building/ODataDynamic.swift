/// A property accessed by name, or an expression of such properties. Its type is unknown, so it can be compared with
/// any value. `of(_:)` gives it a type.
public struct ODataDynamic: Sendable {
  /// The expression.
  package let expression: ODataExpression
  private let path: ODataPath

  init(path: ODataPath) {
    self.path = path
    expression = path.instanceExpression
  }

  /// A property of the value, or of the entity that a navigation property leads to.
  public subscript(name: String) -> ODataDynamic { ODataDynamic(path: path.appending(.name(name))) }

  /// Treats the dynamic value as a primitive value of a type.
  public func of<Value: ODataPrimitive>(_ type: Value.Type) -> ODataOperand<Value> {
    ODataOperand<Value>(of: expression)
  }

  /// Treats the dynamic value as an instance of a described type.
  public func of<Entity: ODataDescribed>(_ type: Entity.Type) -> ODataInstance<Entity> { ODataInstance(path: path) }

  /// Casts the instance to a derived type, by the type's qualified name.
  public func `as`(_ typeName: String) -> ODataDynamic { ODataDynamic(path: path.appending(.qualifiedName(typeName))) }

  /// The value for `$orderby`, in ascending order.
  public var ascending: ODataOrderByItem { ODataOrderByItem(expression) }
  /// The value for `$orderby`, in descending order.
  public var descending: ODataOrderByItem { ODataOrderByItem(expression, isDescending: true) }
}

// Comparisons with a value of any type, with null, or with another property.
extension ODataDynamic {
  private static func compare<Value: ODataPrimitive>(
    _ kind: ODataBinaryOperator, _ left: ODataDynamic, _ right: Value?
  ) -> ODataOperand<Bool> { ODataOperand<Bool>(.binary(kind, left.expression, ODataOperand<Value>.literal(right))) }

  private static func compare(
    _ kind: ODataBinaryOperator, _ left: ODataDynamic, _ right: ODataDynamic
  ) -> ODataOperand<Bool> { ODataOperand<Bool>(.binary(kind, left.expression, right.expression)) }

  /// `eq` a value.
  public static func == <Value: ODataPrimitive>(left: ODataDynamic, right: Value?) -> ODataOperand<Bool> {
    compare(.equal, left, right)
  }

  /// `eq` null.
  public static func == (left: ODataDynamic, right: ODataNull) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.binary(.equal, left.expression, right.odataExpression))
  }

  /// `eq`
  public static func == (left: ODataDynamic, right: ODataDynamic) -> ODataOperand<Bool> { compare(.equal, left, right) }

  /// `ne` a value.
  public static func != <Value: ODataPrimitive>(left: ODataDynamic, right: Value?) -> ODataOperand<Bool> {
    compare(.notEqual, left, right)
  }

  /// `ne` null.
  public static func != (left: ODataDynamic, right: ODataNull) -> ODataOperand<Bool> {
    ODataOperand<Bool>(.binary(.notEqual, left.expression, right.odataExpression))
  }

  /// `ne`
  public static func != (left: ODataDynamic, right: ODataDynamic) -> ODataOperand<Bool> {
    compare(.notEqual, left, right)
  }

  /// `lt` a value.
  public static func < <Value: ODataOrdered>(left: ODataDynamic, right: Value) -> ODataOperand<Bool> {
    compare(.less, left, right)
  }

  /// `lt`
  public static func < (left: ODataDynamic, right: ODataDynamic) -> ODataOperand<Bool> { compare(.less, left, right) }

  /// `le` a value.
  public static func <= <Value: ODataOrdered>(left: ODataDynamic, right: Value) -> ODataOperand<Bool> {
    compare(.lessOrEqual, left, right)
  }

  /// `le`
  public static func <= (left: ODataDynamic, right: ODataDynamic) -> ODataOperand<Bool> {
    compare(.lessOrEqual, left, right)
  }

  /// `gt` a value.
  public static func > <Value: ODataOrdered>(left: ODataDynamic, right: Value) -> ODataOperand<Bool> {
    compare(.greater, left, right)
  }

  /// `gt`
  public static func > (left: ODataDynamic, right: ODataDynamic) -> ODataOperand<Bool> {
    compare(.greater, left, right)
  }

  /// `ge` a value.
  public static func >= <Value: ODataOrdered>(left: ODataDynamic, right: Value) -> ODataOperand<Bool> {
    compare(.greaterOrEqual, left, right)
  }

  /// `ge`
  public static func >= (left: ODataDynamic, right: ODataDynamic) -> ODataOperand<Bool> {
    compare(.greaterOrEqual, left, right)
  }

  /// `in` a list of values.
  public func `in`<Value: ODataPrimitive>(_ values: [Value]) -> ODataOperand<Bool> { of(Value.self).in(values) }
}

// Texts and collections.
extension ODataDynamic {
  /// `contains`; in V2 `substringof`.
  public func contains(_ text: String) -> ODataOperand<Bool> { of(String.self).contains(text) }
  /// `startswith`
  public func startsWith(_ text: String) -> ODataOperand<Bool> { of(String.self).startsWith(text) }
  /// `endswith`
  public func endsWith(_ text: String) -> ODataOperand<Bool> { of(String.self).endsWith(text) }

  private var items: ODataItems<ODataUntyped> { ODataItems(path: path) }

  /// `any()`: whether there is an item.
  public func any() -> ODataOperand<Bool> { items.any() }
  /// `any(x:…)`: whether an item meets a condition.
  public func any(_ condition: (ODataInstance<ODataUntyped>) -> ODataOperand<Bool>) -> ODataOperand<Bool> {
    items.any(condition)
  }
  /// `all(x:…)`: whether all items meet a condition.
  public func all(_ condition: (ODataInstance<ODataUntyped>) -> ODataOperand<Bool>) -> ODataOperand<Bool> {
    items.all(condition)
  }
  /// `$count`
  public var count: ODataOperand<Int> { items.count }
}
