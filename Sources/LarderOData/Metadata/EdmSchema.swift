/// A schema: one namespace and what it declares, each kind in the document's order (CSDL 4.01 §5).
public struct EdmSchema: EdmAnnotatable, Hashable {
  /// The namespace; empty where a faulty document gives none.
  public var namespace: String
  /// The short name that can replace the namespace.
  public var alias: String?
  /// Entity types.
  public var entityTypes: [EdmEntityType] = []
  /// Complex types.
  public var complexTypes: [EdmComplexType] = []
  /// Enumeration types.
  public var enumTypes: [EdmEnumType] = []
  /// Type definitions.
  public var typeDefinitions: [EdmTypeDefinition] = []
  /// Functions, each overload for itself.
  public var functions: [EdmFunction] = []
  /// Actions, each overload for itself.
  public var actions: [EdmAction] = []
  /// Terms.
  public var terms: [EdmTerm] = []
  /// Entity containers; one at most in V4.
  public var containers: [EdmEntityContainer] = []
  /// V1 to V3: associations.
  package var associations: [EdmAssociation] = []
  /// Annotations written apart from their elements.
  public var annotationGroups: [EdmAnnotationGroup] = []
  /// V1 to V3: `Using` elements, as includes.
  public var usings: [EdmInclude] = []
  /// Annotations on the schema itself.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an empty schema.
  package init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }

  static func qualify(_ name: String, in namespace: String) -> String {
    namespace.isEmpty ? name : namespace + "." + name
  }
}

/// A document that the model refers to (CSDL 4.01 §3.3). It is not fetched.
public struct EdmReference: EdmAnnotatable, Hashable {
  /// The document's URI, as written.
  public var uri: String
  /// Schemas taken from it.
  public var includes: [EdmInclude] = []
  /// Annotations taken from it.
  public var includeAnnotations: [EdmIncludeAnnotations] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes a reference.
  package init(uri: String) { self.uri = uri }
}

/// A schema taken from a referenced document (CSDL 4.01 §4.2).
public struct EdmInclude: EdmAnnotatable, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The short name for it in this document.
  public var alias: String?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an include.
  package init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }
}

/// Annotations taken from a referenced document (CSDL 4.01 §4.3).
public struct EdmIncludeAnnotations: Sendable, Hashable {
  /// The namespace of the terms.
  public var termNamespace: String
  /// Only annotations with this qualifier.
  public var qualifier: String?
  /// Only annotations on elements of this namespace.
  public var targetNamespace: String?

  /// Makes an include.
  package init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
    self.termNamespace = termNamespace
    self.qualifier = qualifier
    self.targetNamespace = targetNamespace
  }
}
