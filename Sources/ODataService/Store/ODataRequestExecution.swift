import Locking

/// One request on its way through a store.
///
/// The store advances it; its owner watches it by a listener, by ``events``, or awaits ``finalResponse()``, all over the
/// same steps in the same order.
public final class ODataRequestExecution: Sendable {
  /// What was asked.
  public let request: ODataRequest

  private let state: Locked<State>

  fileprivate struct State {
    var machine = StateMachine()
    /// Decided but not delivered.
    var pending: [ODataRequestEvent] = []
    /// Delivered, for those who come later.
    var delivered: [ODataRequestEvent] = []
    var isDelivering = false
    var visible = ODataRequestEvent.Snapshot(status: .initialized)
    var subscribers: [AsyncStream<ODataRequestEvent>.Continuation] = []
    /// Held until its last call.
    var listener: (any ODataRequestListener)?
    var onCancel: (@Sendable () -> Void)?
    var isCancelled = false
  }

  /// An execution that has not started.
  package init(request: ODataRequest, listener: (any ODataRequestListener)? = nil) {
    self.request = request
    state = Locked(State(listener: listener))
  }

  /// Where the request stands; inside a listener's call, where it stood at that step.
  public var status: ODataRequestStatus { state.withLock { $0.visible.status } }

  /// The latest answer; nil before the first, for a cache miss, and for a failure without an answer.
  public var response: ODataResponse? { state.withLock { $0.visible.response } }

  /// Why the request failed; nil in all other states.
  public var error: (any Error)? { state.withLock { $0.visible.error } }

  /// Ends the request: the transfer stops and the last step is `requestFinished` (canceled). Too late is no harm.
  public func cancel() {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.machine.hasEnded else { return nil }
      state.isCancelled = true
      defer { state.onCancel = nil }
      return state.onCancel
    }
    advance(.cancel)
    handler?()
  }

  /// Every step in order, those before the call too; ends after `requestFinished`. May be taken any number of times.
  public var events: AsyncStream<ODataRequestEvent> {
    let (stream, continuation) = AsyncStream.makeStream(of: ODataRequestEvent.self, bufferingPolicy: .unbounded)
    state.withLock { state in
      for event in state.delivered { continuation.yield(event) }
      if case .requestFinished? = state.delivered.last {
        continuation.finish()
      } else {
        state.subscribers.append(continuation)
      }
    }
    return stream
  }

  /// Waits for the end and gives the final answer: the server's, or in passive mode the cache's, nil for a miss there.
  ///
  /// Throws the execution's error, and ``ODataServiceError`` (`cancelled`) where it was cancelled or the waiting task is.
  /// Cancelling the waiting task leaves the execution running.
  public func finalResponse() async throws -> ODataResponse? {
    for await event in events {
      guard case .requestFinished(let end) = event else { continue }
      if let error = end.error { throw error }
      if end.status == .canceled { break }
      return end.response
    }
    throw ODataServiceError(.cancelled, operation: "execute")
  }

  // MARK: For stores

  /// True once the caller cancelled: a store need not go on.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Runs `handler` once when the caller cancels; at once where that has happened. Dropped at the end.
  package func onCancel(_ handler: @escaping @Sendable () -> Void) {
    let now = state.withLock { state -> Bool in
      if state.isCancelled { return true }
      if !state.machine.hasEnded { state.onCancel = handler }
      return false
    }
    if now { handler() }
  }

  /// Delivers `requestStarted`.
  package func start() { advance(.start) }
  /// Delivers `requestCacheResponse`; nil is a miss.
  package func receive(cacheResponse: ODataResponse?) { advance(.cacheResponse(cacheResponse)) }
  /// Delivers `requestServerResponse`.
  package func receive(serverResponse: ODataResponse) { advance(.serverResponse(serverResponse)) }
  /// Delivers `requestFinished` (completed) with the latest answer.
  package func finish() { advance(.finish) }
  /// Delivers `requestFailed` and `requestFinished` (failed) with the same answer, where there was one.
  package func fail(_ error: any Error, response: ODataResponse? = nil) { advance(.fail(error, response: response)) }

  /// Decides the steps at once and delivers them one by one: by the thread that is delivering already, else by this one.
  private func advance(_ input: StateMachine.Input) {
    let isMine = state.withLock { state in
      state.pending += state.machine.take(input)
      guard !state.isDelivering, !state.pending.isEmpty else { return false }
      state.isDelivering = true
      return true
    }
    guard isMine else { return }
    while let (event, listener) = state.withLock({ $0.beginDelivery() }) { call(listener, event) }
  }

  private func call(_ listener: (any ODataRequestListener)?, _ event: ODataRequestEvent) {
    guard let listener else { return }
    switch event {
    case .requestStarted: listener.requestStarted(self)
    case .requestCacheResponse: listener.requestCacheResponse(self)
    case .requestServerResponse: listener.requestServerResponse(self)
    case .requestFailed: listener.requestFailed(self)
    case .requestFinished: listener.requestFinished(self)
    }
  }
}

extension ODataRequestExecution.State {
  /// Makes the next step the visible one and hands it to the subscribers; nil where all is delivered.
  fileprivate mutating func beginDelivery() -> (ODataRequestEvent, (any ODataRequestListener)?)? {
    guard !pending.isEmpty else {
      isDelivering = false
      return nil
    }
    let event = pending.removeFirst()
    visible = event.snapshot
    delivered.append(event)
    for subscriber in subscribers { subscriber.yield(event) }
    if case .requestFinished = event {
      for subscriber in subscribers { subscriber.finish() }
      subscribers = []
      onCancel = nil
      defer { listener = nil }
      return (event, listener)
    }
    return (event, listener)
  }
}
