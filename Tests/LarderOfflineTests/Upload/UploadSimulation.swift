import LarderTestSupport

@testable import LarderOffline

/// A service, a queue on a disk, and one who carries out what the machine says, all of it in memory and from a seed. It
/// goes wrong everywhere: responses are lost, the process dies between any two steps, batches are rejected.
struct UploadSimulation {
  /// How a service behaves.
  struct Service {
    var takesBatches = true
    var mostUnits = Int.max
    var continuesAfterErrors = true
    /// A part that it cannot read spoils the whole batch.
    var poisonSpoilsBatch = false
    /// Shares of 100.
    var lost = 0
    var unavailable = 0
    var failsWhole = 0
  }

  enum QueuedState { case queued, inDoubt }
  struct Crash: Error {}

  var random: PrintedSeed
  var service: Service
  var rules: UploadRules
  let units: [Int64: UploadUnit]
  let poisons: Set<Int64>

  /// The disk: units not done and not archived.
  var queue: [Int64: QueuedState] = [:]
  var archive: Set<Int64> = []
  /// The service's memory: how often each unit took effect, and in which order.
  var applied: [Int64: Int] = [:]
  var order: [Int64] = []
  var batches = 0
  var singles = 0
  var lookUps = 0
  /// Chance in 1000 that the process dies at a step.
  var crashes = 0
  var isClosing = false

  init(_ units: [UploadUnit], poisons: Set<Int64>, service: Service, rules: UploadRules, seed: UInt64) {
    random = PrintedSeed(seed: seed)
    self.service = service
    self.rules = rules
    self.poisons = poisons
    self.units = Dictionary(uniqueKeysWithValues: units.map { ($0.id, $0) })
    for unit in units { queue[unit.id] = .queued }
  }

  private mutating func chance(_ share: Int, of whole: Int = 100) -> Bool {
    share > 0 && Int(random.next() % UInt64(whole)) < share
  }

  private mutating func mayDie() throws(Crash) { if chance(crashes, of: 1000) { throw Crash() } }

  // MARK: One upload

  /// Runs one upload until its end or until the process dies. Returns whether it came to its end.
  mutating func upload() throws(Crash) {
    let waiting = queue.keys.sorted().compactMap { units[$0] }.map { unit in
      var unit = unit
      unit.isInDoubt = queue[unit.id] == .inDoubt
      unit.after = unit.after.filter { queue[$0] != nil || archive.contains($0) }
      return unit
    }
    var machine = UploadMachine(waiting, rules: rules)
    var open = machine.take(.begin)
    while !open.isEmpty {
      // Concurrent requests end in any order.
      let action = open.remove(at: Int(random.next() % UInt64(open.count)))
      if action == .finish { return }
      open += machine.take(try perform(action, machine))
      if isClosing, chance(5) { open += machine.take(.stop) }
    }
  }

  private mutating func perform(
    _ action: UploadMachine.Action, _ machine: UploadMachine
  ) throws(Crash) -> UploadMachine.Input {
    switch action {
    case .resolve(let id): return .resolved(id, try lookUp(id, machine))
    case .sendAlone(let id):
      try journal([id])
      singles += 1
      if chance(service.unavailable) { return try stopped([id]) }
      let unitOutcome = serve(id)
      if chance(service.lost) { return try stopped([id]) }
      return .sent([id: try commit(id, unitOutcome, machine)])
    case .sendBatch(let ids): return try sendBatch(ids, machine)
    case .archive(let id):
      return .resolved(id, try commit(id, .archived, machine))
    case .finish: return .stop
    }
  }

  private mutating func journal(_ ids: [Int64]) throws(Crash) {
    try mayDie()
    for id in ids { queue[id] = .inDoubt }
    try mayDie()
  }

  /// A lost connection: requests in progress stay in doubt.
  private mutating func stopped(_ ids: [Int64]) throws(Crash) -> UploadMachine.Input {
    try mayDie()
    return .stop
  }

  private mutating func serve(_ id: Int64) -> UnitOutcome {
    if poisons.contains(id) { return .archived }
    applied[id, default: 0] += 1
    order.append(id)
    return .done
  }

  private mutating func sendBatch(_ ids: [Int64], _ machine: UploadMachine) throws(Crash) -> UploadMachine.Input {
    try journal(ids)
    batches += 1
    if !service.takesBatches { return try rejected(ids, .unsupported) }
    if ids.count > service.mostUnits { return try rejected(ids, .rejected) }
    if service.poisonSpoilsBatch, ids.contains(where: poisons.contains) { return try rejected(ids, .rejected) }
    if chance(service.unavailable) { return try stopped(ids) }
    var unitOutcomes: [Int64: UnitOutcome] = [:]
    let breaksOff = chance(service.failsWhole) ? Int(random.next() % UInt64(ids.count + 1)) : Int.max
    for (place, id) in ids.enumerated() {
      if place == breaksOff { break }
      unitOutcomes[id] = serve(id)
      if unitOutcomes[id] == .archived, !service.continuesAfterErrors { break }
    }
    if breaksOff < ids.count { return .rejected(ids, .unclear) }
    if chance(service.lost) { return try stopped(ids) }
    for id in ids { unitOutcomes[id] = try commit(id, unitOutcomes[id] ?? .notSent, machine) }
    return .sent(unitOutcomes)
  }

  private mutating func rejected(_ ids: [Int64], _ rejection: BatchRejection) throws(Crash) -> UploadMachine.Input {
    for id in ids { queue[id] = .queued }
    try mayDie()
    return .rejected(ids, rejection)
  }

  private mutating func commit(
    _ id: Int64, _ unitOutcome: UnitOutcome, _ machine: UploadMachine
  ) throws(Crash) -> UnitOutcome {
    try mayDie()
    switch unitOutcome {
    case .done: queue[id] = nil
    case .archived:
      for one in [id] + machine.dependents(of: id) {
        queue[one] = nil
        archive.insert(one)
      }
    default: queue[id] = .queued
    }
    try mayDie()
    return unitOutcome
  }

  private mutating func lookUp(_ id: Int64, _ machine: UploadMachine) throws(Crash) -> UnitOutcome {
    lookUps += 1
    return try commit(id, (applied[id] ?? 0) > 0 ? .done : .notSent, machine)
  }

  // MARK: Judging

  /// What is wrong with the simulation; empty if nothing is.
  func faults() -> [String] {
    var faults: [String] = []
    for (id, times) in applied where times > 1 { faults.append("\(id) took effect \(times) times") }
    let places = Dictionary(order.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
    for id in order {
      for earlier in units[id]?.after ?? [] where places[earlier].map({ $0 > places[id] ?? 0 }) ?? true {
        faults.append("\(id) went before \(earlier)")
      }
    }
    for id in units.keys where queue[id] == nil && !archive.contains(id) && applied[id] == nil {
      faults.append("\(id) is lost")
    }
    for id in archive where applied[id] != nil { faults.append("\(id) took effect and is in the archive") }
    return faults
  }

  /// What must be in the archive at the end: the poisons and all behind them.
  var doomed: Set<Int64> {
    var doomed = poisons
    for id in units.keys.sorted() where units[id]?.after.contains(where: doomed.contains) ?? false { doomed.insert(id) }
    return doomed
  }
}
