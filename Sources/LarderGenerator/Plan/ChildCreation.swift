internal import LarderOData

/// V2: finds the entity types whose entities are created through those that they belong to, whatever their own entity
/// sets allow: by a deep insert, or by a request to a navigation property.
///
/// SAP's attributes do not say which entities a deep insert can create. Those in a collection of one entity that is
/// created are, unless the navigation property forbids it. One that several entities share is only referred to.
struct ChildCreation {
  let model: EdmModel

  /// The qualified names of the types.
  func types() -> Set<String> {
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
      for property in owner.navigationProperties where model.createsOwnedEntities(property) {
        guard let child = property.type.name.flatMap({ model.structure($0) }) else { continue }
        types.insert(child.name)
        if reached.insert(child.name).inserted { pending.append(child) }
      }
    }
    return types
  }
}
