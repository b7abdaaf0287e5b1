package import LarderHTTP

/// The whole response to a `$batch`, in whichever format the service chose.
package enum BatchResults: Sendable, Hashable {
  /// One result for each part, in the order of the parts.
  case parts([BatchResult])
  /// The service rejected or failed the batch as a whole, with an ordinary response.
  case rejected(BatchResponse)
  /// The response is truncated, cannot be read to its end, or lacks parts. The array has one slot for each part, nil if
  /// it has no response; the error says what is wrong. At least one slot is filled. The changes of the other parts may
  /// have been applied.
  case incomplete([BatchResult?], BatchError)

  /// Reads a response and finds each part's response in it.
  ///
  /// - Parameters:
  ///   - status: the status code of the HTTP response.
  ///   - fields: the fields of the HTTP response; Content-Type determines the format.
  ///   - body: the whole body of the HTTP response.
  ///   - requests: the parts as they were written; for the JSON format with the ids that ``JSONBatchWriter`` assigned.
  ///   - stopsAtError: whether the service ends its response at the first error: it does so from V4 on, unless the
  ///     request asks it to continue. Only then can a part without a response be ``BatchResult/notProcessed``.
  ///   - isForShow: whether the response is only shown. In a truncated multipart response, parts without an id are then
  ///     matched with the first requests. No request may be sent again because of such a match.
  ///   - limits: the limits on what is read.
  /// - Throws: ``BatchError`` if a successful response is no batch, or if no part of it can be read.
  package static func read(
    status: Int, fields: HTTPFields, body: [UInt8], requests: [BatchRequestPart], stopsAtError: Bool = false,
    isForShow: Bool = false, limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> BatchResults {
    let text = fields.values(of: .contentType).first ?? ""
    let type = MediaType(text)
    var match = BatchMatch(requests)
    match.stopsAtError = stopsAtError
    match.usesPrefix = isForShow
    if type.isMultipart {
      let parsed = try MultipartBatchReader.wholeResponses(body, contentType: text, limits: limits)
      match.isComplete = parsed.isClosed
      return try outcome(
        of: match.slots(of: parsed.parts), responses: parsed.parts.flatMap(\.responses), error: parsed.error,
        match: match)
    }
    if status >= 400 { return .rejected(BatchResponse(status: status, fields: fields, body: body)) }
    guard type.isJSON else { throw BatchError(.notABatch(contentType: type.mediaType)) }
    let (responses, error) = try JSONBatchReader.wholeResponses(body, limits: limits)
    match.isComplete = error == nil
    return try outcome(of: match.slots(of: responses), responses: responses, error: error, match: match)
  }

  private static func outcome(
    of slots: [BatchResult?], responses: [BatchResponse], error: BatchError?, match: BatchMatch
  ) throws(BatchError) -> BatchResults {
    guard let problem = error ?? match.problem(slots, responses) else { return .parts(slots.compactMap { $0 }) }
    guard slots.contains(where: { $0 != nil }) else { throw problem }
    return .incomplete(slots, problem)
  }
}
