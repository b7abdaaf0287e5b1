import LarderOData
import LarderStorage

// What a download tells of entities that changes wait on: conflicts are known before they are sent.
extension LocalRows {
  /// Keeps what a download says of an entity with the requests that wait on it: the server's version with those in
  /// conflict; with the first that is not sent yet, where the server has changed what it was based on, both versions.
  mutating func notice(
    _ reference: RowReference, from old: EntityCells?, to now: EntityCells?, isChanged: Bool
  ) throws(StorageError) {
    var isFirst = true
    for entry in try queue.entries(of: reference.row) {
      if var failure = entry.failure, failure.kind == .conflict {
        isFirst = false
        guard isChanged || failure.theirsIsUnknown else { continue }
        (failure.theirs, failure.theirsIsUnknown) = (now, false)
        try queue.set(failure: failure, of: entry.id)
        continue
      }
      guard isChanged, isFirst, !entry.request.makesEntity else { continue }
      isFirst = false
      if var failure = entry.failure, entry.state == .archived {
        // It was refused for something else; what it was based on is needed when it goes again.
        (failure.base, failure.theirs) = (failure.base ?? old, now)
        try queue.set(failure: failure, of: entry.id)
        continue
      }
      try queue.set(failure: try conflict(of: entry, base: old, theirs: now), of: entry.id)
      // It may be what came of the request itself, whose answer was lost: that is found out by the next upload.
      guard entry.state != .sent else { continue }
      let cells = now ?? old ?? EntityCells()
      noticed.append(
        OfflineODataNoticedConflict(
          requestID: entry.id, path: (try? path(of: reference, cells)) ?? reference.table, isGone: now == nil))
    }
  }

  /// Notes a conflict of the first later change of an entity that changes a property which another client has changed, as a
  /// look-up shows: that change was made without knowing this version, and does not go under its ETag.
  ///
  /// - Parameters:
  ///   - request: the change that was looked up.
  ///   - reference: the entity.
  ///   - old: the service's image as it was known before.
  ///   - now: what the look-up found.
  ///   - isLaterVersion: whether others have set what the request itself sets; else the service may have given that
  ///     another form.
  func notice(
    behind request: Int64, _ reference: RowReference, from old: EntityCells, to now: EntityCells, isLaterVersion: Bool
  ) throws(StorageError) {
    var base = old
    if isLaterVersion {
      for effect in try queue.effects(of: request) where effect.reference == reference { base.merge(effect.cells) }
    }
    var changed = ConflictDecision.changed(from: base, to: now)
    if !changed.isEmpty, !isLaterVersion { changed.subtract(try columns(of: request, reference)) }
    guard !changed.isEmpty, try !queue.hasNoticed(reference.row) else { return }
    for later in try queue.entries(of: reference.row) where later.id > request && later.state == .queued {
      guard !later.request.makesEntity, try !columns(of: later.id, reference).isDisjoint(with: changed) else {
        continue
      }
      return try queue.set(failure: try conflict(of: later, base: base, theirs: now), of: later.id)
    }
  }

  /// The columns of an entity that a request changes.
  private func columns(of request: Int64, _ reference: RowReference) throws(StorageError) -> Set<String> {
    var columns: Set<String> = []
    for effect in try queue.effects(of: request) where effect.reference == reference {
      columns.formUnion(effect.cells.values.keys)
    }
    return columns
  }

  /// Takes a conflict that a download has noticed as resolved: the change, and what waits behind it, goes under the ETag of
  /// the server's version. One whose entity the server has no more stays in conflict.
  mutating func settle(_ entry: QueueEntry) throws(StorageError) {
    guard let entity = entry.request.entity, let theirs = entry.failure?.theirs else { return }
    try queue.set(failure: nil, of: entry.id)
    try queue.rebase(entity.row, on: theirs.text(.etag))
    try touch(entity)
  }

  /// Takes conflicts that a download has noticed as resolved by a later change: one that deletes or replaces the entity, or
  /// sets whatever both have changed.
  mutating func settle(by new: QueuedRequest, _ effects: [Effect]) throws(StorageError) {
    // Asked before each change, for which reading them all is dear.
    guard let entity = new.entity, try queue.hasNoticed(entity.row) else { return }
    for entry in try queue.entries(of: entity.row) where entry.isNoticed {
      guard let base = entry.failure?.base, let theirs = entry.failure?.theirs else { continue }
      let contested = try columns(of: entry.id, entity).intersection(ConflictDecision.changed(from: base, to: theirs))
      let isSet = effects.contains { effect in
        effect.reference == entity && !contested.isEmpty && contested.isSubset(of: effect.cells.values.keys)
      }
      if new.operation == .delete || new.operation == .replace || isSet { try settle(entry) }
    }
  }

  /// What is kept with a request that is not sent yet and whose entity the server has changed.
  func conflict(
    of entry: QueueEntry, base: EntityCells?, theirs: EntityCells?
  ) throws(StorageError) -> ArchivedFailure {
    let seconds = try connection.first("SELECT unixepoch()") { (row) throws(StorageError) in try row.int64(0) } ?? 0
    var failure = ArchivedFailure(
      kind: .conflict, message: "Another client has changed the entity at the service.",
      method: entry.request.operation.rawValue, url: entry.request.target.path, time: Double(seconds))
    (failure.base, failure.theirs) = (base, theirs)
    return failure
  }
}

/// A change that waits to be sent and whose entity another has changed, as a download has noticed.
public struct OfflineODataNoticedConflict: Sendable, Hashable {
  /// The change's number in the queue: ``OfflineODataProvider/conflict(_:)`` gives the three versions.
  public var requestID: Int64
  /// The entity's path relative to the service's root.
  public var path: String
  /// Whether the service has the entity no more.
  public var isGone: Bool
}

extension QueueEntry {
  /// Whether it waits, and a download has noticed that another has changed its entity.
  var isNoticed: Bool { state == .queued && failure?.kind == .conflict }
}
