import LarderOData

/// What the path of a change leads to: entities, and a property of one of them.
struct ChangedPlace {
  /// The name for messages: the set, or the entities' type with the navigation property.
  private let name: String
  private let type: EdmStructure
  /// The restrictions of the entities: those of the navigation property that leads to them count before their set's.
  private let restrictions: ChangeRestrictions
  /// Those of that navigation property alone.
  private let behind: ChangeRestrictions?
  /// The properties that refer to the entity before that navigation property: the service knows their values.
  private let foreignKey: Set<String>
  private let isLink: Bool
  /// The path of that navigation property, and the restrictions of the entities before it, whose links may be changed.
  private let link: (restrictions: ChangeRestrictions, path: String)?
  /// The properties behind the entity.
  private let property: [String]
  private let rulesOfType: (EdmStructure) -> ChangeRules

  /// Nil if the path does not lead to entities that the model describes.
  init?(_ path: ODataBoundPath, rules: @escaping (ODataBoundSource?, EdmStructure) -> ChangeRules) {
    var place: (name: String, type: EdmStructure, source: ODataBoundSource?)?
    // The rules of the entities before each navigation property, with the path from them.
    var owners: [(rules: ChangeRules, path: String)] = []
    var link: (restrictions: ChangeRestrictions, path: String)?
    var foreignKey: Set<String> = []
    var names: [String] = []
    for segment in path.segments {
      switch segment.kind {
      case .source(let source): place = (source.name, source.type, segment.source)
      case .navigation(let navigation):
        guard let owner = place, let type = navigation.type.structure else { return nil }
        let step = (names + [navigation.name]).joined(separator: "/")
        let ownerRules = rules(owner.source, owner.type)
        link = (ownerRules.overridden(by: ChangedPlace.restrictions(along: owners)).restrictions, step)
        owners = owners.map { ($0.rules, $0.path + "/" + step) } + [(ownerRules, step)]
        foreignKey = type.foreignKey(to: owner.type)
        place = (owner.name + "/" + step, type, segment.source)
        names = []
      case .property(let property): names.append(property.name)
      case .dynamic(let name): names.append(name)
      case .cast(let type):
        if names.isEmpty { place?.type = type }
      case .key, .ref, .value, .ordinal: break
      default: return nil
      }
    }
    guard let place else { return nil }
    (name, type, property) = (place.name, place.type, names)
    self.link = link
    behind = ChangedPlace.restrictions(along: owners)
    restrictions = rules(place.source, place.type).overridden(by: behind).restrictions
    self.foreignKey = foreignKey
    isLink = if case .ref? = path.segments.last?.kind { true } else { false }
    rulesOfType = { rules(place.source, $0) }
  }

  /// What the entities along a path say about those at its end. A longer path counts before a shorter one.
  private static func restrictions(along owners: [(rules: ChangeRules, path: String)]) -> ChangeRestrictions? {
    owners.reversed().compactMap { $0.rules.behind[$0.path] }
      .reduce(nil) { shorter, longer in shorter?.overridden(by: longer) ?? longer }
  }

  /// Throws the reason why a change is not allowed.
  func check(_ request: ODataSingleRequest, _ model: EdmModel) throws(QueryRules.Violation) {
    switch request.operation {
    case .create, .createMedia:
      if let reason = restrictions.insertRestriction { throw violation("entities cannot be created", reason) }
      if request.operation == .create { try checkCreated(request, model) }
    case .update(let method):
      if let reason = restrictions.updateRestriction(by: method) {
        throw violation("entities cannot be updated", reason)
      }
      if property.isEmpty {
        // The service ignores unchangeable properties in an entity that replaces another one (OData Protocol 4.01
        // §11.4.3).
        if method != .replace { try checkUpdated(request.body) }
      } else {
        try checkProperty()
      }
    case .delete where !property.isEmpty, .updateMedia, .deleteMedia:
      if let reason = restrictions.updateRestriction {
        throw violation("entities cannot be updated", reason)
      }
      try checkProperty()
    case .delete where isLink: try checkLink(isRemoved: true)
    case .delete:
      if let reason = restrictions.deleteRestriction { throw violation("entities cannot be deleted", reason) }
    case .createLink, .updateLink: try checkLink(isRemoved: false)
    case .deleteLink: try checkLink(isRemoved: true)
    case .read, .readMedia, .invokeFunction, .invokeAction: break
    }
  }

  private func checkLink(isRemoved: Bool) throws(QueryRules.Violation) {
    guard let link else { return }
    if let reason = link.restrictions.notUpdatableLinks[link.path] {
      throw violation("links cannot be changed", reason)
    }
    if isRemoved, let reason = link.restrictions.notDeletableLinks[link.path] {
      throw violation("links cannot be removed", reason)
    }
  }

  private func violation(_ text: String, _ annotation: String) -> QueryRules.Violation {
    QueryRules.Violation(text: "\(name): \(text)", annotation: annotation)
  }

  private func checkCreated(_ request: ODataSingleRequest, _ model: EdmModel) throws(QueryRules.Violation) {
    guard let entity = ChangedPlace.entity(request.body) else { return }
    let type = entity.typeName.flatMap(model.structure) ?? type
    let restrictions = rulesOfType(type).overridden(by: behind).restrictions
    for property in entity.properties where property.value != .null {
      for (path, reason) in ChangeRules.all(in: property, among: restrictions.notInsertable)
      where !request.allowedProperties.contains(path) {
        throw violation("\(path) cannot be set in a new entity", reason)
      }
    }
    for link in entity.navigationLinks where link.content != nil || !link.bindings.isEmpty {
      guard let reason = restrictions.notInsertableLinks[link.name] else { continue }
      throw violation("\(link.name) cannot be set in a new entity", reason)
    }
    let bound = foreignKey.union(entity.navigationLinks.flatMap { type.navigationProperty($0.name)?.foreignKey ?? [] })
    for (path, reason) in restrictions.required.sorted(by: { $0.key < $1.key }) where type.property(path) != nil {
      guard entity[path] ?? .null == .null, !bound.contains(path) else { continue }
      throw violation("a new entity needs a value for \(path)", reason)
    }
  }

  private func checkUpdated(_ body: ODataRequestBody) throws(QueryRules.Violation) {
    guard let entity = ChangedPlace.entity(body) else { return }
    let key = Set(type.key.map(\.path))
    // The key in a body has no effect (OData Protocol 4.01 §11.4.3).
    for property in entity.properties where !key.contains(property.name) {
      for (path, reason) in ChangeRules.all(in: property, among: restrictions.notUpdatable) {
        throw violation("\(path) cannot be changed", reason)
      }
    }
    for link in entity.navigationLinks where link.content != nil || !link.bindings.isEmpty {
      guard let reason = restrictions.notUpdatableLinks[link.name] else { continue }
      throw violation("\(link.name) cannot be changed", reason)
    }
  }

  private func checkProperty() throws(QueryRules.Violation) {
    guard let reason = ChangeRules.reason(of: property, among: restrictions.notUpdatable) else { return }
    throw violation("\(property.joined(separator: "/")) cannot be changed", reason)
  }

  private static func entity(_ body: ODataRequestBody) -> ODataEntity? {
    switch body {
    case .entity(let entity): entity
    case .properties(let properties): ODataEntity(properties: properties)
    default: nil
    }
  }
}

extension EdmStructure {
  /// The properties that refer to entities of a type, by the navigation properties that lead there.
  fileprivate func foreignKey(to type: EdmStructure) -> Set<String> {
    let names = Set(type.chain.map(\.name))
    return Set(navigationProperties.filter { names.contains($0.type.item.description) }.flatMap(\.foreignKey))
  }
}

extension EdmNavigationProperty {
  /// The properties that refer to the entity of this navigation property.
  fileprivate var foreignKey: [String] { referentialConstraints.map(\.property) }
}
