internal import LarderOData

/// What a service does not allow for the entities of each type, by the annotations of all places that have them. What
/// one of the places allows is allowed: the type does not say which place a value comes from.
struct RestrictionTable {
  private let model: EdmModel
  /// By the qualified name of a type, the restrictions of its entity sets and of the navigation properties that contain
  /// its entities.
  private var collections: [String: [SetRestrictions]] = [:]
  private var singletons: [String: [SetRestrictions]] = [:]
  /// The qualified names of the types whose entities are created through those that they belong to.
  private var createdChildren: Set<String>
  /// By the path of a navigation property, `NS.Type/Name`, its own restrictions.
  private var navigation: [String: SetRestrictions] = [:]
  /// Whether related entities can be created with new ones, as far as the entity containers say.
  let allowsDeepInsert: Bool
  /// By the qualified name of a complex type, the properties that have it.
  private var uses: [String: [(owner: EdmStructure, property: String)]] = [:]

  init(_ model: EdmModel) {
    self.model = model
    createdChildren = ChildCreation(model: model).types()
    let support = model.schemas.flatMap(\.containers).map { container in
      model.annotation("Org.OData.Capabilities.V1.DeepInsertSupport", target: container.qualifiedName)?
        .value?["Supported"]?.bool != false
    }
    allowsDeepInsert = support.isEmpty || support.contains(true)
    // By the qualified name of a type, the targets of the annotations of its entity sets and singletons, and nil for each
    // navigation property that contains entities of the type.
    var targets: [String: [String?]] = [:]
    for container in model.schemas.flatMap(\.containers) {
      for set in container.entitySets {
        let (type, target) = (model.resolve(set.entityType), "\(container.qualifiedName)/\(set.name)")
        targets[type, default: []].append(target)
        collections[type, default: []].append(SetRestrictions(set) { value($0, target) })
      }
      for singleton in container.singletons {
        let (type, target) = (model.resolve(singleton.type), "\(container.qualifiedName)/\(singleton.name)")
        targets[type, default: []].append(target)
        singletons[type, default: []].append(SetRestrictions { value($0, target) })
      }
    }
    let structures = model.schemas.flatMap { schema in
      (schema.entityTypes.map(\.qualifiedName) + schema.complexTypes.map(\.qualifiedName)).compactMap(model.structure)
    }
    // By the qualified name of a type, the types that are derived from it, and itself.
    var descendants: [String: [String]] = [:]
    for structure in structures {
      for base in structure.chain { descendants[base.name, default: []].append(structure.name) }
      for property in structure.ownNavigationProperties where property.containsTarget {
        if let type = property.type.name.map(model.resolve) { targets[type, default: []].append(nil) }
      }
    }
    for structure in structures {
      // Entities of a type are also in the sets of its base types, and those of a derived type are entities of the type.
      let types = Set(structure.chain.map(\.name) + (descendants[structure.name] ?? []))
      let places = structure.ownNavigationProperties.isEmpty ? [] : types.flatMap { targets[$0] ?? [] }
      for property in structure.ownNavigationProperties {
        add(property, of: structure.name, places.isEmpty ? [nil] : places)
      }
      for property in structure.ownProperties {
        guard let type = property.type.name.map(model.resolve) else { continue }
        uses[type, default: []].append((structure, property.name))
      }
    }
  }

  /// The restrictions of a type: those of its places, or of the places of the nearest base type that has some.
  func restrictions(of structure: EdmStructure) -> SetRestrictions {
    guard structure.isEntityType else { return ofMembers(of: structure.name) }
    let chain = structure.chain.reversed().map(\.name)
    var places = chain.lazy.compactMap { collections[$0] }.first ?? []
    if !createdChildren.isDisjoint(with: chain) {
      for place in places.indices { places[place].isInsertable = true }
    }
    var restrictions = SetRestrictions.common(places)
    for singleton in chain.flatMap({ singletons[$0] ?? [] }) {
      restrictions = restrictions?.commonOfEntities(with: singleton) ?? singleton
    }
    return restrictions ?? SetRestrictions()
  }

  /// The restrictions of a navigation property that a type declares.
  func restrictions(of property: String, in type: String) -> SetRestrictions {
    navigation["\(type)/\(property)"] ?? SetRestrictions()
  }

  private func value(_ term: String, _ target: String) -> EdmAnnotationValue? {
    model.annotation("Org.OData.Capabilities.V1." + term, target: target)?.value
  }

  /// Adds the restrictions of a navigation property: its own annotations, and `NavigationRestrictions` of the sets and
  /// singletons of its owner (Capabilities vocabulary, `NavigationPropertyRestriction`). Contained entities are created
  /// there unless that is forbidden; others are created in their own sets unless `InsertRestrictions` say more.
  private mutating func add(_ property: EdmNavigationProperty, of owner: String, _ targets: [String?]) {
    let target = "\(owner)/\(property.name)"
    var isCreated = false
    let places = targets.map { place in
      let record = place.flatMap { value("NavigationRestrictions", $0)?["RestrictedProperties"]?.items }?
        .first { $0["NavigationProperty"]?.text == property.name }
      func restriction(_ term: String) -> EdmAnnotationValue? {
        record?[term] ?? place.flatMap { value(term, "\($0)/\(property.name)") } ?? value(term, target)
      }
      if let insert = restriction("InsertRestrictions"), insert["Insertable"]?.bool != false { isCreated = true }
      return SetRestrictions(nil, restriction)
    }
    let restrictions = SetRestrictions.common(places) ?? SetRestrictions()
    navigation[target] = restrictions
    guard let type = property.type.name.map(model.resolve) else { return }
    if property.containsTarget {
      collections[type, default: []].append(restrictions)
    } else if isCreated {
      createdChildren.insert(type)
    }
  }

  /// The members of a complex type that cannot be in filters, orders and expansions: those for which each property of the
  /// type says so, `Address/City`.
  private func ofMembers(of type: String) -> SetRestrictions {
    let places = (uses[type] ?? []).map { use in
      let owner = use.owner.isEntityType ? restrictions(of: use.owner) : SetRestrictions()
      func members(_ paths: Set<String>) -> Set<String> {
        Set(paths.filter { $0.hasPrefix(use.property + "/") }.map { String($0.dropFirst(use.property.count + 1)) })
      }
      var place = SetRestrictions()
      (place.isFilterable, place.unfilterable) = (owner.isFilterable, members(owner.unfilterable))
      (place.isSortable, place.unsortable) = (owner.isSortable, members(owner.unsortable))
      (place.isExpandable, place.notExpandable) = (owner.isExpandable, members(owner.notExpandable))
      return place
    }
    return SetRestrictions.common(places) ?? SetRestrictions()
  }
}
