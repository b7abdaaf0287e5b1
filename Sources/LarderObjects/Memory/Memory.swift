@_spi(Stores) import LarderCore
import LarderStorage
import Synchronization

/// The memory tier of an open store, together with the number of changes that processes share for its file.
final class Memory: Sendable {
  private let tier: Locked<MemoryTier>
  /// Nil if the file system has no shared memory: nothing is held in memory then.
  private let counter: SharedCounter?
  /// The number of changes that is used without a shared counter.
  private let localNumber = Atomic<UInt64>(0)
  private let limit: ObjectStoreOptions.MemoryLimit
  /// The current time, in microseconds since 1970.
  let now: @Sendable () -> Int64
  private let maintenanceHandler: Locked<(@Sendable (MemoryTier.MaintenanceTasks) -> Void)?> = Locked(nil)

  init(
    limit: ObjectStoreOptions.MemoryLimit, evicts: Bool = false, counter: SharedCounter?, lastRequest: Int64,
    environment: LarderEnvironment
  ) {
    self.counter = counter
    now = { Timestamp.of(environment.now()) }
    self.limit = counter == nil ? .none : limit
    tier = Locked(MemoryTier(limit: self.limit, number: counter?.number ?? 0, lastRequest: lastRequest, evicts: evicts))
  }

  /// Sets the handler of maintenance tasks; called once, before the first use.
  func setMaintenanceHandler(_ handler: @escaping @Sendable (MemoryTier.MaintenanceTasks) -> Void) {
    _ = maintenanceHandler.withLock { exchange(&$0, with: handler) }
  }

  private var number: UInt64 { counter?.number ?? localNumber.load(ordering: .sequentiallyConsistent) }

  private func set(_ number: UInt64) {
    if let counter { counter.set(number) } else { localNumber.store(number, ordering: .sequentiallyConsistent) }
  }

  private func run(_ maintenanceTasks: MemoryTier.MaintenanceTasks) {
    guard maintenanceTasks != [], let handler = maintenanceHandler.withLock({ $0 }) else { return }
    handler(maintenanceTasks)
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

  func lookUp(_ key: ObjectKey) -> MemoryTier.LookupResult { step { $0.lookUp(key, at: $1, now: now) } }

  func fill(_ key: ObjectKey, _ entry: MemoryEntry, missed token: UInt64?) {
    step { $0.fill(key, entry, missed: token, at: $1) }
  }

  func decode(_ key: ObjectKey, id: Int64, to value: any DecodedValue) {
    step { $0.decode(key, id: id, to: value, at: $1) }
  }

  /// The number to pass to ``warm(_:_:token:)``.
  var token: UInt64 { number }

  func warm(_ key: ObjectKey, _ entry: MemoryEntry, token: UInt64) {
    step { $0.warm(key, entry, token: token, at: $1) }
  }

  func refresh() { step { $0.refresh(at: $1) } }

  /// Whether the tier holds a value of this cost at all.
  func fits(_ cost: Int) -> Bool { limit.fits(cost) }

  // MARK: Committing

  /// Runs a transaction while no other process begins one on this file.
  func withProcessLock<Value>(
    milliseconds timeout: Int32, _ body: () throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    guard let counter else { return try body() }
    try counter.lock(milliseconds: timeout)
    defer { counter.unlock() }
    return try body()
  }

  /// Makes the number even again if a writer ended in the middle of its commit and left it odd.
  func repair() throws(StorageError) {
    try withProcessLock(milliseconds: ObjectWriter.lockMilliseconds) { () throws(StorageError) in
      if number & 1 == 1 { set(number &+ 1) }
    }
  }

  /// Repairs the number if no process holds the lock; a process that holds it repairs the number itself. Then reports
  /// changes of other processes.
  func repairIfAbandoned() {
    do throws(StorageError) {
      try withProcessLock(milliseconds: 0) { () throws(StorageError) in
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

  /// The requests that are not counted in a row whose last request is `last`.
  func pendingRequests(_ key: ObjectKey, _ id: Int64, after last: Int64) -> Int {
    tier.withLock { Int(clamping: $0.pendingRequests(key, id, after: last).times) }
  }

  func takePendingRequests(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    tier.withLock { $0.takePendingRequests(key, id) }
  }

  func dropPendingRequests(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    tier.withLock { $0.dropPendingRequests(key, id) }
  }

  func takeCounts(_ limit: Int) -> [(id: Int64, requests: RequestCounts.Requests)] {
    tier.withLock { $0.takeCounts(limit) }
  }

  /// Returns counts that could not be written; the next write includes them.
  func returnCounts(_ counts: [(id: Int64, requests: RequestCounts.Requests)]) {
    guard !counts.isEmpty else { return }
    tier.withLock { $0.returnCounts(counts) }
  }

  func retainWrittenCounts() { tier.withLock { $0.retainWrittenCounts() } }

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
  var contents: (count: Int, bytes: Int) { tier.withLock { ($0.count, $0.cost) } }
}
