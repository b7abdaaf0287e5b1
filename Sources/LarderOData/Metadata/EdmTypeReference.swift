/// The type of a property, parameter, term or return value.
public indirect enum EdmTypeReference: Sendable, Hashable, CustomStringConvertible {
  /// A primitive type.
  case primitive(EdmPrimitiveType)
  /// A type of a schema, by its namespace-qualified name (with aliases resolved if the model knows them).
  case named(String)
  /// One of the model's abstract types (CSDL 4.01 §4.5 and §4.6).
  case abstract(EdmAbstractType)
  /// A collection of items. Collections of collections do not exist.
  case collection(EdmTypeReference)

  /// Parses `Edm.Int32`, `NS.Type`, `Collection(NS.Type)`; V1 to V3 also write primitive types without `Edm.`.
  package init(_ text: String) {
    if text.hasPrefix("Collection("), text.hasSuffix(")") {
      self = .collection(EdmTypeReference(item: String(text.dropFirst(11).dropLast())))
    } else {
      self = EdmTypeReference(item: text)
    }
  }

  private init(item text: String) {
    if let primitive = EdmPrimitiveType(qualifiedName: text) {
      self = .primitive(primitive)
    } else if let abstract = EdmAbstractType(qualifiedName: text) {
      self = .abstract(abstract)
    } else if !text.utf8.contains(0x2E), let primitive = EdmPrimitiveType(rawValue: text) {
      self = .primitive(primitive)
    } else {
      self = .named(text)
    }
  }

  /// Whether the type is a collection.
  public var isCollection: Bool {
    if case .collection = self { true } else { false }
  }

  /// The type of one item; the type itself if it is not a collection.
  public var item: EdmTypeReference {
    if case .collection(let item) = self { item } else { self }
  }

  /// The qualified name of the item's type if a schema declares it; nil for primitive and abstract types.
  public var name: String? {
    if case .named(let name) = item { name } else { nil }
  }

  /// The item's primitive type; nil for others.
  public var primitive: EdmPrimitiveType? {
    if case .primitive(let type) = item { type } else { nil }
  }

  /// The reference in the form of CSDL XML.
  public var description: String {
    switch self {
    case .primitive(let type): type.qualifiedName
    case .named(let name): name
    case .abstract(let type): type.qualifiedName
    case .collection(let item): "Collection(\(item))"
    }
  }
}

/// The types of the language that are not primitive (CSDL 4.01 §4.5, §4.6).
public enum EdmAbstractType: String, Sendable, Hashable, CaseIterable {
  /// Any primitive value.
  case primitiveType = "PrimitiveType"
  /// Any complex value.
  case complexType = "ComplexType"
  /// Any entity.
  case entityType = "EntityType"
  /// Any value.
  case untyped = "Untyped"
  /// A path to an annotation (in vocabularies).
  case annotationPath = "AnnotationPath"
  /// A path to a property (in vocabularies).
  case propertyPath = "PropertyPath"
  /// A path to a navigation property (in vocabularies).
  case navigationPropertyPath = "NavigationPropertyPath"
  /// A path to a property of any kind (in vocabularies).
  case anyPropertyPath = "AnyPropertyPath"
  /// A path to an element of the model (in vocabularies).
  case modelElementPath = "ModelElementPath"

  /// The name with its namespace.
  public var qualifiedName: String { "Edm." + rawValue }

  /// Parses `Edm.Untyped`; nil for other names.
  public init?(qualifiedName: String) {
    guard qualifiedName.hasPrefix("Edm."), let type = EdmAbstractType(rawValue: String(qualifiedName.dropFirst(4)))
    else { return nil }
    self = type
  }
}

/// The facets of a type, which restrict its values (CSDL 4.01 §7.2). A facet that the document omits is nil.
public struct EdmFacets: Sendable, Hashable {
  /// The largest number of characters or bytes.
  public var maxLength: EdmMaxLength?
  /// Decimal: significant digits. Temporal types: digits of the second's fraction.
  public var precision: Int?
  /// Decimal: the digits after the decimal point. If omitted, it is 0 in CSDL XML of V4. In CSDL JSON an omitted scale
  /// means variable, and is stored as `.variable`.
  public var scale: EdmScale?
  /// False if a string is ASCII only. If omitted, it is true.
  package var isUnicode: Bool?
  /// The spatial reference. If omitted, it is 4326 for geography and 0 for geometry.
  package var srid: EdmSRID?
  /// Whether every value has the maximum length (V1 to V3).
  package var isFixedLength: Bool?
  /// The order that the service sorts strings in (V1 to V3).
  package var collation: String?

  /// Creates empty facets.
  package init() {}
}

/// The facet `MaxLength` (CSDL 4.01 §7.2.2).
public enum EdmMaxLength: Sendable, Hashable {
  /// The given number of characters or bytes.
  case limit(Int)
  /// The service's own maximum.
  case max
}

/// The facet `Scale` (CSDL 4.01 §7.2.4).
public enum EdmScale: Sendable, Hashable {
  /// At most the given number of digits after the decimal point.
  case digits(Int)
  /// Any number of digits up to the precision.
  case variable
  /// A decimal floating-point number.
  case floating
}

/// The facet `SRID` (CSDL 4.01 §7.2.6).
package enum EdmSRID: Sendable, Hashable {
  /// An EPSG code.
  case reference(Int)
  /// Each value has its own.
  case variable
}
