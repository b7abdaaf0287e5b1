/// The entity container: the sets, singletons and operations under the service's root (CSDL 4.01 §13).
public struct EdmEntityContainer: EdmAnnotatable, EdmElement, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema.
  public var name: String
  /// The qualified name of the container that this one extends.
  package var extends: String?
  /// V1 to V3: true for the container whose sets need no prefix in URLs.
  package var isDefault = false
  /// The entity sets in their order.
  public var entitySets: [EdmEntitySet] = []
  /// The singletons in their order.
  public var singletons: [EdmSingleton] = []
  /// The function imports in their order; in V2 and V3 also those that V4 calls action imports.
  public var functionImports: [EdmFunctionImport] = []
  /// The action imports in their order.
  public var actionImports: [EdmActionImport] = []
  /// V1 to V3: the entity sets that each association connects.
  package var associationSets: [EdmAssociationSet] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a container.
  package init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

/// A set of entities under the service root (CSDL 4.01 §13.2).
public struct EdmEntitySet: EdmAnnotatable, EdmElement, Hashable {
  /// The name, the first step of its URLs.
  public var name: String
  /// The qualified name of its entities' type; entities may have derived types.
  public var entityType: String
  /// Whether the service document contains the set; nil if the metadata does not say (it does).
  package var includeInServiceDocument: Bool?
  /// The targets of navigation properties. For V1 to V3 they are computed from the association sets.
  package var navigationPropertyBindings: [EdmNavigationPropertyBinding] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an entity set.
  package init(name: String, entityType: String) {
    self.name = name
    self.entityType = entityType
  }
}

/// One entity under the service root (CSDL 4.01 §13.3).
public struct EdmSingleton: EdmAnnotatable, EdmElement, Hashable {
  /// The name, the first step of its URL.
  public var name: String
  /// The qualified name of its type.
  public var type: String
  /// Whether the singleton may be null; nil if the document does not say (it may not).
  package var nullable: Bool?
  /// The targets of navigation properties.
  package var navigationPropertyBindings: [EdmNavigationPropertyBinding] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a singleton.
  package init(name: String, type: String) {
    self.name = name
    self.type = type
  }
}

/// The set or singleton that a navigation property leads to (CSDL 4.01 §13.4).
package struct EdmNavigationPropertyBinding: Sendable, Hashable {
  /// The path of the navigation property, with steps through complex properties, type casts and contained entities.
  package var path: String
  /// The name, or path, of the set or singleton.
  package var target: String

  /// Creates a binding.
  package init(path: String, target: String) {
    self.path = path
    self.target = target
  }
}

/// A function under the service root (CSDL 4.01 §13.6), or a V2 or V3 function import with its own signature.
public struct EdmFunctionImport: EdmAnnotatable, EdmElement, Hashable {
  /// The name, the first step of its URL.
  public var name: String
  /// V4: the qualified name of the function whose unbound overloads it offers.
  public var function: String?
  /// The set that returned entities belong to.
  public var entitySet: String?
  /// V3: the set of returned entities, as a path that begins with the binding parameter.
  package var entitySetPath: String?
  /// Whether the service document contains the import; nil if the metadata does not say (it does not).
  package var includeInServiceDocument: Bool?
  /// V2: the HTTP method to call it with (`m:HttpMethod`).
  public var httpMethod: String?
  /// V1 to V3: the parameters in their order.
  public var parameters: [EdmParameter] = []
  /// V1 to V3: the return type.
  public var returnType: EdmReturnType?
  /// V3: whether it can be called on its first parameter.
  package var isBindable: Bool?
  /// V3: false for a function, true for an action; nil if the document does not say.
  package var isSideEffecting: Bool?
  /// V3: whether a path can continue from the result.
  package var isComposable: Bool?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates a function import.
  package init(name: String) { self.name = name }
}

/// An action under the service root (CSDL 4.01 §13.5).
public struct EdmActionImport: EdmAnnotatable, EdmElement, Hashable {
  /// The name, the first step of its URL.
  public var name: String
  /// The qualified name of the action whose unbound overload it offers.
  public var action: String
  /// The set that returned entities belong to.
  public var entitySet: String?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  package var foreignAttributes: [EdmForeignAttribute] = []

  /// Creates an action import.
  package init(name: String, action: String) {
    self.name = name
    self.action = action
  }
}
