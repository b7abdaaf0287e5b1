/// A schema: one namespace and its declarations, each kind in the document's order (CSDL 4.01 §5).
public struct EdmSchema: EdmAnnotatable, EdmElement, Hashable {
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
  package var typeDefinitions: [EdmTypeDefinition] = []
  /// Functions; each overload is one element.
  public var functions: [EdmFunction] = []
  /// Actions; each overload is one element.
  public var actions: [EdmAction] = []
  /// Terms.
  package var terms: [EdmTerm] = []
  /// Entity containers; at most one in V4.
  public var containers: [EdmEntityContainer] = []
  /// V1 to V3: associations.
  package var associations: [EdmAssociation] = []
  /// Annotations written separately from their elements.
  package var annotationGroups: [EdmAnnotationGroup] = []
  /// V1 to V3: `Using` elements, as includes.
  package var usings: [EdmInclude] = []
  /// Annotations on the schema itself.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

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
package struct EdmReference: EdmAnnotatable, EdmElement, Hashable {
  /// The document's URI, as written.
  package var uri: String
  /// The schemas included from the document.
  package var includes: [EdmInclude] = []
  /// The annotations included from the document.
  package var includeAnnotations: [EdmIncludeAnnotations] = []
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a reference.
  package init(uri: String) { self.uri = uri }
}

/// A schema included from a referenced document (CSDL 4.01 §4.2).
package struct EdmInclude: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  package var namespace: String
  /// The alias of the namespace in this document.
  package var alias: String?
  /// The annotations written inside the element.
  package var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an include.
  package init(namespace: String, alias: String? = nil) {
    self.namespace = namespace
    self.alias = alias
  }
}

/// Annotations included from a referenced document (CSDL 4.01 §4.3).
package struct EdmIncludeAnnotations: Sendable, Hashable {
  /// The namespace of the terms.
  package var termNamespace: String
  /// Only annotations with this qualifier.
  package var qualifier: String?
  /// Only annotations on elements of this namespace.
  package var targetNamespace: String?

  /// Creates an include.
  package init(termNamespace: String, qualifier: String? = nil, targetNamespace: String? = nil) {
    self.termNamespace = termNamespace
    self.qualifier = qualifier
    self.targetNamespace = targetNamespace
  }
}
