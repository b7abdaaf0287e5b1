import LarderOData

extension TestRows {
  /// Which related entities a payload has inside an entity.
  enum Inclusion {
    case none
    /// Those that were created with the entity, by the content of the request.
    case created(JSONNode)
    /// Those that no property shows, and those that are contained: what the copy of the rows needs.
    case all
  }

  /// An entity as JSON.
  func payload(_ row: StoredRow, _ inclusion: Inclusion = .none, depth: Int = 0) -> JSONNode {
    var members = [JSONNode.Member("@odata.etag", .string(row.etag))]
    if row.structure != row.place.structure { members.append(.init("@odata.type", .string("#" + row.structure.name))) }
    let declared = row.structure.properties.map(\.name)
    let names = declared + row.values.keys.filter { !declared.contains($0) }.sorted()
    for name in names {
      guard let value = row.values[name] else { continue }
      if let type = row.types[name] {
        members.append(.init("\(name)@odata.type", .string("#" + type.payloadName)))
      }
      members.append(.init(name, value))
    }
    for navigation in row.structure.navigationProperties {
      guard let inner = inner(navigation, of: row, inclusion, depth: depth) else { continue }
      let entities = targets(of: row.path, navigation).compactMap { rows[$0] }.map {
        payload($0, inner, depth: depth + 1)
      }
      members.append(.init(navigation.name, navigation.isCollection ? .array(entities) : entities.first ?? .null))
    }
    return .object(members)
  }

  /// What the entities of a navigation property include; nil if the payload does not have them.
  private func inner(
    _ navigation: EdmNavigationProperty, of row: StoredRow, _ inclusion: Inclusion, depth: Int
  ) -> Inclusion? {
    switch inclusion {
    case .none: return nil
    case .created(let content):
      guard let created = content[navigation.name], created != .null else { return nil }
      return (created.items?.first ?? created).members.map { .created(.object($0)) } ?? Inclusion.none
    case .all:
      switch model.relation(navigation, of: row.structure, in: row.place) {
      case .contained: return .all
      case .links: return Inclusion.none
      case .columns, .unknown: return nil
      }
    }
  }

  /// The query that copies the entities of a set, with those that ``Inclusion/all`` includes.
  func definingQuery(_ place: RowCollection) -> String {
    let expands = expands(place)
    return place.url + (expands.isEmpty ? "" : "?$expand=" + expands.joined(separator: ","))
  }

  private func expands(_ place: RowCollection) -> [String] {
    model.types(in: place).flatMap { structure in
      structure.ownNavigationProperties.isEmpty && structure.base == nil
        ? [] : navigations(structure, in: place).compactMap { expand($0, of: structure, in: place) }
    }
  }

  /// The navigation properties that a type adds to the declared type of the place.
  private func navigations(_ structure: EdmStructure, in place: RowCollection) -> [EdmNavigationProperty] {
    structure == place.structure ? structure.navigationProperties : structure.ownNavigationProperties
  }

  private func expand(_ navigation: EdmNavigationProperty, of structure: EdmStructure, in place: RowCollection)
    -> String?
  {
    let name = structure == place.structure ? navigation.name : "\(structure.name)/\(navigation.name)"
    switch model.relation(navigation, of: structure, in: place) {
    case .links: return name
    case .contained:
      guard place.steps.count < TestRows.containmentDepth,
        let target = navigation.type.name.flatMap({ model.model.structure($0) })
      else { return nil }
      let inner = expands(
        RowCollection(
          path: "", url: "", structure: target, root: place.root, steps: place.steps + [navigation.name],
          isCollection: navigation.isCollection))
      return name + (inner.isEmpty ? "" : "($expand=" + inner.joined(separator: ",") + ")")
    case .columns, .unknown: return nil
    }
  }
}

extension EdmTypeReference {
  /// The name in payloads: `Date`, `Collection(NS.Type)`.
  fileprivate var payloadName: String {
    switch self {
    case .primitive(let type): type.rawValue
    case .collection(let item): "Collection(\(item.payloadName))"
    case .named, .abstract: description
    }
  }
}
