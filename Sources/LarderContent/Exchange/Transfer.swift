@_spi(Stores) import LarderCore
import LarderHTTP
import Synchronization

/// The result of a network request, for all waiting requests.
enum TransferOutcome: Sendable {
  /// A response whose content follows: read it.
  case content(TransferHead)
  /// 304: the stored response is valid; `isStored` is whether its renewed metadata is stored.
  case validated(CacheEntry, isStored: Bool)
}

/// The head of a response from the network.
struct TransferHead: Sendable {
  var status: Int
  var fields: HTTPFields
  /// The content's length, if the server sent it.
  var length: Int?
  /// The metadata under which the response is, or would be, stored; nil if it must not be stored.
  let metadata: CacheMetadata?
  /// The rules of the metadata, if there is any.
  let rules: StoredRules?
  /// The metadata of a response that may be stored, but not in place of the existing one. It shows which requests the
  /// response is for.
  var failure: CacheMetadata?
  /// True if a cache is storing the content, for as long as it can.
  var isSpooled = false
  /// True if a cache has stored all of the content.
  var isStored = false
  /// The requested bytes of the content, if these are not all of them.
  var view: Range<Int>?
  /// The server's status, if it differs from the response's.
  var forwardStatus: Int?

  init(status: Int, fields: HTTPFields, length: Int?, metadata: CacheMetadata?) {
    self.status = status
    self.fields = fields
    self.length = length
    self.metadata = metadata
    rules = metadata.map(StoredRules.init)
  }
}

/// One exchange with the network, shared by the requests for its response.
///
/// It runs in a task of its own, so that the end of one request does not cancel it for the others. The last request
/// that leaves cancels it, unless only little is missing of a storable response.
final class Transfer: Sendable {
  private enum Source: Sendable {
    case none
    case writer(any CacheWriter)
    case entry(CacheEntry)
  }

  private struct Run {
    var task: Task<Void, Never>?
    var isCancelled = false
  }

  private let state: Locked<TransferState>
  private let source = Locked(Source.none)
  private let run = Locked(Run())
  private let finishing: Int
  /// True if an event, such as a change of the resource, may have made the response outdated.
  private let outdated = Atomic(false)

  /// Set when the response is stored.
  let storing = StoringMark(false)
  /// Whether the content may replace what is stored.
  let approval = ContentApproval()

  /// Called with the error if spooled content cannot be read back.
  private let onUnreadable: @Sendable (CacheError) -> Void

  private let mark: InvalidationMark?
  private let environment: LarderEnvironment

  /// - Parameter mark: the invalidations by other processes before the request is sent.
  init(
    window: Int, slowReaderTimeout: Duration, finishing: Int, mark: InvalidationMark? = nil,
    environment: LarderEnvironment = .system, onUnreadable: @escaping @Sendable (CacheError) -> Void
  ) {
    self.environment = environment
    self.mark = mark
    state = Locked(TransferState(window: window, slowReaderTimeout: slowReaderTimeout))
    self.onUnreadable = onUnreadable
    self.finishing = finishing
  }

  // MARK: Members

  /// Adds a member; nil if it is too late for that. A member that does not read only waits for the end.
  ///
  /// - Parameter parses: whether the content may be stored only if the member's parser, or that of another, accepts it.
  func join(asReader isReader: Bool = true, parses: Bool = false) -> Int? {
    guard let member = state.withLock({ $0.join(asReader: isReader) }) else { return nil }
    approval.join(member, parses: parses)
    return member
  }

  /// Removes a member; a second call has no effect.
  func leave(_ id: Int) {
    let result = state.withLock { $0.leave(id, finishing: finishing) }
    approval.leave(id)
    for waiting in result.resumed { waiting.resume() }
    if result.isAbandoned { cancel() }
  }

  /// Waits for the response's head. A member that is cancelled in the meantime leaves.
  func outcome(for id: Int) async throws(HTTPTransportError) -> TransferOutcome {
    while true {
      let (outcome, isMember) = state.withLock { ($0.outcome, $0.isMember(id)) }
      guard isMember else { throw .cancelled }
      switch outcome {
      case .success(let outcome): return outcome
      case .failure(let error):
        leave(id)
        throw error
      case nil: await wait(id)
      }
    }
  }

  /// A member's content. The member leaves at the end, on an error, and when the content is cancelled.
  ///
  /// - Parameter recover: returns the content from a position on, if spooled content cannot be read back, or the member
  ///   was too slow for the others.
  func body(
    for id: Int, length: Int?, recover: @escaping @Sendable (Int, Loss) async throws -> HTTPBodyStream
  ) -> HTTPBodyStream {
    let detour = Locked<Puller?>(nil)
    return HTTPBodyStream(
      length: length,
      next: {
        if let detour = detour.withLock({ $0 }) { return try await detour.next() }
        switch try await self.read(id) {
        case .bytes(let bytes): return bytes
        case .end: return nil
        case .lost(let position, let loss):
          self.leave(id)
          let rest = Puller(try await recover(position, loss))
          detour.withLock { $0 = rest }
          return try await rest.next()
        }
      },
      abandon: { self.leave(id) })
  }

  private enum Reading {
    case bytes([UInt8])
    case lost(from: Int, Loss)
    case end
  }

  /// Why content is no longer available for a member.
  enum Loss: String {
    case isUnreadable = "the received content could not be read back"
    case wasTooSlow = "this reader was too slow, and the other readers stopped waiting for it"
  }

  /// A range of the content, for a member that has not read yet.
  func body(for id: Int, range: Range<Int>) -> HTTPBodyStream {
    advance(id, by: range.lowerBound)
    let remaining = Locked(range.count)
    return HTTPBodyStream(
      length: range.count,
      next: { [self] in
        let wanted = remaining.withLock { $0 }
        let reading = wanted > 0 ? try await read(id) : .end
        guard case .bytes(let bytes) = reading else {
          leave(id)
          if case .lost(_, let loss) = reading { throw HTTPTransportError.other(loss.rawValue) }
          return nil
        }
        let delivered = min(wanted, bytes.count)
        remaining.withLock { $0 -= delivered }
        return delivered == bytes.count ? bytes : Array(bytes[..<delivered])
      }, abandon: { self.leave(id) })
  }

  /// Waits, without reading, for the end of a response that is being stored; leaves at once if it is not.
  func settled(for id: Int) async {
    do {
      if case .content(let head) = try await outcome(for: id), head.isSpooled {
        while case .wait = state.withLock({ $0.step(of: id) }) { await wait(id) }
      }
    } catch {}
    leave(id)
  }

  private func read(_ id: Int) async throws(HTTPTransportError) -> Reading {
    while true {
      switch state.withLock({ $0.step(of: id) }) {
      case .deliver(let bytes):
        advance(id, by: bytes.count)
        return .bytes(bytes)
      case .readSpool(let range):
        guard let bytes = await readSpool(range) else { return .lost(from: range.lowerBound, .isUnreadable) }
        advance(id, by: bytes.count)
        return .bytes(bytes)
      case .rest(let position): return .lost(from: position, .wasTooSlow)
      case .wait: await wait(id)
      case .end:
        leave(id)
        return .end
      case .fail(let error):
        leave(id)
        throw error
      }
    }
  }

  private func readSpool(_ range: Range<Int>) async -> [UInt8]? {
    do throws(CacheError) {
      switch source.withLock({ $0 }) {
      case .none: return nil
      case .writer(let writer): return try await writer.read(range)
      case .entry(let entry): return try await entry.read(range)
      }
    } catch {
      onUnreadable(error)
      return nil
    }
  }

  private func advance(_ id: Int, by count: Int) {
    for waiting in state.withLock({ $0.advance(id, by: count) }) { waiting.resume() }
  }

  private func wait(_ id: Int) async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        let (isWaiting, pump) = state.withLock { $0.wait(id, waiting) }
        if !isWaiting { waiting.resume() }
        pump?.resume()
      }
    } onCancel: {
      leave(id)
    }
  }

  // MARK: The pump's side

  /// Starts the transfer. Returns false if it was cancelled before. Called once, by ``Transfers``.
  func start(_ work: @escaping @Sendable (Transfer) async -> Void) -> Bool {
    run.withLock { run in
      if !run.isCancelled { run.task = environment.task { await work(self) } }
      return !run.isCancelled
    }
  }

  /// Cancels the exchange, and notifies the members that still wait.
  func cancel() {
    let task = run.withLock { run in
      run.isCancelled = true
      return run.task
    }
    task?.cancel()
  }

  /// Waits until the transfer's task has ended.
  func finished() async { await run.withLock { $0.task }?.value }

  /// Marks the response as outdated: it is not stored for later requests.
  func markOutdated() { outdated.store(true, ordering: .releasing) }
  var isOutdated: Bool { outdated.load(ordering: .acquiring) || isInvalidatedElsewhere }

  /// Whether any process has invalidated the resource since before the request was sent.
  var isInvalidatedElsewhere: Bool { mark?.isCurrent == false }

  var hasReaders: Bool { state.withLock { $0.hasReaders } }

  func publish(_ outcome: Result<TransferOutcome, HTTPTransportError>) {
    for waiting in state.withLock({ $0.publish(outcome) }) { waiting.resume() }
  }

  func publish(_ bytes: [UInt8]) {
    for waiting in state.withLock({ $0.publish(bytes) }) { waiting.resume() }
  }

  /// Sets the writer that spooled content is read from.
  func spool(to writer: any CacheWriter) { _ = source.withLock { exchange(&$0, with: .writer(writer)) } }

  /// Sets the entry that the spool has become: the remaining content is read from it.
  func spool(is entry: CacheEntry) { _ = source.withLock { exchange(&$0, with: .entry(entry)) } }

  /// True if a parser must accept the content before it replaces what is stored. Only successes replace anything.
  func awaitsParser(status: Int) -> Bool { Succession(status: status) == .replaces && approval.needsParser }

  func stopSpooling() { state.withLock { $0.stopSpooling() } }

  func end(_ phase: TransferState.Phase) {
    for waiting in state.withLock({ $0.end(phase) }) { waiting.resume() }
  }

  /// Waits while too much content that readers have not read yet is held in memory alone.
  func waitForSpace() async {
    while !Task.isCancelled {
      switch state.withLock({ $0.pumpStep(at: environment.uptime()) }) {
      case .proceed: return
      case .wait(nil): await pumpWoken()
      case .wait(let limit?):
        await withTaskGroup { group in
          group.addTask { await self.pumpWoken() }
          group.addTask { try? await self.environment.sleep(limit) }
          await group.next()
          group.cancelAll()
        }
      }
    }
  }

  /// Waits until there may be room, or a reader begins to wait for slower ones.
  private func pumpWoken() async {
    await withTaskCancellationHandler {
      await withCheckedContinuation { waiting in
        let isWaiting = state.withLock { $0.waitForSpace(waiting) }
        if !isWaiting { waiting.resume() } else if Task.isCancelled { wakePump() }
      }
    } onCancel: {
      wakePump()
    }
  }

  private func wakePump() { state.withLock { $0.removeWaitingPump() }?.resume() }
}
