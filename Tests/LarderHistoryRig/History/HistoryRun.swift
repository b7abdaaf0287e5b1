import LarderOData
import LarderOffline
import LarderService
import LarderTestSupport

/// Carries out a history, keeps its trace, and says what must not have happened.
package final class HistoryRun {
  package let plan: HistoryPlan
  package let model: SharedModel
  package internal(set) var findings: [Finding] = []
  /// What must not be, but no store can avoid: nothing that it can read shows what happened.
  package internal(set) var unavoidable: [Finding] = []
  package internal(set) var changes: [Change] = []
  var stores: [StoreHand] = []
  /// The chance of the step that is carried out.
  var random: PrintedSeed
  /// The number of the first change of the step that is carried out.
  var stepBegin = 0
  /// Stores that a response in another protocol's words has reached.
  var sawForeign: Set<String> = []
  /// Changes that were scheduled at once.
  var scheduled: Set<Int> = []
  /// What downloads have brought.
  var sightings: [Sighting] = []
  /// How many changes had been made when a store began a download.
  var downloads: [(store: String, changes: Int)] = []
  /// Whether something may go wrong with the look-ups of the step that is carried out.
  var readsMayFail = false
  /// The changes to which a damaged response of that step says that they are done.
  var reported: Set<String> = []

  package init(_ plan: HistoryPlan) throws {
    self.plan = plan
    random = PrintedSeed(seed: plan.seed)
    model = SharedModel(HistoryRun.service(plan.kind))
    for number in 0..<plan.storeCount {
      stores.append(try StoreHand(["A", "B", "C"][number], model, seed: plan.seed &+ UInt64(number)))
    }
  }

  /// A service with a few entities of each set.
  static func service(_ kind: ModelKind) -> ModelService {
    var service = ModelService(kind)
    for key in 1...3 {
      service.put(
        .init("Orders", "\(key)"),
        ["Name": .string("order \(key)"), "Note": .string("n\(key)"), "Stock": .number("\(key)")])
      service.put(.init("Items", "\(key)"), ["Text": .string("item \(key)"), "Order_ID": .number("\(key)")])
      service.put(.init("Buyers", "\(key)"), ["Name": .string("buyer \(key)")])
      service.put(.init("Tags", ["red", "blue", "green"][key - 1]), ["Name": .string("tag \(key)")])
      service.put(.init("Photos", "\(key)"), ["Name": .string("photo \(key)")], bytes: [UInt8(key)])
    }
    service.put(.init("Items", "4"), ["Text": .string("item 4"), "Order_ID": .number("1")])
    service.put(.init("Places", "1"), ["Where": .object([.init("City", .string("Rome")), .init("Street", .null)])])
    service.put(.init("Setting", ""), ["Name": .string("setting")])
    service.change(.init("Setting", ""), key: "1")
    return service
  }

  /// The trace: what was done, the requests and responses, and what went wrong.
  package var trace: String {
    (["seed \(plan.seed): \(plan.theme) \(plan.kind), \(plan.storeCount) stores"] + model.trace).joined(separator: "\n")
  }

  func note(_ line: String) { model.note(line) }

  /// - Parameter isKnowable: whether a store can know what happened.
  func find(_ rule: Finding.Rule, item: Int?, _ text: String, isKnowable: Bool = true) {
    let finding = Finding(rule, item: item, text)
    guard !findings.contains(finding), !unavoidable.contains(finding) else { return }
    if isKnowable { findings.append(finding) } else { unavoidable.append(finding) }
    note("  !! \(isKnowable ? "" : "unavoidable: ")\(finding)")
  }

  /// Carries out all steps, brings everything to rest, and judges. Ends at the first finding if requested.
  package func carryOut(isStoppedByFinding: Bool = false) async -> [Finding] {
    do {
      for store in stores { try await store.open() }
      for step in plan.steps {
        await perform(step)
        if isStoppedByFinding, !findings.isEmpty { break }
      }
      await rest()
      judgeEffects()
    } catch { find(.failed, item: nil, "opening: \(error)") }
    for store in stores { try? await store.provider.close() }
    return findings
  }

  // MARK: Steps

  private func perform(_ step: HistoryStep) async {
    let store = stores[step.store]
    random = PrintedSeed(seed: step.dice)
    stepBegin = changes.count
    readsMayFail = false
    reported = []
    note("\(step) \(step.kind == .writer ? "" : store.name)")
    var cause = Cause.nothing
    do {
      switch step.kind {
      case .undo: try await undo(store)
      case .resolve: try await resolve(store)
      case .upload:
        cause = .upload
        try await upload(store)
      case .download: try await download(store)
      case .reopen: try await store.reopen()
      case .crash: try await store.crashNow()
      case .writer: other { SecondWriter.act(on: &$0, using: &$1) }
      default: try await change(step.kind, store)
      }
    } catch { judge(error, in: step.kind) }
    do {
      if try await store.reviveAfterCrash() { note("    opened again what the crash left") }
      try await sync(store, cause)
    } catch { find(.failed, item: nil, "\(step): \(error)") }
    if step.kind == .upload { await checkUploaded(store) }
  }

  /// Lets another client do something.
  func other(_ act: @Sendable (inout ModelService, inout PrintedSeed) -> String) {
    let drawn = random
    let (line, next) = model.change { service in
      var random = drawn
      let line = act(&service, &random)
      return (line, random)
    }
    random = next
    note("    other: " + line)
  }

  /// Makes changes of a kind in a store.
  func change(_ kind: HistoryStep.Kind, _ store: StoreHand) async throws {
    switch kind {
    case .create: try await create(store)
    case .twins: try await twins(store)
    case .createDeep: try await createDeep(store)
    case .update: try await update(store)
    case .delete: try await delete(store)
    case .link: try await link(store)
    case .media: try await media(store)
    case .createMedia: try await createMedia(store)
    case .action: try await action(store)
    case .transaction: try await transaction(store)
    case .burst: try await burst(store)
    case .undo, .resolve, .upload, .download, .reopen, .crash, .writer: break
    }
  }

  /// A change that a store rejects is no fault; one of its own failures is.
  func judge(_ error: any Error, in kind: HistoryStep.Kind) {
    note("    rejected: \(error)")
    let name = (error as? OfflineODataError)?.name
    let isOwnStore: Bool =
      switch error as? OfflineODataError {
      case .clientInternalError?: name != .cancelled
      case nil: !(error is ODataServiceError || error is CancellationError)
      default: false
      }
    if isOwnStore { find(.failed, item: nil, "\(kind): \(error)") }
  }

  // MARK: Chance

  /// A number from 0, below a bound.
  func roll(_ bound: Int) -> Int { Int(random.next() % UInt64(bound)) }

  func chance(_ percent: Int) -> Bool { roll(100) < percent }

  func one<Value>(_ values: [Value]) -> Value? { values.isEmpty ? nil : values[roll(values.count)] }
}

extension ModelService {
  /// Gives the singleton its key, which its path does not say.
  mutating func change(_ name: Name, key: String) { entities[name]?.values["ID"] = .number(key) }
}
