/// Follows the associations of V1 to V3, so that navigation properties have the information of V4: target type,
/// multiplicity, partner, constraints ([MC-CSDL] §2.1.4, §2.1.9), and an entity set says where it leads (§2.1.19).
struct EdmAssociationResolver {
  var schemas: [EdmSchema]
  var diagnostics: [EdmDiagnostic] = []
  private var associations: [String: EdmAssociation] = [:]
  private var navigations: [EdmRelationship: [Navigation]] = [:]
  private var baseTypes: [String: String] = [:]
  /// The number of bindings tried so far; a valid document needs a few for each association set.
  private var tries = 0
  private var bound: Set<String> = []
  private static let triesBound = 1_000_000

  private struct Navigation {
    let type: String
    let name: String
  }

  init(schemas: [EdmSchema]) {
    self.schemas = schemas
    for schema in schemas {
      for association in schema.associations where associations[association.qualifiedName] == nil {
        associations[association.qualifiedName] = association
      }
      for type in schema.entityTypes {
        let name = type.qualifiedName
        baseTypes[name] = type.baseType
        for property in type.navigationProperties {
          guard let relationship = property.relationship else { continue }
          navigations[relationship, default: []].append(Navigation(type: name, name: property.name))
        }
      }
    }
  }

  mutating func resolve() {
    guard !navigations.isEmpty || !associations.isEmpty else { return }
    // Moved out of `self`, so that the steps can report diagnostics while they change them in place.
    var schemas = self.schemas
    self.schemas = []
    defer { self.schemas = schemas }
    for schema in schemas.indices {
      for type in schemas[schema].entityTypes.indices {
        let name = schemas[schema].entityTypes[type].qualifiedName
        for place in schemas[schema].entityTypes[type].navigationProperties.indices {
          resolve(&schemas[schema].entityTypes[type].navigationProperties[place], of: name)
        }
      }
      for place in schemas[schema].containers.indices { bind(&schemas[schema].containers[place]) }
    }
  }

  private mutating func resolve(_ property: inout EdmNavigationProperty, of type: String) {
    guard let relationship = property.relationship else { return }
    guard let association = associations[relationship.association] else {
      return report("the association \(relationship.association) is not declared", at: type + "/" + property.name)
    }
    guard let end = roleEnd(relationship.toRole, of: association) else {
      let message = "the association \(relationship.association) has no role \(relationship.toRole)"
      return report(message, at: type + "/" + property.name)
    }
    switch end.multiplicity {
    case .many: property.type = .collection(.named(end.type))
    case .one, .zeroOrOne:
      property.type = .named(end.type)
      property.nullable = end.multiplicity == .zeroOrOne
    }
    property.onDelete = roleEnd(relationship.fromRole, of: association)?.onDelete
    let back = EdmRelationship(
      association: relationship.association, fromRole: relationship.toRole, toRole: relationship.fromRole)
    property.partner = navigations[back]?.first { $0.type != type || $0.name != property.name }?.name
    guard let constraint = association.referentialConstraint, constraint.dependentRole == relationship.fromRole
    else { return }
    property.referentialConstraints = zip(constraint.dependentProperties, constraint.principalProperties).map {
      EdmReferentialConstraint(property: $0, referencedProperty: $1)
    }
    if constraint.dependentProperties.count != constraint.principalProperties.count {
      report(
        "the referential constraint names \(constraint.dependentProperties.count) dependent and "
          + "\(constraint.principalProperties.count) principal properties", at: association.qualifiedName)
    }
  }

  /// Returns the end with a role. An association has two ends; further ones are ignored.
  private func roleEnd(_ role: String, of association: EdmAssociation) -> EdmAssociationEnd? {
    association.ends.prefix(2).first { $0.role == role }
  }

  private mutating func report(_ message: String, at path: String) {
    diagnostics.append(EdmDiagnostic(.unresolvedName, message, at: MetadataLocation(path: path)))
  }

  /// Converts association sets to navigation property bindings.
  private mutating func bind(_ container: inout EdmEntityContainer) {
    guard !container.associationSets.isEmpty else { return }
    var places: [String: Int] = [:]
    for (place, set) in container.entitySets.enumerated() where places[set.name] == nil { places[set.name] = place }
    bound = []
    for associationSet in container.associationSets {
      let path = container.qualifiedName + "/" + associationSet.name
      guard let association = associations[associationSet.association] else {
        report("the association \(associationSet.association) is not declared", at: path)
        continue
      }
      let ends = associationSet.ends.prefix(2).map { end in
        (role: role(of: end, association, container, places) ?? end.role, set: end.entitySet)
      }
      for from in ends {
        for to in ends where to.role != from.role {
          guard let place = places[from.set] else {
            report("there is no entity set \(from.set)", at: path)
            continue
          }
          let relationship = EdmRelationship(
            association: association.qualifiedName, fromRole: from.role, toRole: to.role)
          for navigation in navigations[relationship] ?? [] {
            tries += 1
            if tries > EdmAssociationResolver.triesBound {
              return report("too many association sets: the rest is ignored", at: path)
            }
            bind(&container.entitySets[place], navigation, to: to.set)
          }
        }
      }
    }
  }

  private mutating func bind(_ set: inout EdmEntitySet, _ navigation: Navigation, to target: String) {
    let isInherited = derives(set.entityType, from: navigation.type)
    guard isInherited || derives(navigation.type, from: set.entityType) else { return }
    let path = isInherited ? navigation.name : navigation.type + "/" + navigation.name
    guard bound.insert(set.name + "/" + path).inserted else { return }
    set.navigationPropertyBindings.append(EdmNavigationPropertyBinding(path: path, target: target))
  }

  /// Returns the role of an end. If it names none, it is the role of its set's type.
  private func role(
    of end: EdmAssociationSetEnd, _ association: EdmAssociation, _ container: EdmEntityContainer,
    _ places: [String: Int]
  ) -> String? {
    guard end.role.isEmpty, let place = places[end.entitySet] else { return nil }
    let type = container.entitySets[place].entityType
    return association.ends.prefix(2).first { $0.type == type }?.role
  }

  private func derives(_ type: String, from base: String) -> Bool {
    var type = type
    for _ in 0...EdmIndexBuilder.inheritanceDepth {
      if type == base { return true }
      guard let next = baseTypes[type] else { return false }
      type = next
    }
    return false
  }
}
