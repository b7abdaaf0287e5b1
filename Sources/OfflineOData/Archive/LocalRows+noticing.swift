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
