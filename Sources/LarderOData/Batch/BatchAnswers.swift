public import LarderHTTP

/// A `$batch` answer as a whole, in whichever format the service chose.
public enum BatchAnswers: Sendable, Hashable {
  /// One answer a part, in the order of the parts.
  case parts([BatchAnswer])
  /// The service refused or failed the batch as a whole, with an ordinary answer.
  case refused(BatchResponse)
  /// The answer is cut off, cannot be read to its end or leaves parts out: one slot a part, nil where there is no answer, and
  /// what is wrong. At least one slot has an answer. What the other parts change may be done.
  case incomplete([BatchAnswer?], BatchError)

  /// Reads an answer and finds each part's in it.
  ///
  /// - Parameters:
  ///   - status: of the HTTP answer.
  ///   - fields: of the HTTP answer; their Content-Type tells the format.
  ///   - body: of the HTTP answer, whole.
  ///   - requests: the parts as they were written; for the JSON format with the ids that ``JSONBatchWriter`` gave.
  ///   - stopsAtError: the service was not asked to go on after an error, and is one that then ends its answer there (from V4
  ///     on): only then a part without an answer can be ``BatchAnswer/notProcessed``.
  ///   - isForShow: the response is only shown. In a truncated multipart response, parts without an id are then matched with the
  ///     first requests. Nothing may be sent again on the strength of that.
  ///   - limits: on what is read.
  /// - Throws: ``BatchError`` where a success is no batch, or no part of it can be read.
  public static func read(
    status: Int, fields: HTTPFields, body: [UInt8], requests: [BatchRequestPart], stopsAtError: Bool = false,
    isForShow: Bool = false, limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> BatchAnswers {
    let text = fields.values(of: .contentType).first ?? ""
    let type = MediaType(text)
    var match = BatchMatch(requests)
    match.stopsAtError = stopsAtError
    match.takesPrefix = isForShow
    if type.isMultipart {
      let found = try MultipartBatchReader.wholeResponses(body, contentType: text, limits: limits)
      match.isWhole = found.isClosed
      return try answers(match.slots(of: found.parts), found.parts.flatMap(\.responses), found.error, match)
    }
    if status >= 400 { return .refused(BatchResponse(status: status, fields: fields, body: body)) }
    guard type.isJSON else { throw BatchError(.notABatch(contentType: type.mediaType)) }
    let (found, error) = try JSONBatchReader.wholeResponses(body, limits: limits)
    match.isWhole = error == nil
    return try answers(match.slots(of: found), found, error, match)
  }

  private static func answers(
    _ slots: [BatchAnswer?], _ found: [BatchResponse], _ error: BatchError?, _ match: BatchMatch
  ) throws(BatchError) -> BatchAnswers {
    guard let problem = error ?? match.problem(slots, found) else { return .parts(slots.compactMap { $0 }) }
    guard slots.contains(where: { $0 != nil }) else { throw problem }
    return .incomplete(slots, problem)
  }
}
