/// What the response to a ``RangeFetch`` means.
package enum CompletionOutcome: Hashable, Sendable {
  /// 206 with more of the stored response: combine, then decide again by ``RangeOutcome`` with the result.
  case combine(Combination, ReceivedPart)
  /// 200: the server has another representation by now, or does not support ranges. The response replaces the stored
  /// one, and is used for the client's request after it was received.
  case replace
  /// The server contradicts itself: a part of another representation, several parts, or 416 for a range that it
  /// declared to have. Send the client's own request, without using the stored response.
  case requestAgain
  /// Any other status: return it to the client.
  case forward

  /// Reads a response's head; metadata and rules as they would be stored.
  package static func of(
    _ partMetadata: CacheMetadata, _ rules: StoredRules, to entry: CacheEntry
  ) -> CompletionOutcome {
    switch partMetadata.status {
    case 200: return .replace
    case 206:
      guard let part = ReceivedPart(status: 206, fields: partMetadata.fields),
        let combination = Combination(entry, with: part, partMetadata, rules)
      else { return .requestAgain }
      return .combine(combination, part)
    case 304, 412, 416: return .requestAgain
    default: return .forward
    }
  }
}
