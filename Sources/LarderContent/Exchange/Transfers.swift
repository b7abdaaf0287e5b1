@_spi(Stores) import LarderCore
import LarderHTTP
import LarderStorage
import Synchronization

/// The running transfers: finds the one that a request may join, and cancels all of them at the end.
final class Transfers: Sendable {
  private struct Running {
    let transfer: Transfer
    /// The number of the transfer, in the order in which transfers began.
    let number: Int
    /// The key of the resource for this caller.
    let key: String
    /// The fields of its request, which select a representation.
    let fields: HTTPFields
    /// The share key at its start; nil if its request never shares a transfer.
    let name: String?
    /// The key by which other requests find it; nil if no other request may join any more.
    var shareKey: String?
    let timeouts: HTTPTimeouts
  }

  private typealias PassageResult = Result<CachedResponse, HTTPTransportError>

  private struct State {
    var use = StoreUse.open
    var shared: [String: ObjectIdentifier] = [:]
    var running: [ObjectIdentifier: Running] = [:]
    /// Keys whose last response could not be shared: requests for one of them do not wait for others.
    var unshareable: Set<String> = []
    var background: [String: Task<Void, Never>] = [:]
    var lastTask = 0
    var lastTransfer = 0
    var tasks: [Int: Task<Void, Never>] = [:]
    var passages: [Int: Task<PassageResult, Never>] = [:]

    /// The transfer that can be joined under a share key.
    func running(_ shareKey: String?, _ timeouts: HTTPTimeouts) -> Transfer? {
      guard let shareKey, let id = shared[shareKey], let running = running[id] else { return nil }
      return running.timeouts == timeouts && !running.transfer.isInvalidatedElsewhere ? running.transfer : nil
    }

    mutating func begin(
      _ transfer: Transfer, key: String, _ fields: HTTPFields, shareKey name: String?, _ timeouts: HTTPTimeouts
    ) {
      let id = ObjectIdentifier(transfer)
      let shareKey = name.flatMap { unshareable.contains($0) ? nil : $0 }
      lastTransfer += 1
      running[id] = Running(
        transfer: transfer, number: lastTransfer, key: key, fields: fields, name: name, shareKey: shareKey,
        timeouts: timeouts)
      if let shareKey { shared[shareKey] = id }
    }

    mutating func note(_ name: String, _ isShareable: Bool) {
      if isShareable {
        unshareable.remove(name)
      } else {
        if unshareable.count >= Transfers.unshareableLimit { unshareable.removeAll() }
        unshareable.insert(name)
      }
    }
  }

  /// The result of ``joinOrBegin(key:fields:shareKey:timeouts:asReader:parses:endedTransfers:mark:)``.
  enum JoinResult {
    /// The request has joined a transfer that another one has begun.
    case joined(Transfer, member: Int)
    /// The request has a transfer of its own, which it must start.
    case begun(Transfer, member: Int)
    /// The lookup must be repeated: a transfer has ended since the lookup, and may have stored the response.
    case late
    case closed
  }

  private static let unshareableLimit = 4096

  private let window: Int
  private let slowReaderTimeout: Duration
  private let finishing: Int
  private let environment: LarderEnvironment
  private let state = Locked(State())
  private let ended = Atomic(0)
  /// Read at every request.
  private let suspended = Atomic(false)

  private let onUnreadable: @Sendable (CacheError) -> Void

  init(
    window: Int, slowReaderTimeout: Duration = .seconds(1), finishing: Int, environment: LarderEnvironment = .system,
    onUnreadable: @escaping @Sendable (CacheError) -> Void
  ) {
    self.environment = environment
    self.onUnreadable = onUnreadable
    self.window = window
    self.slowReaderTimeout = slowReaderTimeout
    self.finishing = finishing
  }

  /// How many shareable transfers have ended.
  var endedCount: Int { ended.load(ordering: .acquiring) }

  /// Joins the transfer under `shareKey`, or creates one. With nil it always creates one that no other request joins.
  ///
  /// - Parameter endedTransfers: ``endedCount`` before the lookup; nil if the lookup need not be repeated.
  func joinOrBegin(
    key: String, fields: HTTPFields = [:], shareKey: String?, timeouts: HTTPTimeouts, asReader: Bool,
    parses: Bool = false,
    endedTransfers: Int? = nil,
    mark: InvalidationMark? = nil
  ) -> JoinResult {
    // When others find the transfer, it already has its first member.
    let transfer = Transfer(
      window: window, slowReaderTimeout: slowReaderTimeout, finishing: finishing, mark: mark, environment: environment,
      onUnreadable: onUnreadable)
    guard let member = transfer.join(asReader: asReader, parses: parses) else { return .closed }
    var full: Transfer?
    while true {
      let (running, joinResult) = state.withLock { state -> (Transfer?, JoinResult) in
        if state.use != .open { return (nil, .closed) }
        if let running = state.running(shareKey, timeouts), running !== full { return (running, .late) }
        if shareKey != nil, let endedTransfers, endedTransfers != endedCount { return (nil, .late) }
        state.begin(transfer, key: key, fields, shareKey: shareKey, timeouts)
        return (nil, .begun(transfer, member: member))
      }
      guard let running else { return joinResult }
      if let member = running.join(asReader: asReader, parses: parses) { return .joined(running, member: member) }
      full = running
    }
  }

  /// Starts a new transfer. Returns false if the transfers were closed in the meantime, so that nothing starts.
  func start(_ transfer: Transfer, _ work: @escaping @Sendable (Transfer) async -> Void) -> Bool {
    // Closing cancels all transfers that have a place, started or not.
    let begins = transfer.start(work)
    if !begins { remove(transfer) }
    return begins
  }

  /// Prevents further requests from joining a transfer.
  ///
  /// - Parameter isShareable: whether its response can be shared, which is remembered for the next time; nil if this is
  ///   unknown.
  func detach(_ transfer: Transfer, isShareable: Bool?) {
    state.withLock { state in
      let id = ObjectIdentifier(transfer)
      if let isShareable, let name = state.running[id]?.name { state.note(name, isShareable) }
      guard let shareKey = state.running[id]?.shareKey else { return }
      state.running[id]?.shareKey = nil
      ended.add(1, ordering: .releasing)
      if state.shared[shareKey] == id { state.shared[shareKey] = nil }
    }
  }

  /// Removes a transfer whose task ends.
  func remove(_ transfer: Transfer) {
    detach(transfer, isShareable: nil)
    transfer.approval.settle()
    _ = state.withLock { $0.running.removeValue(forKey: ObjectIdentifier(transfer)) }
  }

  /// Marks transfers whose responses may be older than a change that was just applied.
  func markOutdated(_ isConcerned: (_ key: String) -> Bool) {
    let concerned = state.withLock { $0.running.values.filter { isConcerned($0.key) }.map(\.transfer) }
    for transfer in concerned {
      transfer.markOutdated()
      detach(transfer, isShareable: nil)
    }
  }

  /// Marks transfers for the same representation that began before one whose response was just stored: a late response
  /// never replaces a newer one.
  func markOlder(than transfer: Transfer, _ isSelected: (_ request: HTTPFields) -> Bool) {
    let running = state.withLock { state -> [Running] in
      guard let newest = state.running[ObjectIdentifier(transfer)] else { return [] }
      return state.running.values.filter { $0.key == newest.key && $0.number < newest.number }
    }
    for older in running where isSelected(older.fields) {
      older.transfer.markOutdated()
      detach(older.transfer, isShareable: nil)
    }
  }

  // MARK: Work on the engine's account

  /// Runs a function in the background, unless one is already running under that name.
  func runInBackground(_ name: String, _ work: @escaping @Sendable () async -> Void) {
    state.withLock { state in
      if state.use != .open || state.background[name] != nil { return }
      state.background[name] = environment.task { [self] in
        await work()
        _ = self.state.withLock { $0.background.removeValue(forKey: name) }
      }
    }
  }

  /// Runs a function in a task that closing cancels; `begun` gets the task before anything else happens.
  ///
  /// After closing, the function runs in a task that is already cancelled, so that its waiting caller is notified.
  func runTracked(
    begun: (Task<Void, Never>) -> Void, work: @escaping @Sendable () async -> Void
  ) {
    let (task, isOpen) = state.withLock { state in
      state.lastTask += 1
      let id = state.lastTask
      let task = environment.task { [self] in
        await work()
        _ = self.state.withLock { $0.tasks.removeValue(forKey: id) }
      }
      if state.use == .open { state.tasks[id] = task }
      return (task, state.use == .open)
    }
    begun(task)
    if !isOpen { task.cancel() }
  }

  /// Waits until all current transfers and background work have ended on their own.
  func settled() async {
    let (running, background) = state.withLock { state in
      (state.running.values.map(\.transfer), Array(state.background.values))
    }
    for task in background { await task.value }
    for transfer in running { await transfer.finished() }
  }

  /// Sends a request without a transfer, in a task that a suspension cancels. Invalidations by its response are marked
  /// before the cache is suspended.
  func passing(
    _ work: @escaping @Sendable () async throws(HTTPTransportError) -> CachedResponse
  ) async throws(HTTPTransportError) -> CachedResponse {
    let task = try state.withLock { (state) throws(HTTPTransportError) in
      if state.use == .suspended { throw .suspended }
      state.lastTask += 1
      let id = state.lastTask
      let task: Task<PassageResult, Never> = environment.task { [self] in
        let result: PassageResult
        do throws(HTTPTransportError) { result = .success(try await work()) } catch { result = .failure(error) }
        _ = self.state.withLock { $0.passages.removeValue(forKey: id) }
        return result
      }
      state.passages[id] = task
      return task
    }
    return try await withTaskCancellationHandler {
      await task.value
    } onCancel: {
      task.cancel()
    }.get()
  }

  /// Cancels everything and waits until it has ended; nothing starts afterwards.
  func close() async {
    state.withLock { $0.use = .closed }
    await endAll()
  }

  /// Cancels everything and waits until it has ended; nothing starts until ``resume()``.
  func suspend() async {
    state.withLock { state in if state.use == .open { state.use = .suspended } }
    suspended.store(true, ordering: .releasing)
    let passages = state.withLock { Array($0.passages.values) }
    for task in passages { task.cancel() }
    await endAll()
    for task in passages { _ = await task.value }
  }

  func resume() {
    state.withLock { state in if state.use == .suspended { state.use = .open } }
    suspended.store(false, ordering: .releasing)
  }

  /// True from a suspension until its end.
  var isSuspended: Bool { suspended.load(ordering: .acquiring) }

  private func endAll() async {
    let (running, background) = state.withLock { state in
      (state.running.values.map(\.transfer), Array(state.background.values) + Array(state.tasks.values))
    }
    for task in background { task.cancel() }
    for transfer in running { transfer.cancel() }
    for task in background { await task.value }
    for transfer in running { await transfer.finished() }
  }
}
