import OData

/// What became of a request whose answer was lost, judged by what the service has now. Pure.
enum LookupJudgement: Hashable, Sendable {
  case done
  case notDone
  /// Another has changed the entity since.
  case conflict
  /// It cannot be told: it is never sent again by itself.
  case unknown

  /// Of an update: its values are there, or the ETag that it was sent under still is.
  ///
  /// - Parameters:
  ///   - ifMatch: the condition that it was sent under.
  ///   - isMine: the entity has the values that were sent.
  ///   - isBase: the entity has, of what was sent, the values that it had before; nil where those are not known.
  static func ofUpdate(
    _ found: ServerAnswer?, ifMatch: String?, isMine: Bool, isBase: Bool?
  ) -> LookupJudgement {
    guard let found else { return .conflict }
    // First what was sent: the ETags of some services stay the same for a while.
    if isMine { return .done }
    if let ifMatch, ifMatch != "*", let etag = found.etag, etag == ifMatch { return .notDone }
    guard let ifMatch, ifMatch != "*", found.etag != nil else {
      // Sent without a condition: only values that are neither tell that another has been there since.
      return isBase == false ? .conflict : .notDone
    }
    return .conflict
  }

  /// Of a deletion.
  static func ofDeletion(_ found: ServerAnswer?, ifMatch: String?) -> LookupJudgement {
    guard let found else { return .done }
    guard let ifMatch, ifMatch != "*", let etag = found.etag, etag != ifMatch else { return .notDone }
    return .conflict
  }

  /// Of a creation under a key of the caller's.
  static func ofCreation(_ found: ServerAnswer?, isMine: Bool) -> LookupJudgement {
    guard found != nil else { return .notDone }
    return isMine ? .done : .conflict
  }
}
