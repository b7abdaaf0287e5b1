/// The control flow of one upload as a pure state machine: what is sent next, alone or in a batch, and what is pending.
///
/// A unit is `waiting` until all units that it depends on are done, then `ready`. A unit whose outcome is uncertain is
/// `resolving` first. From `sending`, a ``UnitOutcome`` leads to `done`, `archived`, `gone`, `accepted` (until the next
/// upload), back to `ready` or `waiting`, or to `resolving`. Units that depend on an archived one are `held`. Batches are sent one after another,
/// so that the service sees the changes in the order in which they were made; single requests are sent in parallel
/// lanes. A caller that archives the units of ``dependents(of:)`` before it reports the outcome writes the state that
/// the machine assumes.
struct UploadMachine: Sendable {
  /// An event that the machine processes.
  enum Input: Sendable {
    case begin
    /// The outcomes of units that were sent.
    case sent([Int64: UnitOutcome])
    /// A batch failed as a whole. `others` are the outcomes of units that were left out of it.
    case rejected([Int64], BatchRejection, others: [Int64: UnitOutcome] = [:])
    /// The outcome of a unit that was looked up, or put into the archive.
    case resolved(Int64, UnitOutcome)
    /// Nothing more may be started, because the caller cancels, or the service cannot be reached.
    case stop
  }

  /// What the caller must do.
  enum Action: Sendable, Hashable {
    /// Look up the outcome of a unit.
    case resolve(Int64)
    /// Send a unit as single requests.
    case sendAlone(Int64)
    /// Send units as one batch.
    case sendBatch([Int64])
    /// Archive a unit of several requests that the service does not accept in any form, with the units that depend on
    /// it.
    case archive(Int64)
    /// The upload has ended: no action is running any more.
    case finish
  }

  private enum Phase: Hashable { case waiting, ready, resolving, sending, accepted, done, archived, held, gone }

  private struct Entry {
    var unit: UploadUnit
    var phase = Phase.waiting
    /// The units that it depends on and that are not done.
    var missing: Set<Int64>
    var isAlone: Bool
    /// Whether it is being sent as a part of a batch.
    var isInBatch = false
    var sends = 0
  }

  /// The maximum number of times that a unit is sent in one upload. After that it stays in the queue until the next
  /// upload.
  private static let maximumSends = 12

  let rules: UploadRules
  /// Whether batches are used. It becomes false when the service rejects them.
  private(set) var usesBatches: Bool
  private var entries: [Int64: Entry] = [:]
  private var followers: [Int64: [Int64]] = [:]
  /// The units that are ready for a batch, and those that are ready to be sent alone.
  private var ready = OrderedIDs()
  private var readyAlone = OrderedIDs()
  private var doubtful = OrderedIDs()
  /// The maximum number of units in the next batch.
  private var limit: Int
  /// Whether the service has executed a batch, or rejected only some of its units.
  private(set) var batchTookEffect = false
  private var fruitless = 0
  /// The number of batches whose responses could not be read.
  private var unreadable = 0
  /// A unit that was rejected as a batch of one, and is now sent alone.
  private var suspect: Int64?
  private var runningBatches = 0
  private var runningSingles = 0
  private var resolving = 0
  private var isStopping = false
  private var isFinished = false
  /// Transactions that cannot be sent because the service does not accept batches.
  private(set) var unsendable: [Int64] = []

  init(_ units: [UploadUnit], rules: UploadRules) {
    self.rules = rules
    usesBatches = rules.unitsPerBatch > 0
    limit = max(1, rules.unitsPerBatch)
    for unit in units {
      entries[unit.id] = Entry(unit: unit, missing: Set(unit.after), isAlone: unit.isAlone)
      for earlier in Set(unit.after) { followers[earlier, default: []].append(unit.id) }
    }
    for unit in units { release(unit.id) }
  }

  /// Processes an event and returns the actions to perform.
  mutating func take(_ input: Input) -> [Action] {
    guard !isFinished else { return [] }
    var actions: [Action] = []
    switch input {
    case .begin: break
    case .stop: isStopping = true
    case .resolved(let id, let unitOutcome):
      runningSingles -= 1
      if entries[id]?.phase == .resolving { resolving -= 1 }
      settle(id, unitOutcome)
    case .sent(let unitOutcomes): handleOutcomes(unitOutcomes)
    case .rejected(let ids, let rejection, let others):
      actions += handleRejection(ids, rejection)
      for (id, unitOutcome) in others { settle(id, unitOutcome) }
    }
    actions += next()
    if actions.isEmpty, runningBatches == 0, runningSingles == 0 {
      isFinished = true
      return [.finish]
    }
    return actions
  }

  /// The units that depend on a unit, directly or indirectly, and are still in the queue, in their order.
  func dependents(of id: Int64) -> [Int64] {
    var dependentIDs: Set<Int64> = []
    var open = [id]
    while let current = open.popLast() {
      for follower in followers[current] ?? [] where isQueued(follower) && dependentIDs.insert(follower).inserted {
        open.append(follower)
      }
    }
    return dependentIDs.sorted()
  }

  private func isQueued(_ id: Int64) -> Bool {
    switch entries[id]?.phase {
    case .waiting, .ready, .resolving, .sending, .accepted: true
    default: false
    }
  }

  // MARK: Outcomes

  private mutating func handleOutcomes(_ unitOutcomes: [Int64: UnitOutcome]) {
    if let id = unitOutcomes.keys.first, entries[id]?.isInBatch != true {
      runningSingles -= 1
      // The unit was rejected in a batch and accepted without one, so the service does not accept batches.
      if id == suspect, unitOutcomes[id] == .done, !batchTookEffect { usesBatches = false }
      if id == suspect { suspect = nil }
    } else {
      runningBatches -= 1
      let isProgress = unitOutcomes.values.contains { $0 != .notSent && $0 != .inDoubt && $0 != .apart }
      fruitless = isProgress ? 0 : fruitless + 1
      if isProgress {
        batchTookEffect = true
        limit = min(limit * 2, max(1, rules.unitsPerBatch))
      }
      // The service responds to batches but executes nothing in them.
      if fruitless > 2 { usesBatches = false }
    }
    for (id, unitOutcome) in unitOutcomes { settle(id, unitOutcome) }
  }

  private mutating func settle(_ id: Int64, _ unitOutcome: UnitOutcome) {
    guard entries[id] != nil else { return }
    switch unitOutcome {
    case .done, .gone:
      entries[id]?.phase = unitOutcome == .done ? .done : .gone
      for follower in followers[id] ?? [] {
        entries[follower]?.missing.remove(id)
        release(follower)
      }
    case .archived:
      let behind = dependents(of: id)
      entries[id]?.phase = .archived
      for follower in behind {
        entries[follower]?.phase = .held
        ready.remove(follower)
        readyAlone.remove(follower)
        doubtful.remove(follower)
      }
    case .again, .notSent, .apart:
      if unitOutcome == .apart { entries[id]?.isAlone = true }
      entries[id]?.unit.isInDoubt = false
      entries[id]?.phase = .waiting
      release(id)
    case .inDoubt:
      entries[id]?.unit.isInDoubt = true
      entries[id]?.phase = .waiting
      release(id)
    case .accepted: entries[id]?.phase = .accepted
    case .deferred(let after):
      entries[id]?.unit.isInDoubt = false
      entries[id]?.phase = .waiting
      for earlier in after where entries[earlier]?.phase != .done && entries[earlier]?.phase != .gone {
        if entries[id]?.missing.insert(earlier).inserted ?? false { followers[earlier, default: []].append(id) }
      }
      release(id)
    }
  }

  /// Makes a unit ready if it no longer depends on a pending one.
  private mutating func release(_ id: Int64) {
    guard let entry = entries[id], entry.phase == .waiting else { return }
    // A unit whose outcome is uncertain was sent before, so the units that it depends on had taken effect.
    guard entry.missing.isEmpty || entry.unit.isInDoubt else { return }
    guard entry.sends < Self.maximumSends else { return }
    entries[id]?.phase = .ready
    if entry.unit.isInDoubt {
      doubtful.insert(id)
    } else if entry.isAlone {
      readyAlone.insert(id)
    } else {
      ready.insert(id)
    }
  }

  // MARK: Rejected batches

  private mutating func handleRejection(_ ids: [Int64], _ rejection: BatchRejection) -> [Action] {
    runningBatches -= 1
    switch rejection {
    case .unclear, .unreadable:
      if rejection == .unreadable, !batchTookEffect {
        unreadable += 1
        // Two unreadable responses are no coincidence: such a service responds to requests that it does not understand.
        if unreadable > 1 { usesBatches = false }
      }
      limit = max(1, ids.count / 2)
      for id in ids { settle(id, .inDoubt) }
      // A unit whose batch of one fails in this way is sent alone, where it gets a response of its own.
      if ids.count == 1, let only = ids.first { entries[only]?.isAlone = true }
    case .unsupported:
      usesBatches = false
      for id in ids { settle(id, .notSent) }
    case .rejected:
      limit = max(1, ids.count / 2)
      guard ids.count == 1, let only = ids.first else {
        for id in ids { settle(id, .notSent) }
        break
      }
      guard let entry = entries[only], entry.unit.size == 1 || rules.splitsTransactions else {
        runningSingles += 1
        return [.archive(only)]
      }
      entries[only]?.isAlone = true
      suspect = suspect ?? only
      settle(only, .notSent)
    }
    return []
  }

  // MARK: Choosing

  private mutating func next() -> [Action] {
    guard !isStopping else { return [] }
    var actions: [Action] = []
    while runningSingles < max(1, rules.lanes), let id = doubtful.popFirst() {
      entries[id]?.phase = .resolving
      resolving += 1
      runningSingles += 1
      actions.append(.resolve(id))
    }
    // Uncertain units were sent before the others, so their outcome is determined first.
    guard doubtful.isEmpty, resolving == 0 else { return actions }
    actions += nextSingles()
    if usesBatches, runningBatches == 0, let batch = nextBatch() { actions.append(batch) }
    return actions
  }

  private mutating func nextBatch() -> Action? {
    let chosen = Array(ready.all.prefix(limit))
    guard !chosen.isEmpty else { return nil }
    for id in chosen { send(id, inBatch: true) }
    runningBatches += 1
    return .sendBatch(chosen)
  }

  private mutating func nextSingles() -> [Action] {
    var actions: [Action] = []
    while runningSingles < max(1, rules.lanes), let id = nextSingle(), let entry = entries[id] {
      send(id, inBatch: false)
      guard entry.unit.size == 1 || rules.splitsTransactions else {
        unsendable.append(id)
        continue
      }
      runningSingles += 1
      actions.append(.sendAlone(id))
    }
    return actions
  }

  private func nextSingle() -> Int64? {
    guard !usesBatches, let first = ready.all.first else { return readyAlone.all.first }
    return min(first, readyAlone.all.first ?? first)
  }

  private mutating func send(_ id: Int64, inBatch: Bool) {
    ready.remove(id)
    readyAlone.remove(id)
    entries[id]?.phase = .sending
    entries[id]?.sends += 1
    entries[id]?.isInBatch = inBatch
  }
}
