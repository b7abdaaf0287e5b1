import LarderCore

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
    /// Who reads the steps, by number.
    var readers: [Int: Reader] = [:]
    var lastReader = 0
    /// Kept until its last call.
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
      return state.onCancel.take()
    }
    advance(.cancel)
    handler?()
  }

  /// Every step in order, those before the call too; ends after `requestFinished`. May be taken any number of times.
  ///
  /// Where the task that reads them is cancelled, the request is cancelled with it, unless a listener or somebody else
  /// still follows it. Leaving the loop early leaves the request running.
  public var events: AsyncStream<ODataRequestEvent> {
    let reader = ODataEventReader(self)
    return AsyncStream {
      await reader.next()
    } onCancel: {
      reader.cancelRequest()
    }
  }

  /// Waits for the end and gives the final answer: the server's, or in passive mode the cache's, nil for a miss there.
  ///
  /// Throws the execution's error, and ``ODataServiceError`` (`cancelled`) where it was cancelled or the waiting task is.
  /// Cancelling the waiting task leaves the execution running.
  public func finalResponse() async throws -> ODataResponse? {
    let reader = ODataEventReader(self)
    let events = AsyncStream {
      await reader.next()
    } onCancel: {
      reader.leave()
    }
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
    let (now, _) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      if state.isCancelled { return (true, nil) }
      return (false, state.machine.hasEnded ? nil : exchange(&state.onCancel, with: handler))
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
    while let delivery = state.withLock({ $0.beginDelivery() }) {
      for reader in delivery.waiting { reader.resume() }
      call(delivery.listener, delivery.event)
    }
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

// MARK: Readers of the steps

extension ODataRequestExecution {
  fileprivate typealias Waiting = CheckedContinuation<Void, Never>

  fileprivate struct Reader {
    /// How many steps it has read.
    var position = 0
    var waiting: [Waiting] = []
  }

  fileprivate func addReader() -> Int {
    state.withLock { state in
      state.lastReader += 1
      state.readers[state.lastReader] = Reader()
      return state.lastReader
    }
  }

  /// The next step for a reader; nil after the last, and once it has left.
  fileprivate func nextStep(for number: Int) async -> ODataRequestEvent? {
    while true {
      switch state.withLock({ $0.read(number) }) {
      case .step(let event): return event
      case .end: return nil
      case .wait:
        await withCheckedContinuation { waiting in
          if !state.withLock({ $0.wait(number, waiting) }) { waiting.resume() }
        }
      }
    }
  }

  /// A reader goes.
  ///
  /// - Parameter cancels: it was cancelled, and takes the request with it where nobody else follows that.
  fileprivate func removeReader(_ number: Int, cancels: Bool) {
    let (reader, isUnfollowed) = state.withLock { state in
      (state.readers.removeValue(forKey: number), state.readers.isEmpty && state.listener == nil)
    }
    for waiting in reader?.waiting ?? [] { waiting.resume() }
    if cancels, isUnfollowed { cancel() }
  }
}

/// One who reads the steps of a request: a place among them, given up when this goes.
private final class ODataEventReader: Sendable {
  private let execution: ODataRequestExecution
  private let number: Int

  init(_ execution: ODataRequestExecution) {
    self.execution = execution
    number = execution.addReader()
  }

  deinit { leave() }

  func next() async -> ODataRequestEvent? { await execution.nextStep(for: number) }

  func leave() { execution.removeReader(number, cancels: false) }

  func cancelRequest() { execution.removeReader(number, cancels: true) }
}

extension ODataRequestExecution.State {
  fileprivate enum Reading {
    case step(ODataRequestEvent)
    case wait
    case end
  }

  fileprivate mutating func read(_ number: Int) -> Reading {
    guard let position = readers[number]?.position else { return .end }
    if position < delivered.count {
      readers[number]?.position += 1
      return .step(delivered[position])
    }
    if case .requestFinished? = delivered.last { return .end }
    return .wait
  }

  /// Registers who waits; false where it is to look again instead.
  fileprivate mutating func wait(_ number: Int, _ waiting: ODataRequestExecution.Waiting) -> Bool {
    guard let position = readers[number]?.position, position == delivered.count else { return false }
    if case .requestFinished? = delivered.last { return false }
    readers[number]?.waiting.append(waiting)
    return true
  }

  /// A step that is delivered: to whom, once the lock is free.
  fileprivate struct Delivery {
    let event: ODataRequestEvent
    let listener: (any ODataRequestListener)?
    let waiting: [ODataRequestExecution.Waiting]
    /// Released with the last step.
    var onCancel: (@Sendable () -> Void)?
  }

  /// Makes the next step the visible one; nil where all is delivered.
  fileprivate mutating func beginDelivery() -> Delivery? {
    guard !pending.isEmpty else {
      isDelivering = false
      return nil
    }
    let event = pending.removeFirst()
    visible = event.snapshot
    delivered.append(event)
    var waiting: [ODataRequestExecution.Waiting] = []
    for number in readers.keys { waiting += exchange(&readers[number, default: .init()].waiting, with: []) }
    guard case .requestFinished = event else { return Delivery(event: event, listener: listener, waiting: waiting) }
    return Delivery(event: event, listener: listener.take(), waiting: waiting, onCancel: onCancel.take())
  }
}
