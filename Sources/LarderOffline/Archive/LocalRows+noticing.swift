import LarderOData
import LarderStorage

// Handles what a download reports about entities with pending changes, so that conflicts are known before changes are
// sent.
extension LocalRows {
  /// Stores what a download reports about an entity with the pending requests of that entity. Requests in conflict get
  /// the server's version. If the server has changed the version that the first unsent request was based on, that
  /// request gets both versions.
  mutating func notice(
    _ reference: RowReference, from old: EntityCells?, to now: EntityCells?, isChanged: Bool
  ) throws(StorageError) {
    var isFirst = true
    for entry in try queue.entries(of: reference.row) {
      if var failure = entry.failure, failure.kind == .conflict {
        isFirst = false
        guard isChanged || failure.theirsIsUnknown else { continue }
        (failure.theirs, failure.theirsIsUnknown, failure.lastUnaware) = (now, false, try queue.last())
        try queue.set(failure: failure, of: entry.id)
        continue
      }
      guard isChanged, isFirst, !entry.request.makesEntity else { continue }
      isFirst = false
      if var failure = entry.failure, entry.state == .archived {
        // The request was rejected for another reason. Its base version is needed when it is sent again.
        (failure.base, failure.theirs) = (failure.base ?? old, now)
        try queue.set(failure: failure, of: entry.id)
        continue
      }
      var failure = try conflict(of: entry, base: old, theirs: now)
      failure.lastUnaware = try queue.last()
      try queue.set(failure: failure, of: entry.id)
      // The new version may be the result of the request itself, if its response was lost. The next upload finds that
      // out.
      guard entry.state != .sent else { continue }
      let cells = now ?? old ?? EntityCells()
      noticed.append(
        OfflineODataNoticedConflict(
          requestID: entry.id, path: (try? path(of: reference, cells)) ?? reference.table, isGone: now == nil))
    }
  }

  /// Records a conflict after a look-up or a download has shown that another client changed an entity. The conflict
  /// belongs to the first later request that changes one of the properties that the other client has changed: it was
  /// created without knowledge of this version, and must not be sent with its ETag. A deletion conflicts with any change
  /// that a download has shown, as it does if it is the first request of the entity. If the request that it is behind
  /// has been sent before, and is not only of a link, the change may be what the service itself has added to that request.
  ///
  /// - Parameters:
  ///   - entry: the change that was looked up, or with which the download has recorded the conflict.
  ///   - reference: the entity.
  ///   - old: the service's image of the entity as it was known before.
  ///   - now: the image that the look-up or the download returned.
  ///   - isLaterVersion: whether others have set the properties that the request itself sets. If not, the service may
  ///     have changed the form of these values.
  ///   - seen: the conflict that a download has recorded with the change; nil for none. A request that the user
  ///     made after that download does not conflict with the version that the download stored.
  func notice(
    behind entry: QueueEntry, _ reference: RowReference, from old: EntityCells, to now: EntityCells,
    isLaterVersion: Bool, seen: ArchivedFailure?
  ) throws(StorageError) {
    let request = entry.id
    var base = old
    if isLaterVersion {
      for effect in try queue.effects(of: request) where effect.reference == reference { base.merge(effect.cells) }
    }
    var changed = ConflictDecision.changed(from: base, to: now)
    if !changed.isEmpty, !isLaterVersion { changed.subtract(try columns(of: request, reference)) }
    guard !changed.isEmpty else { return }
    let behind = try queue.entries(of: reference.row).filter { $0.id > request }
    // The version may be the result of later requests of the same transaction.
    for sent in behind where sent.state == .sent {
      for effect in try queue.effects(of: sent.id) where effect.reference == reference {
        changed.subtract(effect.cells.values.filter { now[$0.key] ?? .null == $0.value }.keys)
      }
    }
    guard !changed.isEmpty, try !queue.hasNoticed(reference.row) else { return }
    let isForeign = seen != nil && (entry.attempt == nil || entry.request.isOfLink)
    let unseen = seen?.theirs.map { changed.intersection(ConflictDecision.changed(from: $0, to: now)) } ?? changed
    for later in behind where later.state == .queued || later.state == .held {
      let isAware = seen?.lastUnaware.map { later.id > $0 } ?? false
      let unknown = isAware ? unseen : changed
      let isOfSame = try !columns(of: later.id, reference).isDisjoint(with: unknown)
      let isDeletion = isForeign && !unknown.isEmpty && later.request.operation == .delete
      guard !later.request.makesEntity, isOfSame || isDeletion else { continue }
      var failure = try conflict(of: later, base: base, theirs: now)
      failure.lastUnaware = seen?.lastUnaware
      return try queue.set(failure: failure, of: later.id)
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

  /// Marks a conflict that a download has noticed as resolved: the change, and the pending changes behind it, will be
  /// sent with the ETag of the server's version. If the server has deleted the entity, the change stays in conflict.
  ///
  /// - Parameter sparesLinks: whether changes of links to a single entity keep their ETag.
  mutating func settle(_ entry: QueueEntry, sparesLinks: Bool = false) throws(StorageError) {
    guard let entity = entry.request.entity, let serverVersion = entry.failure?.theirs else { return }
    try queue.set(failure: nil, of: entry.id)
    try queue.rebase(entity.row, on: serverVersion.text(.etag), sparesLinks: sparesLinks)
    try touch(entity)
  }

  /// Marks conflicts that a download has noticed as resolved by a later change. Such a change deletes or replaces the
  /// entity, or sets all properties that both sides have changed. For a link to one of many entities, which changes no
  /// property, these are the properties that the pending changes behind it set: only they could overwrite the other
  /// client's.
  mutating func settle(by new: QueuedRequest, _ effects: [Effect]) throws(StorageError) {
    // This check runs before each change, and reading all requests would be expensive.
    guard let entity = new.entity, try queue.hasNoticed(entity.row) else { return }
    var newColumns: Set<String> = []
    for effect in effects where effect.reference == entity { newColumns.formUnion(effect.cells.values.keys) }
    let entries = try queue.entries(of: entity.row)
    for entry in entries where entry.isNoticed {
      guard let base = entry.failure?.base, let serverVersion = entry.failure?.theirs else { continue }
      let isOfManyLink = entry.request.isOfManyLink
      var contested: Set<String> = []
      for other in entries where isOfManyLink ? other.id > entry.id && other.state == .queued : other.id == entry.id {
        contested.formUnion(try columns(of: other.id, entity))
      }
      contested.formIntersection(ConflictDecision.changed(from: base, to: serverVersion))
      let isSet = (isOfManyLink || !contested.isEmpty) && contested.isSubset(of: newColumns)
      if new.operation == .delete || new.operation == .replace {
        try settle(entry)
      } else if isSet {
        try settle(entry, sparesLinks: isOfManyLink)
      }
    }
  }

  /// The failure that is stored with an unsent request whose entity the server has changed.
  func conflict(
    of entry: QueueEntry, base: EntityCells?, theirs: EntityCells?
  ) throws(StorageError) -> ArchivedFailure {
    var failure = ArchivedFailure(
      kind: .conflict, message: "Another client has changed the entity at the service.",
      method: entry.request.operation.rawValue, url: entry.request.target.path,
      time: Double(connection.environment.unixSeconds))
    (failure.base, failure.theirs) = (base, theirs)
    return failure
  }
}

extension QueueEntry {
  /// Whether the request is pending, and a download has noticed that another client changed its entity.
  var isNoticed: Bool { state == .queued && failure?.kind == .conflict }
}
