import OData
import Storage

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
      var mine: Set<String> = []
      for effect in try queue.effects(of: entry.id) where effect.reference == entity {
        mine.formUnion(effect.cells.values.keys)
      }
      let contested = mine.intersection(ConflictDecision.changed(from: base, to: theirs))
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
      kind: .conflict, message: "A download has noticed that the service's version is another one now.",
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
