/// The type of a bound expression, segment or resource: the item type, whether it is a collection, and whether it may
/// be null.
package struct ODataBoundType: Sendable, Hashable {
  /// The type of one item.
  package var item: Item
  /// Whether the type is a collection of items.
  package var isCollection: Bool
  /// Whether the value, or in a collection an item, may be null.
  package var isNullable: Bool

  /// Creates a type.
  package init(_ item: Item, isCollection: Bool = false, isNullable: Bool = false) {
    self.item = item
    self.isCollection = isCollection
    self.isNullable = isNullable
  }

  /// The kinds of types.
  package enum Item: Sendable, Hashable {
    /// A primitive type.
    case primitive(EdmPrimitiveType)
    /// An enumeration.
    case enumeration(ODataDeclaredEnum)
    /// A type definition.
    case definition(ODataDeclaredTypeDefinition)
    /// An entity or complex type.
    case structure(EdmStructure)
    /// A type whose properties `$compute` or `$apply` has changed.
    case shape(ODataBoundShape)
    /// `Edm.Untyped`: dynamic properties, and values whose type is known only at run time.
    case untyped
    /// The literal `null` if its type is unknown.
    case null
    /// An abstract type: `Edm.EntityType`, `Edm.ComplexType`, `Edm.PrimitiveType`.
    case abstract(EdmAbstractType)
    /// A type that the model references but does not declare.
    indirect case undeclared(String)
  }

  /// The primitive type, for a type definition its underlying type; nil for others, and for collections.
  package var primitive: EdmPrimitiveType? { isCollection ? nil : item.primitive }

  /// The entity or complex type of an item, before `$compute` and `$apply`.
  package var structure: EdmStructure? { item.structure }

  /// The type of one item of a collection; the type itself if it is single.
  package var single: ODataBoundType { ODataBoundType(item, isNullable: isNullable) }

  /// Returns the type as nullable or not nullable.
  func nullable(_ isNullable: Bool = true) -> ODataBoundType {
    ODataBoundType(item, isCollection: isCollection, isNullable: isNullable)
  }

  static func primitive(_ type: EdmPrimitiveType, isNullable: Bool = false) -> ODataBoundType {
    ODataBoundType(.primitive(type), isNullable: isNullable)
  }

  static let boolean = ODataBoundType.primitive(.boolean)
  static let untyped = ODataBoundType(.untyped, isNullable: true)
  static let null = ODataBoundType(.null, isNullable: true)
}

extension ODataBoundType.Item {
  /// The primitive type, for a type definition its underlying type; nil for others.
  package var primitive: EdmPrimitiveType? {
    switch self {
    case .primitive(let type): type
    case .definition(let definition): definition.definition.underlyingType
    default: nil
    }
  }

  /// The entity or complex type; nil for others.
  package var structure: EdmStructure? {
    switch self {
    case .structure(let structure): structure
    case .shape(let shape): shape.base
    default: nil
    }
  }

  /// Whether the type is that of the literal `null`, without comparing whole types.
  var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether the type is known only at run time.
  var isOpen: Bool {
    switch self {
    case .untyped, .null, .undeclared: true
    case .abstract(let type): type == .primitiveType || type == .untyped
    default: false
    }
  }

  /// Whether the type has members.
  package var isStructured: Bool {
    switch self {
    case .structure, .shape: true
    case .abstract(let type): type == .complexType || type == .entityType
    default: false
    }
  }
}

extension ODataBoundType: CustomStringConvertible {
  /// The name as CSDL writes it.
  package var description: String { isCollection ? "Collection(\(item))" : "\(item)" }
}

extension ODataBoundType.Item: CustomStringConvertible {
  /// The qualified name.
  package var description: String {
    switch self {
    case .primitive(let type): type.qualifiedName
    case .enumeration(let type): type.name
    case .definition(let type): type.name
    case .structure(let type): type.name
    case .shape(let shape): shape.base?.name ?? "Edm.ComplexType"
    case .untyped: "Edm.Untyped"
    case .null: "null"
    case .abstract(let type): type.qualifiedName
    case .undeclared(let name): name
    }
  }
}

/// The properties of instances after `$compute` and `$apply`: those that are left, and those that were added.
package final class ODataBoundShape: Sendable, Hashable {
  /// The original type of the instances.
  package let base: EdmStructure?
  /// The computed and aggregated properties; in a closed shape also the remaining declared ones.
  package let members: [Member]
  /// The last index of each name in ``members``; empty if there are few members.
  private let places: [String: Int]
  /// Whether ``members`` are all properties; if not, the instances have all declared properties too.
  package let isClosed: Bool

  /// A property of the shape.
  package struct Member: Sendable, Hashable {
    /// The name.
    package let name: String
    /// Its type.
    package let type: ODataBoundType
    /// Whether the member is an alias of `$compute` or `$apply`, not a declared property.
    package let isComputed: Bool
  }

  init(base: EdmStructure?, members: [Member], isClosed: Bool) {
    self.base = base
    self.members = members
    places =
      members.count > 8
      ? Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, last in last }) : [:]
    self.isClosed = isClosed
  }

  /// The last property with a name.
  package func member(_ name: String) -> Member? {
    members.count > 8 ? places[name].map { members[$0] } : members.last { $0.name == name }
  }

  /// Whether base and members are equal.
  package static func == (left: ODataBoundShape, right: ODataBoundShape) -> Bool {
    left === right || left.isClosed == right.isClosed && left.base == right.base && left.members == right.members
  }

  /// Hashes the base, the number of members, and the last one's name. Kept cheap, because every path from a shape
  /// hashes it.
  package func hash(into hasher: inout Hasher) {
    hasher.combine(base)
    hasher.combine(members.count)
    hasher.combine(members.last?.name)
  }
}

extension EdmStructure: Hashable {
  /// Whether both are the same type: two models that declare a type of one name mean the same type.
  package static func == (left: EdmStructure, right: EdmStructure) -> Bool {
    left === right || left.name == right.name && left.isEntityType == right.isEntityType
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Whether the type is `other`, or derives from it.
  func derives(from other: EdmStructure) -> Bool {
    var type: EdmStructure? = self
    while let current = type {
      if current == other { return true }
      type = current.base
    }
    return false
  }
}
