@_spi(Stores) import LarderCore

/// The execution of one request by a store.
///
/// The store advances it. Its owner follows it with a listener or with ``events``, or awaits ``finalResponse()``; all
/// see the same steps in the same order.
public final class ODataRequestExecution: Sendable {
  /// The request that is executed.
  public let request: ODataRequest

  private let state: Locked<State>

  fileprivate struct State {
    var machine = StateMachine()
    /// Steps that are decided but not delivered.
    var pending: [ODataRequestEvent] = []
    /// Steps that were delivered, for readers that start later.
    var delivered: [ODataRequestEvent] = []
    var isDelivering = false
    var visibleSnapshot = ODataRequestEvent.Snapshot(status: .initialized)
    /// The readers of the steps, by number.
    var readers: [Int: Reader] = [:]
    var lastReader = 0
    /// Held until its last call.
    var listener: (any ODataRequestListener)?
    var onCancel: (@Sendable () -> Void)?
    var isCancelled = false
  }

  /// Creates an execution that has not started.
  package init(request: ODataRequest, listener: (any ODataRequestListener)? = nil) {
    self.request = request
    state = Locked(State(listener: listener))
  }

  /// The status of the request; inside a listener's function, the status at that step.
  public var status: ODataRequestStatus { state.withLock { $0.visibleSnapshot.status } }

  /// The latest response; nil before the first, for a cache miss, and for a failure without a response.
  public var response: ODataResponse? { state.withLock { $0.visibleSnapshot.response } }

  /// Why the request failed; nil in all other states.
  public var error: (any Error)? { state.withLock { $0.visibleSnapshot.error } }

  /// Cancels the request: the transfer stops and the last step is `requestFinished` (cancelled). Has no effect on a
  /// request that has ended.
  public func cancel() {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      guard !state.machine.hasEnded else { return nil }
      state.isCancelled = true
      return state.onCancel.take()
    }
    advance(.cancel)
    handler?()
  }

  /// All steps in order, including those before the call; ends after `requestFinished`. Any number of readers may use
  /// it.
  ///
  /// If the task that reads them is cancelled, the request is cancelled too, unless a listener or another reader still
  /// follows it. Leaving the loop early leaves the request running.
  public var events: AsyncStream<ODataRequestEvent> {
    let reader = ODataEventReader(self)
    return AsyncStream {
      await reader.next()
    } onCancel: {
      reader.cancelRequest()
    }
  }

  /// Waits for the end and returns the final response: the server's, or in passive mode the cache's, which is nil for a
  /// miss.
  ///
  /// Throws the execution's error, and `CancellationError` if the execution or the task that calls this is cancelled.
  /// Cancelling that task leaves the execution running.
  public func finalResponse() async throws -> ODataResponse? {
    let reader = ODataEventReader(self)
    let events = AsyncStream {
      await reader.next()
    } onCancel: {
      reader.leave()
    }
    for await event in events {
      guard case .requestFinished(let end) = event else { continue }
      if let error = end.error { throw CancellationError.replacing(error) }
      if end.status == .cancelled { break }
      return end.response
    }
    throw CancellationError()
  }

  // MARK: Functions for stores

  /// True once the caller cancelled: a store may stop its work.
  package var isCancelled: Bool { state.withLock { $0.isCancelled } }

  /// Runs `handler` once when the caller cancels, or at once if that has happened. The handler is released at the end.
  package func onCancel(_ handler: @escaping @Sendable () -> Void) {
    let (isCancelled, _) = state.withLock { state -> (Bool, (@Sendable () -> Void)?) in
      if state.isCancelled { return (true, nil) }
      return (false, state.machine.hasEnded ? nil : exchange(&state.onCancel, with: handler))
    }
    if isCancelled { handler() }
  }

  /// Delivers `requestStarted`.
  package func start() { advance(.start) }
  /// Delivers `requestCacheResponse`; nil is a miss.
  package func receive(cacheResponse: ODataResponse?) { advance(.cacheResponse(cacheResponse)) }
  /// Delivers `requestServerResponse`.
  package func receive(serverResponse: ODataResponse) { advance(.serverResponse(serverResponse)) }
  /// Delivers `requestFinished` (completed) with the latest response.
  package func finish() { advance(.finish) }
  /// Delivers `requestFailed` and `requestFinished` (failed), with the same response if there was one.
  package func fail(_ error: any Error, response: ODataResponse? = nil) { advance(.fail(error, response: response)) }

  /// Decides the steps at once and delivers them one by one, on the thread that is already delivering, else on this
  /// one.
  private func advance(_ input: StateMachine.Input) {
    let startsDelivery = state.withLock { state in
      state.pending += state.machine.handle(input)
      guard !state.isDelivering, !state.pending.isEmpty else { return false }
      state.isDelivering = true
      return true
    }
    guard startsDelivery else { return }
    while let delivery = state.withLock({ $0.beginDelivery() }) {
      for waiter in delivery.waiters { waiter.resume() }
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
  fileprivate typealias Waiter = CheckedContinuation<Void, Never>

  fileprivate struct Reader {
    /// The number of steps that the reader has read.
    var position = 0
    var waiters: [Waiter] = []
  }

  fileprivate func addReader() -> Int {
    state.withLock { state in
      state.lastReader += 1
      state.readers[state.lastReader] = Reader()
      return state.lastReader
    }
  }

  /// The next step for a reader; nil after the last, and after the reader has left.
  fileprivate func nextStep(for number: Int) async -> ODataRequestEvent? {
    while true {
      switch state.withLock({ $0.read(number) }) {
      case .step(let event): return event
      case .end: return nil
      case .wait:
        await withCheckedContinuation { waiter in
          if !state.withLock({ $0.wait(number, waiter) }) { waiter.resume() }
        }
      }
    }
  }

  /// Removes a reader.
  ///
  /// - Parameter cancels: whether the reader was cancelled. The request is then cancelled too if nothing else follows
  ///   it.
  fileprivate func removeReader(_ number: Int, cancels: Bool) {
    let (reader, isUnfollowed) = state.withLock { state in
      (state.readers.removeValue(forKey: number), state.readers.isEmpty && state.listener == nil)
    }
    for waiter in reader?.waiters ?? [] { waiter.resume() }
    if cancels, isUnfollowed { cancel() }
  }
}

/// A reader of a request's steps. It keeps a position among them, which is released with it.
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

  /// Registers a suspended reader; returns false if it should read again instead.
  fileprivate mutating func wait(_ number: Int, _ waiter: ODataRequestExecution.Waiter) -> Bool {
    guard let position = readers[number]?.position, position == delivered.count else { return false }
    if case .requestFinished? = delivered.last { return false }
    readers[number]?.waiters.append(waiter)
    return true
  }

  /// A step to deliver and its receivers, used after the lock is released.
  fileprivate struct Delivery {
    let event: ODataRequestEvent
    let listener: (any ODataRequestListener)?
    let waiters: [ODataRequestExecution.Waiter]
    /// Released with the last step.
    var onCancel: (@Sendable () -> Void)?
  }

  /// Makes the next step the visible one; nil if all are delivered.
  fileprivate mutating func beginDelivery() -> Delivery? {
    guard !pending.isEmpty else {
      isDelivering = false
      return nil
    }
    let event = pending.removeFirst()
    visibleSnapshot = event.snapshot
    delivered.append(event)
    var waiters: [ODataRequestExecution.Waiter] = []
    for number in readers.keys { waiters += exchange(&readers[number, default: .init()].waiters, with: []) }
    guard case .requestFinished = event else { return Delivery(event: event, listener: listener, waiters: waiters) }
    return Delivery(event: event, listener: listener.take(), waiters: waiters, onCancel: onCancel.take())
  }
}
