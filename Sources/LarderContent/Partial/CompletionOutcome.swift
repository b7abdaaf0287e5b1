/// What the answer to a ``RangeFetch`` means.
package enum CompletionOutcome: Hashable, Sendable {
  /// 206 with more of what is stored: combine, then decide again by ``RangeOutcome`` on what that gives.
  case combine(Combination, ReceivedPart)
  /// 200: the server has another representation by now, or knows no ranges. It takes the place of what is stored, and
  /// answers the client's request once it is there.
  case replace
  /// The server contradicts itself: a part of something else, several parts, or 416 for what it said to have. Send the
  /// client's own request, without the help of what is stored.
  case askAgain
  /// Any other status: it is the client's to see.
  case forward

  /// Reads an answer's head; metadata and rules as they would be stored.
  package static func of(
    _ answer: CacheMetadata, _ rules: StoredRules, to entry: CacheEntry
  ) -> CompletionOutcome {
    switch answer.status {
    case 200: return .replace
    case 206:
      guard let part = ReceivedPart(status: 206, fields: answer.fields),
        let combination = Combination(entry, with: part, answer, rules)
      else { return .askAgain }
      return .combine(combination, part)
    case 304, 412, 416: return .askAgain
    default: return .forward
    }
  }
}
