import LarderHTTP

/// Who takes part in a transfer, how far each has read, and what is kept for whom: pure, no I/O.
///
/// Content is published piece by piece. A piece that is in the spool can be read from there at any time, and only the
/// last such piece is held in memory for those who keep up. A piece that is in no spool is held until every reader has
/// taken it, and the pump waits while too many are held. Where readers that have taken all wait for slower ones then, those
/// are detached after the patience: nothing is held for them any more, and nobody takes part who was not there before.
///
/// Asking until an outcome is published; open until the content ends or breaks off. Continuations that have to be resumed
/// are answered, so that it happens outside the lock.
struct TransferState {
  typealias Waiting = CheckedContinuation<Void, Never>

  /// How the content ended.
  enum Ending {
    case open
    case complete
    case failed(HTTPTransportError)
  }

  /// What a reader does next.
  enum Step {
    case take([UInt8])
    case readSpool(Range<Int>)
    case wait
    case end
    case fail(HTTPTransportError)
    /// The content from a position on has to come from somewhere else: it is not held any more.
    case rest(from: Int)
  }

  /// What the pump does next.
  enum PumpStep: Hashable {
    case goOn
    /// Wait for room; with a time, at most so long: readers wait for slower ones meanwhile.
    case wait(for: Duration?)
  }

  /// What follows from a departure.
  struct Departure {
    var resumed: [Waiting] = []
    /// True where nobody is left and the rest is not worth its way.
    var isAbandoned = false
  }

  private struct Member {
    let isReader: Bool
    /// True where nothing is held for it: it was too slow for the others.
    var isDetached = false
    var position = 0
    var waiting: Waiting?
  }

  private struct Piece {
    let start: Int
    let bytes: [UInt8]
    var end: Int { start + bytes.count }
  }

  /// How much of the spool one step reads.
  static let spoolStep = 1 << 16
  /// Pieces held at most, however small they are.
  static let pieceLimit = 256

  let window: Int
  let patience: Duration
  private(set) var outcome: Result<TransferOutcome, HTTPTransportError>?
  private(set) var ending = Ending.open
  /// True once the last member has left and the transfer is to be cancelled: nobody may take part any more.
  private var isAbandoned = false
  /// Bytes published, in the spool or not.
  private(set) var published = 0
  private var spooled = 0
  private var isSpooling = true
  private var pieces: [Piece] = []
  private var held = 0
  private var members: [Int: Member] = [:]
  private var lastMember = 0
  private var pump: Waiting?
  /// How long readers have waited for slower ones lately: grows while one does, and shrinks while none does.
  private var waited = Duration.zero
  private var lastStep: (time: Duration, isHeldBack: Bool)?

  init(window: Int, patience: Duration) {
    self.window = window
    self.patience = patience
  }

  // MARK: Members

  /// Takes part from the first byte on; nil where content is held in memory alone, so that a new reader would hold back
  /// those who are there, and where the transfer has failed or is abandoned.
  mutating func join(asReader isReader: Bool) -> Int? {
    if isAbandoned { return nil }
    if case .failed = ending { return nil }
    if case .failure = outcome { return nil }
    if isReader, !isSpooling, published > 0 { return nil }
    lastMember += 1
    members[lastMember] = Member(isReader: isReader)
    return lastMember
  }

  /// Ends a member's part, at most once; whoever it let wait finds itself gone.
  mutating func leave(_ id: Int, finishing: Int) -> Departure {
    guard let member = members.removeValue(forKey: id) else { return Departure() }
    var departure = Departure()
    if let waiting = member.waiting { departure.resumed.append(waiting) }
    departure.resumed += dropTaken()
    if members.values.allSatisfy(\.isDetached), case .open = ending, !isAbandoned {
      isAbandoned = !isNearlyDone(finishing)
      departure.isAbandoned = isAbandoned
    }
    return departure
  }

  /// True where content goes into a spool and at most `finishing` bytes of it are known to be missing.
  private func isNearlyDone(_ finishing: Int) -> Bool {
    guard isSpooling, case .success(.content(let head)) = outcome, head.metadata != nil, let length = head.length else {
      return false
    }
    return length - published <= finishing
  }

  /// True while somebody takes content as it comes.
  var hasReaders: Bool { members.values.contains { $0.isReader && !$0.isDetached } }

  /// Registers whoever waits, unless it should look again instead; the pump has to look again where it is answered.
  mutating func wait(_ id: Int, _ waiting: Waiting) -> (isWaiting: Bool, pump: Waiting?) {
    guard members[id] != nil else { return (false, nil) }
    if outcome != nil {
      guard case .wait = step(of: id) else { return (false, nil) }
    }
    members[id]?.waiting = waiting
    return (true, takePump())
  }

  private mutating func wakeAll() -> [Waiting] {
    var resumed: [Waiting] = []
    for (id, member) in members {
      guard let waiting = member.waiting else { continue }
      resumed.append(waiting)
      members[id]?.waiting = nil
    }
    return resumed
  }

  /// True where a member still takes part.
  func holds(_ id: Int) -> Bool { members[id] != nil }

  // MARK: Reading

  /// What a reader does next; it does not move.
  func step(of id: Int) -> Step {
    guard let member = members[id] else { return .fail(.cancelled) }
    if member.isReader, member.position < published { return content(at: member.position) }
    switch ending {
    case .open: return .wait
    case .complete: return .end
    case .failed(let error): return member.isDetached ? .rest(from: member.position) : .fail(error)
    }
  }

  private func content(at position: Int) -> Step {
    if let piece = pieces.first(where: { $0.start <= position && position < $0.end }) {
      return .take(piece.start == position ? piece.bytes : Array(piece.bytes[(position - piece.start)...]))
    }
    guard position < spooled else { return .rest(from: position) }
    return .readSpool(position..<min(spooled, position + TransferState.spoolStep))
  }

  /// Moves a reader on; the pump may have room again.
  mutating func advance(_ id: Int, by count: Int) -> [Waiting] {
    members[id]?.position += count
    return dropTaken()
  }

  private mutating func dropTaken() -> [Waiting] {
    guard !isSpooling else { return [] }
    let needed = slowest?.position ?? published
    let taken = pieces.prefix { $0.end <= needed }
    for piece in taken { held -= piece.bytes.count }
    pieces.removeFirst(taken.count)
    guard hasRoom, let waiting = takePump() else { return [] }
    return [waiting]
  }

  /// The reader for which most is held, and how far it has read.
  private var slowest: (id: Int, position: Int)? {
    let attached = members.lazy.filter { $0.value.isReader && !$0.value.isDetached }
    return attached.map { ($0.key, $0.value.position) }.min { $0.1 < $1.1 }
  }

  // MARK: The pump

  /// Tells everybody what the answer is.
  mutating func publish(_ outcome: Result<TransferOutcome, HTTPTransportError>) -> [Waiting] {
    guard self.outcome == nil else { return [] }
    self.outcome = outcome
    if case .failure(let error) = outcome { ending = .failed(error) }
    if case .success(.validated) = outcome { ending = .complete }
    return wakeAll()
  }

  /// From here on content is held in memory alone.
  mutating func stopSpooling() {
    guard isSpooling else { return }
    isSpooling = false
  }

  /// Adds content; where it is spooled, it is there already.
  mutating func publish(_ bytes: [UInt8]) -> [Waiting] {
    if isSpooling {
      spooled += bytes.count
      pieces.removeAll(keepingCapacity: true)
      held = 0
    }
    pieces.append(Piece(start: published, bytes: bytes))
    held += bytes.count
    published += bytes.count
    let resumed = wakeAll()
    return resumed + dropTaken()
  }

  /// What the pump does next. Past the patience it goes on: the slowest readers are detached until there is room.
  ///
  /// - Parameter now: the time since some fixed instant.
  mutating func pumpStep(at now: Duration) -> PumpStep {
    guard !isSpooling else { return .goOn }
    if let lastStep {
      let passed = now - lastStep.time
      waited = max(.zero, lastStep.isHeldBack ? waited + passed : waited - passed)
    }
    guard !hasRoom, case .open = ending else {
      lastStep = (now, false)
      return .goOn
    }
    let isHeldBack = members.values.contains {
      $0.isReader && $0.waiting != nil && !$0.isDetached && $0.position == published
    }
    lastStep = (now, isHeldBack)
    guard isHeldBack else { return .wait(for: nil) }
    guard waited >= patience else { return .wait(for: patience - waited) }
    // It ends at the latest where those are left who have taken all.
    while !hasRoom, let slowest {
      members[slowest.id]?.isDetached = true
      _ = dropTaken()
    }
    waited = .zero
    lastStep = (now, false)
    return .goOn
  }

  /// True where the pump may go on.
  private var hasRoom: Bool { isSpooling || (held < window && pieces.count < TransferState.pieceLimit) }

  /// Registers the pump; false where it may go on at once.
  mutating func waitForRoom(_ waiting: Waiting) -> Bool {
    guard !hasRoom, case .open = ending else { return false }
    pump = waiting
    return true
  }

  /// The pump where it waits, to be woken.
  mutating func takePump() -> Waiting? {
    defer { pump = nil }
    return pump
  }

  /// Ends the content, once.
  mutating func end(_ ending: Ending) -> [Waiting] {
    guard case .open = self.ending else { return [] }
    self.ending = ending
    if outcome == nil, case .failed(let error) = ending { outcome = .failure(error) }
    var resumed = wakeAll()
    if let waiting = takePump() { resumed.append(waiting) }
    return resumed
  }
}
