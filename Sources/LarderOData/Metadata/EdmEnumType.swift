/// An enumeration type (CSDL 4.01 §10; V3 CSDL).
public struct EdmEnumType: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema.
  public var name: String
  /// The integer type of the members; `Edm.Int32` unless the document names another.
  public var underlyingType = EdmPrimitiveType.int32
  /// Whether members can be combined.
  public var isFlags = false
  /// The members in their order.
  public var members: [EdmEnumMember] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an enumeration type.
  package init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }

  /// The member with a name; nil if there is none.
  public func member(_ name: String) -> EdmEnumMember? { members.first { $0.name == name } }

  /// The member with a value; nil if there is none.
  public func member(value: Int64) -> EdmEnumMember? { members.first { $0.value == value } }
}

/// A member of an enumeration.
public struct EdmEnumMember: EdmAnnotatable, EdmElement, Hashable {
  /// The name.
  public var name: String
  /// The value: as declared, or one more than the member before it, the first being 0 (CSDL 4.01 §10.3).
  public var value: Int64
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a member.
  package init(name: String, value: Int64) {
    self.name = name
    self.value = value
  }
}

/// A primitive type with a name and facets (CSDL 4.01 §11).
package struct EdmTypeDefinition: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  package var namespace: String
  /// The name in the schema.
  package var name: String
  /// The underlying primitive type.
  package var underlyingType: EdmPrimitiveType
  /// The facets, which restrict the underlying type.
  package var facets = EdmFacets()
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a type definition.
  package init(namespace: String, name: String, underlyingType: EdmPrimitiveType) {
    self.namespace = namespace
    self.name = name
    self.underlyingType = underlyingType
  }

  /// The name with its namespace.
  package var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

extension EdmEnumType {
  /// The value of the next member without one (CSDL 4.01 §10.3); stays at the highest possible value.
  package var nextMemberValue: Int64 {
    guard let last = members.last?.value else { return 0 }
    return last == .max ? .max : last + 1
  }
}
