/// The result of one part of a `$batch`.
package enum BatchResult: Sendable, Hashable {
  /// The response to a single request.
  case single(BatchResponse)
  /// The responses to a change set, in the order of its requests.
  case changeSet([BatchResponse])
  /// A change set failed as a whole, with this response.
  case changeSetFailed(BatchResponse)
  /// A change set with responses for only some of its requests: in the order of its requests, nil for a request without
  /// a response, which may have been executed.
  case changeSetPartly([BatchResponse?])
  /// The service stopped at an earlier error and did not process this part (Protocol 4.01 §11.7.7.5).
  case notProcessed
}

extension BatchResult {
  /// Finds the response to each part of a multipart batch: by Content-ID, or by the order of the parts if they have no
  /// Content-ID, all parts are there, and no Content-ID contradicts the order.
  ///
  /// - Parameters:
  ///   - responses: the parts of the response, in their order.
  ///   - requests: the parts of the request, in their order.
  ///   - stopsAtError: whether the service ends its response at the first error: it does so from V4 on, unless the
  ///     request asks it to continue.
  /// - Throws: ``BatchError/Problem/countMismatch(expected:found:)`` and ``BatchError/Problem/unknownID(_:)`` with the
  ///   first part that has no response.
  package static func match(
    _ responses: [BatchResponsePart], to requests: [BatchRequestPart], stopsAtError: Bool = false
  ) throws(BatchError) -> [BatchResult] {
    var match = BatchMatch(requests)
    match.stopsAtError = stopsAtError
    return try all(match.slots(of: responses), of: match, responses.flatMap(\.responses))
  }

  /// Finds the response to each part of a JSON batch by its id. The parts are those that were written, with their ids.
  ///
  /// - Parameters:
  ///   - responses: the responses, in any order.
  ///   - requests: the parts of the request, in their order.
  ///   - stopsAtError: whether the service ends its response at the first error: the request did not ask it to
  ///     continue.
  /// - Throws: ``BatchError/Problem/unknownID(_:)`` and ``BatchError/Problem/countMismatch(expected:found:)``.
  package static func match(
    json responses: [BatchResponse], to requests: [BatchRequestPart], stopsAtError: Bool = false
  ) throws(BatchError) -> [BatchResult] {
    var match = BatchMatch(requests)
    match.stopsAtError = stopsAtError
    return try all(match.slots(of: responses), of: match, responses)
  }

  private static func all(
    _ slots: [BatchResult?], of match: BatchMatch, _ responses: [BatchResponse]
  ) throws(BatchError) -> [BatchResult] {
    if let problem = match.problem(slots, responses) { throw problem }
    return slots.compactMap { $0 }
  }
}
