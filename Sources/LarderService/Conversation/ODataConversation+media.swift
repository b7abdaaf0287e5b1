import LarderCore
public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ODataConversation {
  /// Reads a media resource or stream property chunk by chunk.
  ///
  /// - `offset`: the number of bytes that the caller already has. The service may ignore it: see
  ///   ``ODataMediaResponse/offset``.
  /// - `etag`: the version of those bytes. If there is a newer version, it is sent completely (RFC 9110 §13.1.5).
  public func stream(
    _ request: ODataSingleRequest, from offset: Int = 0, etag: String? = nil
  ) async throws(ODataServiceError) -> ODataMediaResponse {
    guard request.isRead, offset >= 0 else {
      throw ODataServiceError(
        .invalidRequest("only reads can be streamed, from an offset of 0 or more"), operation: request.operationName,
        url: request.path
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

  /// Sends any request and streams the content of a success, so that the bytes received before a broken connection are
  /// known.
  package func streamResponse(
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
    guard incoming.isSuccess, let body = incoming.stream else { throw rejection(incoming, outgoing) }
    try checkCoding(incoming, outgoing)
    try checkSender(incoming, outgoing)
    let start = try ODataMediaResponse.start(incoming, requested: offset, outgoing)
    return ODataMediaResponse(incoming, body, offset: start, to: outgoing)
  }
}

/// The header of a media resource's response and the stream of its bytes.
public struct ODataMediaResponse: Sendable {
  /// The status code: 200, or 206 for a part.
  public let httpStatus: Int
  /// The header fields.
  public let fields: HTTPFields
  /// The bytes, pulled at the reader's pace.
  public let body: HTTPBodyStream
  /// The offset in the resource where `body` starts: the requested one, or 0 if the service sends everything.
  public let offset: Int
  /// The URL that sent the response, after redirects.
  package let sender: ResponseSender
  /// The operation, the method and the URL, without secrets: for errors about the content.
  private let request: (operation: String, method: HTTPMethod, url: String)

  init(_ incoming: IncomingResponse, _ body: HTTPBodyStream, offset: Int, to outgoing: OutgoingRequest) {
    (httpStatus, fields, self.body, self.offset) = (incoming.status, incoming.fields, body, offset)
    sender = incoming.sender
    request = (outgoing.operation, outgoing.method, RedactedURL.text(outgoing.url.absoluteString))
  }

  /// Creates an error about the request, after a failure that interrupted the content.
  package func error(_ failure: HTTPTransportError) -> ODataServiceError {
    ODataServiceError(
      .communication(failure), operation: request.operation, method: request.method, url: request.url, cause: failure)
  }

  /// Returns a text that names the request before what is wrong with its response.
  package func located(_ problem: String) -> String {
    ErrorExchange.text(
      request.operation, method: request.method.rawValue, url: RedactedURL.withOptionNames(request.url),
      "HTTP \(httpStatus): \(problem)")
  }

  /// The media type.
  public var contentType: String? { fields[.contentType] }
  /// The version of the bytes.
  public var etag: String? { fields[.etag] }

  /// The offset where a partial response starts (RFC 9110 §14.4).
  static func start(
    _ incoming: IncomingResponse, requested: Int, _ request: OutgoingRequest
  ) throws(ODataServiceError) -> Int {
    guard incoming.status == 206 else { return 0 }
    let field = incoming.fields["Content-Range"] ?? ""
    let start = field.hasPrefix("bytes ") ? Int(field.dropFirst(6).prefix { $0 != "-" }) : nil
    // Only a range request may get this response (RFC 9110 §15.3.7): without one, a part would be mistaken for the
    // complete resource.
    guard start == requested, request.fields.contains("Range") else {
      incoming.stream?.cancel()
      throw request.error(.malformedResponse("the field Content-Range is not the requested range"))
    }
    return requested
  }
}
