/// An entity or complex type with its declared and inherited members, which can be looked up by name.
///
/// Built once for each type by ``EdmModel``. Looking a name up costs one dictionary access for each type of the
/// inheritance chain. Shared, immutable.
package final class EdmStructure: Sendable {
  /// The type's qualified name.
  package let name: String
  /// The base type.
  package let base: EdmStructure?
  /// Whether the type is an entity type.
  package let isEntityType: Bool
  /// Whether instances always have a derived type.
  package let isAbstract: Bool
  /// Whether instances may have undeclared properties, as declared by this type or a base type.
  package let isOpen: Bool
  /// Whether entities are media entities, as declared by this type or a base type.
  package let hasStream: Bool
  /// The key, declared or inherited; empty if there is none, and for complex types.
  package let key: [EdmPropertyRef]

  package let ownProperties: [EdmProperty]
  package let ownNavigationProperties: [EdmNavigationProperty]
  private let ownFeedMappings: [EdmFeedMapping]
  private let members: [String: Member]

  private enum Member {
    case property(Int)
    case navigationProperty(Int)
  }

  init(_ type: EdmEntityType, base: EdmStructure?) {
    name = type.qualifiedName
    self.base = base
    isEntityType = true
    isAbstract = type.isAbstract
    isOpen = type.isOpen || base?.isOpen ?? false
    hasStream = type.hasStream || base?.hasStream ?? false
    key = type.key.isEmpty ? base?.key ?? [] : type.key
    ownProperties = type.properties
    ownNavigationProperties = type.navigationProperties
    ownFeedMappings = type.properties.flatMap(\.feedMappings) + type.feedMappings
    members = EdmStructure.members(type.properties, type.navigationProperties)
  }

  init(_ type: EdmComplexType, base: EdmStructure?) {
    name = type.qualifiedName
    self.base = base
    isEntityType = false
    isAbstract = type.isAbstract
    isOpen = type.isOpen || base?.isOpen ?? false
    hasStream = false
    key = []
    ownProperties = type.properties
    ownNavigationProperties = type.navigationProperties
    ownFeedMappings = []
    members = EdmStructure.members(type.properties, type.navigationProperties)
  }

  private static func members(
    _ properties: [EdmProperty], _ navigationProperties: [EdmNavigationProperty]
  ) -> [String: Member] {
    var members: [String: Member] = [:]
    members.reserveCapacity(properties.count + navigationProperties.count)
    for (place, property) in properties.enumerated() where members[property.name] == nil {
      members[property.name] = .property(place)
    }
    for (place, property) in navigationProperties.enumerated() where members[property.name] == nil {
      members[property.name] = .navigationProperty(place)
    }
    return members
  }

  /// The property with a name, declared or inherited.
  package func property(_ name: String) -> EdmProperty? {
    var type: EdmStructure? = self
    while let current = type {
      if case .property(let place)? = current.members[name] { return current.ownProperties[place] }
      type = current.base
    }
    return nil
  }

  /// The navigation property with a name, declared or inherited.
  package func navigationProperty(_ name: String) -> EdmNavigationProperty? {
    var type: EdmStructure? = self
    while let current = type {
      if case .navigationProperty(let place)? = current.members[name] {
        return current.ownNavigationProperties[place]
      }
      type = current.base
    }
    return nil
  }

  /// All properties, beginning with those of the root base type.
  package var properties: [EdmProperty] { chain.flatMap(\.ownProperties) }

  /// All navigation properties, beginning with those of the root base type.
  package var navigationProperties: [EdmNavigationProperty] { chain.flatMap(\.ownNavigationProperties) }

  /// V2 and V3: all mappings to Atom, beginning with those of the root base type.
  package var feedMappings: [EdmFeedMapping] { chain.flatMap(\.ownFeedMappings) }

  /// The type and its base types, beginning with the root base type.
  package var chain: [EdmStructure] {
    var chain: [EdmStructure] = []
    var type: EdmStructure? = self
    while let current = type {
      chain.append(current)
      type = current.base
    }
    return chain.reversed()
  }
}
