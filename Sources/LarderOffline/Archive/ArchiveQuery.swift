import LarderCore
import LarderOData
import LarderService
import LarderStorage

// Questions of the store's own sets: planned as all questions are, over rows that are made of the store's tables.
extension OpenStore {
  /// The set of the store that a text relative to the service's root begins with; nil where the service has one of that
  /// name, or it is none.
  static func storeSet(_ text: String, _ model: EdmModel) -> StoreSet? {
    let name = text.prefix { $0 != "?" && $0 != "/" && $0 != "(" }
    guard let set = StoreSet(rawValue: String(name)) else { return nil }
    return model.entitySet(set.rawValue) == nil && model.singleton(set.rawValue) == nil ? set : nil
  }

  /// A question of one of the store's sets, for what a transaction sees.
  func question(
    _ text: String, of set: StoreSet, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan,
    isPaged: Bool, showsMarks: Bool
  ) throws -> PreparedQuery {
    if set != .log,
      let question = try affected(text, of: set, connection, state, plan, isPaged: isPaged, showsMarks: showsMarks)
    {
      return question
    }
    let (planned, bound) = try ArchiveQuery.bind(text, plan.model.version)
    let options = QueryWriter.Options(
      pageSize: isPaged ? parameters.answerPageSize : nil, showsMarks: showsMarks, now: environment.now())
    let places = ReplicaState(
      version: 0, tables: planned.plan.tables.map { "larder_store_\($0.number)" },
      links: planned.plan.links.map { "larder_links_\($0.number)" }, search: planned.plan.tables.map { _ in nil })
    var writer = QueryWriter(plan: planned.plan, state: places, options: options)
    var model = planned.model
    let expandsAffected = bound.options.expandsAffected
    if expandsAffected {
      // Entities of two models in one answer.
      model = wholeModel(plan)
    }
    // In V4's words a service before V4 has no binder that is kept.
    let isAsService = !expandsAffected || (planned.model.version < .v4) == (plan.model.version < .v4)
    let binder =
      isAsService
      ? binder(plan) : ODataBinder(model: plan.model, options: ODataBinderOptions(version: planned.model.version))
    let words = AffectedOptions(binder: binder, text: text)
    writer.sources = try ArchiveQuery(store: self, connection: connection, state: state, plan: plan).sources(
      planned, set, words)
    let readPlan = try writer.plan(bound)
    var reads: Set<Int> = set == .log ? [] : [ReplicaChanges.requests]
    if expandsAffected { reads.formUnion(plan.tables.indices) }
    return PreparedQuery(url: bound, plan: readPlan, model: model, alsoReads: reads)
  }

  /// The service's model with the store's own sets in it, made once for each model.
  func wholeModel(_ plan: ReplicaPlan) -> EdmModel {
    if let kept = whole.withLock({ $0 }), kept.first === plan.tables.first { return kept.model }
    let own = StoreModel.current.model.schemas
    let made = EdmModel(version: plan.model.version, schemas: plan.model.schemas + own)
    whole.withLock { $0 = (plan.tables.first, made) }
    return made
  }

  /// `ErrorArchive(7)/AffectedEntity…` as a question of the entity where the service has it; nil for other texts.
  private func affected(
    _ text: String, of set: StoreSet, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan,
    isPaged: Bool, showsMarks: Bool
  ) throws -> PreparedQuery? {
    guard let close = text.firstIndex(of: ")"), let id = set.key(in: text[...close]) else { return nil }
    let step = ")/" + StoreModel.affected
    guard text[close...].hasPrefix(step) else { return nil }
    let rest = text[close...].dropFirst(step.count)
    guard rest.isEmpty || rest.first == "/" || rest.first == "?" else { return nil }
    guard let entry = try ChangeQueue(connection).entry(id), set.states.contains(entry.state) else {
      // There is no such request: what is asked for of it is not there either.
      return try question(
        String(text[...close]), of: set, connection, state, plan, isPaged: isPaged, showsMarks: showsMarks)
    }
    let reads: Set<Int> = [ReplicaChanges.requests]
    let rows = LocalRows(plan, state, connection)
    guard let entity = entry.request.entity, let cells = try rows.effective(entity) else {
      var question = try question(
        String(text[...close]), of: set, connection, state, plan, isPaged: isPaged, showsMarks: showsMarks)
      question.plan = ReadPlan(
        sql: "SELECT 1 WHERE 0", parameters: [], content: .objects(ReadShape(table: nil, type: nil, members: [])),
        isSingle: true, owner: ReadCount(sql: "SELECT 1", parameters: []))
      // It may come back: made again, or taken back.
      question.alsoReads = reads.union(plan.tables.indices)
      return question
    }
    guard let path = try rows.path(of: entity, cells) else {
      throw OfflineODataError.unsupported("an entity that no entity set holds, by its path")
    }
    var question = try make(
      path + rest, state, plan, isPaged ? parameters.answerPageSize : nil, showsMarks: showsMarks)
    question.alsoReads = reads
    return question
  }
}

extension ODataBoundOptions {
  /// Whether entities of the service stand in line, at whatever level.
  fileprivate var expandsAffected: Bool {
    expand.contains { item in
      ResultPath.names(item.path).contains { ["*", StoreModel.affected].contains($0) }
        || item.options?.expandsAffected == true
    }
  }
}

extension ReplicaChanges {
  /// In the log of changes, beside the numbers of tables: the queue and the archive.
  static let requests = -1
}

/// What the rows of the store's own sets are made of.
struct ArchiveQuery {
  let store: OpenStore
  let connection: Connection
  let state: ReplicaState
  let plan: ReplicaPlan

  /// Binds a question: in V4's words, else in those of the service's version.
  static func bind(
    _ text: String, _ version: ODataVersion
  ) throws -> (planned: StoreModel.Planned, url: ODataBoundURL) {
    let planned = StoreModel.current
    do {
      return (planned, try planned.binder.bind(try ODataParser(.v401).relativeURL(text), text: text))
    } catch {
      guard version < .v4 else { throw error }
      let planned = StoreModel.earlier
      guard let bound = try? planned.binder.bind(try ODataParser(.v2).relativeURL(text), text: text) else {
        throw error
      }
      return (planned, bound)
    }
  }

  /// What stands for the tables of the store's model, of those that a question of one set can reach.
  func sources(
    _ planned: StoreModel.Planned, _ set: StoreSet, _ words: AffectedOptions
  ) throws -> QuerySources {
    var sources = QuerySources()
    guard let table = planned.plan.table(set.rawValue) else { return sources }
    guard set != .log else {
      sources.tables[table.number] = SQLText(table: EventLog.source(table))
      return sources
    }
    var rows = RequestRows(store, connection, state, plan)
    sources.tables[table.number] = RequestRows.source(table, of: set, try rows.texts(of: set))
    if let headers = planned.plan.table("\(set.rawValue)/\(StoreModel.headers)") {
      sources.tables[headers.number] = RequestRows.headers(headers, of: set)
    }
    for link in planned.plan.links where link.source == table.number {
      sources.links[link.number] = "(SELECT earlier AS source, request AS target FROM larder_dependency)"
    }
    sources.affected = AffectedEntities(
      plan: plan, state: state, coverage: store.coverage(plan, state), kinds: rows.kinds.sorted { $0.text < $1.text },
      options: words)
    return sources
  }
}
