internal import LarderOData

/// Finds the entity types whose entities are created through those that they belong to, whatever their own entity sets
/// allow: by a deep insert, or by a request to a navigation property.
struct ChildCreation {
  private let model: EdmModel
  /// By the qualified name of a type, its entity sets and the targets of their annotations.
  private let sets: [String: [(set: EdmEntitySet, target: String)]]

  init(model: EdmModel) {
    self.model = model
    var sets: [String: [(set: EdmEntitySet, target: String)]] = [:]
    for container in model.schemas.flatMap(\.containers) {
      for set in container.entitySets {
        sets[model.resolve(set.entityType), default: []].append((set, "\(container.qualifiedName)/\(set.name)"))
      }
    }
    self.sets = sets
  }

  /// The qualified names of the types.
  func types() -> Set<String> { model.version < .v4 ? typesByAttributes() : typesByRestrictions() }

  /// V4: a navigation property is one that entities are created through if the restrictions of a set, or its own, say
  /// so or leave it to the entity (Capabilities vocabulary, `NavigationPropertyRestriction/InsertRestrictions`).
  /// Contained entities are created in no other way.
  private func typesByRestrictions() -> Set<String> {
    var types: Set<String> = []
    for (owner, target) in roots {
      for (path, isInsertable) in restrictions(of: target, owner) where isInsertable {
        if let type = type(at: path, from: owner) { types.insert(type) }
      }
    }
    for owner in entityTypes {
      for level in owner.chain {
        for property in level.ownNavigationProperties {
          let own = isInsertable("\(level.name)/\(property.name)")
          guard own ?? property.containsTarget else { continue }
          let isForbidden =
            (sets[owner.name] ?? []).contains { restrictions(of: $0.target, owner.name)[property.name] == false }
          if !isForbidden, let type = property.type.name { types.insert(model.resolve(type)) }
        }
      }
    }
    return types
  }

  /// The types of entity sets and singletons, with the targets of their annotations.
  private var roots: [(type: String, target: String)] {
    model.schemas.flatMap(\.containers).flatMap { container in
      container.entitySets.map { (model.resolve($0.entityType), "\(container.qualifiedName)/\($0.name)") }
        + container.singletons.map { (model.resolve($0.type), "\(container.qualifiedName)/\($0.name)") }
    }
  }

  /// By the path of a navigation property that a set or singleton restricts, whether entities can be created through
  /// it. The restriction is an item of a list, or an annotation of the navigation property in the set.
  private func restrictions(of target: String, _ owner: String) -> [String: Bool] {
    let value = model.annotation("Org.OData.Capabilities.V1.NavigationRestrictions", target: target)?.value
    let rows = (value?["RestrictedProperties"]?.items ?? []).compactMap { item -> (String, Bool)? in
      guard let path = item["NavigationProperty"]?.text, let insert = item["InsertRestrictions"] else { return nil }
      return (path, insert["Insertable"]?.bool != false)
    }
    let own = (model.structure(owner)?.navigationProperties ?? []).compactMap { property -> (String, Bool)? in
      isInsertable("\(target)/\(property.name)").map { (property.name, $0) }
    }
    return Dictionary(rows + own, uniquingKeysWith: { first, _ in first })
  }

  /// What `InsertRestrictions` of an element say; nil if it has none.
  private func isInsertable(_ target: String) -> Bool? {
    model.annotation("Org.OData.Capabilities.V1.InsertRestrictions", target: target).map {
      $0.value?["Insertable"]?.bool != false
    }
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
    var pending = entityTypes.filter { type in
      let nearest = type.chain.last { sets[$0.name] != nil }
      let ownSets = nearest.flatMap { sets[$0.name] } ?? []
      return ownSets.isEmpty || ownSets.contains { $0.set.sap("creatable") != "false" }
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

  private var entityTypes: [EdmStructure] {
    model.schemas.flatMap(\.entityTypes).compactMap { model.structure($0.qualifiedName) }
  }
}
