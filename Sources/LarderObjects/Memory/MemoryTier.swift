@_spi(Stores) import LarderStorage

/// The values in memory, and whether they are those on disk: a pure state machine.
///
/// `number` is the number of changes of the file that the values are coherent with. The number that the file has now is
/// handed in. It is odd while somebody commits. Coherence rests on three rules:
///
/// - A look-up sees the values where the number is still the same, or where only this process is committing and the key is
///   not among those changed. Another even number tells of another process's changes: everything is forgotten.
/// - Keys that a commit changes leave memory before it, and come back after it, in the step that renews the number.
///   Between the two they are read from the file.
/// - What a reader has read from the file comes into memory only where the number is the one at which its look-up missed.
struct MemoryTier: Sendable {
  /// Which keys a commit of this process is about to change.
  enum Changes: Sendable {
    /// By key: what memory may hold after it; nil for what it must not hold.
    case keys([ObjectKey: MemoryEntry?])
    case everything

    func contains(_ key: ObjectKey) -> Bool {
      switch self {
      case .keys(let keys): keys[key] != nil
      case .everything: true
      }
    }
  }

  /// What a look-up found.
  enum Look: Sendable {
    case hit(MemoryEntry.Content)
    /// Read the file; what is found may be offered by ``fill(_:_:missed:at:)`` with this number.
    case miss(UInt64)
    /// Read the file, and keep nothing of it.
    case bypass
  }

  /// What the shell has to do beside.
  struct MaintenanceTasks: OptionSet, Sendable {
    let rawValue: UInt8
    /// Write the counts in a while.
    static let scheduleCounts = MaintenanceTasks(rawValue: 1)
    /// Write the counts now, for they are many.
    static let writeCounts = MaintenanceTasks(rawValue: 2)
    /// Tell observers that another process has changed something.
    static let tellMissed = MaintenanceTasks(rawValue: 4)
    /// Look whether who committed has ended in the midst of it.
    static let repair = MaintenanceTasks(rawValue: 8)
  }

  private let limit: ObjectStoreOptions.MemoryLimit
  private var entries = RecentlyUsed<ObjectKey, MemoryEntry>()
  private(set) var number: UInt64
  private var committing: Changes?
  private var isClosed = false
  private var isRepairing = false
  /// What is to be done beside; emptied by ``takeErrands()``.
  private var errands: MaintenanceTasks = []
  /// Values that have left, whose release can run code of others; emptied by ``takeDropped()``.
  private var dropped: [MemoryEntry] = []

  private var counts = RequestCounts()
  /// Counts on their way into the file, and those that came there last.
  private var taken = RequestCounts()
  private var written = RequestCounts()
  /// Keys of values in memory that have requests of their own.
  private var requested: [ObjectKey] = []
  private var last: Int64
  private var isWritingScheduled = false
  /// Writing at once was asked for, and has not begun yet.
  private var isWritingAsked = false
  private var isWriting = false

  /// Counts held before they are written without waiting longer.
  private let countLimit: Int
  static let countLimit = 16_384
  /// The same where values are evicted: a put that makes room writes the counts of those whose turn it would be.
  static let evictingCountLimit = 2048

  /// - Parameters:
  ///   - number: the file's number of changes.
  ///   - last: the last moment of a request that the file knows.
  ///   - evicts: true where the file has limits.
  init(limit: ObjectStoreOptions.MemoryLimit, number: UInt64, last: Int64, evicts: Bool = false) {
    self.limit = limit
    countLimit = evicts ? MemoryTier.evictingCountLimit : MemoryTier.countLimit
    self.number = number & 1 == 0 ? number : number &+ 1
    self.last = last
  }

  var count: Int { entries.count }
  var cost: Int { entries.total }
  var keys: [ObjectKey] { entries.keys }

  // MARK: Looking up

  /// Looks a value up and counts the request; `now` is only asked where the value expires.
  mutating func look(_ key: ObjectKey, at current: UInt64, now: () -> Int64) -> Look {
    guard stands(at: current), !(committing?.contains(key) ?? false) else { return .bypass }
    last &+= 1
    let (moment, token) = (last, current)
    let found = entries.use(key) { held -> (content: MemoryEntry.Content, isFirst: Bool)? in
      if let expires = held?.expires, expires <= now() { return nil }
      guard let content = held?.content else { return nil }
      let isFirst = held?.requests.times == 0
      held?.requests.add(RequestCounts.Requests(times: 1, last: moment))
      return (content, isFirst)
    }
    guard let found, let hit = found else { return .miss(token) }
    if hit.isFirst {
      requested.append(key)
      noteUncounted()
    }
    return .hit(hit.content)
  }

  /// True where the values are those of the file at its number now; forgets those that are not.
  private mutating func stands(at current: UInt64) -> Bool {
    if isClosed { return false }
    if current == number { return true }
    if committing != nil { return current == number &+ 1 }
    guard current & 1 == 0 else { return false }
    notice(current)
    return true
  }

  private mutating func notice(_ current: UInt64) {
    forgetEverything()
    number = current
    errands.insert(.tellMissed)
  }

  /// Looks whether another process has changed something.
  mutating func refresh(at current: UInt64) {
    guard !stands(at: current), !isClosed, committing == nil, !isRepairing else { return }
    isRepairing = true
    errands.insert(.repair)
  }

  /// The look at who committed is over.
  mutating func endRepair() { isRepairing = false }

  /// Counts a request of a value that was read from the file, and keeps the value where that is still allowed.
  mutating func fill(_ key: ObjectKey, _ held: MemoryEntry, missed token: UInt64?, at current: UInt64) {
    last &+= 1
    let requests = RequestCounts.Requests(times: 1, last: last)
    guard let token, token == current, stands(at: current), !(committing?.contains(key) ?? false),
      limit.fits(held.cost),
      entries.peek(key) == nil
    else {
      counts.add(requests, held.id)
      noteUncounted()
      return
    }
    var held = held
    held.requests = requests
    requested.append(key)
    put(key, held)
    noteUncounted()
  }

  /// Replaces what was read at the start by the value that it turned out to be; the same row, or nothing.
  mutating func decode(_ key: ObjectKey, id: Int64, to value: any DecodedValue, at current: UInt64) {
    guard stands(at: current) else { return }
    _ = entries.change(key) { held in
      if held?.id == id, case .encoded = held?.content { held?.content = .decoded(value) }
    }
  }

  /// Keeps a value that was read at the start; no request.
  mutating func warm(_ key: ObjectKey, _ held: MemoryEntry, token: UInt64, at current: UInt64) {
    guard token == current, stands(at: current), committing == nil, limit.fits(held.cost), entries.peek(key) == nil
    else { return }
    put(key, held)
  }

  private mutating func put(_ key: ObjectKey, _ held: MemoryEntry) {
    if let old = entries.set(held, cost: held.cost, for: key) { drop(old) }
    while entries.count > limit.count || entries.total > limit.bytes, let old = entries.removeOldest() { drop(old) }
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
    requested = []
  }

  // MARK: Committing

  /// Before a commit, under the lock that all writers of the file take: answers the odd number that the file gets.
  ///
  /// `current` is odd where a writer ended in the midst of its commit; nobody knows whether that commit counts.
  mutating func beginCommit(_ changes: Changes, at current: UInt64) -> UInt64 {
    if current & 1 == 1 { notice(current &+ 1) } else if current != number { notice(current) }
    committing = changes
    switch changes {
    case .keys(let keys): if entries.count > 0 { for key in keys.keys { forget(key) } }
    case .everything: forgetEverything()
    }
    return number &+ 1
  }

  /// After a commit, or after it failed: answers the even number that the file gets.
  mutating func endCommit(succeeded: Bool) -> UInt64 {
    if case .keys(let keys) = committing.take() {
      for case (let key, let held?) in keys {
        if succeeded, !isClosed, limit.fits(held.cost) { put(key, held) } else { dropped.append(held) }
      }
    }
    number &+= 2
    return number
  }

  /// Lets go of the values; their requests are still counted.
  mutating func trim() {
    guard !isClosed else { return }
    forgetEverything()
    noteUncounted()
  }

  /// Nothing is found any more.
  mutating func close() {
    isClosed = true
    forgetEverything()
  }

  // MARK: Counting

  private mutating func noteUncounted() {
    // The end of the writing that goes on, or is about to begin, looks what has come meanwhile.
    guard !isWriting, !isWritingAsked else { return }
    if requested.count + counts.count >= countLimit {
      isWritingAsked = true
      errands.insert(.writeCounts)
    } else if !isWritingScheduled {
      isWritingScheduled = true
      errands.insert(.scheduleCounts)
    }
  }

  /// What is to be done beside the last steps.
  mutating func takeErrands() -> MaintenanceTasks {
    guard errands != [] else { return [] }
    defer { errands = [] }
    return errands
  }

  /// The values that have left in the last steps, to be released without the lock.
  mutating func takeDropped() -> [MemoryEntry] { dropped.isEmpty ? [] : exchange(&dropped, with: []) }

  /// The requests of a value that a row does not know yet whose last is at `known`.
  ///
  /// Those that are being written, or just have been, are in the row or not: its last moment tells.
  func pending(_ key: ObjectKey, _ id: Int64, beyond known: Int64 = 0) -> RequestCounts.Requests {
    var requests = counts[id]
    for written in [taken[id], written[id]] where written.last > known { requests.add(written) }
    if let held = entries.peek(key), held.id == id { requests.add(held.requests) }
    return requests
  }

  /// Takes them out, to be dropped with their value.
  mutating func dropPending(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    let requests = takePending(key, id)
    // The row begins anew, or is gone: nothing is beyond it.
    _ = (taken.take(id), written.take(id))
    return requests
  }

  /// Takes them out, to be written.
  mutating func takePending(_ key: ObjectKey, _ id: Int64) -> RequestCounts.Requests {
    var requests = counts.take(id)
    _ = entries.change(key) { held in
      guard let found = held, found.id == id else { return }
      requests.add(found.requests)
      held?.requests = RequestCounts.Requests()
    }
    taken.add(requests, id)
    return requests
  }

  /// The counts that there are now can be taken out, by id.
  mutating func beginRound() {
    for key in requested {
      var found: (id: Int64, requests: RequestCounts.Requests)?
      _ = entries.change(key) { held in
        found = held.map { ($0.id, $0.requests) }
        held?.requests = RequestCounts.Requests()
      }
      if let found { counts.add(found.requests, found.id) }
    }
    requested = []
    counts.beginRound()
  }

  /// Takes up to `limit` counts of the round out, to be written; fewer where it is over.
  mutating func takeCounts(_ limit: Int) -> [(id: Int64, requests: RequestCounts.Requests)] {
    let some = counts.takeSome(limit)
    for count in some { taken.add(count.requests, count.id) }
    return some
  }

  /// What was taken is not written; the next writing takes it again.
  mutating func giveBack(_ given: [(id: Int64, requests: RequestCounts.Requests)]) {
    for count in given {
      _ = taken.take(count.id)
      counts.add(count.requests, count.id)
    }
  }

  /// What was taken is written; readers of the state before may still ask for it.
  mutating func keepWritten() {
    guard taken.count > 0 else { return }
    (written, taken) = (taken, RequestCounts())
  }

  /// A writing begins, of the counts that there are now; false where another goes on.
  ///
  /// - Parameter scheduled: whether it is the one that waited for a while.
  mutating func beginWritingCounts(scheduled: Bool) -> Bool {
    if scheduled { isWritingScheduled = false }
    guard !isWriting else { return false }
    isWriting = true
    beginRound()
    return true
  }

  /// It is over. What came meanwhile is written in a while; what could not be written, some time after the next request.
  ///
  /// - Parameter triesAgain: another process has the lock. The counts are tried again in a while, however many come until then.
  mutating func endWritingCounts(succeeded: Bool, triesAgain: Bool = false) {
    (isWriting, isWritingAsked) = (false, false)
    guard succeeded || triesAgain, counts.count > 0 || !requested.isEmpty else { return }
    isWritingAsked = triesAgain
    guard !isWritingScheduled else { return }
    isWritingScheduled = true
    errands.insert(.scheduleCounts)
  }

  /// The file knows a later moment, of another process.
  mutating func raiseMoment(to moment: Int64) { last = max(last, moment) }

  /// The next moment, later than all requests.
  mutating func nextMoment() -> Int64 {
    last &+= 1
    return last
  }
}

extension ObjectStoreOptions.MemoryLimit {
  /// Whether a value of this cost is held at all.
  func fits(_ cost: Int) -> Bool { count > 0 && cost <= bytes / 4 }
}
