import LarderOData
import LarderService

/// Reads a created entity with those that were created together with it: expanded, or through its navigation
/// properties.
struct DeepInsertReading: Sendable {
  let store: OpenStore

  private var lookup: EntityLookup { EntityLookup(store: store) }
  private var plan: ReplicaPlan { store.replica.plan }

  /// The maximum number of related entities that are read.
  private static let most = 1000

  /// The server's version of an entity at a path; nil if the service does not return it. What cannot be read now is
  /// read by the next download.
  ///
  /// - Parameters:
  ///   - row: the row of the entity; nil for an entity that was created, whose key the service may have assigned.
  ///   - sent: the content that it was created from; nil if nothing was created together with it.
  func response(at path: String, of row: RowReference?, _ sent: QueuedEntity?) async -> ServerResponse? {
    let expand = sent.map { DeepInsert.expand($0, isV4: plan.model.version >= .v4) } ?? ""
    var serverResponse = await entity(path, of: row, expand)
    if serverResponse == nil, !expand.isEmpty { serverResponse = await entity(path, of: row) }
    if let sent, let entity = serverResponse?.entity { serverResponse?.entity = await whole(entity, sent, path) }
    return serverResponse
  }

  /// An entity with those that were created together with it, as far as they can be read.
  func whole(_ entity: ODataEntity, _ sent: QueuedEntity, _ path: String) async -> ODataEntity {
    var entity = entity
    guard !DeepInsert.isWhole(sent, entity), let table = sent.row.flatMap({ plan.table($0.table) }) else {
      return entity
    }
    for link in sent.links where !link.entities.isEmpty {
      guard let navigation = table.navigation(link.path) else { continue }
      let target = plan.tables[navigation.target]
      let inner = path + "/" + link.name
      var relatedEntities = entity.related(link.name)
      if relatedEntities.isEmpty { relatedEntities = await related(inner, link) }
      let matches = DeepInsert.matches(of: link.entities, in: relatedEntities)
      for (child, match) in zip(link.entities, matches) {
        guard let match, let place = relatedEntities.firstIndex(of: match),
          let path = self.path(of: match, in: target, inner, link)
        else { continue }
        relatedEntities[place] = await whole(match, child, path)
      }
      entity.navigationLinks.removeAll { $0.name == link.name }
      let content: ODataNavigationLink.Content? =
        link.isCollection
        ? .collection(ODataEntityCollection(entities: relatedEntities)) : relatedEntities.first.map { .entity($0) }
      entity.navigationLinks.append(ODataNavigationLink(name: link.name, content: content))
    }
    return entity
  }

  private func entity(_ path: String, of row: RowReference? = nil, _ expand: String = "") async -> ServerResponse? {
    let result = await store.lookUp(path) { try await lookup.entity(path, of: row, expand: expand) }
    switch result {
    case .existing(let serverResponse)?: return serverResponse
    case .other(let other)?:
      store.reportFailedLookUp(path, OfflineODataError(.malformedResponse, "the response contains \(other)"))
    case .gone?, .inconclusive?, nil: break
    }
    return nil
  }

  private func related(_ path: String, _ link: QueuedLink) async -> [ODataEntity] {
    guard link.isCollection else { return await entity(path)?.entity.map { [$0] } ?? [] }
    let entities = await store.lookUp(path) { try await lookup.entities(path, filter: nil, limit: Self.most) }
    return (entities ?? nil) ?? []
  }

  /// The path of an entity of a navigation property.
  private func path(
    of entity: ODataEntity, in table: EntityTable, _ inner: String, _ link: QueuedLink
  ) -> String? {
    if let id = entity.id ?? entity.editLink, let path = store.root.relative(id) { return path }
    guard let cells = try? EntityCells(entity: entity, in: table, plan: plan),
      let key = try? table.keyPredicate(cells, plan.model)
    else { return nil }
    if case .entitySet(let name) = table.place { return "\(name)(\(key))" }
    return link.isCollection ? "\(inner)(\(key))" : inner
  }
}

extension EntityTable {
  /// The key predicate of the entity; a part that is not known is written as null.
  func keyPredicate(_ cells: EntityCells, _ model: EdmModel) throws -> String {
    try key.enumerated().map { place, number in
      let column = columns[number]
      let value = try column.value(of: cells[column.name] ?? .null, model: model)
      let literal = try value.urlLiteral(dialect: model.version.dialect, enumerationType: column.type.name)
      return key.count > 1 ? "\(type.key[place].name)=\(literal)" : literal
    }.joined(separator: ",")
  }
}
