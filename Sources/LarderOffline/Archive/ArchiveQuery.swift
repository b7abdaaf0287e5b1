@_spi(Stores) import LarderCore
import LarderOData
import LarderService
import LarderStorage

// Queries of the store's own sets. They are planned like all other queries, over rows built from the store's tables.
extension OpenStore {
  /// Returns the store's own set that a text relative to the service root begins with. Nil if there is no such set, or
  /// if the service has a set of that name.
  static func storeSet(_ text: String, _ model: EdmModel) -> StoreSet? {
    let name = text.prefix { $0 != "?" && $0 != "/" && $0 != "(" }
    guard let set = StoreSet(rawValue: String(name)) else { return nil }
    return model.entitySet(set.rawValue) == nil && model.singleton(set.rawValue) == nil ? set : nil
  }

  /// Prepares a query of one of the store's sets, as the current transaction sees it.
  func preparedQuery(
    _ text: String, of set: StoreSet, _ snapshot: ReplicaSnapshot, _ variant: QueryVariant
  ) throws -> PreparedQuery {
    if set != .log, let query = try affected(text, of: set, snapshot, variant) { return query }
    let (planned, bound) = try ArchiveQuery.bind(text, snapshot.plan.model.version)
    let options = QueryWriter.Options(
      pageSize: variant.isPaged ? settings.resultPageSize : nil, showsMarks: variant.showsMarks,
      now: environment.now())
    let places = ReplicaState(
      version: 0, tables: planned.plan.tables.map { "larder_store_\($0.number)" },
      links: planned.plan.links.map { "larder_links_\($0.number)" }, search: planned.plan.tables.map { _ in nil })
    var writer = QueryWriter(plan: planned.plan, state: places, options: options)
    var model = planned.model
    let expandsAffected = bound.options.expandsAffected
    if expandsAffected {
      // The response contains entities of two models.
      model = combinedModel(snapshot.plan)
    }
    // For a service before V4, no binder for V4 syntax is cached.
    let isAsService = !expandsAffected || (planned.model.version < .v4) == (snapshot.plan.model.version < .v4)
    let binder =
      isAsService
      ? try binder(snapshot.plan)
      : ODataBinder(model: snapshot.plan.model, options: ODataBinderOptions(version: planned.model.version))
    let words = AffectedOptions(binder: binder, text: text)
    writer.sources = try ArchiveQuery(store: self, snapshot: snapshot).sources(planned, set, words)
    let readPlan = try writer.plan(bound)
    var reads: Set<Int> = set == .log ? [] : [ReplicaChanges.requests]
    if expandsAffected { reads.formUnion(snapshot.plan.tables.indices) }
    return PreparedQuery(url: bound, plan: readPlan, model: model, alsoReads: reads)
  }

  /// The service's model together with the store's own sets. It is created once for each model.
  func combinedModel(_ plan: ReplicaPlan) -> EdmModel {
    if let cached = whole.withLock({ $0 }), cached.first === plan.tables.first { return cached.model }
    let storeSchemas = StoreModel.v4.model.schemas
    let combined = EdmModel(version: plan.model.version, schemas: plan.model.schemas + storeSchemas)
    whole.withLock { $0 = (plan.tables.first, combined) }
    return combined
  }

  /// Prepares `ErrorArchive(7)/AffectedEntity…` as a query of the entity itself, if the entity exists. Nil for other
  /// texts.
  private func affected(
    _ text: String, of set: StoreSet, _ snapshot: ReplicaSnapshot, _ variant: QueryVariant
  ) throws -> PreparedQuery? {
    guard let close = text.firstIndex(of: ")"), let id = set.key(in: text[...close]) else { return nil }
    let step = ")/" + StoreModel.affected
    guard text[close...].hasPrefix(step) else { return nil }
    let rest = text[close...].dropFirst(step.count)
    guard rest.isEmpty || rest.first == "/" || rest.first == "?" else { return nil }
    guard let entry = try ChangeQueue(snapshot.connection).entry(id), set.states.contains(entry.state) else {
      // The request does not exist, and so neither does its entity.
      return try preparedQuery(String(text[...close]), of: set, snapshot, variant)
    }
    let reads: Set<Int> = [ReplicaChanges.requests]
    let rows = LocalRows(snapshot)
    guard let entity = entry.request.entity, let cells = try rows.effective(entity) else {
      var query = try preparedQuery(String(text[...close]), of: set, snapshot, variant)
      query.plan = ReadPlan(
        sql: "SELECT 1 WHERE 0", parameters: [], content: .objects(ReadShape(table: nil, type: nil, members: [])),
        isSingle: true, owner: ReadCount(sql: "SELECT 1", parameters: []))
      // The entity may exist again later: it may be created again, or its deletion may be undone.
      query.alsoReads = reads.union(snapshot.plan.tables.indices)
      return query
    }
    guard let path = try rows.path(of: entity, cells) else {
      throw OfflineODataError.unsupported("an entity that is in no entity set, by its path")
    }
    var variant = variant
    variant.localRowsOnly = false
    var query = try make(path + rest, snapshot, variant)
    query.alsoReads = reads
    return query
  }
}

extension ODataBoundOptions {
  /// Whether entities of the service are expanded inline, at any level.
  fileprivate var expandsAffected: Bool {
    expand.contains { item in
      ResultPath.names(item.path).contains { ["*", StoreModel.affected].contains($0) }
        || item.options?.expandsAffected == true
    }
  }
}

extension ReplicaChanges {
  /// The number of the queue and the archive in the log of changes. Tables have numbers from 0 on.
  static let requests = -1
}

/// Builds the rows of the store's own sets.
struct ArchiveQuery {
  let store: OpenStore
  let snapshot: ReplicaSnapshot

  /// Binds a query in V4 syntax or, if that fails, in the syntax of the service's version.
  static func bind(
    _ text: String, _ version: ODataVersion
  ) throws -> (planned: StoreModel.Planned, url: ODataBoundURL) {
    let planned = StoreModel.v4
    do {
      return (planned, try planned.binder.bind(try ODataParser(.v401).relativeURL(text), text: text))
    } catch {
      guard version < .v4 else { throw error }
      let planned = StoreModel.v2
      guard let bound = try? planned.binder.bind(try ODataParser(.v2).relativeURL(text), text: text) else {
        throw error
      }
      return (planned, bound)
    }
  }

  /// The SQL for those tables of the store's model that a query of one set can reach.
  func sources(
    _ planned: StoreModel.Planned, _ set: StoreSet, _ words: AffectedOptions
  ) throws -> QuerySources {
    var sources = QuerySources()
    guard let table = planned.plan.table(set.rawValue) else { return sources }
    guard set != .log else {
      sources.tables[table.number] = SQLText(table: EventLog.source(table))
      return sources
    }
    var rows = RequestRows(store, snapshot)
    sources.tables[table.number] = RequestRows.source(table, of: set, try rows.texts(of: set))
    if let headers = planned.plan.table("\(set.rawValue)/\(StoreModel.headers)") {
      sources.tables[headers.number] = RequestRows.headers(headers, of: set)
    }
    for link in planned.plan.links where link.source == table.number {
      sources.links[link.number] = "(SELECT earlier AS source, request AS target FROM larder_dependency)"
    }
    sources.affected = AffectedEntities(
      plan: snapshot.plan, state: snapshot.state, coverage: store.coverage(snapshot),
      kinds: rows.kinds.sorted { $0.text < $1.text }, options: words)
    return sources
  }
}
