import LarderOData
import LarderOffline
import LarderTestSupport

// The steps that bring changes to the service, rows from it, and what was rejected out of the archive.
extension HistoryRun {
  // MARK: Uploads and downloads

  func upload(_ store: StoreHand) async throws {
    let (count, kinds) = plan.theme.leastPending(plan.kind)
    for _ in 0..<count where pending(store).count < count {
      guard let kind = one(kinds) else { break }
      do { try await change(kind, store) } catch { judge(error, in: kind) }
    }
    try await sync(store, .nothing)
    let before = model.service.effects.count
    guard try await send(store) != nil else { return }
    try await goOn(behind: store, since: before)
    if plan.theme == .undone, chance(60) {
      // What the crash left is the store now.
      _ = try await store.reviveAfterCrash()
      try await sync(store, .upload)
      try await undo(store)
    }
  }

  /// Changes of other clients and stores while the outcome of an upload is not yet checked, also of what the upload has
  /// changed since an effect.
  private func goOn(behind store: StoreHand, since number: Int) async throws {
    let name = store.name
    if chance(50) { model.release() }
    if plan.theme == .creations, chance(30) {
      // A download brings what the upload has made, and another client deletes it.
      if try await store.reviveAfterCrash() { note("    opened again what the crash left") }
      try await sync(store, .upload)
      try await download(store)
      return other { SecondWriter.remove(what: name, since: number, on: &$0, using: &$1) }
    }
    guard chance(plan.theme == .everything ? 20 : 75) else { return }
    let touch = touch(name, since: number)
    other { touch(&$0, &$1) }
  }

  private func touch(
    _ store: String, since number: Int
  ) -> @Sendable (inout ModelService, inout PrintedSeed) -> String {
    let member = plan.theme == .links ? "Buyer" : nil as String?
    return { SecondWriter.touch(what: store, since: number, member, on: &$0, using: &$1) }
  }

  /// What another client does when the service has acted and the response is being sent.
  private func meanwhile(_ store: String) -> @Sendable () -> Void {
    let (drawn, model) = (random.next(), model)
    let touch = touch(store, since: model.service.effects.count)
    return {
      let line = model.change { service in
        var random = PrintedSeed(seed: drawn)
        return touch(&service, &random)
      }
      model.note("    other, meanwhile: " + line)
    }
  }

  private func pending(_ store: StoreHand) -> [Int] {
    changes.indices.filter { changes[$0].store == store.name && changes[$0].outcome == .pending }
  }

  /// Uploads; returns the fault that has struck meanwhile.
  private func send(_ store: StoreHand) async throws -> Fault? {
    let pending = pending(store)
    let (policy, name) = policy()
    let hasTransactions = pending.contains { changes[$0].transaction != nil }
    let size = plan.theme == .batches ? 100 : one(hasTransactions ? [1, 3, 100, 100] : [0, 1, 3, 100, 100]) ?? 100
    let (fault, percent) = plan.theme.uploadFault(using: &random)
    if chance(percent) {
      let takesReads = chance(10)
      store.transport.arm(
        fault, after: [0, 0, 0, 1, 2][roll(5)], takesReads: takesReads,
        meanwhile: takesReads || chance(60) ? nil : meanwhile(store.name), crash: store.crash)
      readsMayFail = takesReads
    }
    note("    conflicts: \(name), batches of \(size)")
    for place in pending { changes[place].policies.insert(name) }
    let options = OfflineODataUploadOptions(changesPerBatch: size, lanes: 1, conflictPolicy: policy)
    do {
      let report = try await store.provider.upload(options)
      note(
        "    uploaded: sent \(report.sent), failed \(report.failed), pending \(report.pending), discarded \(report.discarded)"
      )
      return disarm(store)
    } catch {
      note("    stopped: \(error)")
      let fault = disarm(store)
      if fault == nil { judgeHealthy(error, "upload") }
      return fault
    }
  }

  /// Takes the fault away, and notes which changes it has touched.
  @discardableResult
  private func disarm(_ store: StoreHand) -> Fault? {
    guard let (fault, marks, reported) = store.transport.disarm() else { return nil }
    self.reported = reported
    if fault.isForReads { sawForeign.insert(store.name) }
    for place in changes.indices where marks.contains(changes[place].mark) { changes[place].faults.append(fault) }
    return fault
  }

  private func judgeHealthy(_ error: any Error, _ operation: String) {
    find(.failed, item: nil, "\(operation) failed though nothing went wrong on its way: \(error)")
  }

  private func policy() -> (OfflineODataConflictPolicy, String) {
    switch roll(plan.theme == .conflicts ? 24 : 10) {
    case 10...: (.clientWins, "client")
    case 0...4: (.archive, "archive")
    case 5, 6: (.clientWins, "client")
    case 7: (.serverWins, "server")
    default: (.mergeDisjoint, "merge")
    }
  }

  func download(_ store: StoreHand) async throws {
    downloads.append((store.name, changes.count))
    let (fault, percent) = plan.theme.downloadFault(using: &random)
    if chance(percent) { store.transport.arm(fault, after: roll(3), takesReads: true, crash: store.crash) }
    do {
      // One that was interrupted is resumed: what it read before is as old as that.
      let isResumed = try await store.provider.hasPendingDownload()
      _ = try await store.provider.download()
      let fault = disarm(store)
      note("    downloaded")
      if !isResumed {
        let service = model.service
        sightings.append(Sighting(store: store.name, number: service.effects.count, entities: service.entities))
        await checkRows(store, fault)
      }
    } catch {
      note("    stopped: \(error)")
      if disarm(store) == nil { judgeHealthy(error, "download") }
    }
  }

  // MARK: Undo, archive

  func undo(_ store: StoreHand) async throws {
    let before = try await store.queue()
    guard let entry = one(before) else { return }
    let isAll = chance(15)
    let archive = try await store.archive()
    let archived = Set(archive.map(\.mark))
    note("    undo \(isAll ? "all" : entry.path ?? "-")")
    let count: Int
    guard isAll || entry.path != nil else { return }
    do {
      count =
        try await isAll
        ? store.provider.undoAllPendingChanges() : store.provider.undoPendingChanges(of: entry.path ?? "")
    } catch let error as OfflineODataError where [.changeTookEffect, .outcomeUncertain].contains(error.name) {
      // An undo that is rejected has looked uncertain changes up: what has left the queue says that it was done, and is
      // judged by that.
      try await sync(store, .upload)
      throw error
    }
    let waiting = try await store.queue() + store.archive()
    let left = Set(waiting.map(\.mark))
    let gone = Set(before.map(\.mark)).union(archived).subtracting(left)
    let effects = model.service.effects
    let done = gone.filter { mark in !archived.contains(mark) && effects.contains { $0.mark == mark } }
    note("    taken back: \(count) of \(gone.sorted())")
    let hidden = Set(changes.filter { isHidden($0) }.map(\.mark))
    // One change may be sent twice: see `isSentTwice`.
    let takenBack = (before + archive).filter { request in
      !waiting.contains { $0.id == request.id } && (!done.contains(request.mark) || hidden.contains(request.mark))
    }
    if count > takenBack.count {
      find(.undoneThoughDone, item: 8, "\(done.sorted()) reported as taken back, though done at the service")
    }
    // What was found out to be done is no longer pending, and is not undone.
    for place in changes.indices where gone.contains(changes[place].mark) {
      changes[place].outcome = done.contains(changes[place].mark) ? .sent : .undone
    }
  }

  /// A person looks at a request of the archive and at the service, and decides.
  func resolve(_ store: StoreHand) async throws {
    guard let entry = one(try await store.archive().filter { !$0.isHeld }) else { return }
    try await resolve(entry, store)
  }

  private func resolve(_ entry: StoreHand.Waiting, _ store: StoreHand) async throws {
    model.release()
    let mates = transaction(of: entry.mark)
    let isDone = model.service.effects.contains { $0.mark.map { mates.contains($0) } ?? false }
    guard !isDone, entry.reason != "Rejected", chance(50) else {
      note("    discard \(entry.mark)")
      try await store.provider.discard(entry.id)
      return try await sync(store, .discard)
    }
    note("    retry \(entry.mark)")
    try await store.provider.retry(entry.id)
    let waiting = Set(try await store.queue().map(\.mark))
    for place in changes.indices where waiting.contains(changes[place].mark) {
      if case .archived = changes[place].outcome { changes[place].isRetried = true }
    }
    try await sync(store, .nothing)
  }

  /// The marks of the changes that go with one, itself among them.
  private func transaction(of mark: String) -> Set<String> {
    guard let change = changes.first(where: { $0.mark == mark }), let first = change.transaction else { return [mark] }
    return Set(changes.filter { $0.transaction == first && $0.store == change.store }.map(\.mark))
  }

  // MARK: What became of the changes

  /// Looks where each change of a store is now.
  func sync(_ store: StoreHand, _ cause: Cause) async throws {
    let waiting = changes.indices.filter { changes[$0].store == store.name && changes[$0].isWaiting }
    guard !waiting.isEmpty else { return }
    let queue = Set(try await store.queue().map(\.mark))
    let archive = try await store.archive()
    for place in waiting {
      let mark = changes[place].mark
      if queue.contains(mark) {
        changes[place].outcome = .pending
      } else if let entry = archive.first(where: { $0.mark == mark }) {
        let wasPending = changes[place].outcome == .pending
        changes[place].outcome = .archived(reason: entry.reason ?? "", status: entry.status, isHeld: entry.isHeld)
        if wasPending { judgeArchived(changes[place], entry) }
      } else {
        switch cause {
        case .upload: changes[place].outcome = .sent
        case .discard: changes[place].outcome = .discarded
        case .undo: changes[place].outcome = .undone
        case .nothing:
          // A new change of an entity mends one of the archive: it is sent in its place.
          let entity = name(of: changes[place].target, model.service)
          let index = changes.indices.first { index in
            let isSame = entity != nil && name(of: changes[index].target, model.service) == entity
            return index >= stepBegin && changes[place].isMended(by: changes[index], isSameEntity: isSame)
          }
          if let index {
            changes[place].outcome = .discarded
            (changes[index].mends, changes[index].isRetried) = (changes[place].number, true)
          } else {
            changes[place].outcome = .vanished("at once")
          }
        }
      }
    }
    let unclear = archive.filter { $0.reason == "UnknownOutcome" }
    judgeTransactions(store, queue, Set(archive.map(\.mark)), unclear: Set(unclear.map(\.mark)))
  }

  // MARK: Rest

  /// Uploads, decides what is in the archive, and downloads, until nothing is left; then compares.
  func rest() async {
    note("rest")
    model.release()
    random = PrintedSeed(seed: plan.seed &+ 77)
    for store in stores {
      _ = store.transport.disarm()
      do { try await rest(store) } catch { find(.failed, item: nil, "\(store.name) at rest: \(error)") }
    }
    for store in stores {
      do {
        // One that was interrupted is resumed: what it read before is as old as that.
        if try await store.provider.hasPendingDownload() { _ = try await store.provider.download() }
        _ = try await store.provider.download()
        await checkRows(store, nil)
      } catch { judgeHealthy(error, "\(store.name): the last download") }
    }
    await compareWithFresh()
  }

  private func rest(_ store: StoreHand) async throws {
    for _ in 0..<8 {
      do {
        let report = try await store.provider.upload(OfflineODataUploadOptions(lanes: 1))
        note("  \(store.name) uploaded: sent \(report.sent), failed \(report.failed), pending \(report.pending)")
      } catch { judgeHealthy(error, "\(store.name): upload at rest") }
      try await sync(store, .upload)
      for _ in 0..<40 {
        guard let entry = try await store.archive().first(where: { !$0.isHeld }) else { break }
        try await resolve(entry, store)
      }
      if try await store.queue().isEmpty { break }
    }
    let left = try await (store.queue() + store.archive()).map(\.mark)
    guard !left.isEmpty else { return }
    let stuck = changes.filter { left.contains($0.mark) }
    let item: Int? =
      if stuck.contains(where: { $0.operation == .media }) { 6 } else if stuck.contains(where: \.isLink) {
        7
      } else if stuck
        .contains(where: { $0.transaction != nil })
      { 10 } else { nil }
    find(.stuck, item: item, "\(left) stay at \(store.name) for ever")
  }
}
