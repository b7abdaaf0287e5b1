internal import LarderOData

/// Finds the entity types whose entities are created through those that they belong to, whatever their own entity sets
/// allow: by a deep insert, or by a request to a navigation property. The restrictions of a single navigation property of
/// V4 are in ``RestrictionTable``.
struct ChildCreation {
  let model: EdmModel

  /// The qualified names of the types.
  func types() -> Set<String> { model.version < .v4 ? typesByAttributes() : typesByPaths() }

  /// V4: the types behind the paths of several names, `Address/Country`, that the restrictions of a set or singleton say
  /// entities are created through, or leave it to the entity (Capabilities vocabulary, `NavigationPropertyRestriction`).
  private func typesByPaths() -> Set<String> {
    var types: Set<String> = []
    for container in model.schemas.flatMap(\.containers) {
      let roots =
        container.entitySets.map { ($0.name, $0.entityType) } + container.singletons.map { ($0.name, $0.type) }
      for (name, owner) in roots {
        let term = "Org.OData.Capabilities.V1.NavigationRestrictions"
        let value = model.annotation(term, target: "\(container.qualifiedName)/\(name)")?.value
        for item in value?["RestrictedProperties"]?.items ?? [] {
          guard let path = item["NavigationProperty"]?.text, path.contains("/"),
            let insert = item["InsertRestrictions"], insert["Insertable"]?.bool != false,
            let type = type(at: path, from: model.resolve(owner))
          else { continue }
          types.insert(type)
        }
      }
    }
    return types
  }

  private func type(at path: String, from owner: String) -> String? {
    path.split(separator: "/").reduce(owner as String?) { type, step in
      guard let structure = type.flatMap({ model.structure($0) }) else { return nil }
      let name = String(step)
      let member = structure.navigationProperty(name)?.type ?? structure.property(name)?.type
      return member?.name.map { model.resolve($0) }
    }
  }

  /// V2: SAP's attributes do not say which entities a deep insert can create. Those in a collection of one entity that
  /// is created are, unless the navigation property forbids it. One that several entities share is only referred to, and
  /// so is the entity of a navigation property to one: SAP writes 1 to 0..1 for value helps, which many entities share.
  private func typesByAttributes() -> Set<String> {
    let sets = Dictionary(grouping: model.schemas.flatMap(\.containers).flatMap(\.entitySets)) {
      model.resolve($0.entityType)
    }
    var pending = model.schemas.flatMap(\.entityTypes).compactMap { model.structure($0.qualifiedName) }.filter { type in
      let ownSets = type.chain.reversed().lazy.compactMap { sets[$0.name] }.first ?? []
      return ownSets.contains { $0.sap("creatable") != "false" }
    }
    var types: Set<String> = []
    var reached = Set(pending.map(\.name))
    while let owner = pending.popLast() {
      for property in owner.navigationProperties where isOwned(property) {
        guard let child = property.type.name.flatMap({ model.structure($0) }) else { continue }
        types.insert(child.name)
        if reached.insert(child.name).inserted { pending.append(child) }
      }
    }
    return types
  }

  private func isOwned(_ property: EdmNavigationProperty) -> Bool {
    guard property.isCollection, property.sap("creatable") != "false", let relationship = property.relationship,
      let end = model.association(relationship.association)?.end(relationship.fromRole)
    else { return false }
    return end.multiplicity != .many
  }
}
