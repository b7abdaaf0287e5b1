public import HTTPCore

/// A `$batch` answer as a whole, in whichever format the service chose.
public enum BatchAnswers: Sendable, Hashable {
  /// One answer a part, in the order of the parts.
  case parts([BatchAnswer])
  /// The service refused or failed the batch as a whole, with an ordinary answer.
  case refused(BatchResponse)
  /// The answer is cut off, cannot be read to its end or leaves parts out: one slot a part, nil where no whole answer
  /// is, and what is wrong. At least one slot has an answer. What the other parts changed may be done.
  case incomplete([BatchAnswer?], BatchError)

  /// Reads an answer and finds each part's in it.
  ///
  /// - Parameters:
  ///   - status: of the HTTP answer.
  ///   - fields: of the HTTP answer; their Content-Type tells the format.
  ///   - body: of the HTTP answer, whole.
  ///   - requests: the parts as they were written; for the JSON format with the ids that ``JSONBatchWriter`` gave.
  ///   - limits: on what is read.
  /// - Throws: ``BatchError`` where a success is no batch, or no part of it can be read.
  public static func read(
    status: Int, fields: HTTPFields, body: [UInt8], requests: [BatchRequestPart], limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> BatchAnswers {
    let text = fields.values(of: .contentType).first ?? ""
    let type = MediaType(text)
    if type.isMultipart {
      let (found, error) = try MultipartBatchReader.wholeResponses(body, contentType: text, limits: limits)
      return try answers(error, whole: BatchAnswer.whole(found, in: requests)) { () throws(BatchError) in
        try BatchAnswer.match(found, to: requests)
      }
    }
    if status >= 400 { return .refused(BatchResponse(status: status, fields: fields, body: body)) }
    guard type.isJSON else { throw BatchError(.notABatch(contentType: type.mediaType)) }
    let (found, error) = try JSONBatchReader.wholeResponses(body, limits: limits)
    return try answers(error, whole: BatchAnswer.whole(json: found, in: requests)) { () throws(BatchError) in
      try BatchAnswer.match(json: found, to: requests)
    }
  }

  private static func answers(
    _ error: BatchError?, whole: @autoclosure () -> [BatchAnswer?], all: () throws(BatchError) -> [BatchAnswer]
  ) throws(BatchError) -> BatchAnswers {
    do throws(BatchError) {
      if let error { throw error }
      return .parts(try all())
    } catch {
      let slots = whole()
      guard slots.contains(where: { $0 != nil }) else { throw error }
      // Parts that have answers nobody asked for show that the slots are not to be trusted.
      if case .countMismatch(let expected, let found) = error.problem, found > expected { throw error }
      return .incomplete(slots, error)
    }
  }
}
