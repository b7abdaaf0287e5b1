/// What a service offers under its root (CSDL 4.01 §13).
public struct EdmEntityContainer: EdmAnnotatable, Hashable {
  /// The schema's namespace.
  public var namespace: String
  /// The name in the schema.
  public var name: String
  /// The qualified name of the container that this one adds to.
  public var extends: String?
  /// V1 to V3: true for the container whose sets need no prefix in URLs.
  public var isDefault = false
  /// The entity sets in their order.
  public var entitySets: [EdmEntitySet] = []
  /// The singletons in their order.
  public var singletons: [EdmSingleton] = []
  /// The function imports in their order; in V2 and V3 also what V4 calls action imports.
  public var functionImports: [EdmFunctionImport] = []
  /// The action imports in their order.
  public var actionImports: [EdmActionImport] = []
  /// V1 to V3: which sets an association joins.
  package var associationSets: [EdmAssociationSet] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes a container.
  package init(namespace: String, name: String) {
    self.namespace = namespace
    self.name = name
  }

  /// The name with its namespace.
  public var qualifiedName: String { EdmSchema.qualify(name, in: namespace) }
}

/// A set of entities under the service root (CSDL 4.01 §13.2).
public struct EdmEntitySet: EdmAnnotatable, Hashable {
  /// The name, the first step of its URLs.
  public var name: String
  /// The qualified name of its entities' type; they may be of derived types.
  public var entityType: String
  /// Whether the service document shows it; nil where the document says nothing (it does).
  public var includeInServiceDocument: Bool?
  /// Where navigation properties lead. For V1 to V3 made from the association sets.
  public var navigationPropertyBindings: [EdmNavigationPropertyBinding] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an entity set.
  package init(name: String, entityType: String) {
    self.name = name
    self.entityType = entityType
  }
}

/// One entity under the service root (CSDL 4.01 §13.3).
public struct EdmSingleton: EdmAnnotatable, Hashable {
  /// The name, the first step of its URL.
  public var name: String
  /// The qualified name of its type.
  public var type: String
  /// Whether null is possible; nil where the document says nothing (it is not).
  public var nullable: Bool?
  /// Where navigation properties lead.
  public var navigationPropertyBindings: [EdmNavigationPropertyBinding] = []
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes a singleton.
  package init(name: String, type: String) {
    self.name = name
    self.type = type
  }
}

/// The set or singleton that a navigation property leads to (CSDL 4.01 §13.4).
public struct EdmNavigationPropertyBinding: Sendable, Hashable {
  /// The path of the navigation property; steps through complex properties, type casts and contained entities.
  public var path: String
  /// The name, or path, of the set or singleton.
  public var target: String

  /// Makes a binding.
  package init(path: String, target: String) {
    self.path = path
    self.target = target
  }
}

/// A function under the service root (CSDL 4.01 §13.6), or a V2 or V3 function import with its own signature.
public struct EdmFunctionImport: EdmAnnotatable, Hashable {
  /// The name, the first step of its URL.
  public var name: String
  /// V4: the qualified name of the function whose unbound overloads it offers.
  public var function: String?
  /// The set that returned entities belong to.
  public var entitySet: String?
  /// V3: where returned entities live, as a path that begins with the binding parameter.
  public var entitySetPath: String?
  /// Whether the service document shows it; nil where the document says nothing (it does not).
  public var includeInServiceDocument: Bool?
  /// V2: the method to call it with (`m:HttpMethod`).
  public var httpMethod: String?
  /// V1 to V3: the parameters in their order.
  public var parameters: [EdmParameter] = []
  /// V1 to V3: what it returns.
  public var returnType: EdmReturnType?
  /// V3: whether it can be called on its first parameter.
  public var isBindable: Bool?
  /// V3: false for a function, true for an action; nil where the document says nothing.
  public var isSideEffecting: Bool?
  /// V3: whether its result can be the start of a further path.
  public var isComposable: Bool?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes a function import.
  package init(name: String) { self.name = name }
}

/// An action under the service root (CSDL 4.01 §13.5).
public struct EdmActionImport: EdmAnnotatable, Hashable {
  /// The name, the first step of its URL.
  public var name: String
  /// The qualified name of the action whose unbound overload it offers.
  public var action: String
  /// The set that returned entities belong to.
  public var entitySet: String?
  /// The annotations written inside the element.
  public var annotations: [EdmAnnotation] = []
  /// Attributes of other namespaces.
  public var foreignAttributes: [EdmForeignAttribute] = []

  /// Makes an action import.
  package init(name: String, action: String) {
    self.name = name
    self.action = action
  }
}
