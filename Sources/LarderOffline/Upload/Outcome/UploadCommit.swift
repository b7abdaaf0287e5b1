import LarderOData
import LarderStorage

/// What a commit of outcomes has counted.
struct UploadCounts: Sendable, Hashable {
  var sent = 0
  var failed = 0
  var discarded = 0

  static func += (left: inout UploadCounts, right: UploadCounts) {
    left.sent += right.sent
    left.failed += right.failed
    left.discarded += right.discarded
  }
}

/// Writes down what became of requests: outcome, removal from the queue and the server's new image in one transaction.
struct UploadCommit: Sendable {
  let journal: UploadJournal

  /// A unit and what became of each of its requests.
  struct Unit: Sendable {
    let id: Int64
    let outcomes: [(entry: QueueEntry, outcome: RequestOutcome)]
    /// Sent as one it was not taken; its requests go one after another.
    var isSplit = false
    /// The service has answered that it failed.
    var isRejected = false
  }

  /// Commits units. Answers their fates and what it has counted.
  func commit(_ units: [Unit]) async throws(OfflineODataError) -> (
    unitOutcomes: [Int64: UnitOutcome], counts: UploadCounts
  ) {
    try await journal.store.write { connection, state, plan in
      var unitOutcomes: [Int64: UnitOutcome] = [:]
      var counts = UploadCounts()
      try dropOutdated(units, connection, plan)
      for unit in units {
        unitOutcomes[unit.id] = UploadCommit.unitOutcome(unit)
        counts += try commit(unit, connection, state, plan)
      }
      try connection.logChange([ReplicaChanges.requests])
      return (unitOutcomes, counts)
    }
  }

  /// Downloads that were cut before do not go on behind requests that make what they have read old; those of other tables
  /// do.
  private func dropOutdated(
    _ units: [Unit], _ connection: Connection, _ plan: ReplicaPlan
  ) throws(StorageError) {
    let hasInterruptedDownloads = try connection.first("SELECT 1 FROM larder_download LIMIT 1") {
      (_) throws(StorageError) in true
    }
    guard hasInterruptedDownloads == true else { return }
    let queue = ChangeQueue(connection)
    var names: Set<String> = []
    for (entry, outcome) in units.flatMap(\.outcomes) where outcome.outdatesDownloads {
      // An action without an entity may change anything.
      guard let entity = entry.request.entity else { return try StagedTables.dropOutdated(nil, plan, connection) }
      names.insert(entity.table)
      names.formUnion(try queue.names(of: entry.id))
    }
    try StagedTables.dropOutdated(names, plan, connection)
  }

  private static func unitOutcome(_ unit: Unit) -> UnitOutcome {
    if unit.isSplit { return .apart }
    var unitOutcome = UnitOutcome.done
    for (_, outcome) in unit.outcomes {
      switch outcome {
      case .done, .discarded: break
      case .archived: return .archived
      case .inDoubt: unitOutcome = .inDoubt
      case .again: if unitOutcome != .inDoubt { unitOutcome = .again }
      case .queued: if unitOutcome == .done { unitOutcome = .notSent }
      }
    }
    return unitOutcome
  }

  private func commit(
    _ unit: Unit, _ connection: Connection, _ state: ReplicaState, _ plan: ReplicaPlan
  ) throws -> UploadCounts {
    var counts = UploadCounts()
    let queue = ChangeQueue(connection)
    var failures: [(QueueEntry, ArchivedFailure)] = []
    var rows = LocalRows(plan, state, connection)
    for (entry, outcome) in unit.outcomes {
      // It may have been taken back meanwhile; what the server has is taken all the same.
      let isQueued = try queue.entity(of: entry.id) != nil
      switch outcome {
      case .done(let serverResponse):
        try done(entry, isQueued, serverResponse, &rows, plan)
        counts.sent += 1
      case .archived(let failure, let theirs):
        if isQueued { failures.append((entry, try completing(failure, entry, theirs, &rows, plan))) }
        // What was refused goes again as it was, and not on top of what is shown with it.
        if failure.showsTheirs != true {
          try take(theirs, entry, &rows, plan, hidesLink: entry.request.changesSingleLink)
        }
      case .queued:
        // As before this send, of which the service has taken nothing: what was in doubt then is in doubt still.
        try queue.set(entry.state, of: entry.id)
        if entry.attempt == nil, unit.outcomes.count == 1 { try queue.set(attempt: nil, of: entry.id) }
      case .inDoubt: if unit.isRejected { try queue.noteRejection(of: entry.id) }
      case .again(let theirs, let changed):
        let base =
          try entry.failure?.base
          ?? entry.request.entity.flatMap { (entity) throws(StorageError) in try rows.base(of: entity) }
        try take(theirs, entry, &rows, plan)
        if isQueued, let base, case .existing(let serverResponse) = theirs {
          try noteConflict(entry, base, serverResponse, rows, plan)
        }
        if isQueued { try again(entry, theirs, changed, &rows, plan) }
      case .discarded(let theirs):
        try take(theirs, entry, &rows, plan, hidesLink: entry.request.changesSingleLink)
      }
    }
    // It takes its whole transaction along: what was done of that is out of the queue before.
    let discardedIDs = unit.outcomes.filter { if case .discarded = $0.outcome { true } else { false } }.map(\.entry.id)
    counts.discarded += try rows.undo(discardedIDs.filter { try queue.entity(of: $0) != nil }).count
    _ = try rows.finish()
    if !failures.isEmpty { counts.failed += try journal.archive(failures, connection, state, plan) }
    return counts
  }

  // MARK: Done

  private func done(
    _ entry: QueueEntry, _ isQueued: Bool, _ serverResponse: ServerResponse, _ rows: inout LocalRows,
    _ plan: ReplicaPlan
  ) throws {
    guard let entity = entry.request.entity, let table = plan.table(entity.table) else {
      if isQueued { try rows.succeed(entry.id) }
      return
    }
    let cells = serverResponse.cells(in: table, plan)
    guard isQueued else { return try rows.setBase(entity, to: cells) }
    if serverResponse.isLookedUp, !entry.request.makesEntity, let base = try rows.base(of: entity) {
      try noteConflict(entry, base, serverResponse, rows, plan)
    }
    let children = try self.children(entry.request, serverResponse, plan)
    // What contains others before these: a download may have brought them under another row of its.
    if let cells { try rows.replaceKey(of: entity, by: cells, after: entry.id) }
    for (row, cells) in children { if let cells { try rows.replaceKey(of: row, by: cells, after: entry.id) } }
    try rows.succeed(entry.id, with: cells, mayHideLinks: serverResponse.mayHideLinks)
    // One that the service has not shown stays as it was made, until a download brings it under its own key.
    var keyless: Set<RowReference> = []
    if case .entity(let sentEntity) = entry.request.body { keyless = DeepInsert.keyless(sentEntity, plan) }
    for (row, cells) in children {
      if let cells { try rows.setBase(row, to: cells) } else if keyless.contains(row) { try rows.markKeyless(row) }
    }
    // Later changes of an entity go under the ETag that this one has given it: the queue never conflicts with itself.
    try rows.queue.rebase(entity.row, on: cells?.text(.etag), sparesLinks: serverResponse.mayHideLinks)
    try rebaseStream(entry.request, entity, cells, &rows, plan)
  }

  /// Notes conflicts of later changes of an entity with what a look-up has found of it.
  private func noteConflict(
    _ entry: QueueEntry, _ base: EntityCells, _ serverResponse: ServerResponse, _ rows: LocalRows, _ plan: ReplicaPlan
  ) throws(StorageError) {
    guard let entity = entry.request.entity, let table = plan.table(entity.table),
      let cells = serverResponse.cells(in: table, plan)
    else { return }
    try rows.notice(behind: entry.id, entity, from: base, to: cells, isLaterVersion: serverResponse.isLaterVersion)
  }

  /// The same of a stream, whose bytes here are the service's now; of a media entity made, those that it was made of.
  private func rebaseStream(
    _ request: QueuedRequest, _ entity: RowReference, _ cells: EntityCells?, _ rows: inout LocalRows,
    _ plan: ReplicaPlan
  ) throws(StorageError) {
    let isMade = request.operation == .createMedia
    guard let column = isMade ? SystemColumn.media.rawValue : request.streamColumn(plan) else { return }
    let etag = cells?.streamETag(column)
    try rows.queue.rebaseStream(isMade ? "$value" : request.target.path, of: entity.row, on: etag)
    guard request.operation == .updateMedia, let etag else { return }
    let property = column == SystemColumn.media.rawValue ? "" : request.target.path.split(separator: "/").last ?? ""
    try StoredStreams.set(etag, of: .init(entity: entity.row, property: String(property)), rows.connection)
  }

  /// The entities that were made with another, and what the server says of each.
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

  /// Takes the server's version of a request's entity.
  ///
  /// - Parameter hidesLink: whether the request is for a link that leads elsewhere in that version.
  private func take(
    _ theirs: RequestOutcome.ServerVersion, _ entry: QueueEntry, _ rows: inout LocalRows, _ plan: ReplicaPlan,
    hidesLink: Bool = false
  ) throws {
    guard let entity = entry.request.entity, let table = plan.table(entity.table) else { return }
    switch theirs {
    case .unknown: break
    case .gone: try rows.setBase(entity, to: nil)
    case .existing(let serverResponse):
      guard var cells = serverResponse.cells(in: table, plan) else { return }
      // Where the link leads there is not known: no later change of it goes under the ETag of that version.
      if hidesLink { cells[.etag] = nil }
      try rows.setBase(entity, to: cells)
    }
  }

  private func again(
    _ entry: QueueEntry, _ theirs: RequestOutcome.ServerVersion, _ changed: QueuedRequest?, _ rows: inout LocalRows,
    _ plan: ReplicaPlan
  ) throws {
    let queue = rows.queue
    // What was sent so far took no effect: the next send is the first of another request.
    try queue.set(attempt: nil, of: entry.id)
    guard case .existing(let serverResponse) = theirs else { return try queue.set(.queued, of: entry.id) }
    var request = changed ?? entry.request
    request.baseETag = serverResponse.etag
    request.streamETag = request.isOfStream ? serverResponse.resourceETag(of: request, plan) : nil
    request.ifMatch = nil
    try queue.set(failure: nil, of: entry.id)
    if changed != nil, case .entity(let body) = request.body, let entity = request.entity,
      let table = plan.table(entity.table)
    {
      let properties = body.properties.map { ODataProperty($0.name, $0.value.value) }
      let cells = try EntityCells(entity: ODataEntity(properties: properties), in: table, plan: plan)
      try queue.replace(entry.id, by: request, effects: [Effect(.set, entity.table, entity.row, cells: cells)])
      try rows.touch(entity)
    } else {
      try queue.replace(entry.id, by: request)
    }
    try queue.set(.queued, of: entry.id)
    if let entity = entry.request.entity { try queue.rebase(entity.row, on: serverResponse.etag, sparesLinks: true) }
  }

  /// A conflict's failure with its three versions.
  private func completing(
    _ failure: ArchivedFailure, _ entry: QueueEntry, _ theirs: RequestOutcome.ServerVersion, _ rows: inout LocalRows,
    _ plan: ReplicaPlan
  ) throws -> ArchivedFailure {
    guard failure.hasVersions, let entity = entry.request.entity, let table = plan.table(entity.table) else {
      return failure
    }
    var failure = failure
    if failure.base == nil, !entry.request.makesEntity {
      failure.base = try entry.failure?.base ?? rows.base(of: entity)
    }
    failure.mine = try rows.effective(entity)
    switch theirs {
    case .unknown: failure.theirsIsUnknown = true
    case .gone: break
    case .existing(let serverResponse): failure.theirs = serverResponse.cells(in: table, plan)
    }
    return failure
  }
}
