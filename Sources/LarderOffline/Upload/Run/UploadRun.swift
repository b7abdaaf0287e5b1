import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// Performs the actions that an ``UploadMachine`` decides: records what is sent, sends it, determines the outcome and
/// commits it. It holds no lock or transaction on the file while it waits for the service.
struct UploadRun: Sendable {
  let journal: UploadJournal

  var store: OpenStore { journal.store }
  private var model: EdmModel { store.replica.model }
  private var evaluation: ResponseEvaluation { ResponseEvaluation(journal: journal) }
  private var commit: UploadCommit { UploadCommit(journal: journal) }

  /// The result of an action.
  struct Step: Sendable {
    var inputs: [UploadMachine.Input]
    var counts = UploadCounts()
    var requests = 0
    /// The reason why the upload stops.
    var stop: UploadInterruptionReason?
    /// The reason why a batch of one unit was rejected.
    var batchError: ODataServiceError?
  }

  /// Performs one action. Errors are returned in the step.
  func perform(_ action: UploadMachine.Action, batchError: ODataServiceError?) async -> Step {
    do {
      switch action {
      case .sendBatch(let ids): return try await sendBatch(ids)
      case .sendAlone(let id): return try await sendAlone(id)
      case .resolve(let id): return try await resolve(id)
      case .archive(let id): return try await archive(id, batchError)
      case .finish: return Step(inputs: [])
      }
    } catch { return stopped(action, UploadInterruptionReason(error)) }
  }

  /// The result if the file failed or the service cannot be reached. The recorded sends stay, and the next upload looks
  /// up their outcome.
  private func stopped(_ action: UploadMachine.Action, _ reason: UploadInterruptionReason) -> Step {
    var step = Step(inputs: [.stop], stop: reason)
    switch action {
    case .sendBatch(let ids):
      step.inputs.append(
        .sent(Dictionary(ids.map { ($0, UnitOutcome.inDoubt) }, uniquingKeysWith: { first, _ in first })))
    case .sendAlone(let id): step.inputs.append(.sent([id: .inDoubt]))
    case .resolve(let id), .archive(let id): step.inputs.append(.resolved(id, .inDoubt))
    case .finish: break
    }
    return step
  }

  // MARK: Batches

  private func sendBatch(_ ids: [Int64]) async throws -> Step {
    try Task.checkCancellation()
    var step = Step(inputs: [])
    try await resolveNoticedConflicts(ids, &step.counts)
    try await store.findETags(ids)
    let prepared = try await journal.prepare(ids, asOne: true)
    step.counts.failed += prepared.failed
    guard !prepared.units.isEmpty else {
      step.inputs = [.sent(prepared.unitOutcomes)]
      return step
    }
    step.requests = 1
    let response: ODataBatchResponse
    do throws(ODataServiceError) {
      response = try await store.conversation.send(batch(prepared.units))
    } catch {
      let error = try await store.attributed(error, path: prepared.units.first?.members.first?.request.path)
      return try await failed(error, units: prepared.units, others: prepared.unitOutcomes, step: step)
    }
    var units: [UploadCommit.Unit] = []
    for (place, unit) in prepared.units.enumerated() {
      let (outcome, stop) = try await evaluation.outcomes(of: unit, unitResponse(response, place, unit))
      units.append(outcome)
      if let stop { step.stop = step.stop ?? UploadInterruptionReason(stop) }
    }
    let committed = try await commit.commit(units)
    step.counts += committed.counts
    if step.stop != nil { step.inputs.append(.stop) }
    step.inputs.append(.sent(prepared.unitOutcomes.merging(committed.unitOutcomes) { _, new in new }))
    return step
  }

  /// One change set for each unit. From V4 on, a single change is sent without one.
  private func batch(_ units: [PreparedUnit]) -> ODataBatchRequest {
    let items = units.map { unit -> ODataBatchRequest.Item in
      let requests = unit.members.map(\.request)
      if requests.count == 1, model.version >= .v4 { return .single(requests[0]) }
      return .changeSet(requests)
    }
    return ODataBatchRequest(items, continuesOnError: true)
  }

  private func unitResponse(_ response: ODataBatchResponse, _ place: Int, _ unit: PreparedUnit)
    -> ResponseEvaluation.UnitResponse
  {
    if let each = response.changeSetResults[place], each.count == unit.members.count { return .each(each) }
    switch response.slots.indices.contains(place) ? response.slots[place] : nil {
    case .response(let response)?: return .each([.success(response)])
    case .changeSet(let responses)?: return .each(responses.map { .success($0) })
    case .failure(let error)?: return .whole(error)
    case nil: return .whole(ODataServiceError(.malformedResponse("a part has no response"), operation: "batch"))
    }
  }

  private func failed(
    _ error: ODataServiceError, units: [PreparedUnit], others: [Int64: UnitOutcome], step: Step
  ) async throws -> Step {
    var step = step
    let ids = units.map(\.id)
    let batchError = BatchRejection.of(error)
    var unitOutcome = UnitOutcome.inDoubt
    switch UploadOutcome.of(error, isRemoval: false) {
    case .stop(mayHaveTakenEffect: false): unitOutcome = .notSent
    default: if batchError == .unsupported || batchError == .rejected { unitOutcome = .notSent }
    }
    if unitOutcome == .notSent {
      _ = try await commit.commit(
        units.map { UploadCommit.Unit(id: $0.id, outcomes: $0.members.map { ($0.entry, RequestOutcome.queued) }) })
    }
    if let batchError {
      step.batchError = error
      step.inputs = [.rejected(ids, batchError, others: others)]
    } else {
      step.stop = UploadInterruptionReason(UploadStop(error))
      let unitOutcomes = Dictionary(ids.map { ($0, unitOutcome) }, uniquingKeysWith: { first, _ in first })
      step.inputs = [.stop, .sent(unitOutcomes.merging(others) { first, _ in first })]
    }
    return step
  }

  // MARK: Singles

  private func sendAlone(_ id: Int64) async throws -> Step {
    var step = Step(inputs: [])
    var unitOutcome: UnitOutcome?
    // If a transaction is split, each request needs the keys that the service assigned to the earlier ones.
    while unitOutcome == nil || unitOutcome == .done {
      try Task.checkCancellation()
      try await resolveNoticedConflicts([id], &step.counts)
      try await store.findETags([id])
      let prepared = try await journal.prepare([id], asOne: false)
      step.counts.failed += prepared.failed
      guard let unit = prepared.units.first, let member = unit.members.first else {
        if unitOutcome == nil || prepared.unitOutcomes[id] != .gone { unitOutcome = prepared.unitOutcomes[id] ?? .gone }
        break
      }
      step.requests += 1
      let unitResponse: ResponseEvaluation.UnitResponse
      do throws(ODataServiceError) {
        let response = try await store.conversation.send(member.request)
        unitResponse =
          UnrecognizedResponse.isOne(response)
          ? .whole(UnrecognizedResponse.error(response, of: member.request.operationName)) : .each([.success(response)])
      } catch { unitResponse = .whole(try await store.attributed(error)) }
      let (outcome, stop) = try await evaluation.outcomes(of: unit, unitResponse)
      let committed = try await commit.commit([outcome])
      step.counts += committed.counts
      unitOutcome = committed.unitOutcomes[id] ?? .gone
      if let stop {
        step.stop = UploadInterruptionReason(stop)
        step.inputs.append(.stop)
        break
      }
    }
    step.inputs.append(.sent([id: unitOutcome ?? .gone]))
    return step
  }

  // MARK: Conflicts

  /// Resolves conflicts that a download has found and the service would not detect, because the requests carry no ETag.
  /// This is done before anything is sent, and again before each send: an earlier change may have passed a conflict on.
  func resolveNoticedConflicts(_ ids: [Int64], _ counts: inout UploadCounts) async throws {
    for (id, entries) in try await journal.conflicts(in: ids) {
      try Task.checkCancellation()
      let outcomes = try await ConflictResolution(journal: journal).resolvingNoticedConflicts(
        entries.map { ($0, .queued) })
      counts += try await commit.commit([UploadCommit.Unit(id: id, outcomes: outcomes)]).counts
    }
  }

  // MARK: Doubt

  private func resolve(_ id: Int64) async throws -> Step {
    try Task.checkCancellation()
    let entries = try await store.read { snapshot in try ChangeQueue(snapshot.connection).entries(inUnit: id) }
    var step = Step(inputs: [])
    guard !entries.isEmpty else {
      step.inputs = [.resolved(id, .gone)]
      return step
    }
    let resolver = RequestResolver(journal: journal)
    var resolvedOutcomes: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    var createdPaths: [RowReference: String] = [:]
    for entry in entries {
      // The entry is pending if it did not take effect, and uncertain while only the service can determine that.
      var resolvedEntry = entry
      resolvedEntry.state = .queued
      var outcome = RequestOutcome.queued
      if entry.state == .sent {
        // The service recognizes the identifier but does not know what another user has changed since. For an action
        // only the service knows the outcome.
        let isUndetectable = resolvedEntry.undetectableConflict(in: entries, model.version) != nil
        let canRepeat = !isUndetectable || entry.request.operation == .action
        if canRepeat, try await resolver.isRepeatable(entry, in: entries) {
          resolvedEntry.state = .sent
        } else {
          outcome = try await resolver.outcome(of: entry, createdPaths: createdPaths)
        }
      }
      if case .done(let unitResponse) = outcome, entry.request.makesEntity, let entity = entry.request.entity {
        createdPaths[entity] = resolver.path(of: unitResponse, entry.request)
      }
      resolvedOutcomes.append((resolvedEntry, outcome))
    }
    resolvedOutcomes = resolver.together(resolvedOutcomes, sent: Set(entries.filter { $0.state == .sent }.map(\.id)))
    for (place, entry) in entries.enumerated() where entry.state == .sent {
      resolvedOutcomes[place].outcome = try await evaluation.applyingPolicy(
        resolvedOutcomes[place].outcome, entry, isAlone: entries.count == 1)
    }
    let decidedOutcomes = try await ConflictResolution(journal: journal).resolvingNoticedConflicts(
      ResponseEvaluation.together(resolvedOutcomes))
    let committed = try await commit.commit([UploadCommit.Unit(id: id, outcomes: decidedOutcomes)])
    step.counts = committed.counts
    step.inputs = [.resolved(id, committed.unitOutcomes[id] ?? .gone)]
    return step
  }

  private func archive(_ id: Int64, _ batchError: ODataServiceError?) async throws -> Step {
    let entries = try await store.read { snapshot in try ChangeQueue(snapshot.connection).entries(inUnit: id) }
    let error = batchError ?? ODataServiceError(.notSupported("a transaction of this size"), operation: "batch")
    let time = store.conversation.options.environment.unixSeconds
    let archivedOutcomes = entries.map { entry in
      let sent = SentRequest(method: "POST", url: "$batch", body: nil)
      return (entry: entry, outcome: RequestOutcome.archived(ArchivedFailure(error, kind: .rejected, sent, time: time)))
    }
    let committed = try await commit.commit([UploadCommit.Unit(id: id, outcomes: archivedOutcomes)])
    return Step(inputs: [.resolved(id, .archived)], counts: committed.counts)
  }
}
