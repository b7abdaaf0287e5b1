import LarderOData
import LarderStorage

/// The decision about a conflict by its policy. This type does no I/O.
enum ConflictDecision: Hashable, Sendable {
  case archive
  /// The change is sent again on top of the server's version.
  case sendAgain
  case giveUp
  /// The server's version is already as the request wants it.
  case done
  /// The application decides.
  case ask

  /// Decides about a conflict.
  ///
  /// - Parameters:
  ///   - mine: the columns that the request changes.
  ///   - base: the server's version that the change was based on.
  ///   - theirs: the server's current version; nil if the entity was deleted there.
  ///   - changesLink: whether the request sets a link that has no column, so that a concurrent change of the link is
  ///     not visible.
  ///   - mayHaveTakenEffect: whether the server's version may have been created on top of this change, which is then
  ///     not applied again.
  ///   - isCertain: whether the service rejected the change because of its version. If it may have another reason, the
  ///     change is not discarded.
  static func of(
    _ policy: OfflineODataConflictPolicy, _ operation: QueuedRequest.Operation, mine: Set<String>, base: EntityCells?,
    theirs: EntityCells?, changesLink: Bool = false, mayHaveTakenEffect: Bool = false,
    isCertain: Bool = true
  ) -> ConflictDecision {
    if theirs == nil, operation == .delete { return .done }
    switch policy {
    case .archive: return .archive
    case .serverWins: return isCertain ? .giveUp : .archive
    // An entity that was deleted cannot be changed.
    case .clientWins: return theirs == nil || mayHaveTakenEffect ? .archive : .sendAgain
    case .mergeDisjoint:
      guard !mayHaveTakenEffect, !changesLink, let theirs, let base, operation == .patch || operation == .merge else {
        return .archive
      }
      return mine.isDisjoint(with: changed(from: base, to: theirs)) ? .sendAgain : .archive
    case .resolver: return .ask
    }
  }

  /// The columns in which two versions of an entity differ, among those that were read with both.
  static func changed(from base: EntityCells, to theirs: EntityCells) -> Set<String> {
    let (old, new) = (base.content, theirs.content)
    // A response may leave out properties, but it contains those that are null.
    let names = Set(theirs.values.keys).subtracting(SystemColumn.allCases.map(\.rawValue))
      .subtracting(base.unread).subtracting(theirs.unread)
    return names.filter { old[$0] != new[$0] }
  }
}
