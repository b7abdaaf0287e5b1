@_spi(Stores) import LarderStorage

/// The values in memory, and whether they equal those on disk: a pure state machine.
///
/// `number` is the number of changes of the file that the values are coherent with. The caller passes the file's
/// current number. It is odd during a commit. Coherence is based on three rules:
///
/// - A lookup may use the values if the number is unchanged, or if only this process is committing and the key is not
///   among the changed ones. Any other even number means that another process has changed the file: everything is
///   discarded.
/// - Keys that a commit changes are removed from memory before it. They are added again after it, in the step that
///   updates the number. In between, they are read from the file.
/// - A value that was read from the file is added to memory only if the number is still the one at which its lookup
///   missed.
struct MemoryTier: Sendable {
  /// The keys that a commit of this process is about to change.
  enum Changes: Sendable {
    /// By key: what memory may hold after the commit; nil for a value that memory must not hold.
    case keys([ObjectKey: MemoryEntry?])
    case everything

    func contains(_ key: ObjectKey) -> Bool {
      switch self {
      case .keys(let keys): keys[key] != nil
      case .everything: true
      }
    }
  }

  /// The result of a lookup.
  enum LookupResult: Sendable {
    case hit(MemoryEntry.Content)
    /// Read the file. The value may be passed to ``fill(_:_:missed:at:)`` with this number.
    case miss(UInt64)
    /// Read the file, and do not keep the value in memory.
    case bypass
  }

  /// Tasks that the shell must perform besides the call.
  struct MaintenanceTasks: OptionSet, Sendable {
    let rawValue: UInt8
    /// Write the counts after a delay.
    static let scheduleCounts = MaintenanceTasks(rawValue: 1)
    /// Write the counts now, because there are many.
    static let writeCounts = MaintenanceTasks(rawValue: 2)
    /// Notify observers that another process has changed something.
    static let reportMissed = MaintenanceTasks(rawValue: 4)
    /// Check whether a process has ended in the middle of its commit.
    static let repair = MaintenanceTasks(rawValue: 8)
  }

  private let limit: ObjectStoreOptions.MemoryLimit
  private var entries = RecentlyUsed<ObjectKey, MemoryEntry>()
  private(set) var number: UInt64
  private var committing: Changes?
  private var isClosed = false
  private var isRepairing = false
  /// The tasks that are due; ``takeMaintenanceTasks()`` empties it.
  private var maintenanceTasks: MaintenanceTasks = []
  /// Removed values, whose release can run foreign code; ``takeDropped()`` empties it.
  private var dropped: [MemoryEntry] = []

  private var counts = RequestCounts()
  /// Counts that are being written to the file, and those that were written last.
  private var countsInWrite = RequestCounts()
  private var writtenCounts = RequestCounts()
  /// Keys of values in memory that have unwritten requests.
  private var keysWithRequests: [ObjectKey] = []
  private var lastRequestNumber: Int64
  private var isWritingScheduled = false
  /// An immediate write was requested and has not begun yet.
  private var isImmediateWriteRequested = false
  private var isWriting = false

  /// How many counts are held before they are written without further delay.
  private let countLimit: Int
  static let countLimit = 16_384
  /// The count limit of a store that evicts values: a put that makes room writes the counts of the values that are next
  /// in the order of eviction.
  static let evictingCountLimit = 2048

  /// - Parameters:
  ///   - number: the file's number of changes.
  ///   - lastRequest: the number of the last request that is written to the file.
  ///   - evicts: true if the file has limits.
  init(limit: ObjectStoreOptions.MemoryLimit, number: UInt64, lastRequest: Int64, evicts: Bool = false) {
    self.limit = limit
    countLimit = evicts ? MemoryTier.evictingCountLimit : MemoryTier.countLimit
    self.number = number & 1 == 0 ? number : number &+ 1
    lastRequestNumber = lastRequest
  }

  var count: Int { entries.count }
  var cost: Int { entries.total }
  var keys: [ObjectKey] { entries.keys }

  // MARK: Looking up

  /// Looks a value up and counts the request. `now` is only called if the value expires.
  mutating func lookUp(_ key: ObjectKey, at current: UInt64, now: () -> Int64) -> LookupResult {
    guard isCoherent(at: current), !(committing?.contains(key) ?? false) else { return .bypass }
    lastRequestNumber &+= 1
    let (requestNumber, token) = (lastRequestNumber, current)
    let hit =
      entries.use(key) { entry -> (content: MemoryEntry.Content, isFirst: Bool)? in
        if let expires = entry?.expires, expires <= now() { return nil }
        guard let content = entry?.content else { return nil }
        let isFirst = entry?.requests.times == 0
        entry?.requests.add(RequestCounts.Requests(times: 1, last: requestNumber))
        return (content, isFirst)
      } ?? nil
    guard let hit else { return .miss(token) }
    if hit.isFirst {
      keysWithRequests.append(key)
      scheduleCountWriting()
    }
    return .hit(hit.content)
  }

  /// True if the values are those of the file at its current number. Discards outdated values.
  private mutating func isCoherent(at current: UInt64) -> Bool {
    if isClosed { return false }
    if current == number { return true }
    if committing != nil { return current == number &+ 1 }
    guard current & 1 == 0 else { return false }
    noteExternalChange(current)
    return true
  }

  private mutating func noteExternalChange(_ current: UInt64) {
    forgetEverything()
    number = current
    maintenanceTasks.insert(.reportMissed)
  }

  /// Checks whether another process has changed something.
  mutating func refresh(at current: UInt64) {
    guard !isCoherent(at: current), !isClosed, committing == nil, !isRepairing else { return }
    isRepairing = true
    maintenanceTasks.insert(.repair)
  }

  /// Ends the check for an unfinished commit.
  mutating func endRepair() { isRepairing = false }

  /// Counts a request of a value that was read from the file, and keeps the value if that is still allowed.
  mutating func fill(_ key: ObjectKey, _ entry: MemoryEntry, missed token: UInt64?, at current: UInt64) {
    lastRequestNumber &+= 1
    let requests = RequestCounts.Requests(times: 1, last: lastRequestNumber)
    guard let token, token == current, isCoherent(at: current), !(committing?.contains(key) ?? false),
      limit.fits(entry.cost),
      entries.peek(key) == nil
    else {
      counts.add(requests, entry.id)
      scheduleCountWriting()
      return
    }
    var entry = entry
    entry.requests = requests
    keysWithRequests.append(key)
    put(key, entry)
    scheduleCountWriting()
  }

  /// Replaces a value that was loaded at the start by its decoded form. Does nothing unless it is the same row.
  mutating func decode(_ key: ObjectKey, id: Int64, to value: any DecodedValue, at current: UInt64) {
    guard isCoherent(at: current) else { return }
    _ = entries.change(key) { entry in
      if entry?.id == id, case .encoded = entry?.content { entry?.content = .decoded(value) }
    }
  }

  /// Keeps a value that was loaded at the start, without counting a request.
  mutating func warm(_ key: ObjectKey, _ entry: MemoryEntry, token: UInt64, at current: UInt64) {
    guard token == current, isCoherent(at: current), committing == nil, limit.fits(entry.cost), entries.peek(key) == nil
    else { return }
    put(key, entry)
  }

  private mutating func put(_ key: ObjectKey, _ entry: MemoryEntry) {
    if let old = entries.set(entry, cost: entry.cost, for: key) { drop(old) }
    while entries.count > limit.countLimit || entries.total > limit.byteLimit, let old = entries.removeOldest() {
      drop(old)
    }
  }

  private mutating func drop(_ old: MemoryEntry) {
    counts.add(old.requests, old.id)
    dropped.append(old)
  }

  private mutating func forget(_ key: ObjectKey) {
    if let old = entries.remove(key) { drop(old) }
  }

  private mutating func forgetEverything() {
    while let old = entries.removeOldest() { drop(old) }
    entries = RecentlyUsed()
    keysWithRequests = []
  }

  // MARK: Committing

  /// Begins a commit, under the lock that all writers of the file take. Returns the odd number that the file gets.
  ///
  /// `current` is odd if a writer ended in the middle of its commit. It is unknown whether that commit took effect.
  mutating func beginCommit(_ changes: Changes, at current: UInt64) -> UInt64 {
    if current & 1 == 1 { noteExternalChange(current &+ 1) } else if current != number { noteExternalChange(current) }
    committing = changes
    switch changes {
    case .keys(let keys): if entries.count > 0 { for key in keys.keys { forget(key) } }
    case .everything: forgetEverything()
    }
    return number &+ 1
  }

  /// Ends a commit, whether it succeeded or failed. Returns the even number that the file gets.
  mutating func endCommit(succeeded: Bool) -> UInt64 {
    if case .keys(let keys) = committing.take() {
      for case (let key, let entry?) in keys {
        if succeeded, !isClosed, limit.fits(entry.cost) { put(key, entry) } else { dropped.append(entry) }
      }
    }
    number &+= 2
    return number
  }

  /// Releases the values; their requests are still counted.
  mutating func trim() {
    guard !isClosed else { return }
    forgetEverything()
    scheduleCountWriting()
  }

  /// Closes the tier: later lookups find nothing.
  mutating func close() {
    isClosed = true
    forgetEverything()
  }

  // MARK: Counting

  private mutating func scheduleCountWriting() {
    // A write that is running or about to begin checks at its end for counts that arrived in the meantime.
    guard !isWriting, !isImmediateWriteRequested else { return }
    if keysWithRequests.count + counts.count >= countLimit {
      isImmediateWriteRequested = true
      maintenanceTasks.insert(.writeCounts)
    } else if !isWritingScheduled {
      isWritingScheduled = true
      maintenanceTasks.insert(.scheduleCounts)
    }
  }

  /// Removes the tasks of the last steps and returns them.
  mutating func takeMaintenanceTasks() -> MaintenanceTasks {
    guard maintenanceTasks != [] else { return [] }
    defer { maintenanceTasks = [] }
    return maintenanceTasks
  }

  /// Removes the values that the last steps dropped and returns them, so that they are released without the lock.
  mutating func takeDropped() -> [MemoryEntry] { dropped.isEmpty ? [] : exchange(&dropped, with: []) }

  /// The requests that are not counted in a row whose last request is `last`.
  ///
  /// Requests that are being written, or have just been, may or may not be in the row; the row's last request number
  /// decides.
  func pendingRequests(_ key: ObjectKey, _ id: Int64, after last: Int64 = 0) -> RequestCounts.Requests {
    var requests = counts[id]
    for counted in [countsInWrite[id], writtenCounts[id]] where counted.last > last { requests.add(counted) }
    if let entry = entries.peek(key), entry.id == id { requests.add(entry.requests) }
    return requests
  }

  /// Removes the pending requests of a value and returns them, so that they are dropped with the value.
  mutating func dropPendingRequests(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    let requests = takePendingRequests(key, id)
    // The row was replaced or deleted: no requests are pending for it.
    _ = (countsInWrite.remove(id), writtenCounts.remove(id))
    return requests
  }

  /// Removes the pending requests of a value and returns them, so that they are written.
  mutating func takePendingRequests(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    var requests = counts.remove(id)
    _ = entries.change(key) { entry in
      guard let current = entry, current.id == id else { return }
      requests.add(current.requests)
      entry?.requests = RequestCounts.Requests()
    }
    countsInWrite.add(requests, id)
    return requests
  }

  /// Begins a round: the counts that exist now can be taken out, by id.
  mutating func beginRound() {
    for key in keysWithRequests {
      var uncounted: (id: Int64, requests: RequestCounts.Requests)?
      _ = entries.change(key) { entry in
        uncounted = entry.map { ($0.id, $0.requests) }
        entry?.requests = RequestCounts.Requests()
      }
      if let uncounted { counts.add(uncounted.requests, uncounted.id) }
    }
    keysWithRequests = []
    counts.beginRound()
  }

  /// Takes up to `limit` counts of the round out, to be written. Returns fewer at the end of the round.
  mutating func takeCounts(_ limit: Int) -> [(id: Int64, requests: RequestCounts.Requests)] {
    let batch = counts.takeCounts(limit)
    for count in batch { countsInWrite.add(count.requests, count.id) }
    return batch
  }

  /// Returns counts that could not be written; the next write includes them.
  mutating func returnCounts(_ unwritten: [(id: Int64, requests: RequestCounts.Requests)]) {
    for count in unwritten {
      _ = countsInWrite.remove(count.id)
      counts.add(count.requests, count.id)
    }
  }

  /// Ends a write of counts. They are kept for readers of the file's previous state, who may still need them.
  mutating func retainWrittenCounts() {
    guard countsInWrite.count > 0 else { return }
    (writtenCounts, countsInWrite) = (countsInWrite, RequestCounts())
  }

  /// Begins a write of the counts that exist now. Returns false if another write is running.
  ///
  /// - Parameter scheduled: whether this is the write that was scheduled with a delay.
  mutating func beginWritingCounts(scheduled: Bool) -> Bool {
    if scheduled { isWritingScheduled = false }
    guard !isWriting else { return false }
    isWriting = true
    beginRound()
    return true
  }

  /// Ends a write of counts. Counts that arrived in the meantime are written after a delay; counts that could not be
  /// written, some time after the next request.
  ///
  /// - Parameter triesAgain: another process holds the lock. The counts are tried again after a delay, however many
  ///   arrive until then.
  mutating func endWritingCounts(succeeded: Bool, triesAgain: Bool = false) {
    (isWriting, isImmediateWriteRequested) = (false, false)
    guard succeeded || triesAgain, counts.count > 0 || !keysWithRequests.isEmpty else { return }
    isImmediateWriteRequested = triesAgain
    guard !isWritingScheduled else { return }
    isWritingScheduled = true
    maintenanceTasks.insert(.scheduleCounts)
  }

  /// Raises the last request number to a later one that another process has written to the file.
  mutating func raiseRequestNumber(to number: Int64) {
    lastRequestNumber = max(lastRequestNumber, number)
  }

  /// Returns the next request number, greater than all before.
  mutating func nextRequestNumber() -> Int64 {
    lastRequestNumber &+= 1
    return lastRequestNumber
  }
}

extension ObjectStoreOptions.MemoryLimit {
  /// Whether the limit admits a value of this cost.
  func fits(_ cost: Int) -> Bool { countLimit > 0 && cost <= byteLimit / 4 }
}
