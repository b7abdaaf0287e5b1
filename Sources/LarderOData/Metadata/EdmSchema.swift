/// A schema: one namespace and its declarations, each kind in the document's order (CSDL 4.01 §5).
public struct EdmSchema: EdmAnnotatable, Hashable {
  /// The namespace; empty if an invalid document has none.
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
  /// Functions; each overload is one element.
  public var functions: [EdmFunction] = []
  /// Actions; each overload is one element.
  public var actions: [EdmAction] = []
  /// Terms.
  public var terms: [EdmTerm] = []
  /// Entity containers; at most one in V4.
  public var containers: [EdmEntityContainer] = []
  /// V1 to V3: associations.
  package var associations: [EdmAssociation] = []
  /// Annotations written separately from their elements.
  public var annotationGroups: [EdmAnnotationGroup] = []
  /// V1 to V3: `Using` elements, as includes.
  public var usings: [EdmInclude] = []
  /// Annotations on the schema itself.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an empty schema.
  package init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }

  static func qualify(_ name: String, in namespace: String) -> String {
    namespace.isEmpty ? name : namespace + "." + name
  }
}

/// A document that the model references (CSDL 4.01 §3.3). It is not downloaded.
public struct EdmReference: EdmAnnotatable, Hashable {
  /// The document's URI, as written.
  public var uri: String
  /// The schemas included from the document.
  public var includes: [EdmInclude] = []
  /// The annotations included from the document.
  public var includeAnnotations: [EdmIncludeAnnotations] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a reference.
  package init(uri: String) { self.uri = uri }
}

/// A schema included from a referenced document (CSDL 4.01 §4.2).
public struct EdmInclude: EdmAnnotatable, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The alias of the namespace in this document.
  public var alias: String?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an include.
  package init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }
}

/// Annotations included from a referenced document (CSDL 4.01 §4.3).
public struct EdmIncludeAnnotations: Sendable, Hashable {
  /// The namespace of the terms.
  public var termNamespace: String
  /// Only annotations with this qualifier.
  public var qualifier: String?
  /// Only annotations on elements of this namespace.
  public var targetNamespace: String?

  /// Creates an include.
  package init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
    self.termNamespace = termNamespace
    self.qualifier = qualifier
    self.targetNamespace = targetNamespace
  }
}
