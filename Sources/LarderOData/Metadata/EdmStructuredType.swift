/// An entity type or a complex type, as declared. ``EdmStructure`` also contains the inherited members.
package protocol EdmStructuredType: EdmElement {
  /// The schema's namespace.
  var namespace: String { get }
  /// The name in the schema.
  var name: String { get }
  /// The name with its namespace.
  var qualifiedName: String { get }
  /// The qualified name of the base type.
  var baseType: String? { get }
  /// Whether no instance has exactly this type.
  var isAbstract: Bool { get }
  /// Whether instances may have undeclared properties.
  var isOpen: Bool { get }
  /// The properties that the type itself declares, in their order.
  var properties: [EdmProperty] { get }
  /// The navigation properties that the type itself declares, in their order.
  var navigationProperties: [EdmNavigationProperty] { get }
}

/// An entity type (CSDL 4.01 §6).
public struct EdmEntityType: EdmAnnotatable, EdmStructuredType, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema.
  public var name: String
  /// The qualified name of the type it derives from.
  public var baseType: String?
  /// True if no instance is of exactly this type.
  public var isAbstract = false
  /// True where instances may have undeclared properties.
  public var isOpen = false
  /// Whether entities are media entities (`HasStream`, in V2 and V3 `m:HasStream`), as declared by this type.
  public var hasStream = false
  /// The key that the type itself declares; empty if it inherits one or has none.
  public var key: [EdmPropertyRef] = []
  /// The properties that the type itself declares, in their order.
  public var properties: [EdmProperty] = []
  /// The navigation properties that the type itself declares, in their order.
  public var navigationProperties: [EdmNavigationProperty] = []
  /// V2 and V3: mappings to Atom declared on the type.
  package var feedMappings: [EdmFeedMapping] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an entity type.
  package init(namespace: String, name: String, baseType: String? = nil) {
    self.namespace = namespace
    self.name = name
    self.baseType = baseType
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

/// A complex type (CSDL 4.01 §9).
public struct EdmComplexType: EdmAnnotatable, EdmStructuredType, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema.
  public var name: String
  /// The qualified name of the type it derives from.
  public var baseType: String?
  /// True if no instance is of exactly this type.
  public var isAbstract = false
  /// True where instances may have undeclared properties.
  public var isOpen = false
  /// The properties that the type itself declares, in their order.
  public var properties: [EdmProperty] = []
  /// The navigation properties that the type itself declares, in their order.
  public var navigationProperties: [EdmNavigationProperty] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a complex type.
  package init(namespace: String, name: String, baseType: String? = nil) {
    self.namespace = namespace
    self.name = name
    self.baseType = baseType
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

/// One part of a key (CSDL 4.01 §6.5).
public struct EdmPropertyRef: Sendable, Hashable {
  /// The property's path; steps through complex or navigation properties are joined by `/`.
  public var path: String
  /// The name in key predicates, if the path has several steps.
  package var alias: String?

  /// Creates a reference.
  package init(path: String, alias: String? = nil) {
    self.path = path
    self.alias = alias
  }

  /// The name in key predicates.
  public var name: String { alias ?? path }
}
