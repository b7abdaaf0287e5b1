public import LarderHTTP

extension ODataConversation {
  /// Reads a media resource or stream property chunk by chunk.
  ///
  /// - `offset`: bytes that the caller has already. The service may ignore it: see ``ODataMediaResponse/offset``.
  /// - `etag`: the version that those bytes are of; the whole of a newer one is sent instead (RFC 9110 §13.1.5).
  public func stream(
    _ request: ODataSingleRequest, from offset: Int = 0, etag: String? = nil
  ) async throws(ODataServiceError) -> ODataMediaResponse {
    guard request.isRead, offset >= 0 else {
      throw ODataServiceError(
        .invalidRequest("only reads are streamed, from 0 or later"), operation: request.operationName, url: request.path
      )
    }
    var outgoing = try await outgoing(request, operation: request.operationName)
    outgoing.wantsStream = true
    if offset > 0 {
      outgoing.fields["Range"] = "bytes=\(offset)-"
      if let etag { outgoing.fields["If-Range"] = etag }
    }
    return try await streamed(outgoing, from: offset)
  }

  /// Sends any request and reads the content of a success as it comes, so that what came before a broken connection
  /// is known.
  package func streamAnswer(
    to request: ODataSingleRequest
  ) async throws(ODataServiceError) -> ODataMediaResponse {
    var outgoing = try await outgoing(request, operation: request.operationName)
    outgoing.wantsStream = true
    return try await streamed(outgoing, from: 0)
  }

  private func streamed(
    _ outgoing: OutgoingRequest, from offset: Int
  ) async throws(ODataServiceError) -> ODataMediaResponse {
    let incoming = try await exchange(outgoing)
    guard incoming.isSuccess, let body = incoming.stream else { throw refused(incoming, outgoing) }
    let start = try ODataMediaResponse.start(incoming, asked: offset, outgoing)
    return ODataMediaResponse(
      httpStatus: incoming.status, fields: incoming.fields, body: body, offset: start)
  }
}

/// The head of a media resource and the stream of its bytes.
public struct ODataMediaResponse: Sendable {
  /// The status code: 200, or 206 for a part.
  public let httpStatus: Int
  /// The header fields.
  public let fields: HTTPFields
  /// The bytes, pulled at the reader's pace.
  public let body: HTTPBodyStream
  /// Where in the resource `body` starts: the offset asked for, or 0 where the service sends the whole.
  public let offset: Int

  /// The media type.
  public var contentType: String? { fields[.contentType] }
  /// The version of the bytes.
  public var etag: String? { fields[.etag] }

  /// Where a partial answer starts (RFC 9110 §14.4).
  static func start(
    _ incoming: IncomingResponse, asked: Int, _ request: OutgoingRequest
  ) throws(ODataServiceError) -> Int {
    guard incoming.status == 206 else { return 0 }
    let field = incoming.fields["Content-Range"] ?? ""
    let start = field.hasPrefix("bytes ") ? Int(field.dropFirst(6).prefix { $0 != "-" }) : nil
    // RFC 9110 §15.3.7: only a range has this answer, and without one a part would be taken for the whole.
    guard start == asked, request.fields.contains("Range") else {
      incoming.stream?.cancel()
      throw request.error(.malformedAnswer("field Content-Range: another part than the one asked for"))
    }
    return asked
  }
}
