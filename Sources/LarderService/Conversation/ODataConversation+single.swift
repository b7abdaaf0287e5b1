@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ODataConversation {
  /// Sends one request and reads its response into memory.
  ///
  /// Responses with a status of 2xx are returned, and 304 if the request was conditional (`isNotModified`). All others
  /// are thrown as ``ODataServiceError`` with the service's own error message.
  public func send(_ request: ODataSingleRequest) async throws(ODataServiceError) -> ODataSingleResponse {
    try await send(request, operation: request.operationName)
  }

  func send(
    _ request: ODataSingleRequest, operation: String
  ) async throws(ODataServiceError) -> ODataSingleResponse {
    let outgoing = try await outgoing(request, operation: operation)
    let incoming = try await negotiated(request, outgoing)
    return try checked(incoming, outgoing)
  }

  /// The absolute URL to which a request is sent, as text.
  public func url(of request: ODataSingleRequest) throws(ODataServiceError) -> String {
    try root.absoluteText(request.path)
  }

  /// Adds what the service's version requires to a request.
  ///
  /// - Parameter isAtom: whether content and response are Atom; nil uses the format that the service is known to
  ///   support.
  func outgoing(
    _ request: ODataSingleRequest, operation: String, isAtom: Bool? = nil
  ) async throws(ODataServiceError) -> OutgoingRequest {
    _ = try root.resolve(request.path)
    let model = RequestBodyForm.needsModel(request) ? try await metadata() : nil
    let version = RequestBodyForm.needsVersion(request) ? try await version() : knownVersion
    return try outgoing(request, operation: operation, version: version, model: model, isAtom: isAtom)
  }

  /// Adds what the service's version requires to a request, with a known version and model.
  func outgoing(
    _ request: ODataSingleRequest, operation: String, version: ODataVersion?, model: EdmModel?, isAtom: Bool? = nil
  ) throws(ODataServiceError) -> OutgoingRequest {
    let url = try root.resolve(request.path)
    if let problem = mediaEntityProblem(request, model ?? knownModel) {
      throw ODataServiceError(.invalidRequest(problem), operation: operation, url: url.absoluteString)
    }
    let isSameOrigin = root.isSameOrigin(url)
    let isAtom = isAtom ?? state.withLock { $0.usesAtom }
    let form = try RequestBodyForm(request, version: version, model: model, isAtom: isAtom, root: root)
    var fields = request.fields
    let kind = request.operation == .readMedia ? .raw : RequestFields.Kind(path: request.path)
    let requiredFields = RequestFields.fields(kind, version: form.version, isAtom: isAtom, hasBody: form.isStructured)
    for field in requiredFields { fields.setDefault(field.name, field.value) }
    if let contentType = form.contentType { fields.setDefault(.contentType, contentType) }
    if let etag = request.ifMatch { fields[.ifMatch] = etag }
    if let preference = RequestFields.prefer(request, version: version) {
      fields[.prefer] = fields[.prefer].map { $0 + ", " + preference } ?? preference
    }
    var validators = request.validators
    if validators?.sender == nil { validators?.sender = url.absoluteString }
    validators?.setFields(&fields, of: url)
    let method = RequestFields.method(request.operation, version: version)
    var outgoing = OutgoingRequest(
      operation: operation, method: method, url: url, isSameOrigin: isSameOrigin, fields: fields, body: form.body,
      timeouts: request.timeouts ?? options.timeouts,
      repeatability: .init(method: method, isConditional: fields.contains(.ifMatch)))
    outgoing.validators = validators
    outgoing.acceptsOtherOrigins = !options.rejectsOtherOrigins || request.operation == .readMedia
    return outgoing
  }

  /// Why the request cannot create a media entity from values, if the model shows that it is one: the service would use
  /// the request's content as the media bytes, whatever its media type (OData Protocol 4.01 §11.4.7.1).
  private func mediaEntityProblem(_ request: ODataSingleRequest, _ model: EdmModel?) -> String? {
    guard request.operation == .create, let model else { return nil }
    var type = ResourceShape(path: request.path, model: model)?.typeName
    switch request.body {
    case .entity(let entity): type = entity.typeName ?? type
    case .properties: break
    case .none, .reference, .bytes, .stream: return nil
    }
    guard let type, model.structure(type)?.hasStream == true else { return nil }
    return "\(type) is a media entity; create it with createMedia(_:in:slug:), then update its values"
  }

  /// Sends a request, in Atom if the service does not support JSON.
  private func negotiated(
    _ request: ODataSingleRequest, _ outgoing: OutgoingRequest
  ) async throws(ODataServiceError) -> IncomingResponse {
    let jsonResponse = try await exchange(outgoing)
    guard rejectsJSON(request, outgoing, jsonResponse.status) else { return jsonResponse }
    let atomRequest = try await self.outgoing(request, operation: outgoing.operation, isAtom: true)
    let response = try await exchange(atomRequest)
    if response.isSuccess { state.withLock { $0.usesAtom = true } }
    return response
  }

  private func rejectsJSON(_ request: ODataSingleRequest, _ outgoing: OutgoingRequest, _ status: Int) -> Bool {
    guard options.fallsBackToAtom, knownVersion.map({ $0 < .v4 }) ?? true, !state.withLock({ $0.usesAtom }) else {
      return false
    }
    let isPayload = RequestFields.Kind(path: request.path) == .payload && !request.fields.contains(.accept)
    // 415 means that the content was not accepted: nothing has changed.
    if RequestBodyForm.needsModel(request) { return status == 415 && isPayload }
    return request.isRead && request.operation != .readMedia && (status == 406 || status == 415) && isPayload
  }

  /// The response of a success; throws an error for every other status.
  func checked(
    _ incoming: IncomingResponse, _ request: OutgoingRequest
  ) throws(ODataServiceError) -> ODataSingleResponse {
    let response = response(incoming, request)
    if request.isSameOrigin, !response.sender.isOtherOrigin { learnVersion(incoming.fields) }
    try checkCoding(incoming, request)
    try checkSender(incoming, request)
    // A part would be mistaken for the whole (RFC 9110 §15.3.7).
    if incoming.status == 206, request.method == .get, !request.fields.contains("Range") {
      throw request.error(.malformedResponse("206 (Partial Content) to a request without a range"), response: response)
    }
    if incoming.isSuccess || response.isNotModified { return response }
    throw rejection(incoming, request)
  }

  /// Throws if the content of a read has a coding that was neither requested nor decoded: its reader would take it for the
  /// resource.
  func checkCoding(_ incoming: IncomingResponse, _ request: OutgoingRequest) throws(ODataServiceError) {
    guard incoming.isSuccess, request.method == .get, !request.fields.contains("Accept-Encoding"),
      incoming.stream != nil || !incoming.bytes.isEmpty, let coding = incoming.fields.contentCoding
    else { return }
    incoming.stream?.cancel()
    throw request.error(.malformedResponse("the content has the coding '\(coding)', which was not requested"))
  }

  /// Throws if another origin sent content that the caller would store as the service's.
  func checkSender(_ incoming: IncomingResponse, _ request: OutgoingRequest) throws(ODataServiceError) {
    guard incoming.isSuccess, !request.acceptsOtherOrigins, case .otherOrigin(let sender) = incoming.sender else {
      return
    }
    incoming.stream?.cancel()
    let problem = "the request was redirected to another server, whose response is not the service's"
    var error = request.error(
      .malformedResponse("\(problem) (\(RedactedURL.withoutQuery(RedactedURL.text(sender))))"),
      response: response(incoming, request))
    error.isForeign = true
    throw error
  }

  /// The error that an unsuccessful response means.
  func rejection(_ incoming: IncomingResponse, _ request: OutgoingRequest) -> ODataServiceError {
    let response = response(incoming, request)
    let category: ODataServiceError.Category =
      incoming.status == 401
      ? .authentication(.rejected(challenge: incoming.fields[.wwwAuthenticate]))
      : .http(status: incoming.status, payload: ErrorResponse.payload(response))
    var error = request.error(category, response: response)
    error.sends = incoming.sends
    if case .http = category { error.isForeign = incoming.sender.isOtherOrigin }
    return error
  }

  func response(_ incoming: IncomingResponse, _ request: OutgoingRequest) -> ODataSingleResponse {
    var response = ODataSingleResponse(
      httpStatus: incoming.status, fields: incoming.fields, payloadBytes: incoming.bytes,
      isNotModified: incoming.status == 304 && hasCondition(request, for: incoming.sender),
      url: request.url.absoluteString, serviceVersion: knownVersion
    ).with(model: knownModel)
    response.sender = incoming.sender
    return response
  }

  /// Whether a condition of the request was sent to the sender of its response.
  private func hasCondition(_ request: OutgoingRequest, for sender: ResponseSender) -> Bool {
    if let validators = request.validators {
      return validators.sender == sender.url ?? request.url.absoluteString
        && (validators.etag != nil || validators.lastModified != nil)
    }
    guard !sender.isOtherOrigin else { return false }
    return request.fields.contains(.ifNoneMatch) || request.fields.contains(.ifModifiedSince)
  }
}
