extension EdmPrimitiveType {
  /// The rank in numeric promotion: two numbers are promoted to the type with the higher rank (§5.1.1.18). 0 for other
  /// types.
  var numericRank: Int {
    switch self {
    case .sbyte, .byte: 1
    case .int16: 2
    case .int32: 3
    case .int64: 4
    case .decimal: 5
    case .single: 6
    case .double: 7
    default: 0
    }
  }

  var isInteger: Bool { (1...4).contains(numericRank) }
  var isFloating: Bool { self == .single || self == .double }
  /// Whether the type is a duration. V2's `Edm.Time` is a duration, and is written as one.
  var isDuration: Bool { self == .duration || self == .time }
  /// Whether the type is a date with a time, with or without an offset.
  var isTimestamp: Bool { self == .dateTimeOffset || self == .dateTime }

  /// The type that two numbers are promoted to (URL Conventions 4.01 §5.1.1.18): Double before Single before Decimal
  /// before the integers.
  static func promoted(_ left: EdmPrimitiveType, _ right: EdmPrimitiveType) -> EdmPrimitiveType? {
    guard left.isNumeric, right.isNumeric else { return nil }
    if left == right { return left }
    // Neither of the 8-bit types contains the other.
    if left.numericRank == 1, right.numericRank == 1 { return .int16 }
    return left.numericRank > right.numericRank ? left : right
  }
}

extension ODataBoundType {
  /// The type that two single operands are promoted to for comparison or arithmetic: the promoted type of numbers (URL
  /// Conventions 4.01 §5.1.1.18), the common type if they are equal, the other type next to `null` or an untyped value;
  /// nil if the types have nothing in common.
  package static func promoted(_ left: ODataBoundType, _ right: ODataBoundType) -> ODataBoundType? {
    let isNullable = left.isNullable || right.isNullable
    // Most operands are primitive.
    if case .primitive(let one) = left.item, case .primitive(let other) = right.item {
      guard left.isCollection == right.isCollection, let item = promoted(one, other) else { return nil }
      return ODataBoundType(.primitive(item), isCollection: left.isCollection, isNullable: isNullable)
    }
    if left.item.isNull { return right.nullable() }
    if right.item.isNull { return left.nullable() }
    guard left.isCollection == right.isCollection else { return nil }
    if left.item == right.item { return left.nullable(isNullable) }
    if let one = left.item.primitive, let other = right.item.primitive {
      return promoted(one, other).map {
        ODataBoundType(.primitive($0), isCollection: left.isCollection, isNullable: isNullable)
      }
    }
    if left.item.isOpen || right.item.isOpen {
      return ODataBoundType(
        left.item.isOpen ? right.item : left.item, isCollection: left.isCollection, isNullable: true)
    }
    guard left.item.isStructured, right.item.isStructured else { return nil }
    guard let one = left.structure, let other = right.structure else { return left.nullable(isNullable) }
    if one.derives(from: other) { return right.nullable(isNullable) }
    return other.derives(from: one) ? left.nullable(isNullable) : nil
  }

  private static func promoted(_ one: EdmPrimitiveType, _ other: EdmPrimitiveType) -> EdmPrimitiveType? {
    one == other ? one : one.isDuration && other.isDuration ? .duration : EdmPrimitiveType.promoted(one, other)
  }

  /// The common type of values that may have either type; nil if it depends on the value.
  static func common(_ left: ODataBoundType, _ right: ODataBoundType) -> ODataBoundType? {
    if left.item == .untyped || right.item == .untyped { return nil }
    return promoted(left, right)
  }
}
