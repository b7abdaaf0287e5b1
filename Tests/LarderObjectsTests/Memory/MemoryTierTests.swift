import Testing

@testable import LarderObjects

@Suite("Objects: the memory tier as a state machine", .timeLimit(.minutes(5)))
struct MemoryTierTests {
  private func tier(count: Int = 10, bytes: Int = 1000) -> MemoryTier {
    MemoryTier(limit: .init(countLimit: count, byteLimit: bytes), number: 0, lastRequest: 0)
  }

  private func key(_ text: String) -> ObjectKey { ObjectKey(stored: text) }

  private func entry(_ value: Int, id: Int64 = 1, expires: Int64? = nil, cost: Int = 1) -> MemoryEntry {
    MemoryEntry(id: id, expires: expires, cost: cost, content: .decoded(Decoded(value)))
  }

  private func lookUp(_ tier: inout MemoryTier, _ text: String, at number: UInt64, now: Int64 = 0) -> String {
    switch tier.lookUp(key(text), at: number, now: { now }) {
    case .hit(.decoded(let value)): "hit \((value as? Decoded<Int>)?.value ?? -1)"
    case .hit(.encoded): "hit encoded"
    case .miss(let token): "miss \(token)"
    case .bypass: "bypass"
    }
  }

  private func begin(_ tier: inout MemoryTier, scheduled: Bool) -> Bool {
    tier.beginWritingCounts(scheduled: scheduled)
  }

  /// Commits a value at the tier's number.
  private func put(_ tier: inout MemoryTier, _ text: String, _ value: Int, cost: Int = 1, id: Int64 = 1) {
    _ = tier.beginCommit(.keys([key(text): entry(value, id: id, cost: cost)]), at: tier.number)
    _ = tier.endCommit(succeeded: true)
  }

  @Test("A miss, a fill, a hit")
  func fills() {
    var tier = tier()
    #expect(lookUp(&tier, "a", at: 0) == "miss 0")
    tier.fill(key("a"), entry(1), missed: 0, at: 0)
    #expect(lookUp(&tier, "a", at: 0) == "hit 1")
  }

  @Test("A value that was read before a commit is not added to memory after it")
  func lateFill() {
    var tier = tier()
    #expect(lookUp(&tier, "a", at: 0) == "miss 0")
    put(&tier, "b", 2)
    tier.fill(key("a"), entry(1), missed: 0, at: 2)
    #expect(lookUp(&tier, "a", at: 2) == "miss 2")
  }

  @Test("A key that is being changed is read from the file, others from memory")
  func committing() {
    var tier = tier()
    put(&tier, "a", 1, id: 1)
    put(&tier, "b", 2, id: 2)
    #expect(tier.beginCommit(.keys([key("a"): entry(3)]), at: 4) == 5)
    #expect(lookUp(&tier, "a", at: 5) == "bypass")
    #expect(lookUp(&tier, "b", at: 5) == "hit 2")
    tier.fill(key("a"), entry(1), missed: 4, at: 5)
    #expect(lookUp(&tier, "a", at: 5) == "bypass")
    #expect(tier.endCommit(succeeded: true) == 6)
    #expect(lookUp(&tier, "a", at: 6) == "hit 3")
    #expect(tier.takeMaintenanceTasks().contains(.reportMissed) == false)
  }

  @Test("A value that was read during the commit of another key is added to memory only during that commit")
  func fillWhileCommitting() {
    var tier = tier()
    _ = tier.beginCommit(.keys([key("a"): nil]), at: 0)
    #expect(lookUp(&tier, "b", at: 1) == "miss 1")
    #expect(lookUp(&tier, "c", at: 1) == "miss 1")
    tier.fill(key("b"), entry(2), missed: 1, at: 1)
    #expect(lookUp(&tier, "b", at: 1) == "hit 2")
    _ = tier.endCommit(succeeded: true)
    tier.fill(key("c"), entry(3), missed: 1, at: 2)
    #expect(lookUp(&tier, "c", at: 2) == "miss 2")
  }

  @Test("While another process commits, memory is not used; after it, everything is discarded and reported as missed")
  func foreignCommit() {
    var tier = tier()
    put(&tier, "a", 1)
    #expect(lookUp(&tier, "a", at: 3) == "bypass")
    tier.fill(key("b"), entry(2), missed: 2, at: 3)
    #expect(lookUp(&tier, "a", at: 2) == "hit 1")
    _ = tier.takeMaintenanceTasks()
    #expect(lookUp(&tier, "a", at: 4) == "miss 4")
    #expect(tier.takeMaintenanceTasks().contains(.reportMissed))
    #expect(lookUp(&tier, "b", at: 4) == "miss 4")
    #expect(tier.takeMaintenanceTasks().contains(.reportMissed) == false)
    #expect(tier.count == 0)
  }

  @Test("A commit after one of another process discards older values")
  func commitAfterForeign() {
    var tier = tier()
    put(&tier, "a", 1)
    #expect(tier.beginCommit(.keys([key("b"): entry(2)]), at: 8) == 9)
    #expect(tier.endCommit(succeeded: true) == 10)
    #expect(lookUp(&tier, "a", at: 10) == "miss 10")
    #expect(lookUp(&tier, "b", at: 10) == "hit 2")
  }

  @Test("A writer that ended during its commit leaves an odd number: memory is not used until the next commit")
  func deadWriter() {
    var tier = tier()
    put(&tier, "a", 1)
    #expect(lookUp(&tier, "a", at: 3) == "bypass")
    #expect(tier.beginCommit(.keys([key("b"): entry(2)]), at: 3) == 5)
    #expect(tier.endCommit(succeeded: true) == 6)
    #expect(lookUp(&tier, "a", at: 6) == "miss 6")
    #expect(lookUp(&tier, "b", at: 6) == "hit 2")
    var opened = MemoryTier(limit: .init(), number: 7, lastRequest: 0)
    #expect(lookUp(&opened, "a", at: 7) == "bypass")
    #expect(lookUp(&opened, "a", at: 8) == "miss 8")
  }

  @Test("After a failed commit, its keys are not in memory")
  func failedCommit() {
    var tier = tier()
    put(&tier, "a", 1)
    _ = tier.beginCommit(.keys([key("a"): entry(2)]), at: 2)
    _ = tier.endCommit(succeeded: false)
    #expect(lookUp(&tier, "a", at: 4) == "miss 4")
    put(&tier, "a", 1)
    _ = tier.beginCommit(.everything, at: 6)
    #expect(lookUp(&tier, "z", at: 7) == "bypass")
    _ = tier.endCommit(succeeded: true)
    #expect(lookUp(&tier, "a", at: 8) == "miss 8")
  }

  @Test("The limits of count and cost: the least recently used values are evicted; one value may use at most a quarter")
  func limits() {
    var tier = tier(count: 3, bytes: 100)
    for (number, text) in ["a", "b", "c"].enumerated() { put(&tier, text, number, id: Int64(number)) }
    #expect(lookUp(&tier, "a", at: tier.number) == "hit 0")
    put(&tier, "d", 3)
    #expect(tier.keys.map(\.text) == ["d", "a", "c"])
    put(&tier, "e", 4, cost: 26)
    #expect(tier.keys.map(\.text) == ["d", "a", "c"])
    put(&tier, "e", 4, cost: 25)
    #expect(tier.keys.map(\.text) == ["e", "d", "a"])
    for text in ["f", "g", "h", "i"] { put(&tier, text, 0, cost: 25) }
    #expect(tier.keys.map(\.text) == ["i", "h", "g"])
    #expect(tier.cost == 75)
  }

  @Test("A value is a miss from its expiry time on")
  func expiry() {
    var tier = tier()
    tier.fill(key("a"), entry(1, expires: 10), missed: 0, at: 0)
    #expect(lookUp(&tier, "a", at: 0, now: 9) == "hit 1")
    #expect(lookUp(&tier, "a", at: 0, now: 10) == "miss 0")
  }

  @Test("Counts past the limit request one write until it has begun")
  func manyCounts() {
    var tier = tier(count: 2)
    for id in 0..<MemoryTier.countLimit + 2 { tier.fill(key("\(id)"), entry(1, id: Int64(id)), missed: 0, at: 0) }
    #expect(tier.takeMaintenanceTasks().contains(.writeCounts))
    tier.fill(key("one more"), entry(1, id: -1), missed: 0, at: 0)
    #expect(!tier.takeMaintenanceTasks().contains(.writeCounts))
    #expect(begin(&tier, scheduled: false) && !begin(&tier, scheduled: false))
    // The existing counts are one round; counts that arrive in the meantime wait for its end.
    var taken = 0
    while true {
      let some = tier.takeCounts(1000)
      taken += some.count
      tier.fill(key("\(taken) more"), entry(1, id: Int64(100_000 + taken)), missed: 0, at: 0)
      #expect(some.map(\.id) == some.map(\.id).sorted())
      guard some.count == 1000 else { break }
    }
    #expect(taken == MemoryTier.countLimit + 3)
    #expect(tier.takeMaintenanceTasks() == [])
    tier.endWritingCounts(succeeded: true)
    // The timer that was requested at the start has not fired yet.
    #expect(tier.takeMaintenanceTasks() == [])
    #expect(begin(&tier, scheduled: true))
    #expect(tier.takeCounts(1000).count == 17)
    tier.endWritingCounts(succeeded: true)
    #expect(tier.takeMaintenanceTasks() == [])
    tier.fill(key("another"), entry(1, id: -2), missed: 0, at: 0)
    #expect(tier.takeMaintenanceTasks() == .scheduleCounts)
  }

  @Test(
    "There is one timer and one write at a time, however many slices a write has and whatever is requested in the meantime"
  )
  func oneWriting() {
    var tier = tier(count: 5000, bytes: 5000)
    for id in 0..<3000 { put(&tier, "\(id)", 1, id: Int64(id)) }
    for id in 0..<3000 { _ = lookUp(&tier, "\(id)", at: tier.number) }
    #expect(tier.takeMaintenanceTasks() == .scheduleCounts)
    #expect(begin(&tier, scheduled: true))
    for slice in 0..<6 {
      // All values are requested again between two slices.
      let ids = tier.takeCounts(500).map(\.id)
      #expect(ids.count == 500 && ids.first == Int64(slice * 500) && ids == ids.sorted(), "\(slice)")
      for id in 0..<3000 { _ = lookUp(&tier, "\(id)", at: tier.number) }
      #expect(!begin(&tier, scheduled: false))
    }
    #expect(tier.takeCounts(500).isEmpty && tier.takeMaintenanceTasks() == [])
    tier.endWritingCounts(succeeded: true)
    #expect(tier.takeMaintenanceTasks() == .scheduleCounts)
    // A failed write is not repeated until the next request.
    #expect(begin(&tier, scheduled: true))
    tier.returnCounts(tier.takeCounts(1))
    tier.endWritingCounts(succeeded: false)
    #expect(tier.takeMaintenanceTasks() == [])
    put(&tier, "new", 1, id: 9999)
    _ = lookUp(&tier, "new", at: tier.number)
    #expect(tier.takeMaintenanceTasks() == .scheduleCounts)
  }

  @Test("While another process holds the lock, a timer retries, not each request, and no count is lost")
  func lockedByAnother() {
    var tier = tier(count: 2)
    for id in 0..<MemoryTier.countLimit + 2 { tier.fill(key("\(id)"), entry(1, id: Int64(id)), missed: 0, at: 0) }
    #expect(tier.takeMaintenanceTasks() == [.writeCounts, .scheduleCounts])
    for round in 0..<2 {
      #expect(begin(&tier, scheduled: round == 1))
      tier.returnCounts(tier.takeCounts(1))
      tier.endWritingCounts(succeeded: false, triesAgain: true)
      // The timer from the start has not fired before the second round.
      #expect(tier.takeMaintenanceTasks() == (round == 0 ? [] : .scheduleCounts))
      tier.fill(key("more \(round)"), entry(1, id: Int64(-1 - round)), missed: 0, at: 0)
      #expect(tier.takeMaintenanceTasks() == [])
    }
    #expect(begin(&tier, scheduled: true))
    #expect(tier.takeCounts(100_000).count == MemoryTier.countLimit + 4)
    // No retry is pending: the next request schedules a write as at first.
    tier.endWritingCounts(succeeded: false, triesAgain: true)
    #expect(tier.takeMaintenanceTasks() == [])
    tier.fill(key("last"), entry(1, id: -9), missed: 0, at: 0)
    #expect(tier.takeMaintenanceTasks() == .scheduleCounts)
  }

  @Test("A store that evicts writes its counts sooner")
  func evictingCounts() {
    var tier = MemoryTier(limit: .none, number: 0, lastRequest: 0, evicts: true)
    for id in 0..<MemoryTier.evictingCountLimit {
      #expect(!tier.takeMaintenanceTasks().contains(.writeCounts))
      tier.fill(key("\(id)"), entry(1, id: Int64(id)), missed: 0, at: 0)
    }
    #expect(tier.takeMaintenanceTasks() == .writeCounts)
  }

  @Test("Each request is counted once, whatever happens to the value in memory")
  func counts() throws {
    var tier = tier(count: 2)
    tier.fill(key("a"), entry(1, id: 7), missed: 0, at: 0)
    for _ in 0..<4 { _ = lookUp(&tier, "a", at: 0) }
    #expect(tier.pendingRequests(key("a"), 7).times == 5)
    #expect(tier.takeMaintenanceTasks().contains(.scheduleCounts))
    put(&tier, "b", 2, id: 8)
    put(&tier, "c", 3, id: 9)
    #expect(tier.keys.map(\.text) == ["c", "b"])
    #expect(tier.pendingRequests(key("a"), 7).times == 5)
    _ = lookUp(&tier, "b", at: tier.number)
    put(&tier, "b", 4, id: 8)
    _ = lookUp(&tier, "b", at: tier.number)
    #expect(tier.pendingRequests(key("b"), 8).times == 2)
    #expect(begin(&tier, scheduled: true))
    let taken = tier.takeCounts(100)
    #expect(taken.reduce(into: [:]) { $0[$1.id, default: 0] += $1.requests.times } == [7: 5, 8: 2])
    #expect(tier.takeCounts(100).isEmpty)
    // Counts in the middle of a write are added for readers of the row's previous state, not for readers of its new state.
    let last = try #require(taken.filter { $0.id == 8 }.map(\.requests.last).max())
    for _ in 0..<2 {
      #expect(tier.pendingRequests(key("b"), 8).times == 2)
      #expect(tier.pendingRequests(key("b"), 8, after: last).times == 0)
      tier.retainWrittenCounts()
    }
    _ = lookUp(&tier, "b", at: tier.number)
    #expect(tier.takePendingRequests(key("b"), 8).times == 1)
    #expect(tier.takeMaintenanceTasks() == [])
    tier.endWritingCounts(succeeded: true)
    _ = lookUp(&tier, "b", at: tier.number)
    #expect(tier.takeMaintenanceTasks() == .scheduleCounts)
  }

  @Test(
    "In any interleaving of readers and commits of this and other processes, no old value is read after a new one",
    arguments: 1...20)
  func interleavings(seed: UInt64) {
    // The file is a dictionary; readers look up, read and fill at random times.
    var random = Shuffler(seed)
    var tier = tier(count: 3)
    var (number, file): (UInt64, [String: Int]) = (0, [:])
    let keys = ["a", "b", "c", "d"]
    var version = 0
    struct Reader {
      let key: String
      let atLeast: Int
      var token: UInt64?
      var read: Int?
      var hasRead = false
    }
    var readers: [Reader] = []
    /// The newest version of each key that any reader has received.
    var received: [String: Int] = [:]
    var written: (key: String, value: Int)?
    var ownIsCommitted = false
    for step in 0..<3000 {
      switch random.next(7) {
      case 0, 1, 2:
        let key = keys[random.next(4)]
        switch tier.lookUp(self.key(key), at: number, now: { 0 }) {
        case .hit(.decoded(let value)):
          let value = (value as? Decoded<Int>)?.value ?? -1
          #expect(value >= received[key] ?? 0, "seed \(seed), step \(step): \(key)")
          received[key] = max(received[key] ?? 0, value)
        case .hit(.encoded): Issue.record("nothing is encoded")
        case .miss(let token): readers.append(Reader(key: key, atLeast: received[key] ?? 0, token: token))
        case .bypass: readers.append(Reader(key: key, atLeast: received[key] ?? 0, token: nil))
        }
      case 3, 4:
        guard !readers.isEmpty else { continue }
        let index = random.next(readers.count)
        if !readers[index].hasRead {
          readers[index].read = file[readers[index].key]
          readers[index].hasRead = true
        } else {
          let reader = readers.remove(at: index)
          guard let value = reader.read else { continue }
          #expect(value >= reader.atLeast, "seed \(seed), step \(step): \(reader.key)")
          received[reader.key] = max(received[reader.key] ?? 0, value)
          tier.fill(self.key(reader.key), entry(value, id: 1), missed: reader.token, at: number)
        }
      case 5:
        // A commit of this process in three steps; `put` returns after the last one.
        if let change = written {
          if !ownIsCommitted {
            file[change.key] = change.value
            ownIsCommitted = true
          } else {
            number = tier.endCommit(succeeded: true)
            received[change.key] = max(received[change.key] ?? 0, change.value)
            written = nil
          }
        } else if number & 1 == 0 || random.next(4) == 0 {
          // An odd number here means that a writer of another process has ended.
          version += 1
          written = (keys[random.next(4)], version)
          ownIsCommitted = false
          let change = [self.key(written?.key ?? ""): Optional(entry(version))]
          number = tier.beginCommit(.keys(change), at: number)
        }
      default:
        // A commit of another process, or its end during it, while this process holds no lock.
        guard written == nil else { continue }
        if number & 1 == 0 {
          number += 1
        } else {
          version += 1
          let key = keys[random.next(4)]
          file[key] = version
          number += 1
          received[key] = version
        }
      }
    }
  }
}

/// Random numbers from a seed.
struct Shuffler {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed &* 0x9e37_79b9_7f4a_7c15 | 1 }

  mutating func next(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
}
