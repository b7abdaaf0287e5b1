import LarderCore
import LarderStorage
import Synchronization

/// The memory tier of an open store, together with the number of changes that processes share for its file.
final class Memory: Sendable {
  private let tier: Locked<MemoryTier>
  /// Nil if the file system has no shared memory: nothing is held in memory then.
  private let counter: SharedCounter?
  /// The number of changes that is used without a shared counter.
  private let ownNumber = Atomic<UInt64>(0)
  private let limit: ObjectStoreOptions.MemoryLimit
  /// The current time, in microseconds since 1970.
  let now: @Sendable () -> Int64
  private let onMaintenanceTasks: Locked<(@Sendable (MemoryTier.MaintenanceTasks) -> Void)?> = Locked(nil)

  init(
    limit: ObjectStoreOptions.MemoryLimit, evicts: Bool = false, counter: SharedCounter?, lastRequest: Int64,
    environment: LarderEnvironment
  ) {
    self.counter = counter
    now = { Timestamp.of(environment.now()) }
    self.limit = counter == nil ? .none : limit
    tier = Locked(MemoryTier(limit: self.limit, number: counter?.number ?? 0, last: lastRequest, evicts: evicts))
  }

  /// Sets the handler of maintenance tasks; called once, before the first use.
  func onMaintenanceTasks(_ body: @escaping @Sendable (MemoryTier.MaintenanceTasks) -> Void) {
    _ = onMaintenanceTasks.withLock { exchange(&$0, with: body) }
  }

  private var number: UInt64 { counter?.number ?? ownNumber.load(ordering: .sequentiallyConsistent) }

  private func set(_ number: UInt64) {
    if let counter { counter.set(number) } else { ownNumber.store(number, ordering: .sequentiallyConsistent) }
  }

  private func run(_ maintenanceTasks: MemoryTier.MaintenanceTasks) {
    guard maintenanceTasks != [], let body = onMaintenanceTasks.withLock({ $0 }) else { return }
    body(maintenanceTasks)
  }

  /// Runs one step of the state machine. The number is read inside the lock, so that it is never older than the tier's
  /// number.
  private func step<Result>(_ body: (inout MemoryTier, UInt64) -> sending Result) -> Result {
    let (result, maintenanceTasks, _) = tier.withLock { tier in
      (body(&tier, number), tier.takeMaintenanceTasks(), tier.takeDropped())
    }
    if maintenanceTasks != [] { run(maintenanceTasks) }
    return result
  }

  // MARK: Reading

  func look(_ key: ObjectKey) -> MemoryTier.Look { step { $0.look(key, at: $1, now: now) } }

  func fill(_ key: ObjectKey, _ held: MemoryEntry, missed token: UInt64?) {
    step { $0.fill(key, held, missed: token, at: $1) }
  }

  func decode(_ key: ObjectKey, id: Int64, to value: any DecodedValue) {
    step { $0.decode(key, id: id, to: value, at: $1) }
  }

  /// The number to pass to ``warm(_:_:token:)``.
  var token: UInt64 { number }

  func warm(_ key: ObjectKey, _ held: MemoryEntry, token: UInt64) {
    step { $0.warm(key, held, token: token, at: $1) }
  }

  func refresh() { step { $0.refresh(at: $1) } }

  /// Whether the tier holds a value of this cost at all.
  func fits(_ cost: Int) -> Bool { limit.fits(cost) }

  // MARK: Committing

  /// Runs a transaction while no other process begins one on this file.
  func whileAlone<Value>(
    _ waiting: Int32, _ body: () throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    guard let counter else { return try body() }
    try counter.lock(milliseconds: waiting)
    defer { counter.unlock() }
    return try body()
  }

  /// Makes the number even again if a writer ended in the middle of its commit and left it odd.
  func repair() throws(StorageError) {
    try whileAlone(ObjectWriter.lockMilliseconds) { () throws(StorageError) in
      if number & 1 == 1 { set(number &+ 1) }
    }
  }

  /// Repairs the number if no process holds the lock; a process that holds it repairs the number itself. Then reports
  /// changes of other processes.
  func repairIfAbandoned() {
    do throws(StorageError) {
      try whileAlone(0) { () throws(StorageError) in
        if number & 1 == 1 { set(number &+ 1) }
      }
    } catch {
      // Another process holds the lock: a commit is running.
    }
    step { tier, current in
      tier.endRepair()
      if current & 1 == 0 { tier.refresh(at: current) }
    }
  }

  /// Called just before a commit, inside ``whileAlone(_:_:)``.
  func beginCommit(_ changes: MemoryTier.Changes) {
    step { tier, current in
      let odd = tier.beginCommit(changes, at: current)
      set(odd)
    }
  }

  /// Called just after a commit.
  func endCommit(succeeded: Bool) {
    step { tier, _ in
      let even = tier.endCommit(succeeded: succeeded)
      set(even)
    }
  }

  /// Releases the values in memory.
  func trim() { step { tier, _ in tier.trim() } }

  func close() { step { tier, _ in tier.close() } }

  // MARK: Counting

  /// The requests that are not counted in a row whose last request is `known`.
  func pending(_ key: ObjectKey, _ id: Int64, beyond known: Int64) -> Int {
    tier.withLock { Int(clamping: $0.pending(key, id, beyond: known).times) }
  }

  func takePending(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    tier.withLock { $0.takePending(key, id) }
  }

  func dropPending(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    tier.withLock { $0.dropPending(key, id) }
  }

  func takeCounts(_ limit: Int) -> [(id: Int64, requests: RequestCounts.Requests)] {
    tier.withLock { $0.takeCounts(limit) }
  }

  /// Returns counts that could not be written; the next write includes them.
  func giveBack(_ counts: [(id: Int64, requests: RequestCounts.Requests)]) {
    guard !counts.isEmpty else { return }
    tier.withLock { $0.giveBack(counts) }
  }

  func keepWritten() { tier.withLock { $0.keepWritten() } }

  func raiseRequestNumber(to number: Int64) { tier.withLock { $0.raiseRequestNumber(to: number) } }

  func beginRound() { tier.withLock { $0.beginRound() } }

  func beginWritingCounts(scheduled: Bool) -> Bool { tier.withLock { $0.beginWritingCounts(scheduled: scheduled) } }

  func endWritingCounts(succeeded: Bool, triesAgain: Bool = false) {
    step { tier, _ in tier.endWritingCounts(succeeded: succeeded, triesAgain: triesAgain) }
  }

  func nextRequestNumber() -> Int64 { tier.withLock { $0.nextRequestNumber() } }

  /// For tests: the held keys, most recently used first.
  var keys: [String] { tier.withLock { $0.keys.map(\.text) } }
  /// How many values are held, and their total cost.
  var held: (count: Int, bytes: Int) { tier.withLock { ($0.count, $0.cost) } }
}
