import LarderOData
import LarderStorage

/// What becomes of a conflict, by its policy. Pure.
enum ConflictDecision: Hashable, Sendable {
  case archive
  /// Sent again on top of the server's version.
  case sendAgain
  case giveUp
  /// It is as the request wants it already.
  case done
  /// The application is asked.
  case ask

  /// Decides.
  ///
  /// - Parameters:
  ///   - mine: the columns that the request changes.
  ///   - base: the server's version that the change was based on.
  ///   - theirs: the server's version now; nil where it has the entity no more.
  ///   - changesLink: the request sets a link that no column tells: whether another has set it too is not seen.
  ///   - mayHaveTakenEffect: theirs may have been made knowing mine: then mine is not applied again over it.
  static func of(
    _ policy: OfflineODataConflictPolicy, _ operation: QueuedRequest.Operation, mine: Set<String>, base: EntityCells?,
    theirs: EntityCells?, changesLink: Bool = false, mayHaveTakenEffect: Bool = false
  ) -> ConflictDecision {
    if theirs == nil, operation == .delete { return .done }
    switch policy {
    case .archive: return .archive
    case .serverWins: return .giveUp
    // What is gone cannot be changed.
    case .clientWins: return theirs == nil || mayHaveTakenEffect ? .archive : .sendAgain
    case .mergeDisjoint:
      guard !mayHaveTakenEffect, !changesLink, let theirs, let base, operation == .patch || operation == .merge else {
        return .archive
      }
      return mine.isDisjoint(with: changed(from: base, to: theirs)) ? .sendAgain : .archive
    case .resolver: return .ask
    }
  }

  /// The columns that two versions of an entity differ in.
  static func changed(from base: EntityCells, to theirs: EntityCells) -> Set<String> {
    let (old, new) = (base.content, theirs.content)
    // An answer may leave out what it does not show; a value that is null is said.
    let names = Set(theirs.values.keys).subtracting(SystemColumn.allCases.map(\.rawValue))
    return names.filter { old[$0] != new[$0] }
  }
}
