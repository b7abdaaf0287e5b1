import LarderCore
import LarderOData
import LarderService
import LarderStorage

// Determines the outcome of the creation of an entity.
extension RequestResolver {
  func creation(_ uncertain: UncertainRequest) async throws -> Finding {
    guard case .entity(let body) = uncertain.entry.request.body else { return Finding(.inconclusive) }
    let isV4 = store.replica.model.version >= .v4
    let expand = DeepInsert.expand(uncertain.entry.request, isV4: isV4)
    guard let path = uncertain.path else { return try await creationWithoutKey(uncertain, body, expand) }
    let lookupResult = try await lookup.entity(path, of: uncertain.entry.request.entity, expand: expand)
    switch lookupResult {
    case .gone:
      if uncertain.isDeletedLater { return Finding(.asSent, .gone) }
      return Finding(uncertain.wasDownloaded ? .gone : .absent, uncertain.wasDownloaded ? .gone : .unknown)
    case .inconclusive, .other: return missing(lookupResult, uncertain)
    case .existing(let serverResponse):
      // The caller set the key, so an entity with the key and with a form of the content that was sent is the created
      // one.
      let isMine = serverResponse.entity.map { received in
        uncertain.contents.contains { SentContent.matches($0, received) }
          || uncertain.acceptsServiceForms && uncertain.contents.contains { SentContent.isForm(received, of: $0) }
      }
      guard isMine == true else { return Finding(.different, .existing(serverResponse)) }
      return Finding(try await hasLinks(uncertain, path) ? .asSent : .ambiguous, .existing(serverResponse))
    }
  }

  /// Whether a created entity has the links that it was sent with.
  private func hasLinks(_ uncertain: UncertainRequest, _ path: String) async throws -> Bool {
    let bound = uncertain.links.filter { $0.sent != nil && !$0.isCollection }
    guard !bound.isEmpty else { return true }
    let names = bound.map(\.name).joined(separator: ",")
    return LinkEnd.compare(bound, try await lookup.entity(path, of: nil, expand: names).response?.entity).isAsSent
  }

  /// The outcome of a creation whose key the service assigns. The entity is found by its content among those that the
  /// store did not know.
  private func creationWithoutKey(_ uncertain: UncertainRequest, _ body: QueuedEntity, _ expand: String) async throws
    -> Finding
  {
    var candidates = try await candidates(uncertain, body)
    if !candidates.isOne, try await settle(uncertain) { candidates = try await self.candidates(uncertain, body) }
    switch candidates {
    case .unknown: return Finding(.inconclusive)
    case .unclear: return Finding(.ambiguous)
    case .none:
      // An entity that a download has contained since, and that is no longer found, was deleted or changed by
      // another client.
      if uncertain.attempt.arrived != nil { return Finding(.gone) }
      let everything = Set((uncertain.contents.last ?? body).properties.map(\.name))
      return Finding(
        try await hasRow(everything, uncertain.contents.last ?? body, uncertain, since: true) ? .gone : .absent)
    case .one(let only):
      let serverResponse = ServerResponse(entity: only, etag: only.etag, location: only.id ?? only.editLink)
      guard let path = path(of: serverResponse, uncertain.entry.request) else {
        return Finding(.asSent, .existing(serverResponse))
      }
      guard try await hasLinks(uncertain, path) else { return Finding(.ambiguous) }
      if !expand.isEmpty, case .existing(let whole) = try await lookup.entity(path, of: nil, expand: expand) {
        return Finding(.asSent, .existing(whole))
      }
      return Finding(.asSent, .existing(serverResponse))
    }
  }

  /// The path at which the service has a created entity; nil if the response does not contain it.
  func path(of serverResponse: ServerResponse, _ request: QueuedRequest) -> String? {
    if let location = serverResponse.location { return store.root.relative(location) ?? location }
    let plan = store.replica.plan
    guard let table = request.entity.flatMap({ plan.table($0.table) }),
      case .entitySet(let set) = table.place
    else { return nil }
    guard let cells = serverResponse.cells(in: table, plan),
      table.key.allSatisfy({ (cells[table.columns[$0].name] ?? .null) != .null }),
      let key = try? table.keyPredicate(cells, plan.model)
    else { return nil }
    return "\(set)(\(key))"
  }

  /// The entities that a creation may have produced.
  private enum Candidates {
    /// The service does not return them.
    case unknown
    case none
    case one(ODataEntity)
    /// There are several, or one that agrees partially, or no value that was sent identifies one.
    case unclear

    var isOne: Bool { if case .one = self { true } else { false } }
  }

  private func candidates(_ uncertain: UncertainRequest, _ body: QueuedEntity) async throws -> Candidates {
    let version = store.replica.model.version
    // A later change of the transaction took effect with the creation.
    let latest = uncertain.contents.last ?? body
    guard let filter = LookupFilter.text(latest, version: version) else { return .unknown }
    let others = try await otherCreations(uncertain)
    let isAsSent = { @Sendable (received: ODataEntity) in
      uncertain.contents.contains { SentContent.matches($0, received) }
    }
    guard let all = try await entities(uncertain, filter, limit: 500),
      let same = try await unknownToStore(all.filter(isAsSent), uncertain)
    else { return .unknown }
    let request = uncertain.entry.request
    let own = ownValues(latest, of: request)
    if !same.isEmpty {
      // Any client may have created an entity with a foreign key alone.
      guard
        same.allSatisfy({ entity, _ in
          uncertain.contents.contains { content in
            SentContent.matches(content, entity)
              && ownValues(content, of: request).properties.contains { SentContent.canBeRare($0.value.value) }
          }
        })
      else { return .unclear }
      // There are several identical entities, and not more than were sent: it does not matter which one belongs to
      // which creation.
      let alike = others.filter { $0.properties == body.properties }.count
      guard same.count <= alike + 1 else { return .unclear }
      if let place = store.claim(same.map(\.key), for: uncertain.entry.id) { return .one(same[place].entity) }
    }
    for filter in try await LookupFilter.loose(own, rare: rareValues(own, uncertain), version: version) {
      guard let all = try await entities(uncertain, filter, limit: 1000) else { continue }
      let agreeing = all.filter { !SentContent.agreement(own, $0).isEmpty }
      guard let unknown = try await unknownToStore(agreeing, uncertain) else { return .unknown }
      let unexplained = unknown.filter { entity, key in
        !store.isClaimed(key, byOtherThan: uncertain.entry.id) && !others.contains { SentContent.matches($0, entity) }
      }
      let sets = Set(unexplained.map { SentContent.agreement(own, $0.entity) })
      if try await areDistinctive(sets, own, uncertain) { return .unclear }
      return try await haveChildren(of: latest, unexplained.map(\.entity), uncertain) ? .unclear : .none
    }
    return .unknown
  }

  /// The maximum number of candidates that are read with their children, each in a request of its own.
  private static let maximumExpanded = 20

  /// Whether one of the candidates has a child that was sent with the creation (deep insert).
  private func haveChildren(
    of sent: QueuedEntity, _ candidates: [ODataEntity], _ uncertain: UncertainRequest
  ) async throws -> Bool {
    let links = sent.links.filter { !$0.entities.isEmpty }
    guard !links.isEmpty else { return false }
    for candidate in candidates.prefix(Self.maximumExpanded) {
      let serverResponse = ServerResponse(entity: candidate, location: candidate.id ?? candidate.editLink)
      guard let path = path(of: serverResponse, uncertain.entry.request),
        let whole = try await lookup.entity(path, of: nil, expand: links.map(\.name).joined(separator: ",")).response?
          .entity
      else { continue }
      let hasOne = links.contains { link in
        let received = whole.navigationLink(link.name)?.entities ?? []
        return link.entities.contains { child in received.contains { SentContent.resembles(child, $0) } }
      }
      if hasOne { return true }
    }
    return false
  }

  /// The properties that were sent, without foreign keys, which say where an entity belongs but do not identify it.
  func ownValues(_ sent: QueuedEntity, of request: QueuedRequest) -> QueuedEntity {
    let plan = store.replica.plan
    guard let table = request.entity.flatMap({ plan.table($0.table) }) else { return sent }
    let foreign = Set(table.navigations.flatMap { plan.foreignKey(of: $0, in: table) })
    var own = sent
    own.properties.removeAll { foreign.contains($0.name) }
    return own
  }

  /// The properties whose value alone is distinctive.
  private func rareValues(_ sent: QueuedEntity, _ uncertain: UncertainRequest) async throws(OfflineODataError) -> Set<
    String
  > {
    var rare: Set<String> = []
    for property in sent.properties where SentContent.canBeRare(property.value.value) {
      if try await areDistinctive([[property.name]], sent, uncertain) { rare.insert(property.name) }
    }
    return rare
  }

  /// Whether at least one of the sets of properties is distinctive: no entity that the store has from the service has
  /// the values that were sent. An unknown entity with these values is then probably the one that was sent. An entity
  /// that has all the values may come from an identical creation, so it does not count.
  private func areDistinctive(
    _ sets: Set<Set<String>>, _ sent: QueuedEntity, _ uncertain: UncertainRequest
  ) async throws(OfflineODataError) -> Bool {
    for names in sets where try await !hasRow(names, sent, uncertain, since: false) { return true }
    return false
  }

  /// Whether the store has an entity from the service with the values of some properties that were sent.
  ///
  /// - Parameter since: true for entities downloaded since the first send, which may include the created entity; false
  ///   for earlier ones.
  private func hasRow(
    _ names: Set<String>, _ sent: QueuedEntity, _ uncertain: UncertainRequest, since: Bool
  ) async throws(OfflineODataError) -> Bool {
    try await store.read { snapshot in
      guard let table = uncertain.entry.request.entity.flatMap({ snapshot.plan.table($0.table) }) else { return false }
      var (all, terms, values): ([String], [String], [SQLValue]) = ([], [], [])
      for property in sent.properties {
        guard let column = table.column([property.name]), column.storage != .complex,
          let value = try? column.storage.sqlValue(
            of: property.value.value, type: column.type, model: snapshot.plan.model)
        else { continue }
        values.append(value)
        all.append("\(TableDDL.quoted(column.name)) IS ?\(values.count)")
        if names.contains(property.name) { terms.append(all[all.count - 1]) }
      }
      guard !terms.isEmpty else { return false }
      if !since { terms.append("NOT (\(all.joined(separator: " AND ")))") }
      let first = since ? nil : try earlierTwin(sent, names: names, uncertain: uncertain, snapshot: snapshot)
      let sql = """
        SELECT 1 FROM \(snapshot.state.tables[table.number]) WHERE \(terms.joined(separator: " AND "))
          AND "@id" \(since ? ">=" : "<") ?\(values.count + 1)
          AND "@id" NOT IN (SELECT row FROM larder_effect WHERE kind = 0) LIMIT 1
        """
      values.append(.integer(min(uncertain.attempt.newcomers ?? .max, first ?? .max)))
      var isThere = false
      try snapshot.connection.forEachRow(sql, values) { (_) throws(StorageError) in
        isThere = true
        return false
      }
      return isThere
    }
  }

  /// The first identity assigned since another uncertain creation with the same values was first sent. Rows from there
  /// on may be the result of that creation.
  private func earlierTwin(
    _ sent: QueuedEntity, names: Set<String>, uncertain: UncertainRequest, snapshot: ReplicaSnapshot
  ) throws -> Int64? {
    let (queue, paths) = (ChangeQueue(snapshot.connection), RowPath(snapshot: snapshot))
    return try (queue.entries(.sent) + queue.entries(.archived)).compactMap { entry in
      guard entry.id != uncertain.entry.id, entry.request.operation == .create, let entity = entry.request.entity,
        entity.table == uncertain.entry.request.entity?.table,
        case .entity(let body) = paths.asSent(entry.request.body, of: entity),
        names.allSatisfy({ name in
          body.properties.first { $0.name == name } == sent.properties.first { $0.name == name }
        })
      else { return nil }
      return entry.attempt.flatMap(UploadAttempt.init(json:))?.newcomers
    }.min()
  }

  /// The content of other uncertain creations in the same collection: an entity with these values belongs to them.
  private func otherCreations(_ uncertain: UncertainRequest) async throws(OfflineODataError) -> [QueuedEntity] {
    try await store.read { snapshot in
      let paths = RowPath(snapshot: snapshot)
      return try ChangeQueue(snapshot.connection).entries(.sent).compactMap { entry in
        guard entry.id != uncertain.entry.id, entry.request.operation == .create, let entity = entry.request.entity,
          entity.table == uncertain.entry.request.entity?.table,
          case .entity(let body) = paths.asSent(entry.request.body, of: entity)
        else { return nil }
        return body
      }
    }
  }

  /// The entities of the collection to which the creation was sent. If the service does not return them, those of the
  /// entity set.
  private func entities(_ uncertain: UncertainRequest, _ filter: String?, limit: Int) async throws -> [ODataEntity]? {
    if let all = try await lookup.entities(uncertain.collection, filter: filter, limit: limit) { return all }
    guard let table = uncertain.entry.request.entity.flatMap({ store.replica.plan.table($0.table) }),
      case .entitySet(let set) = table.place, set != uncertain.collection
    else { return nil }
    return try await lookup.entities(set, filter: filter, limit: limit)
  }

  /// Waits if the service may still be processing the request. Returns whether it has waited.
  private func settle(_ uncertain: UncertainRequest) async throws -> Bool {
    guard !uncertain.hasResponse else { return false }
    let environment = store.conversation.options.environment
    let settled = uncertain.attempt.sent.map { Double($0) + journal.options.settlingTime.seconds } ?? 0
    let remaining = settled - Double(environment.unixSeconds)
    // A clock that was set back must not cause a long wait.
    guard remaining > 0, remaining <= journal.options.settlingTime.seconds + 1 else { return false }
    try await environment.sleep(.seconds(remaining))
    return true
  }

  /// The entities whose keys no row of the store had when the request was first sent; contained entities are compared
  /// within their container. A download since then may have stored the created entity. Each result has a key text that
  /// is unique over all sets.
  private func unknownToStore(
    _ received: [ODataEntity]?, _ uncertain: UncertainRequest
  ) async throws -> [(entity: ODataEntity, key: String)]? {
    guard let received, let entity = uncertain.entry.request.entity else { return nil }
    return try await store.read { snapshot in
      guard let table = snapshot.plan.table(entity.table) else { return nil }
      let rows = LocalRows(snapshot)
      let parent = table.isContained ? try container(of: entity, uncertain.entry, rows) : nil
      return try received.compactMap { candidate in
        let serverResponse = ServerResponse(entity: candidate, location: candidate.id ?? candidate.editLink)
        guard var cells = serverResponse.cells(in: table, snapshot.plan) else { return nil }
        if let parent { cells[.parent] = .integer(parent) }
        let text = "\(table.name) \(parent ?? 0) \(LocalRows.keyText(cells, table))"
        let identity = TableDDL.identity(of: table).map { cells[$0] ?? .null }
        guard let received = try rows.row(table, table.identityCondition, identity) else {
          return (candidate, text)
        }
        return uncertain.attempt.newcomers.map { received.id >= $0 } == true ? (candidate, text) : nil
      }
    }
  }
}

extension RequestResolver {
  /// The identity of the entity that contains the created one.
  private func container(
    of entity: RowReference, _ entry: QueueEntry, _ rows: LocalRows
  ) throws(StorageError) -> Int64? {
    if let parent = try rows.effective(entity)?.integer(.parent) { return parent }
    return try rows.queue.effects(of: entry.id).first { $0.reference == entity }?.cells.integer(.parent)
  }
}

extension Duration {
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1_000_000_000_000_000_000
  }
}
