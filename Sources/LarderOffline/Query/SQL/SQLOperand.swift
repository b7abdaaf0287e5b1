import LarderOData
import LarderStorage

/// An expression as SQL: its text, and what has to be known of its value to compare and calculate with it.
struct SQLOperand: Sendable {
  var text: SQLText
  /// How the value stands; nil for one of which only the row tells what it is: a scalar out of JSON.
  var storage: ColumnStorage?
  var type: ODataBoundType
  /// Whether it may be NULL.
  var isNullable = true
  /// Whether SQLite knows the collation of the storage by itself: a column.
  var hasCollation = false
  /// The value, where it is a literal.
  var literal: ODataValue?
  /// Whether it may be the text `NaN`.
  var mayBeNaN = false

  /// The text with its collation, for a comparison or an order.
  var collated: SQLText {
    hasCollation || storage?.collation == nil && !text.hasInnerCollation ? text : explicitlyCollated
  }

  /// The text with a collation that wins over those inside the other operand, as SQLite takes them for the operand's own.
  var explicitlyCollated: SQLText {
    .atom("\(operand: text) COLLATE \(alias: storage?.collation ?? "BINARY")")
  }
}

extension ODataBoundType {
  /// How single values stand; nil where nothing says it.
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

  /// Whether it has members.
  var hasMembers: Bool {
    switch self {
    case .structure, .shape: true
    case .abstract(let type): type == .complexType || type == .entityType
    default: false
    }
  }
}

extension EdmPrimitiveType {
  /// Whole numbers.
  var isWhole: Bool {
    switch self {
    case .byte, .sbyte, .int16, .int32, .int64: true
    default: false
    }
  }

  /// Numbers of all kinds.
  var isNumber: Bool { isWhole || self == .decimal || self == .double || self == .single }
}

extension EdmStructure {
  /// Whether it is another type, or below it.
  func isOrDerives(from other: EdmStructure) -> Bool { chain.contains { $0.name == other.name } }
}
