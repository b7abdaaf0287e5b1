import LarderOData
import LarderService
import LarderStorage

/// Applies the conflict policy: fetches the server's version, decides, and calls the application's resolver if there is
/// one.
struct ConflictResolution: Sendable {
  let journal: UploadJournal

  private var store: OpenStore { journal.store }

  /// The local data that a policy needs.
  private struct ConflictContext: Sendable {
    var path: String?
    var base: EntityCells?
    var mine: EntityCells?
    var columns: Set<String> = []
  }

  /// The result of a request that was rejected because its entity has another version.
  ///
  /// - Parameters:
  ///   - condition: the ETag that it was sent with; nil if there was none.
  ///   - theirs: the server's version, if it is known already.
  ///   - failure: the failure that goes to the archive if the policy archives the request.
  func outcome(
    of entry: QueueEntry, condition: String?, theirs: RequestOutcome.ServerVersion? = nil, failure: ArchivedFailure
  ) async throws -> RequestOutcome {
    let context = try await context(entry)
    var theirs = if let theirs { theirs } else { await fetched(context.path, entry) }
    theirs = await withStream(theirs, entry, context.path)
    guard let entity = entry.request.entity, let table = store.replica.plan.table(entity.table) else {
      return .archived(failure, theirs: theirs)
    }
    let plan = store.replica.plan
    var cells: EntityCells?
    switch theirs {
    case .unknown: return .archived(failure, theirs: theirs)
    case .other(let path): return .archived(failure.seeing(path), theirs: theirs)
    case .gone: break
    case .existing(let serverResponse): cells = serverResponse.cells(in: table, plan)
    }
    let policy = journal.options.conflictPolicy
    let decision = ConflictDecision.of(
      policy, entry.request.operation, mine: context.columns, base: context.base, theirs: cells,
      changesLink: entry.request.setsLink, mayHaveTakenEffect: failure.mayHaveTakenEffect ?? false,
      isCertain: failure.isCertainConflict)
    switch decision {
    case .archive: return .archived(failure, theirs: theirs)
    case .sendAgain:
      return wouldBeRejectedAgain(condition, theirs, entry) ? .archived(failure, theirs: theirs) : .again(theirs, nil)
    case .giveUp:
      // If the service still has the version that it rejected, there is none of another client that could win.
      return wouldBeRejectedAgain(condition, theirs, entry) ? .archived(failure, theirs: theirs) : .discarded(theirs)
    case .done: return .done(ServerResponse())
    case .ask:
      guard case .resolver(let resolve) = policy else { return .archived(failure, theirs: theirs) }
      var conflict = conflict(entry, context: context, theirs: theirs, table: table, plan: plan)
      conflict.mayHaveTakenEffect = failure.mayHaveTakenEffect ?? false
      let outcome = resolved(await resolve(conflict), entry: entry, theirs: theirs, failure: failure)
      return if case .again = outcome, wouldBeRejectedAgain(condition, theirs, entry) {
        .archived(failure, theirs: theirs)
      } else {
        outcome
      }
    }
  }

  /// Whether the service rejected the ETag that it returns for the entity, so that it would reject it again.
  private func wouldBeRejectedAgain(_ condition: String?, _ theirs: RequestOutcome.ServerVersion, _ entry: QueueEntry)
    -> Bool
  {
    guard let condition, case .existing(let serverResponse) = theirs else { return false }
    return etag(serverResponse, entry) == condition
  }

  /// The ETag of the resource that a request changes: the stream's, otherwise the entity's.
  func etag(_ serverResponse: ServerResponse, _ entry: QueueEntry) -> String? {
    serverResponse.resourceETag(of: entry.request, store.replica.plan)
  }

  private func withStream(
    _ theirs: RequestOutcome.ServerVersion, _ entry: QueueEntry, _ path: String?
  ) async -> RequestOutcome.ServerVersion {
    guard entry.request.isOfStream, case .existing(let serverResponse) = theirs else { return theirs }
    let place = path.map { $0 + "/" + entry.request.target.path }
    return .existing(await store.withStream(serverResponse, of: entry.request, at: place))
  }

  private func context(_ entry: QueueEntry) async throws(OfflineODataError) -> ConflictContext {
    try await store.read { snapshot in
      var context = ConflictContext()
      guard let entity = entry.request.entity else { return context }
      let rows = LocalRows(snapshot)
      context.path = (try? RowPath(snapshot: snapshot).location(of: entity))?.path
      // A download may have stored the server's version since the change was made, and recorded the conflict with an
      // earlier change of the entity.
      let queue = ChangeQueue(snapshot.connection)
      let recorded =
        try entry.failure
        ?? queue.entries(of: entity.row).last { earlier in
          earlier.id < entry.id && earlier.state != .archived && earlier.failure?.kind == .conflict
        }?.failure
      context.base = try recorded?.base ?? rows.base(of: entity)
      context.mine = try rows.effective(entity)
      for effect in try queue.effects(of: entry.id) where effect.reference == entity {
        context.columns.formUnion(effect.cells.values.keys)
      }
      context.columns.subtract(SystemColumn.allCases.map(\.rawValue))
      return context
    }
  }

  /// The server's version; unknown if it cannot be read now, which is not an error.
  private func fetched(_ path: String?, _ entry: QueueEntry) async -> RequestOutcome.ServerVersion {
    guard let path,
      let lookupResult = await store.lookUp(
        path, { try await EntityLookup(store: store).entity(path, of: entry.request.entity) })
    else { return .unknown }
    return RequestOutcome.ServerVersion(lookupResult)
  }

  /// The server's version. Throws ``UploadStop`` if the service cannot be reached.
  func reachableVersion(for entry: QueueEntry) async throws -> RequestOutcome.ServerVersion {
    guard let path = try await context(entry).path else { return .unknown }
    return await withStream(
      .init(try await EntityLookup(store: store).entity(path, of: entry.request.entity)), entry, path)
  }

  func fetched(of entry: QueueEntry) async throws -> RequestOutcome.ServerVersion {
    let path = try await context(entry).path
    return await withStream(await fetched(path, entry), entry, path)
  }

  /// Whether the server's version differs from the one that the change was based on.
  func isOtherVersion(_ serverResponse: ServerResponse, _ entry: QueueEntry) async throws -> Bool {
    let context = try await context(entry)
    let plan = store.replica.plan
    guard let base = context.base, let entity = entry.request.entity, let table = plan.table(entity.table),
      let cells = serverResponse.cells(in: table, plan)
    else { return false }
    if let column = entry.request.streamColumn(plan) {
      // If one of the two ETags is not known, they cannot be compared.
      guard let old = base.streamETag(column), let new = cells.streamETag(column) else { return false }
      return old != new
    }
    return !ConflictDecision.changed(from: base, to: cells).isEmpty
  }

  /// Whether the server's version differs from the one that the change was based on in properties that the change does not
  /// set.
  func hasOtherRest(_ serverResponse: ServerResponse, _ entry: QueueEntry) async throws -> Bool {
    let context = try await context(entry)
    let plan = store.replica.plan
    guard let base = context.base, let table = entry.request.entity.flatMap({ plan.table($0.table) }),
      let cells = serverResponse.cells(in: table, plan)
    else { return false }
    return !ConflictDecision.changed(from: base, to: cells).subtracting(context.columns).isEmpty
  }

  // MARK: The application

  private func conflict(
    _ entry: QueueEntry, context: ConflictContext, theirs: RequestOutcome.ServerVersion, table: EntityTable,
    plan: ReplicaPlan
  ) -> OfflineODataConflict {
    var serverEntity: ODataEntity?
    if case .existing(let serverResponse) = theirs { serverEntity = serverResponse.entity }
    return OfflineODataConflict(
      requestID: entry.id, path: context.path ?? "", customTag: entry.request.customTag,
      isDeletion: entry.request.operation == .delete, base: context.base.map { $0.entity(in: table, plan) },
      mine: context.mine.map { $0.entity(in: table, plan) }, theirs: serverEntity)
  }

  private func resolved(
    _ resolution: OfflineODataResolution, entry: QueueEntry, theirs: RequestOutcome.ServerVersion,
    failure: ArchivedFailure
  ) -> RequestOutcome {
    switch resolution {
    case .archive: return .archived(failure, theirs: theirs)
    case .useTheirs: return .discarded(theirs)
    case .useMine:
      if case .gone = theirs { return .archived(failure, theirs: theirs) }
      return .again(theirs, nil)
    case .use(let properties):
      guard case .existing = theirs else { return .archived(failure, theirs: theirs) }
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
