@_spi(Stores) import LarderCore
public import LarderService
import LarderStorage

// Runs requests: scheduled, asynchronous, blocking or streamed.
extension OnlineODataStore {
  /// Starts a request and returns at once. The cached response has been reported by then.
  ///
  /// `requestStarted` and, if the request uses the cache, `requestCacheResponse` are called on the caller's thread
  /// before this returns: a lookup takes microseconds, a switch to another thread and back takes ten times as long.
  /// Therefore hold no lock during this call that the listener takes. The server's response is reported later, on other
  /// threads, one call after another.
  ///
  /// Changes of one resource are sent in the order of the calls, each after the response to the one before it. One
  /// resource is an entity with all below it, or the creations in one set. All other requests run concurrently.
  @discardableResult
  public func schedule(_ request: ODataRequest, listener: (any ODataRequestListener)?) -> ODataRequestExecution {
    let execution = ODataRequestExecution(request: request, listener: listener)
    // Added first, so that a closing that begins now waits for this request's end.
    running.add(execution)
    var run = run(of: execution)
    let work = run.begin()
    continueRun(run, with: work)
    return execution
  }

  private func continueRun(_ run: RequestRun, with work: RequestMachine.Work?) {
    let execution = run.execution
    guard let work else { return running.remove(execution) }
    // Taken here and not in the task, because tasks begin in any order.
    let turn = turn(of: execution.request, run.session.conversation)
    let task = run.session.conversation.options.environment.task { [running] in
      var run = run
      await run.run(work, in: turn)
      turn?.end()
      running.remove(execution)
    }
    execution.onCancel { task.cancel() }
  }

  /// The request's turn among the changes of its resources; nil for reads, which do not wait.
  private func turn(of request: ODataRequest, _ conversation: ODataConversation) -> RequestTurns.Turn? {
    let claims = request.claims(root: root, model: conversation.knownModel, version: conversation.knownVersion)
    return claims.isEmpty ? nil : turns.enter(claims)
  }

  /// Creates the run with all the state that the request keeps from its start.
  private func run(of execution: ODataRequestExecution) -> RequestRun {
    let request = execution.request
    var conditions: RequestMachine.RequestConditions
    let session: OpenSession
    (conditions, session) = state.withLock { state in
      let cache: RequestMachine.CacheState =
        !state.options.useCache ? .disabled : state.cache == nil ? .closed : .open
      return (
        .init(
          isOpen: state.isOpen, isPassive: state.isPassive || request.readsCacheAlone, cache: cache,
          isSuspended: state.suspension != nil), state.session
      )
    }
    conditions.batchesSupportConditions = session.batchesSupportConditions
    var keys: [CacheKey?] = []
    var requestError: (any Error)?
    if conditions.isOpen {
      do throws(ODataServiceError) {
        try check(request)
        if let cache = session.cache, request.usesTechnicalCache {
          keys = try RequestKeys.keys(of: request, conversation: session.conversation, maker: cache.keys)
        }
      } catch { requestError = error }
    }
    var machine = RequestMachine(
      request, root: root, conditions: conditions, keys: keys, requestError: requestError)
    machine.version = session.conversation.knownVersion
    machine.model = session.conversation.knownModel
    return RequestRun(execution: execution, session: session, machine: machine)
  }

  /// Throws if the model does not allow a change.
  private func check(_ request: ODataRequest) throws(ODataServiceError) {
    guard !request.isRead else { return }
    try check { rules throws(ODataServiceError) in
      switch request {
      case .single(let single): try rules.check(change: single)
      case .batch(let batch):
        for single in batch.items.flatMap(\.requests) { try rules.check(change: single) }
      }
    }
  }

  /// Checks a request against the model, if the options say so. A passive store sends nothing, so it checks nothing.
  private func check(
    _ body: (ModelRules) throws(ODataServiceError) -> Void
  ) throws(ODataServiceError) {
    let (isChecked, session) = state.withLock { ($0.options.checksRestrictions && !$0.isPassive, $0.session) }
    guard isChecked, let rules = session.conversation.requestRules else { return }
    do throws(ODataServiceError) { try body(rules) } catch {
      // Cached metadata may be older than the service's, which may allow the request by now.
      session.refreshMetadata()
      throw error
    }
  }

  /// Runs a request and blocks the calling thread until the response is there. Never uses the cache, and fails in
  /// passive mode.
  @available(*, noasync, message: "Use execute(_:) in asynchronous code.")
  public func executeBlocking(_ request: ODataRequest) throws -> ODataResponse {
    let conversation = try checkedConversation(request.operationName)
    try check(request)
    let turn = turn(of: request, conversation)
    return try blocking {
      guard let turn else { return try await conversation.send(either: request) }
      let response = try await turn.take { () async throws in try await conversation.send(either: request) }
      guard let response else { throw CancellationError() }
      return response
    }
  }

  /// Reads a media resource or stream property chunk by chunk; see `ODataConversation.stream(_:from:etag:)`.
  public func stream(
    _ request: ODataSingleRequest, from offset: Int = 0, etag: String? = nil
  ) async throws(ODataServiceError) -> ODataMediaResponse {
    try await checkedConversation(request.operationName).stream(request, from: offset, etag: etag)
  }

  /// The conversation of an open, active store; throws otherwise.
  private func checkedConversation(_ operation: String) throws(ODataServiceError) -> ODataConversation {
    let (conversation, reason, isPassive) = state.withLock { state in
      (state.conversation, state.isOpen ? nil : state.whyNotOpen, state.isPassive)
    }
    if let reason { throw ODataServiceError(reason, operation: operation) }
    guard !isPassive else { throw ODataServiceError(.passive, operation: operation) }
    return conversation
  }
}

extension OnlineODataStore: RestrictedStore {
  package func check(query path: String) throws {
    try check { rules throws(ODataServiceError) in try rules.check(query: path) }
  }

  package func check(change request: ODataSingleRequest) throws { try check(.single(request)) }
}
