internal import LarderOData

/// What a service does not allow for the entities of each type, by the annotations of all places that have them. What
/// one of the places allows is allowed: the type does not say which place a value comes from.
struct RestrictionTable {
  private let model: EdmModel
  /// By the qualified name of a type, the restrictions of its entity sets and of the navigation properties that contain
  /// its entities.
  private var collections: [String: [SetRestrictions]] = [:]
  private var singletons: [String: [SetRestrictions]] = [:]
  /// By the qualified name of a type, what navigation properties that refer to its entities say about these.
  private var references: [String: [SetRestrictions]] = [:]
  /// The navigation properties, `NS.Type/Name`, through which no entity can be created.
  private var withoutCreation: Set<String> = []
  /// Whether related entities can be created with new ones, as far as the entity containers say.
  let allowsDeepInsert: Bool
  /// By the qualified name of a complex type, the properties that have it.
  private var uses: [String: [(owner: EdmStructure, property: String)]] = [:]

  init(_ model: EdmModel) {
    self.model = model
    let support = model.schemas.flatMap(\.containers).map { container in
      model.annotation("Org.OData.Capabilities.V1.DeepInsertSupport", target: container.qualifiedName)?
        .value?["Supported"]?.bool != false
    }
    allowsDeepInsert = support.isEmpty || support.contains(true)
    for container in model.schemas.flatMap(\.containers) {
      for set in container.entitySets {
        collections[model.resolve(set.entityType), default: []].append(
          SetRestrictions(set) { value($0, "\(container.qualifiedName)/\(set.name)") })
      }
      for singleton in container.singletons {
        singletons[model.resolve(singleton.type), default: []].append(
          SetRestrictions { value($0, "\(container.qualifiedName)/\(singleton.name)") })
      }
    }
    let places = RestrictedPlaces(model)
    for structure in places.structures {
      for property in structure.ownNavigationProperties { add(property, of: structure.name, places) }
      for property in structure.ownProperties {
        guard let type = property.type.name.map(model.resolve) else { continue }
        uses[type, default: []].append((structure, property.name))
      }
    }
    for type in ChildCreation(model: model).types() {
      var creation = SetRestrictions(unlessDescribed: false) { _ in nil }
      creation.isInsertable = true
      references[type, default: []].append(creation)
    }
  }

  /// The restrictions of a type: those of its places, or of the places of the nearest base type that has some.
  func restrictions(of structure: EdmStructure) -> SetRestrictions {
    guard structure.isEntityType else { return ofMembers(of: structure.name) }
    let chain = structure.chain.reversed().map(\.name)
    var restrictions = SetRestrictions.common(chain.lazy.compactMap { collections[$0] }.first ?? [])
    for singleton in chain.flatMap({ singletons[$0] ?? [] }) {
      restrictions = restrictions?.commonOfEntities(with: singleton) ?? singleton
    }
    for reference in chain.flatMap({ references[$0] ?? [] }) {
      restrictions = restrictions?.common(with: reference)
    }
    return restrictions ?? SetRestrictions()
  }

  /// Whether entities can be created through a navigation property that a type declares.
  func allowsCreation(through property: String, of type: String) -> Bool {
    !withoutCreation.contains("\(type)/\(property)")
  }

  private func value(_ term: String, _ target: String) -> EdmAnnotationValue? {
    model.annotation("Org.OData.Capabilities.V1." + term, target: target)?.value
  }

  /// Adds the restrictions of a navigation property: annotations of the property in a set or singleton of its owner,
  /// `NavigationRestrictions` of these, and its own annotations (Capabilities vocabulary, `NavigationPropertyRestriction`).
  /// Contained entities have no others. The others have those of their set, except where the property says more.
  private mutating func add(_ property: EdmNavigationProperty, of owner: String, _ places: RestrictedPlaces) {
    guard let type = property.type.name.map(model.resolve) else { return }
    let target = "\(owner)/\(property.name)"
    var isCreated = false
    for place in places.places(of: owner) {
      func restriction(_ term: String) -> EdmAnnotationValue? {
        let named = place.path.flatMap { path in
          value(term, "\(path)/\(property.name)") ?? value(term, "\(path)/\(target)")
            ?? places.records["\(path)/\(target)"]?[term]
        }
        return named ?? (place.isOwn ? value(term, target) : nil)
      }
      let restrictions = SetRestrictions(nil, unlessDescribed: place.isOwn, restriction)
      isCreated = isCreated || restrictions.isInsertable
      if place.isOwn && property.containsTarget {
        collections[type, default: []].append(restrictions)
      } else {
        references[type, default: []].append(SetRestrictions(nil, unlessDescribed: false, restriction))
      }
    }
    if !isCreated { withoutCreation.insert(target) }
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
