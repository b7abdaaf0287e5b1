import LarderOData
import LarderStorage

/// The counts of a commit.
struct UploadCounts: Sendable, Hashable {
  var sent = 0
  var failed = 0
  var discarded = 0

  /// The number of changes that are no longer pending.
  var decided: Int { sent + failed + discarded }

  static func += (left: inout UploadCounts, right: UploadCounts) {
    left.sent += right.sent
    left.failed += right.failed
    left.discarded += right.discarded
  }
}

/// Commits the outcomes of requests: the outcome, the removal from the queue and the server's new version, in one
/// transaction.
struct UploadCommit: Sendable {
  let journal: UploadJournal

  /// A unit with the result of each of its requests.
  struct Unit: Sendable {
    let id: Int64
    let outcomes: [(entry: QueueEntry, outcome: RequestOutcome)]
    /// Whether it was not accepted as a change set, so that its requests are sent one after another.
    var isSplit = false
    /// Whether the service responded that it failed.
    var isRejected = false

    /// The unit with those of its requests archived whose responses cannot be stored.
    fileprivate func withoutResponses(at time: Int64) -> Unit {
      let reason = "The response contains an entity that the store has under another path."
      let archived = outcomes.map { entry, outcome -> (entry: QueueEntry, outcome: RequestOutcome) in
        let attempt = entry.attempt.flatMap(UploadAttempt.init(json:))
        var failure = ArchivedFailure(
          kind: .conflict, message: reason, method: attempt?.method ?? entry.request.operation.rawValue,
          url: attempt?.url ?? entry.request.target.path, time: Double(time))
        switch outcome {
        case .queued, .inDoubt, .accepted: return (entry, outcome)
        case .again, .discarded: break
        case .done:
          failure.kind = .unknownOutcome
          failure.message += " Check the service, then retry or discard the request."
        case .archived(let rejection, _):
          failure = rejection
          failure.message += " " + reason
        }
        return (entry, .archived(failure))
      }
      return Unit(id: id, outcomes: ResponseEvaluation.together(archived))
    }
  }

  /// Commits units. Returns their outcomes and the counts.
  func commit(_ units: [Unit]) async throws(OfflineODataError) -> (
    unitOutcomes: [Int64: UnitOutcome], counts: UploadCounts
  ) {
    try await journal.store.write { snapshot in
      var unitOutcomes: [Int64: UnitOutcome] = [:]
      var counts = UploadCounts()
      try dropOutdated(units, snapshot)
      for unit in units {
        let (committedUnit, unitCounts) = try commitOrArchive(unit, snapshot)
        unitOutcomes[unit.id] = UploadCommit.unitOutcome(committedUnit)
        counts += unitCounts
      }
      try snapshot.connection.logChange([ReplicaChanges.requests])
      return (unitOutcomes, counts)
    }
  }

  /// Prevents interrupted downloads from resuming if these requests make the rows that they have read outdated.
  /// Downloads of other tables can still resume.
  private func dropOutdated(_ units: [Unit], _ snapshot: ReplicaSnapshot) throws(StorageError) {
    let hasInterruptedDownloads = try snapshot.connection.first("SELECT 1 FROM larder_download LIMIT 1") {
      (_) throws(StorageError) in true
    }
    guard hasInterruptedDownloads == true else { return }
    let queue = ChangeQueue(snapshot.connection)
    var names: Set<String> = []
    for (entry, outcome) in units.flatMap(\.outcomes) where outcome.outdatesDownloads {
      // An action without an entity may change anything.
      guard let entity = entry.request.entity else { return try UnfinishedDownloads.dropOutdated(nil, snapshot) }
      names.insert(entity.table)
      names.formUnion(try queue.names(of: entry.id))
    }
    try UnfinishedDownloads.dropOutdated(names, snapshot)
  }

  private static func unitOutcome(_ unit: Unit) -> UnitOutcome {
    if unit.isSplit { return .apart }
    var unitOutcome = UnitOutcome.done
    for (_, outcome) in unit.outcomes {
      switch outcome {
      case .done, .discarded: break
      case .archived: return .archived
      case .accepted: unitOutcome = .accepted
      case .inDoubt: if unitOutcome != .accepted { unitOutcome = .inDoubt }
      case .again: if unitOutcome != .inDoubt, unitOutcome != .accepted { unitOutcome = .again }
      case .queued: if unitOutcome == .done { unitOutcome = .notSent }
      }
    }
    return unitOutcome
  }

  /// Commits a unit. If the service's responses contradict the rows of the store, because two rows would get one key,
  /// its requests go to the archive without them, and the other units can be committed.
  private func commitOrArchive(
    _ unit: Unit, _ snapshot: ReplicaSnapshot
  ) throws -> (unit: Unit, counts: UploadCounts) {
    var otherError: (any Error)?
    do throws(StorageError) {
      let counts = try snapshot.connection.savepoint { (_) throws(StorageError) in
        do { return try commit(unit, snapshot) } catch let error as StorageError { throw error } catch {
          otherError = error
          throw .givenUp(snapshot.connection.file ?? "")
        }
      }
      return (unit, counts)
    } catch {
      if let otherError { throw otherError }
      guard error.category == .constraint else { throw error }
      let unit = unit.withoutResponses(at: journal.store.conversation.options.environment.unixSeconds)
      return (unit, try commit(unit, snapshot))
    }
  }

  private func commit(_ unit: Unit, _ snapshot: ReplicaSnapshot) throws -> UploadCounts {
    var counts = UploadCounts()
    let queue = ChangeQueue(snapshot.connection)
    var failures: [(QueueEntry, ArchivedFailure)] = []
    var rows = LocalRows(snapshot)
    for (entry, outcome) in unit.outcomes {
      // The request may have been undone meanwhile. The server's version is stored anyway.
      let isQueued = try queue.entity(of: entry.id) != nil
      switch outcome {
      case .done(let serverResponse):
        try done(entry, isQueued: isQueued, serverResponse: serverResponse, rows: &rows)
        counts.sent += 1
      case .archived(let failure, let theirs):
        if isQueued { failures.append((entry, try completing(failure, entry: entry, theirs: theirs, rows: &rows))) }
        // A rejected request is sent again unchanged, and not on top of the version that is shown with it.
        if failure.showsTheirs != true {
          try take(theirs, entry, &rows)
        }
      case .queued:
        // The state before this send, of which the service has executed nothing: a request that was uncertain before is
        // uncertain again.
        try queue.set(entry.state, of: entry.id)
        let attempt = entry.attempt.flatMap(UploadAttempt.init(json:))
        if attempt == nil, unit.outcomes.count == 1 { try queue.set(attempt: nil, of: entry.id) }
        if entry.state == .queued, attempt?.isCorrected == true { try rows.mergeCorrections(into: entry) }
      case .inDoubt: if unit.isRejected { try queue.note(.isRejected, of: entry.id) }
      case .accepted: try queue.note(.isAccepted, of: entry.id)
      case .again(let theirs, let changed):
        let base =
          try entry.failure?.base
          ?? entry.request.entity.flatMap { (entity) throws(StorageError) in try rows.base(of: entity) }
        try take(theirs, entry, &rows)
        if isQueued, case .existing(let serverResponse) = theirs {
          let noticed = entry.failure.flatMap { $0.kind == .conflict ? $0 : nil }
          try queue.set(failure: nil, of: entry.id)
          if let base {
            try noteConflict(entry, base: base, serverResponse: serverResponse, rows: rows, seen: noticed)
          }
        }
        if isQueued { try again(entry, theirs: theirs, changed: changed, rows: &rows) }
      case .discarded(let theirs):
        try take(theirs, entry, &rows)
      }
    }
    // The whole transaction is discarded with it. Its requests that took effect have left the queue before.
    let discardedIDs = unit.outcomes.filter { if case .discarded = $0.outcome { true } else { false } }.map(\.entry.id)
    counts.discarded += try rows.undo(discardedIDs.filter { try queue.entity(of: $0) != nil }).count
    _ = try rows.finish()
    if !failures.isEmpty { counts.failed += try journal.archive(failures, snapshot) }
    return counts
  }

  // MARK: Done

  private func done(
    _ entry: QueueEntry, isQueued: Bool, serverResponse: ServerResponse, rows: inout LocalRows
  ) throws {
    guard let entity = entry.request.entity, let table = rows.plan.table(entity.table) else {
      if isQueued { try rows.succeed(entry.id) }
      return
    }
    let cells = serverResponse.cells(in: table, rows.plan)
    guard isQueued else { return try rows.setBase(entity, to: cells, hidesLinks: serverResponse.mayHideLinks) }
    // A download may have replaced the base by another client's version, and recorded both with this request. The later
    // changes do not know that version either.
    let noticed = try rows.queue.entry(entry.id)?.failure.flatMap { $0.kind == .conflict ? $0 : nil }
    if noticed != nil || serverResponse.isLookedUp, !entry.request.makesEntity,
      let base = try noticed?.base ?? rows.base(of: entity)
    {
      try noteConflict(entry, base: base, serverResponse: serverResponse, rows: rows, seen: noticed)
    }
    let children = try self.children(entry.request, serverResponse, rows.plan)
    // Containers come before contained entities: a download may have stored these under another row.
    if let cells { try rows.replaceKey(of: entity, by: cells, after: entry.id) }
    for (row, cells) in children { if let cells { try rows.replaceKey(of: row, by: cells, after: entry.id) } }
    try rows.succeed(entry.id, with: cells, mayHideLinks: serverResponse.mayHideLinks)
    // An entity that the service has not returned keeps its local values until a download reads it under its real key.
    var keyless: Set<RowReference> = []
    if case .entity(let sentEntity) = entry.request.body { keyless = DeepInsert.keyless(sentEntity, rows.plan) }
    for (row, cells) in children {
      if let cells { try rows.setBase(row, to: cells) } else if keyless.contains(row) { try rows.markKeyless(row) }
    }
    // Later changes of an entity are sent with the ETag that this one has produced, so the queue never conflicts with
    // itself. If that was not read, they keep the ETag that they are based on: without it they would overwrite what
    // another client has written. What an action changes is not known, so changes behind it are sent without an ETag.
    if cells?.text(.etag) == nil {
      if entry.request.operation == .action {
        try rows.queue.rebase(entity.row, on: nil, sparesLinks: true)
      } else {
        try rows.queue.noteOldETag(entity.row)
      }
    }
    try rebaseStream(entry.request, entity: entity, cells: cells, rows: &rows)
  }

  /// Records conflicts of later changes of an entity with the version that a look-up or a download has read.
  ///
  /// - Parameter seen: the conflict that a download has recorded with the request; nil for none.
  private func noteConflict(
    _ entry: QueueEntry, base: EntityCells, serverResponse: ServerResponse, rows: LocalRows,
    seen: ArchivedFailure? = nil
  ) throws(StorageError) {
    guard let entity = entry.request.entity, let table = rows.plan.table(entity.table) else { return }
    var now = seen?.theirs ?? EntityCells()
    // A stored version lacks its NULLs.
    if seen?.theirs != nil { for name in base.values.keys where now[name] == nil { now[name] = .null } }
    if let cells = serverResponse.cells(in: table, rows.plan) { now.merge(cells) }
    guard !now.isEmpty else { return }
    try rows.notice(
      behind: entry, entity, from: base, to: now, isLaterVersion: serverResponse.isLaterVersion, seen: seen)
  }

  /// Updates the ETag for later changes of a stream, whose bytes here are now the service's. For a created media
  /// entity, this is the stream that it was created from.
  private func rebaseStream(
    _ request: QueuedRequest, entity: RowReference, cells: EntityCells?, rows: inout LocalRows
  ) throws(StorageError) {
    let isMade = request.operation == .createMedia
    guard let column = isMade ? SystemColumn.media.rawValue : request.streamColumn(rows.plan) else { return }
    // Without it, later changes of the stream keep the ETag that they are based on, which guards other clients' bytes.
    let etag = cells?.streamETag(column)
    guard etag != nil || request.operation == .deleteMedia else { return }
    try rows.queue.rebaseStream(isMade ? "$value" : request.target.path, of: entity.row, on: etag)
    guard request.operation == .updateMedia, let etag else { return }
    let property = column == SystemColumn.media.rawValue ? "" : request.target.path.split(separator: "/").last ?? ""
    try StoredStreams.set(etag, of: .init(entity: entity.row, property: String(property)), rows.connection)
  }

  /// The entities that were created together with another one, and the server's version of each.
  private func children(
    _ request: QueuedRequest, _ serverResponse: ServerResponse, _ plan: ReplicaPlan
  ) throws -> [(RowReference, EntityCells?)] {
    guard case .entity(let sentEntity) = request.body else { return [] }
    return DeepInsert.pairs(sentEntity, serverResponse.entity).compactMap { child, received in
      guard let row = child.row, let table = plan.table(row.table) else { return nil }
      return (row, received.flatMap { try? EntityCells(entity: $0, in: table, plan: plan) })
    }
  }

  // MARK: Conflicts

  /// Stores the server's version of a request's entity.
  private func take(
    _ theirs: RequestOutcome.ServerVersion, _ entry: QueueEntry, _ rows: inout LocalRows
  ) throws {
    guard let entity = entry.request.entity, let table = rows.plan.table(entity.table) else { return }
    switch theirs {
    case .unknown, .other: break
    case .gone: try rows.setBase(entity, to: nil)
    case .existing(let serverResponse):
      guard let cells = serverResponse.cells(in: table, rows.plan) else { return }
      try rows.setBase(entity, to: cells)
    }
  }

  private func again(
    _ entry: QueueEntry, theirs: RequestOutcome.ServerVersion, changed: QueuedRequest?, rows: inout LocalRows
  ) throws {
    let queue = rows.queue
    // The earlier sends had no effect, so the next send is the first of another request.
    try queue.set(attempt: nil, of: entry.id)
    guard case .existing(let serverResponse) = theirs else { return try queue.set(.queued, of: entry.id) }
    var request = changed ?? entry.request
    request.baseETag = serverResponse.etag
    request.streamETag = request.isOfStream ? serverResponse.resourceETag(of: request, rows.plan) : nil
    request.ifMatch = nil
    request.isETagOld = nil
    if changed != nil, case .entity(let body) = request.body, let entity = request.entity,
      let table = rows.plan.table(entity.table)
    {
      let properties = body.properties.map { ODataProperty($0.name, $0.value.value) }
      let cells = try EntityCells(entity: ODataEntity(properties: properties), in: table, plan: rows.plan)
      try queue.replace(entry.id, by: request, effects: [Effect(.set, entity.table, entity.row, cells: cells)])
      try rows.touch(entity)
    } else {
      try queue.replace(entry.id, by: request)
    }
    try queue.set(.queued, of: entry.id)
    if let entity = entry.request.entity { try queue.rebase(entity.row, on: serverResponse.etag, sparesLinks: true) }
  }

  /// The failure of a conflict with its three versions.
  private func completing(
    _ failure: ArchivedFailure, entry: QueueEntry, theirs: RequestOutcome.ServerVersion, rows: inout LocalRows
  ) throws -> ArchivedFailure {
    guard failure.hasVersions, let entity = entry.request.entity, let table = rows.plan.table(entity.table) else {
      return failure
    }
    var failure = failure
    if failure.base == nil, !entry.request.makesEntity {
      failure.base = try entry.failure?.base ?? rows.base(of: entity)
    }
    failure.mine = try rows.effective(entity)
    switch theirs {
    case .unknown, .other: failure.theirsIsUnknown = true
    case .gone: break
    case .existing(let serverResponse): failure.theirs = serverResponse.cells(in: table, rows.plan)
    }
    return failure
  }
}
