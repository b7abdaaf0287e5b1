import LarderOData
import LarderService
import LarderStorage

/// Carries out a conflict's policy: fetches the server's version, decides, asks the application where it wants to be.
struct ConflictResolution: Sendable {
  let journal: UploadJournal

  private var store: OpenStore { journal.store }

  /// What a policy goes by.
  private struct Known: Sendable {
    var path: String?
    var base: EntityCells?
    var mine: EntityCells?
    var columns: Set<String> = []
  }

  /// What becomes of a request that was answered 412.
  ///
  /// - Parameters:
  ///   - condition: the ETag that it was sent under; nil where it was sent under none.
  ///   - theirs: the server's version, where it is known already.
  ///   - failure: what goes to the archive where the policy sends it there.
  func end(
    of entry: QueueEntry, condition: String?, theirs: RequestEnd.ServerVersion? = nil, failure: ArchivedFailure
  ) async throws -> RequestEnd {
    let known = try await known(entry)
    var theirs = if let theirs { theirs } else { await fetched(known.path) }
    theirs = await withStream(theirs, entry, known.path)
    guard let entity = entry.request.entity, let table = store.replica.plan.table(entity.table) else {
      return .archived(failure, theirs: theirs)
    }
    let plan = store.replica.plan
    var cells: EntityCells?
    switch theirs {
    case .unknown: return .archived(failure, theirs: theirs)
    case .gone: break
    case .there(let answer): cells = answer.cells(in: table, plan)
    }
    let policy = journal.options.conflictPolicy
    let decision = ConflictDecision.of(
      policy, entry.request.operation, mine: known.columns, base: known.base, theirs: cells,
      changesLink: entry.request.setsLink, mayHaveTakenEffect: failure.mayHaveTakenEffect ?? false)
    switch decision {
    case .archive: return .archived(failure, theirs: theirs)
    case .sendAgain:
      return isRefusedAnyway(condition, theirs, entry) ? .archived(failure, theirs: theirs) : .again(theirs, nil)
    case .giveUp: return .discarded(theirs)
    case .done: return .done(ServerResponse())
    case .ask:
      guard case .resolver(let resolve) = policy else { return .archived(failure, theirs: theirs) }
      var conflict = conflict(entry, known, theirs, table, plan)
      conflict.mayHaveTakenEffect = failure.mayHaveTakenEffect ?? false
      let end = resolved(await resolve(conflict), entry, theirs, failure)
      return if case .again = end, isRefusedAnyway(condition, theirs, entry) { .archived(failure, theirs: theirs) } else
      {
        end
      }
    }
  }

  /// Whether the service has refused its own ETag: it would again.
  private func isRefusedAnyway(_ condition: String?, _ theirs: RequestEnd.ServerVersion, _ entry: QueueEntry) -> Bool {
    guard let condition, case .there(let answer) = theirs else { return false }
    return etag(answer, entry) == condition
  }

  /// The ETag of what a request changes: a stream's, else the entity's.
  func etag(_ answer: ServerResponse, _ entry: QueueEntry) -> String? {
    answer.resourceETag(of: entry.request, store.replica.plan)
  }

  private func withStream(
    _ theirs: RequestEnd.ServerVersion, _ entry: QueueEntry, _ path: String?
  ) async -> RequestEnd.ServerVersion {
    guard entry.request.isOfStream, case .there(let answer) = theirs else { return theirs }
    let place = path.map { $0 + "/" + entry.request.target.path }
    return .there(await store.withStream(answer, of: entry.request, at: place))
  }

  private func known(_ entry: QueueEntry) async throws(OfflineODataError) -> Known {
    try await store.read { connection, state, plan in
      var known = Known()
      guard let entity = entry.request.entity else { return known }
      let rows = LocalRows(plan, state, connection)
      known.path = (try? RowPath(connection: connection, state: state, plan: plan).location(of: entity))?.path
      // A download may have brought theirs since the change was made.
      known.base = try entry.failure?.base ?? rows.base(of: entity)
      known.mine = try rows.effective(entity)
      for effect in try ChangeQueue(connection).effects(of: entry.id) where effect.reference == entity {
        known.columns.formUnion(effect.cells.values.keys)
      }
      known.columns.subtract(SystemColumn.allCases.map(\.rawValue))
      return known
    }
  }

  /// The server's version; unknown where it cannot be had now, which fails nothing.
  private func fetched(_ path: String?) async -> RequestEnd.ServerVersion {
    guard let path, let found = try? await EntityLookup(store: store).entity(path) else { return .unknown }
    switch found {
    case .there(let answer): return .there(answer)
    case .gone: return .gone
    case .refused: return .unknown
    }
  }

  /// The server's version. Throws ``UploadStop`` where the service cannot be asked.
  func asked(for entry: QueueEntry) async throws -> RequestEnd.ServerVersion {
    guard let path = try await known(entry).path else { return .unknown }
    switch try await EntityLookup(store: store).entity(path) {
    case .there(let answer): return await withStream(.there(answer), entry, path)
    case .gone: return .gone
    case .refused: return .unknown
    }
  }

  func fetched(of entry: QueueEntry) async throws -> RequestEnd.ServerVersion {
    let path = try await known(entry).path
    return await withStream(await fetched(path), entry, path)
  }

  /// Whether the server's version is another one than the change was based on.
  func isAnother(_ answer: ServerResponse, _ entry: QueueEntry) async throws -> Bool {
    let known = try await known(entry)
    let plan = store.replica.plan
    guard let base = known.base, let entity = entry.request.entity, let table = plan.table(entity.table),
      let cells = answer.cells(in: table, plan)
    else { return false }
    if let column = entry.request.streamColumn(plan) {
      // Where one of the two is not known, nothing tells.
      guard let old = base.streamETag(column), let new = cells.streamETag(column) else { return false }
      return old != new
    }
    return !ConflictDecision.changed(from: base, to: cells).isEmpty
  }

  // MARK: The application

  private func conflict(
    _ entry: QueueEntry, _ known: Known, _ theirs: RequestEnd.ServerVersion, _ table: EntityTable, _ plan: ReplicaPlan
  ) -> OfflineODataConflict {
    var their: ODataEntity?
    if case .there(let answer) = theirs { their = answer.entity }
    return OfflineODataConflict(
      id: entry.id, path: known.path ?? "", customTag: entry.request.customTag,
      isDeletion: entry.request.operation == .delete, base: known.base.map { $0.entity(in: table, plan) },
      mine: known.mine.map { $0.entity(in: table, plan) }, theirs: their)
  }

  private func resolved(
    _ resolution: OfflineODataResolution, _ entry: QueueEntry, _ theirs: RequestEnd.ServerVersion,
    _ failure: ArchivedFailure
  ) -> RequestEnd {
    switch resolution {
    case .archive: return .archived(failure, theirs: theirs)
    case .useTheirs: return .discarded(theirs)
    case .useMine:
      if case .gone = theirs { return .archived(failure, theirs: theirs) }
      return .again(theirs, nil)
    case .use(let properties):
      guard case .there = theirs else { return .archived(failure, theirs: theirs) }
      var request = entry.request
      request.operation = store.replica.model.version >= .v4 ? .patch : .merge
      request.target = QueuedTarget(entry.request.entity)
      request.body = .entity(
        QueuedEntity(
          row: entry.request.entity,
          properties: properties.map { QueuedProperty(name: $0.name, value: QueuedValue($0.value)) }))
      return .again(theirs, request)
    }
  }
}
