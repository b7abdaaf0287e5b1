import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// Carries out what an ``UploadMachine`` decides: writes down what is sent, sends it, finds out what became of it, commits
/// that. Holds nothing of the file while it waits for the service.
struct UploadRun: Sendable {
  let journal: UploadJournal

  var store: OpenStore { journal.store }
  private var model: EdmModel { store.replica.model }
  private var ends: UploadEnds { UploadEnds(journal: journal) }
  private var commit: UploadCommit { UploadCommit(journal: journal) }

  /// What came of an action.
  struct Step: Sendable {
    var inputs: [UploadMachine.Input]
    var counts = UploadCounts()
    var requests = 0
    /// Why the upload stops.
    var stop: OfflineODataError?
    /// Why a batch of one unit was refused.
    var refusal: ODataServiceError?
  }

  /// Carries out one action; what goes wrong is in the step.
  func perform(_ action: UploadMachine.Action, refusal: ODataServiceError?) async -> Step {
    do {
      switch action {
      case .sendBatch(let ids): return try await sendBatch(ids)
      case .sendAlone(let id): return try await sendAlone(id)
      case .resolve(let id): return try await resolve(id)
      case .archive(let id): return try await archive(id, refusal)
      case .finish: return Step(inputs: [])
      }
    } catch { return stopped(action, OfflineODataError(below: (error as? UploadStop)?.cause ?? error)) }
  }

  /// The file failed, or the service cannot be asked: what was written down stays, and the next upload looks it up.
  private func stopped(_ action: UploadMachine.Action, _ error: OfflineODataError) -> Step {
    var step = Step(inputs: [.stop], stop: error)
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
    try await decideNoticed(ids, &step.counts)
    let prepared = try await journal.prepare(ids, asOne: true)
    step.counts.failed += prepared.failed
    guard !prepared.units.isEmpty else {
      step.inputs = [.sent(prepared.fates)]
      return step
    }
    step.requests = 1
    let response: ODataBatchResponse
    do throws(ODataServiceError) {
      response = try await store.conversation.send(batch(prepared.units))
    } catch { return try await failed(error, prepared.units, prepared.fates, step) }
    var units: [UploadCommit.Unit] = []
    for (place, unit) in prepared.units.enumerated() {
      let (end, stop) = try await ends.ends(of: unit, answer(response, place, unit))
      units.append(end)
      if let stop { step.stop = step.stop ?? stop }
    }
    let committed = try await commit.commit(units)
    step.counts += committed.counts
    if step.stop != nil { step.inputs.append(.stop) }
    step.inputs.append(.sent(prepared.fates.merging(committed.fates) { _, new in new }))
    return step
  }

  /// One change set a unit. From V4 on a change that stands alone needs none.
  private func batch(_ units: [PreparedUnit]) -> ODataBatchRequest {
    let items = units.map { unit -> ODataBatchRequest.Item in
      let requests = unit.members.map(\.request)
      if requests.count == 1, model.version >= .v4 { return .single(requests[0]) }
      return .changeSet(requests)
    }
    return ODataBatchRequest(items, continuesOnError: true)
  }

  private func answer(_ response: ODataBatchResponse, _ place: Int, _ unit: PreparedUnit) -> UploadEnds.Answer {
    if let each = response.changeSetAnswers[place], each.count == unit.members.count { return .each(each) }
    switch response.slots.indices.contains(place) ? response.slots[place] : nil {
    case .response(let response)?: return .each([.success(response)])
    case .changeSet(let responses)?: return .each(responses.map { .success($0) })
    case .failure(let error)?: return .whole(error)
    case nil: return .whole(ODataServiceError(.malformedAnswer("a part has no response"), operation: "batch"))
    }
  }

  private func failed(
    _ error: ODataServiceError, _ units: [PreparedUnit], _ others: [Int64: UnitOutcome], _ step: Step
  ) async throws -> Step {
    var step = step
    let ids = units.map(\.id)
    let refusal = BatchRejection.of(error)
    var fate = UnitOutcome.inDoubt
    switch UploadOutcome.of(error, isRemoval: false) {
    case .stop(mayHaveTakenEffect: false): fate = .notSent
    default: if refusal == .unsupported || refusal == .refused { fate = .notSent }
    }
    if fate == .notSent {
      _ = try await commit.commit(
        units.map { UploadCommit.Unit(id: $0.id, ends: $0.members.map { ($0.entry, RequestEnd.queued) }) })
    }
    if let refusal {
      step.refusal = error
      step.inputs = [.refused(ids, refusal, others: others)]
    } else {
      step.stop = OfflineODataError(below: UploadStop(error).cause)
      let fates = Dictionary(ids.map { ($0, fate) }, uniquingKeysWith: { first, _ in first })
      step.inputs = [.stop, .sent(fates.merging(others) { first, _ in first })]
    }
    return step
  }

  // MARK: Singles

  private func sendAlone(_ id: Int64) async throws -> Step {
    var step = Step(inputs: [])
    var fate: UnitOutcome?
    // A transaction that is taken apart: each request knows the keys that those before it were given.
    while fate == nil || fate == .done {
      try Task.checkCancellation()
      let prepared = try await journal.prepare([id], asOne: false)
      step.counts.failed += prepared.failed
      guard let unit = prepared.units.first, let member = unit.members.first else {
        if fate == nil || prepared.fates[id] != .gone { fate = prepared.fates[id] ?? .gone }
        break
      }
      step.requests += 1
      let answer: UploadEnds.Answer
      do throws(ODataServiceError) {
        let response = try await store.conversation.send(member.request)
        answer =
          UnrecognizedResponse.isOne(response)
          ? .whole(UnrecognizedResponse.error(response, of: member.request.operationName)) : .each([.success(response)])
      } catch { answer = .whole(error) }
      let (end, stop) = try await ends.ends(of: unit, answer)
      let committed = try await commit.commit([end])
      step.counts += committed.counts
      fate = committed.fates[id] ?? .gone
      if let stop {
        step.stop = stop
        step.inputs.append(.stop)
        break
      }
    }
    step.inputs.append(.sent([id: fate ?? .gone]))
    return step
  }

  // MARK: Conflicts

  /// Decides, before anything is sent, conflicts that were noticed and the service would not: no ETag goes with them.
  func decideNoticed(_ ids: [Int64], _ counts: inout UploadCounts) async throws {
    for (id, entries) in try await journal.conflicts(in: ids) {
      try Task.checkCancellation()
      do {
        let ends = try await ConflictResolution(journal: journal).noticed(entries.map { ($0, .queued) })
        counts += try await commit.commit([UploadCommit.Unit(id: id, ends: ends)]).counts
      } catch let stop as UploadStop { throw stop.cause }
    }
  }

  // MARK: Doubt

  private func resolve(_ id: Int64) async throws -> Step {
    try Task.checkCancellation()
    let entries = try await store.read { connection, _, _ in try ChangeQueue(connection).entries(inUnit: id) }
    var step = Step(inputs: [])
    guard !entries.isEmpty else {
      step.inputs = [.resolved(id, .gone)]
      return step
    }
    let resolver = RequestResolver(journal: journal)
    var found: [(entry: QueueEntry, end: RequestEnd)] = []
    var made: [RowReference: String] = [:]
    for entry in entries {
      // As it waits where nothing of it was done; in doubt for as long as the service alone can tell that.
      var waiting = entry
      waiting.state = .queued
      var end = RequestEnd.queued
      if entry.state == .sent {
        // The service knows the name, and not what another has done since; of an action it alone knows what became.
        let isAsked = !waiting.isConflictUntold(in: entries) || entry.request.operation == .action
        if isAsked, try await resolver.isRepeatable(entry, in: entries) {
          waiting.state = .sent
        } else {
          end = try await resolver.end(of: entry, made: made)
        }
      }
      if case .done(let answer) = end, entry.request.makesEntity, let entity = entry.request.entity {
        made[entity] = resolver.path(of: answer, entry.request)
      }
      found.append((waiting, end))
    }
    found = resolver.together(found, sent: Set(entries.filter { $0.state == .sent }.map(\.id)))
    for (place, entry) in entries.enumerated() where entry.state == .sent {
      found[place].end = try await ends.judged(found[place].end, entry, isAlone: entries.count == 1)
    }
    let decided = try await ConflictResolution(journal: journal).noticed(UploadEnds.together(found))
    let committed = try await commit.commit([UploadCommit.Unit(id: id, ends: decided)])
    step.counts = committed.counts
    step.inputs = [.resolved(id, committed.fates[id] ?? .gone)]
    return step
  }

  private func archive(_ id: Int64, _ refusal: ODataServiceError?) async throws -> Step {
    let entries = try await store.read { connection, _, _ in try ChangeQueue(connection).entries(inUnit: id) }
    let error = refusal ?? ODataServiceError(.notSupported("a transaction of this size"), operation: "batch")
    let time = store.conversation.options.environment.unixSeconds
    let all = entries.map { entry in
      let sent = SentRequest(method: "POST", url: "$batch", body: nil)
      return (entry: entry, end: RequestEnd.archived(ArchivedFailure(error, kind: .refused, sent, time: time)))
    }
    let committed = try await commit.commit([UploadCommit.Unit(id: id, ends: all)])
    return Step(inputs: [.resolved(id, .archived)], counts: committed.counts)
  }
}
