public import HTTPCore

/// A `$batch` answer as a whole, in whichever format the service chose.
public enum BatchAnswers: Sendable, Hashable {
  /// One answer a part, in the order of the parts.
  case parts([BatchAnswer])
  /// The service refused or failed the batch as a whole, with an ordinary answer.
  case refused(BatchResponse)

  /// Reads an answer and finds each part's in it.
  ///
  /// - Parameters:
  ///   - status: of the HTTP answer.
  ///   - fields: of the HTTP answer; their Content-Type tells the format.
  ///   - body: of the HTTP answer, whole.
  ///   - requests: the parts as they were written; for the JSON format with the ids that ``JSONBatchWriter`` gave.
  ///   - limits: on what is read.
  /// - Throws: ``BatchError`` where a success is no batch, a part is cut off, or answers are missing.
  public static func read(
    status: Int, fields: HTTPFields, body: [UInt8], requests: [BatchRequestPart], limits: BatchLimits = BatchLimits()
  ) throws(BatchError) -> BatchAnswers {
    let text = fields.values(of: .contentType).first ?? ""
    let type = BatchContentType(text)
    if type.isMultipart {
      let found = try MultipartBatchReader.responses(body, contentType: text, limits: limits)
      return .parts(try BatchAnswer.match(found, to: requests))
    }
    if status >= 400 { return .refused(BatchResponse(status: status, fields: fields, body: body)) }
    guard type.isJSON else { throw BatchError(.notABatch(contentType: type.mediaType)) }
    let found = try JSONBatchReader.responses(body, limits: limits)
    return .parts(try BatchAnswer.match(json: found, to: requests))
  }
}
