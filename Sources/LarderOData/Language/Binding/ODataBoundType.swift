/// The type of a bound expression, segment or resource: what it is, whether there are many, and whether there may be none.
public struct ODataBoundType: Sendable, Hashable {
  /// The type of one item.
  public var item: Item
  /// Whether there is a collection of items.
  public var isCollection: Bool
  /// Whether the value, or in a collection an item, may be null.
  public var isNullable: Bool

  /// Joins all.
  public init(_ item: Item, isCollection: Bool = false, isNullable: Bool = false) {
    self.item = item
    self.isCollection = isCollection
    self.isNullable = isNullable
  }

  /// The kinds of types.
  public enum Item: Sendable, Hashable {
    /// A primitive type.
    case primitive(EdmPrimitiveType)
    /// An enumeration.
    case enumeration(ODataDeclaredEnum)
    /// A type definition.
    case definition(ODataDeclaredTypeDefinition)
    /// An entity or complex type.
    case structure(EdmStructure)
    /// What `$compute` or `$apply` has made of a type.
    case shape(ODataBoundShape)
    /// `Edm.Untyped`: dynamic properties, and what only the value tells.
    case untyped
    /// The literal `null` where nothing says of which type.
    case null
    /// An abstract type: `Edm.EntityType`, `Edm.ComplexType`, `Edm.PrimitiveType`.
    case abstract(EdmAbstractType)
    /// A type that the model names and does not declare.
    indirect case undeclared(String)
  }

  /// The primitive type, of a type definition the one below; nil for others, and for collections.
  public var primitive: EdmPrimitiveType? { isCollection ? nil : item.primitive }

  /// The entity or complex type of an item, before `$compute` and `$apply`.
  public var structure: EdmStructure? { item.structure }

  /// One item of the collection; a single value stays what it is.
  public var single: ODataBoundType { ODataBoundType(item, isNullable: isNullable) }

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
  /// The primitive type, of a type definition the one below; nil for others.
  public var primitive: EdmPrimitiveType? {
    switch self {
    case .primitive(let type): type
    case .definition(let definition): definition.definition.underlyingType
    default: nil
    }
  }

  /// The entity or complex type; nil for others.
  public var structure: EdmStructure? {
    switch self {
    case .structure(let structure): structure
    case .shape(let shape): shape.base
    default: nil
    }
  }

  /// Whether it is the type of the literal `null`, asked without a comparison of whole types.
  var isNull: Bool {
    if case .null = self { true } else { false }
  }

  /// Whether nothing is known of the value before it is there.
  var isOpen: Bool {
    switch self {
    case .untyped, .null, .undeclared: true
    case .abstract(let type): type == .primitiveType || type == .untyped
    default: false
    }
  }

  /// Whether it has members.
  var isStructured: Bool {
    switch self {
    case .structure, .shape: true
    case .abstract(let type): type == .complexType || type == .entityType
    default: false
    }
  }
}

extension ODataBoundType: CustomStringConvertible {
  /// The name as CSDL writes it.
  public var description: String { isCollection ? "Collection(\(item))" : "\(item)" }
}

extension ODataBoundType.Item: CustomStringConvertible {
  /// The qualified name.
  public var description: String {
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

/// What `$compute` and `$apply` have made of instances: the properties that are left, and those that were added.
public final class ODataBoundShape: Sendable, Hashable {
  /// The type that the instances had.
  public let base: EdmStructure?
  /// Computed and aggregated properties; and, where the shape is closed, the declared ones that are left.
  public let members: [Member]
  /// Where each name stands last in ``members``; empty where they are few.
  private let places: [String: Int]
  /// Whether ``members`` are all that there is; else the declared properties are there too.
  public let isClosed: Bool

  /// A property of the shape.
  public struct Member: Sendable, Hashable {
    /// The name.
    public let name: String
    /// Its type.
    public let type: ODataBoundType
    /// Whether it is an alias of `$compute` or `$apply`, not a declared property.
    public let isComputed: Bool
  }

  init(base: EdmStructure?, members: [Member], isClosed: Bool) {
    self.base = base
    self.members = members
    places =
      members.count > 8
      ? Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { _, last in last }) : [:]
    self.isClosed = isClosed
  }

  /// The property of a name, the last one given to it.
  public func member(_ name: String) -> Member? {
    members.count > 8 ? places[name].map { members[$0] } : members.last { $0.name == name }
  }

  /// Equal where base and members are.
  public static func == (left: ODataBoundShape, right: ODataBoundShape) -> Bool {
    left === right || left.isClosed == right.isClosed && left.base == right.base && left.members == right.members
  }

  /// Hashes the base, how many members there are, and the last one's name: every path from a shape hashes it again.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(base)
    hasher.combine(members.count)
    hasher.combine(members.last?.name)
  }
}

extension EdmStructure: Hashable {
  /// Equal where they are the same type: two models that declare a type of one name mean the same.
  public static func == (left: EdmStructure, right: EdmStructure) -> Bool {
    left === right || left.name == right.name && left.isEntityType == right.isEntityType
  }

  /// Hashes the name.
  public func hash(into hasher: inout Hasher) { hasher.combine(name) }

  /// Whether the type is another, or derives from it.
  func derives(from other: EdmStructure) -> Bool {
    var type: EdmStructure? = self
    while let current = type {
      if current == other { return true }
      type = current.base
    }
    return false
  }
}
