// The declarations that names resolve to. Each is created once for each binder and shared by all trees that it binds,
// so that a tree contains references and copies no declaration. Two declarations are equal if they have the same name
// and place.

/// A structural property, with its type looked up.
package final class ODataDeclaredProperty: Sendable, Hashable {
  /// The declaration.
  package let property: EdmProperty
  /// The type.
  package let type: ODataBoundType
  /// The type that declares it.
  package let declaringType: EdmStructure
  /// The name.
  package let name: String
  /// Whether its values have members.
  let isStructured: Bool
  let instances: DeclaredInstances

  init(_ property: EdmProperty, type: ODataBoundType, in declaringType: EdmStructure) {
    self.property = property
    self.type = type
    self.declaringType = declaringType
    name = property.name
    isStructured = type.item.isStructured
    instances = DeclaredInstances(type)
  }

  /// Whether the same type declares the same name.
  package static func == (left: ODataDeclaredProperty, right: ODataDeclaredProperty) -> Bool {
    left === right || left.name == right.name && left.declaringType == right.declaringType
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A navigation property, with its type looked up.
package final class ODataDeclaredNavigation: Sendable, Hashable {
  /// The declaration.
  package let property: EdmNavigationProperty
  /// The type that the property leads to.
  package let type: ODataBoundType
  /// The type that declares it.
  package let declaringType: EdmStructure
  /// The name.
  package let name: String
  /// Whether the related entities are contained in the entity.
  let containsTarget: Bool
  let instances: DeclaredInstances

  init(_ property: EdmNavigationProperty, type: ODataBoundType, in declaringType: EdmStructure) {
    self.property = property
    self.type = type
    self.declaringType = declaringType
    name = property.name
    containsTarget = property.containsTarget
    instances = DeclaredInstances(type)
  }

  /// Whether the same type declares the same name.
  package static func == (left: ODataDeclaredNavigation, right: ODataDeclaredNavigation) -> Bool {
    left === right || left.name == right.name && left.declaringType == right.declaringType
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// The instances that a property leads to if its entities belong to no set. Created in advance, as most paths end with
/// one.
struct DeclaredInstances: Sendable {
  private let instance: Binding.Instance
  private let nullable: Binding.Instance

  init(_ type: ODataBoundType) {
    instance = Binding.Instance(kept: type)
    nullable = type.isNullable ? instance : Binding.Instance(kept: type.nullable())
  }

  /// The instance that the property leads to, nullable if it is reached from an instance that may be null.
  subscript(isNullable: Bool) -> Binding.Instance { isNullable ? nullable : instance }
}

/// An enumeration, with its members by name.
package final class ODataDeclaredEnum: Sendable, Hashable {
  /// The declaration.
  package let enumeration: EdmEnumType
  /// The qualified name.
  package let name: String
  private let values: [String: Int64]

  package init(_ enumeration: EdmEnumType) {
    self.enumeration = enumeration
    name = enumeration.qualifiedName
    values = Dictionary(enumeration.members.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
  }

  /// The value of a member.
  package func value(of member: String) -> Int64? { values[member] }

  /// Returns the members of a value: the one with that value; with flags, the members that it combines, chosen from the
  /// largest down and returned by ascending value. Nil if there are none.
  package func members(of value: Int64) -> [String]? {
    if let member = enumeration.member(value: value) { return [member.name] }
    guard enumeration.isFlags, value > 0 else { return nil }
    var rest = value
    var chosen: [EdmEnumMember] = []
    for member in enumeration.members.sorted(by: { $0.value > $1.value }) {
      guard member.value > 0, value & member.value == member.value, rest & member.value != 0 else { continue }
      chosen.append(member)
      rest &= ~member.value
    }
    return rest == 0 ? chosen.reversed().map(\.name) : nil
  }

  /// Whether the names are equal.
  package static func == (left: ODataDeclaredEnum, right: ODataDeclaredEnum) -> Bool {
    left === right || left.name == right.name
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A type definition.
package final class ODataDeclaredTypeDefinition: Sendable, Hashable {
  /// The declaration.
  package let definition: EdmTypeDefinition
  /// The qualified name.
  package let name: String

  init(_ definition: EdmTypeDefinition) {
    self.definition = definition
    name = definition.qualifiedName
  }

  /// Whether the names are equal.
  package static func == (left: ODataDeclaredTypeDefinition, right: ODataDeclaredTypeDefinition) -> Bool {
    left === right || left.name == right.name
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// An entity set or a singleton.
package final class ODataNavigationSource: Sendable, Hashable {
  /// The name, the first step of its URLs.
  package let name: String
  /// The type of its entities.
  package let type: EdmStructure
  /// The entity set; nil if the source is a singleton.
  package let entitySet: EdmEntitySet?
  /// The singleton; nil if the source is an entity set.
  package let singleton: EdmSingleton?
  let bindings: BindingPathNode?

  init(_ entitySet: EdmEntitySet, type: EdmStructure, bindings: BindingPathNode?) {
    name = entitySet.name
    self.type = type
    self.entitySet = entitySet
    singleton = nil
    self.bindings = bindings
  }

  init(_ singleton: EdmSingleton, type: EdmStructure, bindings: BindingPathNode?) {
    name = singleton.name
    self.type = type
    entitySet = nil
    self.singleton = singleton
    self.bindings = bindings
  }

  /// Whether the names are equal.
  package static func == (left: ODataNavigationSource, right: ODataNavigationSource) -> Bool {
    left === right || left.name == right.name
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// One part of an entity type's key.
package final class ODataDeclaredKeyPart: Sendable, Hashable {
  /// The name in key predicates: the property's, or the alias of a path.
  package let name: String
  /// The property.
  package let property: ODataDeclaredProperty
  /// Its path from the entity; one step unless the part has an alias.
  package let path: [ODataDeclaredProperty]

  init(name: String, path: [ODataDeclaredProperty], property: ODataDeclaredProperty) {
    self.name = name
    self.path = path
    self.property = property
  }

  /// Whether name and property are equal.
  package static func == (left: ODataDeclaredKeyPart, right: ODataDeclaredKeyPart) -> Bool {
    left === right || left.name == right.name && left.property == right.property
  }

  /// Hashes the name.
  package func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
