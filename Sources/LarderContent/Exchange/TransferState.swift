import LarderHTTP

/// The members of a transfer, how far each has read, and the content that is held for them: a pure state machine
/// without I/O.
///
/// Content is published piece by piece. A spooled piece can be read from the spool at any time, and only the last such
/// piece is held in memory for the fastest readers. A piece that is not spooled is held until every reader has read it,
/// and the pump waits while too many are held. If readers that have read everything wait for slower ones, the slower
/// ones are detached after a time limit (`slowReaderTimeout`): nothing is held for them any more, and no new reader can
/// join.
///
/// A transfer waits for its outcome until this is published. It is then open until the content ends or is interrupted.
/// Functions return the continuations to resume, so that this happens outside the lock.
struct TransferState {
  typealias Continuation = CheckedContinuation<Void, Never>

  /// How the content ended.
  enum Phase {
    case open
    case complete
    case failed(HTTPTransportError)
  }

  /// The next step of a reader.
  enum Step {
    case deliver([UInt8])
    case readSpool(Range<Int>)
    case wait
    case end
    case fail(HTTPTransportError)
    /// The content from a position on must be read from another source: it is not held any more.
    case rest(from: Int)
  }

  /// The next step of the pump.
  enum PumpStep: Hashable {
    case proceed
    /// Wait for room; with a time, at most that long: readers wait for slower ones in the meantime.
    case wait(for: Duration?)
  }

  /// The consequences when a member leaves.
  struct LeaveResult {
    var resumed: [Continuation] = []
    /// True if no member is left and the rest is not worth transferring.
    var isAbandoned = false
  }

  private struct Member {
    let isReader: Bool
    /// True if nothing is held for the member, because it was too slow for the others.
    var isDetached = false
    var position = 0
    var waiting: Continuation?
  }

  private struct Chunk {
    let start: Int
    let bytes: [UInt8]
    var end: Int { start + bytes.count }
  }

  /// The number of spooled bytes that one step reads.
  static let spoolStep = 1 << 16
  /// The maximum number of held pieces, however small they are.
  static let chunkLimit = 256

  let window: Int
  let slowReaderTimeout: Duration
  private(set) var outcome: Result<TransferOutcome, HTTPTransportError>?
  private(set) var phase = Phase.open
  /// True once the last member has left and the transfer must be cancelled: no member can join any more.
  private var isAbandoned = false
  /// The number of published bytes, spooled or not.
  private(set) var published = 0
  private var spooled = 0
  private var isSpooling = true
  private var chunks: [Chunk] = []
  private var heldBytes = 0
  private var members: [Int: Member] = [:]
  private var lastMember = 0
  private var waitingPump: Continuation?
  /// How long readers have recently waited for slower ones: increases while a reader waits, and decreases while none
  /// does.
  private var waited = Duration.zero
  private var lastStep: (time: Duration, isHeldBack: Bool)?

  init(window: Int, slowReaderTimeout: Duration) {
    self.window = window
    self.slowReaderTimeout = slowReaderTimeout
  }

  // MARK: Members

  /// Adds a member that reads from the first byte on. Nil if content is held in memory alone, so that a new reader
  /// would delay the existing ones, and if the transfer has failed or is abandoned.
  mutating func join(asReader isReader: Bool) -> Int? {
    if isAbandoned { return nil }
    if case .failed = phase { return nil }
    if case .failure = outcome { return nil }
    if isReader, !isSpooling, published > 0 { return nil }
    lastMember += 1
    members[lastMember] = Member(isReader: isReader)
    return lastMember
  }

  /// Removes a member, at most once. Its waiting task, if any, is resumed and finds that it is no longer a member.
  mutating func leave(_ id: Int, finishing: Int) -> LeaveResult {
    guard let member = members.removeValue(forKey: id) else { return LeaveResult() }
    var result = LeaveResult()
    if let waiting = member.waiting { result.resumed.append(waiting) }
    result.resumed += dropDeliveredChunks()
    if members.values.allSatisfy(\.isDetached), case .open = phase, !isAbandoned {
      isAbandoned = !isNearlyDone(finishing)
      result.isAbandoned = isAbandoned
    }
    return result
  }

  /// True if content is spooled and at most `finishing` bytes of it are known to be missing.
  private func isNearlyDone(_ finishing: Int) -> Bool {
    guard isSpooling, case .success(.content(let head)) = outcome, head.metadata != nil, let length = head.length else {
      return false
    }
    return length - published <= finishing
  }

  /// True while there are members that read content as it arrives.
  var hasReaders: Bool { members.values.contains { $0.isReader && !$0.isDetached } }

  /// Registers a waiting member, unless it should check again at once. If the pump is returned, the pump must check
  /// again.
  mutating func wait(_ id: Int, _ waiting: Continuation) -> (isWaiting: Bool, waitingPump: Continuation?) {
    guard members[id] != nil else { return (false, nil) }
    if outcome != nil {
      guard case .wait = step(of: id) else { return (false, nil) }
    }
    members[id]?.waiting = waiting
    return (true, removeWaitingPump())
  }

  private mutating func wakeAll() -> [Continuation] {
    var resumed: [Continuation] = []
    for (id, member) in members {
      guard let waiting = member.waiting else { continue }
      resumed.append(waiting)
      members[id]?.waiting = nil
    }
    return resumed
  }

  /// True if the transfer still has this member.
  func isMember(_ id: Int) -> Bool { members[id] != nil }

  // MARK: Reading

  /// The next step of a reader; its position does not change.
  func step(of id: Int) -> Step {
    guard let member = members[id] else { return .fail(.cancelled) }
    if member.isReader, member.position < published { return content(at: member.position) }
    switch phase {
    case .open: return .wait
    case .complete: return .end
    case .failed(let error): return member.isDetached ? .rest(from: member.position) : .fail(error)
    }
  }

  private func content(at position: Int) -> Step {
    if let chunk = chunks.first(where: { $0.start <= position && position < $0.end }) {
      return .deliver(chunk.start == position ? chunk.bytes : Array(chunk.bytes[(position - chunk.start)...]))
    }
    guard position < spooled else { return .rest(from: position) }
    return .readSpool(position..<min(spooled, position + TransferState.spoolStep))
  }

  /// Advances a reader's position. The pump may have room again.
  mutating func advance(_ id: Int, by count: Int) -> [Continuation] {
    members[id]?.position += count
    return dropDeliveredChunks()
  }

  private mutating func dropDeliveredChunks() -> [Continuation] {
    guard !isSpooling else { return [] }
    let needed = slowest?.position ?? published
    let delivered = chunks.prefix { $0.end <= needed }
    for chunk in delivered { heldBytes -= chunk.bytes.count }
    chunks.removeFirst(delivered.count)
    guard hasSpace, let waiting = removeWaitingPump() else { return [] }
    return [waiting]
  }

  /// The reader that most content is held for, and its position.
  private var slowest: (id: Int, position: Int)? {
    let attached = members.lazy.filter { $0.value.isReader && !$0.value.isDetached }
    return attached.map { ($0.key, $0.value.position) }.min { $0.1 < $1.1 }
  }

  // MARK: The pump

  /// Publishes the outcome to all members.
  mutating func publish(_ outcome: Result<TransferOutcome, HTTPTransportError>) -> [Continuation] {
    guard self.outcome == nil else { return [] }
    self.outcome = outcome
    if case .failure(let error) = outcome { phase = .failed(error) }
    if case .success(.validated) = outcome { phase = .complete }
    return wakeAll()
  }

  /// Stops spooling: from here on content is held in memory alone.
  mutating func stopSpooling() {
    guard isSpooling else { return }
    isSpooling = false
  }

  /// Publishes content. Spooled content is already in the spool.
  mutating func publish(_ bytes: [UInt8]) -> [Continuation] {
    if isSpooling {
      spooled += bytes.count
      chunks.removeAll(keepingCapacity: true)
      heldBytes = 0
    }
    chunks.append(Chunk(start: published, bytes: bytes))
    heldBytes += bytes.count
    published += bytes.count
    let resumed = wakeAll()
    return resumed + dropDeliveredChunks()
  }

  /// The next step of the pump. After the time limit it continues: the slowest readers are detached until there is
  /// room.
  ///
  /// - Parameter now: the time since some fixed instant.
  mutating func pumpStep(at now: Duration) -> PumpStep {
    guard !isSpooling else { return .proceed }
    if let lastStep {
      let passed = now - lastStep.time
      waited = max(.zero, lastStep.isHeldBack ? waited + passed : waited - passed)
    }
    guard !hasSpace, case .open = phase else {
      lastStep = (now, false)
      return .proceed
    }
    let isHeldBack = members.values.contains {
      $0.isReader && $0.waiting != nil && !$0.isDetached && $0.position == published
    }
    lastStep = (now, isHeldBack)
    guard isHeldBack else { return .wait(for: nil) }
    guard waited >= slowReaderTimeout else { return .wait(for: slowReaderTimeout - waited) }
    // The loop ends at the latest when only readers are left that have read everything.
    while !hasSpace, let slowest {
      members[slowest.id]?.isDetached = true
      _ = dropDeliveredChunks()
    }
    waited = .zero
    lastStep = (now, false)
    return .proceed
  }

  /// True if the pump may continue.
  private var hasSpace: Bool { isSpooling || (heldBytes < window && chunks.count < TransferState.chunkLimit) }

  /// Registers the waiting pump; false if it may continue at once.
  mutating func waitForSpace(_ waiting: Continuation) -> Bool {
    guard !hasSpace, case .open = phase else { return false }
    waitingPump = waiting
    return true
  }

  /// Removes the waiting pump and returns it, to be resumed.
  mutating func removeWaitingPump() -> Continuation? {
    defer { waitingPump = nil }
    return waitingPump
  }

  /// Ends the content, once.
  mutating func end(_ phase: Phase) -> [Continuation] {
    guard case .open = self.phase else { return [] }
    self.phase = phase
    if outcome == nil, case .failed(let error) = phase { outcome = .failure(error) }
    var resumed = wakeAll()
    if let waiting = removeWaitingPump() { resumed.append(waiting) }
    return resumed
  }
}
