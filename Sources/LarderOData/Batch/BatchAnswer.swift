/// What became of one part of a `$batch`, in the place of the part.
public enum BatchAnswer: Sendable, Hashable {
  /// The answer to a request of its own.
  case single(BatchResponse)
  /// The answers to a change set, in the order of its requests.
  case changeSet([BatchResponse])
  /// A change set failed as a whole, with this answer.
  case changeSetFailed(BatchResponse)
  /// The answers to a change set that has some without one: in the order of its requests, nil where there is none. Such a
  /// request may have been executed.
  case changeSetPartly([BatchResponse?])
  /// The service stopped at an earlier error and did not come to this part (Protocol 4.01 §11.7.7.5).
  case notProcessed
}

extension BatchAnswer {
  /// Finds the answer to each part of a multipart batch: by Content-ID, and in the order of the parts where they have none,
  /// are all there, and no Content-ID contradicts the order.
  ///
  /// - Parameters:
  ///   - responses: the parts of the response, in their order.
  ///   - requests: the parts of the request, in their order.
  ///   - stopsAtError: the service was not asked to go on after an error, and is one that then ends its answer there (from
  ///     V4 on).
  /// - Throws: ``BatchError/Problem/countMismatch(expected:found:)`` and ``BatchError/Problem/unknownID(_:)`` naming the first
  ///   part without its answers.
  public static func match(
    _ responses: [BatchResponsePart], to requests: [BatchRequestPart], stopsAtError: Bool = false
  ) throws(BatchError) -> [BatchAnswer] {
    var match = BatchMatch(requests)
    match.stopsAtError = stopsAtError
    return try all(match.slots(of: responses), of: match, responses.flatMap(\.responses))
  }

  /// Finds the answer to each part of a JSON batch by id; the parts are those that were written, with their ids.
  ///
  /// - Parameters:
  ///   - responses: the responses, in any order.
  ///   - requests: the parts of the request, in their order.
  ///   - stopsAtError: the service was not asked to go on after an error.
  /// - Throws: ``BatchError/Problem/unknownID(_:)`` and ``BatchError/Problem/countMismatch(expected:found:)``.
  public static func match(
    json responses: [BatchResponse], to requests: [BatchRequestPart], stopsAtError: Bool = false
  ) throws(BatchError) -> [BatchAnswer] {
    var match = BatchMatch(requests)
    match.stopsAtError = stopsAtError
    return try all(match.slots(of: responses), of: match, responses)
  }

  private static func all(
    _ slots: [BatchAnswer?], of match: BatchMatch, _ responses: [BatchResponse]
  ) throws(BatchError) -> [BatchAnswer] {
    if let problem = match.problem(slots, responses) { throw problem }
    return slots.compactMap { $0 }
  }
}
