import LarderCore
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
  func answer<Value: Sendable>(
    _ text: String, _ options: OfflineODataResultOptions, isPaged: Bool = true,
    _ body: @escaping @Sendable (ResultRun, Connection) throws -> Value
  ) async throws(OfflineODataError) -> Value {
    let asked = AskedForm(isPaged: isPaged, showsMarks: options.showsMarks(text), localRowsOnly: options.localRowsOnly)
    let work = { @Sendable [self] (connection: Connection, state: ReplicaState, plan: ReplicaPlan) throws -> Value in
      let begin = connection.environment.uptime()
      let question = try question(text, connection, state, plan, asked)
      defer { question.pace.note(connection.environment.uptime() - begin) }
      return try body(try run(question, options, connection, plan), connection)
    }
    let isMain = BlockedThread.isMain(#isolation)
    let name = name(text, asked)
    let pace = prepared.withLock { $0.pace(name) }
    let isShort = pace?.isShort ?? (!isMain && OpenStore.storeSet(text, replica.model) == nil)
    if isShort, let value = try answerHere(work) { return value }
    return try await read(work)
  }

  private func answerHere<Value>(
    _ work: (Connection, ReplicaState, ReplicaPlan) throws -> Value
  ) throws(OfflineODataError) -> Value? {
    let result: Result<Value, any Error>?
    do throws(StorageError) {
      result = try replica.readHere(within: QueryPacing.limit) { (connection, state, plan) throws(StorageError) in
        Result { try work(connection, state, plan) }
      }
    } catch { throw OfflineODataError(error) }
    do { return try result?.get() } catch { throw OfflineODataError(below: error) }
  }

  /// Creates the run of a query in a transaction.
  func run(
    _ text: String, _ options: OfflineODataResultOptions, _ connection: Connection, _ state: ReplicaState,
    _ plan: ReplicaPlan, isPaged: Bool = true
  ) throws -> ResultRun {
    let asked = AskedForm(isPaged: isPaged, showsMarks: options.showsMarks(text), localRowsOnly: options.localRowsOnly)
    return try run(try question(text, connection, state, plan, asked), options, connection, plan)
  }

  private func run(
    _ question: PreparedQuery, _ options: OfflineODataResultOptions, _ connection: Connection, _ plan: ReplicaPlan
  ) throws -> ResultRun {
    try question.plan.check(connection)
    let options = try options.heeding(question.url.options.format, isJSON: question.plan.content.isJSON)
    return ResultRun(
      plan: question.plan, url: question.url, form: form(options, plan.model), model: question.model,
      heads: question.heads, alsoReads: question.alsoReads)
  }

  /// Binds and plans a query for the state that a transaction sees. The result is cached for the next use.
  func question(
    _ text: String, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan,
    _ asked: AskedForm = AskedForm()
  ) throws -> PreparedQuery {
    let name = name(text, asked)
    let kept = prepared.withLock { $0.question(name, state.version) }
    if let kept, !kept.plan.usesCurrentTime { return kept }
    if let set = OpenStore.storeSet(text, plan.model) {
      return try question(
        text, of: set, connection, state, plan, isPaged: asked.isPaged, showsMarks: asked.showsMarks)
    }
    var question = try make(
      text, state, plan, asked.isPaged ? parameters.answerPageSize : nil, showsMarks: asked.showsMarks,
      localRowsOnly: asked.localRowsOnly)
    if let kept { question.pace = kept.pace }
    prepared.withLock { $0.keep(question, name, state.version) }
    return question
  }

  /// The cache key of a query. A query without pages has another plan, and so has one with marks of the last download
  /// or with local rows only. No URL has white space at its end.
  private func name(_ text: String, _ asked: AskedForm) -> String {
    var name = asked.isPaged && parameters.answerPageSize != nil ? text + " " : text
    if asked.localRowsOnly { name += "\t" }
    return asked.showsMarks ? name + "\n" : name
  }

  func make(
    _ text: String, _ state: ReplicaState, _ plan: ReplicaPlan, _ pageSize: Int?, showsMarks: Bool = false,
    localRowsOnly: Bool = false
  ) throws -> PreparedQuery {
    let url = try ODataParser(plan.model.version).relativeURL(text)
    let bound = try binder(plan).bind(url, text: text)
    let options = QueryWriter.Options(
      pageSize: pageSize, showsMarks: showsMarks, localRowsOnly: localRowsOnly,
      now: environment.now())
    let readPlan = try QueryWriter(plan: plan, state: state, options: options, coverage: coverage(plan, state))
      .plan(bound)
    return PreparedQuery(url: bound, plan: readPlan, model: plan.model)
  }
}
