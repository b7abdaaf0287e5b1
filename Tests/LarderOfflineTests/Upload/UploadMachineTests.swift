import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The run of an upload", .timeLimit(.minutes(1)))
struct UploadMachineTests {
  private func chain(_ ids: ClosedRange<Int64>) -> [UploadUnit] {
    ids.map { UploadUnit(id: $0, after: $0 == ids.lowerBound ? [] : [$0 - 1]) }
  }

  @Test("Units that depend on nothing are sent in one batch, in their order")
  func oneBatch() {
    var machine = UploadMachine([3, 1, 2].map { UploadUnit(id: $0) }, rules: UploadRules())
    #expect(machine.take(.begin) == [.sendBatch([1, 2, 3])])
    #expect(machine.take(.sent([1: .done, 2: .done, 3: .done])) == [.finish])
    #expect(machine.take(.begin).isEmpty)
  }

  @Test("A request that depends on another waits for its response; a failure holds all its dependents")
  func causalOrder() {
    let units = [UploadUnit(id: 1), UploadUnit(id: 2, after: [1]), UploadUnit(id: 3, after: [2]), UploadUnit(id: 4)]
    var machine = UploadMachine(units, rules: UploadRules())
    #expect(machine.take(.begin) == [.sendBatch([1, 4])])
    #expect(machine.dependents(of: 1) == [2, 3])
    #expect(machine.take(.sent([1: .archived, 4: .done])) == [.finish])

    machine = UploadMachine(units, rules: UploadRules())
    _ = machine.take(.begin)
    #expect(machine.take(.sent([1: .done, 4: .done])) == [.sendBatch([2])])
    #expect(machine.take(.sent([2: .done])) == [.sendBatch([3])])
  }

  @Test("Without batches four single requests are sent at once, and one that ends makes room for the next")
  func lanes() {
    var machine = UploadMachine((1...6).map { UploadUnit(id: $0) }, rules: UploadRules(unitsPerBatch: 0))
    #expect(machine.take(.begin) == [.sendAlone(1), .sendAlone(2), .sendAlone(3), .sendAlone(4)])
    #expect(machine.take(.sent([3: .done])) == [.sendAlone(5)])
    #expect(machine.take(.sent([1: .archived])) == [.sendAlone(6)])
    #expect(machine.take(.stop).isEmpty)
    for id in [Int64(2), 4, 5] { #expect(machine.take(.sent([id: .done])).isEmpty) }
    #expect(machine.take(.sent([6: .inDoubt])) == [.finish])
  }

  @Test("Uncertain requests are looked up before anything else is sent")
  func doubt() {
    let units = [UploadUnit(id: 1, isInDoubt: true), UploadUnit(id: 2, after: [1]), UploadUnit(id: 3)]
    var machine = UploadMachine(units, rules: UploadRules(lanes: 1))
    #expect(machine.take(.begin) == [.resolve(1)])
    #expect(machine.take(.resolved(1, .done)) == [.sendBatch([2, 3])])
  }

  @Test("A service that takes no batches is sent singles from then on")
  func rejectedBatch() {
    var machine = UploadMachine((1...3).map { UploadUnit(id: $0) }, rules: UploadRules(lanes: 2))
    #expect(machine.take(.begin) == [.sendBatch([1, 2, 3])])
    #expect(machine.take(.rejected([1, 2, 3], .unsupported)) == [.sendAlone(1), .sendAlone(2)])
    #expect(!machine.usesBatches)
  }

  @Test("A transaction is never taken apart, unless that is allowed")
  func transactionsWithoutBatches() {
    let units = [UploadUnit(id: 1, size: 3), UploadUnit(id: 4)]
    var machine = UploadMachine(units, rules: UploadRules(unitsPerBatch: 0))
    #expect(machine.take(.begin) == [.sendAlone(4)])
    #expect(machine.unsendable == [1])
    #expect(machine.take(.sent([4: .done])) == [.finish])
    machine = UploadMachine(units, rules: UploadRules(unitsPerBatch: 0, splitsTransactions: true))
    #expect(machine.take(.begin) == [.sendAlone(1), .sendAlone(4)])
  }

  @Test("A batch that is too large is halved, and grows again where it goes through")
  func halving() {
    var machine = UploadMachine((1...8).map { UploadUnit(id: $0) }, rules: UploadRules(unitsPerBatch: 8))
    #expect(machine.take(.begin) == [.sendBatch(Array(1...8))])
    #expect(machine.take(.rejected(Array(1...8), .rejected)) == [.sendBatch([1, 2, 3, 4])])
    #expect(machine.take(.rejected([1, 2, 3, 4], .rejected)) == [.sendBatch([1, 2])])
    #expect(machine.take(.sent([1: .done, 2: .done])) == [.sendBatch([3, 4, 5, 6])])
  }

  @Test("A request that depends on something outside the upload stays, and later requests are waited for")
  func outside() {
    let units = [UploadUnit(id: 5, after: [2]), UploadUnit(id: 6), UploadUnit(id: 7)]
    var machine = UploadMachine(units, rules: UploadRules())
    #expect(machine.take(.begin) == [.sendBatch([6, 7])])
    #expect(machine.take(.sent([6: .deferred(after: [7]), 7: .done])) == [.sendBatch([6])])
    #expect(machine.take(.sent([6: .deferred(after: [99])])) == [.finish])
  }

  @Test("Bytes go beside the batches")
  func streams() {
    let units = [UploadUnit(id: 1, isAlone: true), UploadUnit(id: 2), UploadUnit(id: 3, after: [1])]
    var machine = UploadMachine(units, rules: UploadRules())
    #expect(machine.take(.begin) == [.sendAlone(1), .sendBatch([2])])
    #expect(machine.take(.sent([2: .done])).isEmpty)
    #expect(machine.take(.sent([1: .done])) == [.sendBatch([3])])
  }

  @Test("A poison request does not stop a thousand others", arguments: [true, false], [true, false])
  func poison(spoilsBatch: Bool, continues: Bool) throws {
    let units = (1...1001).map { UploadUnit(id: Int64($0)) }
    var service = UploadSimulation.Service()
    (service.poisonSpoilsBatch, service.continuesAfterErrors) = (spoilsBatch, continues)
    var simulation = UploadSimulation(units, poisons: [1], service: service, rules: UploadRules(), seed: 7)
    try simulation.upload()
    #expect(
      simulation.faults() == [] && simulation.archive == [1] && simulation.applied.count == 1000
        && simulation.queue.isEmpty)
    #expect(
      simulation.batches + simulation.singles <= 30, "\(simulation.batches) batches, \(simulation.singles) singles")
  }

  @Test("Ten thousand changes take no more batches than their number requires")
  func batchCount() throws {
    // Ten changes of each of a thousand entities, mixed.
    let units = (1...10_000).map { (id: Int64) in
      UploadUnit(id: id, after: id <= 1000 ? [] : [id - 1000])
    }
    var simulation = UploadSimulation(units, poisons: [], service: .init(), rules: UploadRules(), seed: 1)
    try simulation.upload()
    #expect(simulation.faults() == [] && simulation.queue.isEmpty && simulation.applied.count == 10_000)
    #expect(simulation.batches == 100 && simulation.singles == 0)
  }

  @Test("Whatever goes wrong and wherever the process dies: nothing twice, nothing lost, nothing out of order")
  func randomCourses() throws {
    var seeds = PrintedSeed(for: "random courses of an upload")
    var (died, lookUps, uploads) = (0, 0, 0)
    for run in 0..<400 {
      var simulation = UploadMachineTests.simulation(&seeds)
      var ended = false
      for _ in 0..<200 {
        // In the end the service is well.
        if uploads % 200 == 199 { simulation.crashes = 0 }
        uploads += 1
        do { try simulation.upload() } catch { died += 1 }
        let faults = simulation.faults()
        try #require(faults.isEmpty, "run \(run): \(faults.prefix(3))")
        if simulation.queue.isEmpty { ended = true; break }
        simulation.isClosing = false
        if simulation.crashes > 0 { simulation.crashes -= 1 }
        simulation.service.lost /= 2
        simulation.service.unavailable /= 2
        simulation.service.failsWhole /= 2
      }
      #expect(ended, "run \(run) does not end: \(simulation.queue.count) left")
      #expect(simulation.archive == simulation.doomed, "run \(run)")
      lookUps += simulation.lookUps
    }
    print("random courses of an upload: \(uploads) uploads, \(died) deaths, \(lookUps) look-ups")
    #expect(died > 100 && lookUps > 100)
  }

  static func simulation(_ seeds: inout PrintedSeed) -> UploadSimulation {
    var random = PrintedSeed(seed: seeds.next())
    func pick(_ count: Int) -> Int { Int(random.next() % UInt64(count)) }
    let count = 1 + pick(60)
    var poisons: Set<Int64> = []
    let units = (1...count).map { number -> UploadUnit in
      var unit = UploadUnit(id: Int64(number))
      if number > 1 { for _ in 0..<pick(3) { unit.after.append(Int64(1 + pick(number - 1))) } }
      unit.isAlone = pick(12) == 0
      if pick(15) == 0 { poisons.insert(unit.id) }
      return unit
    }
    var service = UploadSimulation.Service()
    service.takesBatches = pick(4) > 0
    if pick(4) == 0 { service.mostUnits = 1 + pick(8) }
    service.continuesAfterErrors = pick(2) == 0
    service.poisonSpoilsBatch = pick(4) == 0
    (service.lost, service.unavailable, service.failsWhole) = (pick(30), pick(20), pick(20))
    var rules = UploadRules()
    (rules.unitsPerBatch, rules.lanes) = (pick(5) == 0 ? 0 : 1 + pick(20), 1 + pick(4))
    var simulation = UploadSimulation(units, poisons: poisons, service: service, rules: rules, seed: random.next())
    simulation.crashes = pick(3) == 0 ? 0 : pick(60)
    simulation.isClosing = pick(3) == 0
    return simulation
  }
}
