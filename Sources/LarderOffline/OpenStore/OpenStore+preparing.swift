@_spi(Stores) import LarderCore
import LarderOData
import LarderStorage

// Queries, from their text to the thread that executes them.
extension OpenStore {
  /// Prepares a query and runs `body` on it: on the caller's thread if the query is short, otherwise on a thread that
  /// may wait for the disk. `body` may run twice.
  ///
  /// On the main actor's thread, which draws the user interface, only queries that are known to be short are run.
  ///
  /// Queries of the store's own sets are never known to be short, because their rows are computed from the whole queue.
  ///
  /// - Parameter isPaged: whether the result can state that there is a next page.
  func executeQuery<Value: Sendable>(
    _ text: String, _ options: OfflineODataResultOptions, isPaged: Bool = true,
    _ body: @escaping @Sendable (ResultRun, Connection) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    let variant = QueryVariant(
      isPaged: isPaged, showsMarks: options.showsMarks(text), localRowsOnly: options.localRowsOnly)
    let work = { @Sendable [self] (snapshot: ReplicaSnapshot) throws -> Value in
      let begin = snapshot.connection.environment.uptime()
      let query = try preparedQuery(text, snapshot, variant)
      defer { query.pace.note(snapshot.connection.environment.uptime() - begin) }
      return try body(try run(query, options, snapshot), snapshot.connection)
    }
    let isMain = BlockedThread.isMain(#isolation)
    let name = name(text, variant)
    let pace = prepared.withLock { $0.pace(name) }
    let isShort = pace?.isShort ?? (!isMain && OpenStore.storeSet(text, replica.model) == nil)
    if isShort, let value = try executeHere(work) { return value }
    return try await read(work)
  }

  private func executeHere<Value>(_ work: (ReplicaSnapshot) throws -> Value) throws(OfflineODataError) -> Value? {
    do {
      return try replica.readHere(within: QueryPacing.limit) { (snapshot) throws(StorageError) in
        Result { try work(snapshot) }
      }?.get()
    } catch { throw OfflineODataError(below: error) }
  }

  /// Creates the run of a query in a transaction.
  func run(
    _ text: String, _ options: OfflineODataResultOptions, _ snapshot: ReplicaSnapshot, isPaged: Bool = true
  ) throws -> ResultRun {
    let variant = QueryVariant(
      isPaged: isPaged, showsMarks: options.showsMarks(text), localRowsOnly: options.localRowsOnly)
    return try run(try preparedQuery(text, snapshot, variant), options, snapshot)
  }

  /// Creates the run of a prepared query in a transaction.
  func run(
    _ query: PreparedQuery, _ options: OfflineODataResultOptions, _ snapshot: ReplicaSnapshot
  ) throws -> ResultRun {
    try query.plan.check(snapshot.connection)
    let options = try options.heeding(query.url.options.format, isJSON: query.plan.content.isJSON)
    return ResultRun(
      plan: query.plan, url: query.url, form: form(options, snapshot.plan.model), model: query.model,
      heads: query.heads, alsoReads: query.alsoReads)
  }

  /// The plan of a query, in a transaction of its own.
  func plan(of text: String, localRowsOnly: Bool = false) async throws(OfflineODataError) -> ReadPlan {
    try await read { [self] snapshot in
      try preparedQuery(text, snapshot, QueryVariant(localRowsOnly: localRowsOnly)).plan
    }
  }

  /// Binds and plans a query for the state that a transaction sees. The result is cached for the next use.
  func preparedQuery(
    _ text: String, _ snapshot: ReplicaSnapshot, _ variant: QueryVariant = QueryVariant()
  ) throws -> PreparedQuery {
    let name = name(text, variant)
    let cached = prepared.withLock { $0.query(name, snapshot.state.version) }
    if let cached, !cached.plan.usesCurrentTime { return cached }
    if let set = OpenStore.storeSet(text, snapshot.plan.model) {
      return try preparedQuery(text, of: set, snapshot, variant)
    }
    var query = try make(text, snapshot, variant)
    if let cached { query.pace = cached.pace }
    prepared.withLock { $0.keep(query, name, snapshot.state.version) }
    return query
  }

  /// The cache key of a query. A query without pages has another plan, and so has one with marks of the last download
  /// or with local rows only. No URL has white space at its end.
  private func name(_ text: String, _ variant: QueryVariant) -> String {
    var name = variant.isPaged && settings.resultPageSize != nil ? text + " " : text
    if variant.localRowsOnly { name += "\t" }
    return variant.showsMarks ? name + "\n" : name
  }

  func make(_ text: String, _ snapshot: ReplicaSnapshot, _ variant: QueryVariant) throws -> PreparedQuery {
    let plan = snapshot.plan
    let binder = try binder(plan)
    let bound = try binder.bind(try ODataParser(plan.model.version).relativeURL(text), text: text)
    let options = QueryWriter.Options(
      pageSize: variant.isPaged ? settings.resultPageSize : nil, showsMarks: variant.showsMarks,
      localRowsOnly: variant.localRowsOnly, now: environment.now())
    let writer = QueryWriter(plan: plan, state: snapshot.state, options: options, coverage: coverage(snapshot))
    return PreparedQuery(url: bound, plan: try writer.plan(bound), model: plan.model)
  }
}
