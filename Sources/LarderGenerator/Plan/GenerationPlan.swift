/// What is generated from a model: the declarations with their Swift names, and what has no Swift form yet.
struct GenerationPlan {
  /// Entity and complex types, by their Swift names.
  var structures: [StructurePlan] = []
  /// Enumeration types, by their Swift names.
  var enumerations: [EnumerationPlan] = []
  /// Type definitions, by their Swift names.
  var definitions: [DefinitionPlan] = []
  /// Entity containers, by their Swift names.
  var services: [ServicePlan] = []
  /// Operations that are bound to entities or entity sets, by what they are bound to.
  var operations: [OperationPlan] = []
  /// What is not generated, in the order of its names.
  var omissions: [Omission] = []
}

/// A part of a model that is not generated.
package struct Omission: Sendable, Hashable, Comparable {
  /// What it is.
  package enum Reason: String, Sendable, Hashable, CaseIterable {
    /// Actions and functions with parameters or results without a Swift form, or bound to other values than entities.
    case operation = "actions and functions"
    /// A type that accepts values of several types.
    case abstractType = "values of abstract and untyped types"
    /// A type that the document does not declare.
    case unknownType = "types that the document does not declare"
    /// A base type that is unknown, circular or of another kind: inherited members are missing.
    case baseType = "base types that are unknown, circular or of another kind"
    /// V2 and V3: an association that the document does not declare, or that has no end with the role.
    case unknownAssociation = "navigation properties of unknown associations or roles"
    /// An entity set or singleton of a type that is no entity type of the document.
    case setType = "entity sets and singletons of other types than entity types of the document"
    /// An import of an operation that the document does not declare as unbound.
    case unknownOperation = "imports of operations that are unknown or bound"
    /// A key with a path, or with a property that is missing or not primitive.
    case key = "keys that are not primitive properties of their type"
    /// A name that the document declares again: the first declaration is generated.
    case repeatedName = "names that are declared again"
    /// A property with a name that is an annotation in JSON.
    case annotationName = "properties that are named like annotations"
  }

  /// The kind of part.
  package var reason: Reason
  /// Its name in the service.
  package var name: String

  /// Ordered by name.
  package static func < (left: Omission, right: Omission) -> Bool {
    (left.name, left.reason.rawValue) < (right.name, right.reason.rawValue)
  }
}

/// An entity or complex type.
struct StructurePlan {
  /// The Swift name.
  var name: String
  /// The qualified name in the service.
  var serviceName: String
  var isEntity: Bool
  var documentation: [String]
  /// The advice not to use it; nil if there is none.
  var deprecation: String?
  /// The Swift name of the nearest base type that is generated.
  var base: String?
  /// The generated types that derive from it directly.
  var derived: [DerivedPlan] = []
  /// All members, inherited ones first.
  var members: [MemberPlan] = []
  /// The names for `$select` that read all declared properties.
  var selection: [String] = []
  /// The members of the key; empty if there is none.
  var key: [MemberPlan] = []
  /// The properties of a new entity; nil if the service creates none.
  var create: [ChangeMember]?
  /// The properties that can be changed; nil if the service allows no changes.
  var update: [ChangeMember]?
  /// Whether entities belong to bytes.
  var isMedia = false
  /// Whether the service creates entities from bytes.
  var isMediaCreatable = false
  /// Whether values have properties that the type does not declare.
  var isOpen = false
  /// Whether the service deletes entities of the type.
  var isDeletable = true
  /// Whether values know the version that was read.
  var isVersioned: Bool { !key.isEmpty }
  /// Whether values know which of their properties were assigned. A value of a base type does not, because the derived
  /// value that it contains would differ from it.
  var isTracked: Bool { isVersioned && update != nil && derived.isEmpty }
  /// The number of a tracked property; nil for others.
  func trackedNumber(of member: MemberPlan) -> Int? {
    isTracked ? update?.firstIndex { $0.member.name == member.name } : nil
  }
  /// Whether a member can be assigned: those of complex values too, as the entity that contains the value notes the
  /// assignment. In a hierarchy a base value and its derived value would differ then.
  func isVariable(_ member: MemberPlan) -> Bool {
    trackedNumber(of: member) != nil || !isEntity && !isInHierarchy && !member.isComputed
  }
  /// Whether undeclared properties can be assigned.
  var isDynamicVariable: Bool { isTracked || !isEntity && !isInHierarchy }
  /// Whether the type is one of several that derive from each other.
  var isInHierarchy: Bool { base != nil || !derived.isEmpty }
}

extension StructurePlan {
  /// The protocols of Larder that the type conforms to, besides those that they inherit from, and `Identifiable`.
  var conformances: [String] {
    var protocols: [String] = []
    if !key.isEmpty {
      let versioned = update == nil ? ["ODataVersioned"] : ["ODataUpdatable", "ODataVersioned"]
      protocols = (isTracked ? ["ODataTracked"] : versioned) + ["Identifiable"]
    }
    if create != nil { protocols.append("ODataCreatable") }
    if isMedia { protocols.append("ODataMediaEntity") }
    if !derived.isEmpty { protocols.append("ODataBaseType") }
    if !isEntity { protocols.append("ODataComplex") }
    if isEntity, protocols.isEmpty { protocols.append("ODataDescribed") }
    return protocols
  }

  /// The protocols that some of the protocols in ``conformances`` inherit from.
  static func inherited(by conformances: [String]) -> [String] {
    (conformances.contains("ODataTracked") ? ["ODataUpdatable", "ODataVersioned"] : []) + ["ODataDescribed"]
  }
}

/// A type that derives directly from another.
struct DerivedPlan {
  /// The Swift name of the type.
  var type: String
  /// The qualified names of the type and of all types that derive from it: a value of one that is left out is read as
  /// its nearest base type that is generated.
  var serviceNames: [String]
  /// The Swift names that inherited members have in the type, by their names in the service.
  var memberNames: [String: String]
}

/// A property or navigation property.
struct MemberPlan {
  enum Kind { case primitive, complex, entity, stream }

  /// The Swift name.
  var name: String
  /// The name in the service.
  var serviceName: String
  var kind: Kind
  /// The Swift type of one value.
  var type: String
  var isCollection: Bool
  /// Whether an item of a collection can be null.
  var hasNullItems = false
  /// Whether the value can be absent.
  var isOptional: Bool
  /// Whether the service never sends the value, but accepts it.
  var isWriteOnly = false
  /// Whether the value is optional only because an entity that has not been uploaded need not have it.
  var isAbsentBeforeUpload = false
  /// Whether the service alone sets the property of a complex value: a value that is made here has none.
  var isComputed = false
  /// Whether the value is stored outside of the structure that contains it.
  var isIndirect = false
  var isFilterable = true
  var isSortable = true
  var isExpandable = true
  var documentation: [String]
  /// The advice not to use it in queries; nil if there is none.
  var deprecation: String?

  /// The type as declared, without the question mark of an optional.
  var valueType: String { isCollection ? "[\(type)\(hasNullItems ? "?" : "")]" : type }
  /// The type as declared.
  var declaredType: String { isOptional ? valueType + "?" : valueType }
}

/// A property in the values of a creation or update.
struct ChangeMember {
  var member: MemberPlan
  /// Whether a new entity needs the property.
  var isRequired: Bool
  /// Whether the property may be set to null.
  var isNullable: Bool
  /// Whether related entities must exist.
  var isExisting = false

  /// The type of a value that is given.
  var valueType: String {
    guard member.kind == .entity else { return member.valueType }
    let family = member.isCollection ? "ODataRelatedEntities" : "ODataRelated"
    return "\(family)<\(member.type), \(isExisting ? "ODataForbidden" : "ODataAllowed")>"
  }
}

/// An enumeration type.
struct EnumerationPlan {
  var name: String
  var serviceName: String
  var isFlags: Bool
  var documentation: [String]
  var members: [Member]

  /// A member. `deprecation` is the advice not to use it; nil if there is none.
  typealias Member = (name: String, serviceName: String, value: Int64, documentation: [String], deprecation: String?)
}

/// A type definition.
struct DefinitionPlan {
  var name: String
  var serviceName: String
  var type: String
  var documentation: [String]
}

/// An entity container.
struct ServicePlan {
  var name: String
  var serviceName: String
  var documentation: [String]
  /// Entity sets and singletons, with the names of their URLs.
  var sets: [Root]
  /// The imports of actions and functions.
  var operations: [OperationPlan]

  /// An entity set or singleton. `deprecation` is the advice not to use it; nil if there is none.
  typealias Root = (
    name: String, path: String, type: String, isSingleton: Bool, documentation: [String], deprecation: String?
  )
}
