import LarderOData
import LarderStorage

/// An expression as SQL: its text, and what comparisons and arithmetic must know about its value.
struct SQLOperand: Sendable {
  var text: SQLText
  /// How the value is stored; nil if only the row shows which type it has: a scalar in JSON.
  var storage: ColumnStorage?
  var type: ODataBoundType
  /// Whether it may be NULL.
  var isNullable = true
  /// Whether SQLite applies the collation of the storage without being asked, because the text is a column.
  var hasCollation = false
  /// The value, if the expression is a literal.
  var literal: ODataValue?
  /// Whether it may be the text `NaN`.
  var canBeNaN = false

  /// The text with its collation, for a comparison or for ORDER BY.
  var collated: SQLText {
    hasCollation || storage?.collation == nil && !text.hasInnerCollation ? text : explicitlyCollated
  }

  /// The text with an explicit collation. It takes precedence over a collation inside the other operand, which SQLite
  /// would otherwise use for the comparison.
  var explicitlyCollated: SQLText {
    .atom("\(operand: text) COLLATE \(alias: storage?.collation ?? "BINARY")")
  }
}

extension ODataBoundType {
  /// How single values are stored; nil if the type does not determine it.
  var storage: ColumnStorage? {
    if isCollection { return .json }
    switch item {
    case .enumeration: return .enumeration
    case .primitive, .definition: return item.primitive.map { ColumnStorage($0) }
    case .structure, .shape: return .json
    case .untyped, .null, .abstract, .undeclared: return nil
    }
  }

  static func plain(_ type: EdmPrimitiveType, isNullable: Bool = true) -> ODataBoundType {
    ODataBoundType(.primitive(type), isNullable: isNullable)
  }
}

extension ODataBoundType.Item {
  /// Whether it is an entity type.
  var isEntity: Bool {
    switch self {
    case .structure(let structure): structure.isEntityType
    case .shape(let shape): shape.base?.isEntityType ?? false
    case .abstract(let type): type == .entityType
    default: false
    }
  }
}

extension EdmPrimitiveType {
  /// Whether it is an integer type.
  var isWhole: Bool {
    switch self {
    case .byte, .sbyte, .int16, .int32, .int64: true
    default: false
    }
  }

  /// Whether it is a numeric type.
  var isNumber: Bool { isWhole || self == .decimal || self == .double || self == .single }
}

extension EdmStructure {
  /// Whether it is the other type or derives from it.
  func isOrDerives(from other: EdmStructure) -> Bool { chain.contains { $0.name == other.name } }
}
