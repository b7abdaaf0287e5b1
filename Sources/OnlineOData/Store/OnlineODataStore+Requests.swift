public import ODataService
import Storage
import Synchronization

// Requests: scheduled, awaited, blocking, streamed.
extension OnlineODataStore {
  /// Starts a request and returns at once: what the cache knows has been told by then.
  ///
  /// `requestStarted`, and `requestCacheResponse` where the cache takes part, are called on the caller's thread before
  /// this returns: a look-up takes microseconds, a way to another thread and back takes ten times as long. So hold no
  /// lock here that the listener takes. What the server answers is told later, on other threads, one call after another.
  @discardableResult
  public func schedule(_ request: ODataRequest, listener: (any ODataRequestListener)?) -> ODataRequestExecution {
    let execution = ODataRequestExecution(request: request, listener: listener)
    // First of all, so that a closing that begins now waits for this request's end.
    running.add(execution)
    var course = course(of: execution)
    let work = course.begin()
    OnlineODataStore.goOn(course, with: work, running)
    return execution
  }

  private static func goOn(_ course: RequestCourse, with work: RequestMachine.Work?, _ running: RunningRequests) {
    let execution = course.execution
    guard let work else { return running.remove(execution) }
    let task = Task {
      var course = course
      await course.run(work)
      running.remove(execution)
    }
    execution.onCancel { task.cancel() }
  }

  /// Everything a request keeps to from its start.
  private func course(of execution: ODataRequestExecution) -> RequestCourse {
    let request = execution.request
    var circumstances: RequestMachine.Circumstances
    let session: OpenSession
    (circumstances, session) = state.withLock { state in
      let cache: RequestMachine.CacheState =
        !state.options.useCache ? .disabled : state.cache == nil ? .closed : .open
      let session = OpenSession(
        conversation: state.conversation, cache: state.cache, tracksChanges: state.options.tracksChanges,
        memory: state.memory, report: state.options.onDiagnostic ?? { _ in })
      return (
        .init(isOpen: state.isOpen, isPassive: state.isPassive, cache: cache), session
      )
    }
    circumstances.batchesTakeConditions = session.batchesTakeConditions
    var keys: [CacheKey?] = []
    var refusal: (any Error)?
    if circumstances.isOpen, let cache = session.cache, request.takesPartInCache {
      do throws(ODataServiceError) {
        keys = try RequestKeys.keys(of: request, conversation: session.conversation, maker: cache.keys)
      } catch { refusal = error }
    }
    var machine = RequestMachine(
      request, root: root, circumstances: circumstances, keys: keys, refusal: refusal)
    machine.version = session.conversation.knownVersion
    return RequestCourse(execution: execution, session: session, machine: machine)
  }

  /// Runs a request and blocks the calling thread until its answer is there. Never uses the cache, fails in passive mode.
  @available(*, noasync, message: "Use execute(_:) in asynchronous code.")
  public func executeBlocking(_ request: ODataRequest) throws -> ODataResponse {
    let conversation = try checkedConversation(request.operationName)
    return try blocking { try await conversation.send(either: request) }
  }

  /// Reads a media resource or stream property chunk by chunk; see `ODataConversation.stream(_:from:etag:)`.
  public func stream(
    _ request: ODataSingleRequest, from offset: Int = 0, etag: String? = nil
  ) async throws(ODataServiceError) -> ODataMediaResponse {
    try await checkedConversation(request.operationName).stream(request, from: offset, etag: etag)
  }

  /// The conversation of an open, active store.
  private func checkedConversation(_ operation: String) throws(ODataServiceError) -> ODataConversation {
    let (conversation, isOpen, isPassive) = state.withLock { ($0.conversation, $0.isOpen, $0.isPassive) }
    guard isOpen else { throw ODataServiceError(.notOpen, operation: operation) }
    guard !isPassive else { throw ODataServiceError(.passive, operation: operation) }
    return conversation
  }
}
