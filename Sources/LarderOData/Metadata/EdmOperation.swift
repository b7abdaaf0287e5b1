/// One overload of a function (CSDL 4.01 §12.2); in V3 a function of the model.
public struct EdmFunction: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema; overloads share it.
  public var name: String
  /// Whether the function is bound to its first parameter.
  public var isBound = false
  /// Whether a path can continue from the result.
  package var isComposable = false
  /// The path to the entity set of the returned entities; it begins with the binding parameter.
  package var entitySetPath: String?
  /// The parameters in their order.
  public var parameters: [EdmParameter] = []
  /// The return type.
  public var returnType: EdmReturnType?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a function.
  package init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

/// One overload of an action (CSDL 4.01 §12.1).
public struct EdmAction: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema; overloads share it.
  public var name: String
  /// Whether the action is bound to its first parameter.
  public var isBound = false
  /// The path to the entity set of the returned entities; it begins with the binding parameter.
  package var entitySetPath: String?
  /// The parameters in their order.
  public var parameters: [EdmParameter] = []
  /// The return type; nil if the action returns nothing.
  public var returnType: EdmReturnType?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an action.
  package init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

/// A parameter of a function, an action or a V2 function import.
public struct EdmParameter: EdmAnnotatable, EdmElement, Hashable {
  /// The name.
  public var name: String
  /// The type.
  public var type: EdmTypeReference
  /// Whether the value may be null; nil if the document does not say.
  package var nullable: Bool?
  /// The facets of the type, such as `MaxLength` and `Precision`.
  public var facets = EdmFacets()
  /// V1 to V3: `In`, `Out`, `InOut`.
  package var mode: String?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a parameter.
  package init(name: String, type: EdmTypeReference, nullable: Bool? = nil) {
    self.name = name
    self.type = type
    self.nullable = nullable
  }

  /// Whether the parameter may be null; true if the document does not say.
  public var isNullable: Bool { nullable ?? true }
}

/// The return type of a function or action (CSDL 4.01 §12.8).
public struct EdmReturnType: EdmAnnotatable, EdmElement, Hashable {
  /// The type.
  public var type: EdmTypeReference
  /// Whether the result may be null; nil if the document does not say.
  package var nullable: Bool?
  /// The facets of the type, such as `MaxLength` and `Precision`.
  public var facets = EdmFacets()
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a return type.
  package init(type: EdmTypeReference, nullable: Bool? = nil) {
    self.type = type
    self.nullable = nullable
  }

  /// Whether the result may be null; true if the document does not say.
  public var isNullable: Bool { nullable ?? true }
}

/// A term of a vocabulary (CSDL 4.01 §14.1).
package struct EdmTerm: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  package var namespace: String
  /// The name in the schema.
  package var name: String
  /// The type of its values.
  package var type: EdmTypeReference
  /// Whether the value may be null; nil if the document does not say.
  package var nullable: Bool?
  /// The facets of the type, such as `MaxLength` and `Precision`.
  package var facets = EdmFacets()
  /// The term that this one specialises.
  package var baseTerm: String?
  /// The default value of annotations without a value, as written.
  package var defaultValue: String?
  /// The kinds of elements that the term may be applied to; empty for all.
  package var appliesTo: [String] = []
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a term.
  package init(namespace: String, name: String, type: EdmTypeReference) {
    self.namespace = namespace
    self.name = name
    self.type = type
  }

  /// The name with its namespace.
  package var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}
