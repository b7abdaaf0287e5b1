import LarderCore
import LarderHTTP
import LarderOData

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension ODataConversation {
  /// Sends one request and reads its answer into memory.
  ///
  /// Answers 2xx are returned, and 304 where the request was conditional (`isNotModified`); all others are thrown as
  /// ``ODataServiceError`` with the service's own words.
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

  /// The absolute URL that a request is sent to, as text.
  public func url(of request: ODataSingleRequest) throws(ODataServiceError) -> String {
    try root.absoluteText(request.path)
  }

  /// Fills in what the service's version asks for.
  ///
  /// - Parameter isAtom: content and answer in Atom; nil takes what the service is known to speak.
  func outgoing(
    _ request: ODataSingleRequest, operation: String, isAtom: Bool? = nil
  ) async throws(ODataServiceError) -> OutgoingRequest {
    _ = try root.resolve(request.path)
    let model = RequestBodyForm.needsModel(request) ? try await metadata() : nil
    let version = RequestBodyForm.needsVersion(request) ? try await version() : knownVersion
    return try outgoing(request, operation: operation, version: version, model: model, isAtom: isAtom)
  }

  /// The same where version and model are known.
  func outgoing(
    _ request: ODataSingleRequest, operation: String, version: ODataVersion?, model: EdmModel?, isAtom: Bool? = nil
  ) throws(ODataServiceError) -> OutgoingRequest {
    let url = try root.resolve(request.path)
    if let why = bytesFirst(request, model ?? knownModel) {
      throw ODataServiceError(.invalidRequest(why), operation: operation, url: url.absoluteString)
    }
    let isSameOrigin = root.isSameOrigin(url)
    let isAtom = isAtom ?? state.withLock { $0.speaksAtom }
    // Every service of 4.01 reads requests of 4.0, and the bindings of 4.0 cannot be taken for entities to be made.
    let written = version == .v401 && request.bindsEntities ? .v4 : version
    let form = try RequestBodyForm(request, version: written, model: model, isAtom: isAtom, root: root)
    var fields = request.fields
    let kind = request.operation == .readMedia ? .raw : RequestFields.Kind(path: request.path)
    let own = RequestFields.fields(kind, version: written, isAtom: isAtom, hasBody: form.isStructured)
    for field in own { fields.setDefault(field.name, field.value) }
    if let contentType = form.contentType { fields.setDefault(.contentType, contentType) }
    if let etag = request.ifMatch { fields[.ifMatch] = etag }
    if let preference = RequestFields.prefer(request, version: version) {
      fields[.prefer] = fields[.prefer].map { $0 + ", " + preference } ?? preference
    }
    let method = RequestFields.method(request.operation, version: version)
    return OutgoingRequest(
      operation: operation, method: method, url: url, isSameOrigin: isSameOrigin, fields: fields, body: form.body,
      timeouts: request.timeouts ?? options.timeouts,
      repeatability: .init(method: method, isConditional: fields.contains(.ifMatch)))
  }

  /// Why a media entity is not made of values, where the model tells that it is one: the service takes the content of the
  /// request for the bytes, whatever its media type (OData Protocol 4.01 §11.4.7.1).
  private func bytesFirst(_ request: ODataSingleRequest, _ model: EdmModel?) -> String? {
    guard request.operation == .create, let model else { return nil }
    var type = ResourceShape(path: request.path, model: model)?.typeName
    switch request.body {
    case .entity(let entity): type = entity.typeName ?? type
    case .properties: break
    case .none, .reference, .bytes, .stream: return nil
    }
    guard let type, model.structure(type)?.hasStream == true else { return nil }
    return "a \(type) is made of its bytes; create it by createMedia(_:in:slug:), then update its values"
  }

  /// Sends; speaks Atom where the service speaks no JSON.
  private func negotiated(
    _ request: ODataSingleRequest, _ outgoing: OutgoingRequest
  ) async throws(ODataServiceError) -> IncomingResponse {
    let response = try await exchange(outgoing)
    guard refusesJSON(request, outgoing, response.status) else { return response }
    let second = try await self.outgoing(request, operation: outgoing.operation, isAtom: true)
    let answer = try await exchange(second)
    if answer.isSuccess { state.withLock { $0.speaksAtom = true } }
    return answer
  }

  private func refusesJSON(_ request: ODataSingleRequest, _ outgoing: OutgoingRequest, _ status: Int) -> Bool {
    guard options.fallsBackToAtom, knownVersion.map({ $0 < .v4 }) ?? true, !state.withLock({ $0.speaksAtom }) else {
      return false
    }
    let isPayload = RequestFields.Kind(path: request.path) == .payload && !request.fields.contains(.accept)
    // 415 says that the content was not taken: nothing has changed.
    if RequestBodyForm.needsModel(request) { return status == 415 && isPayload }
    return request.isRead && request.operation != .readMedia && (status == 406 || status == 415) && isPayload
  }

  /// The answer of a success; an error for everything else.
  func checked(
    _ incoming: IncomingResponse, _ request: OutgoingRequest
  ) throws(ODataServiceError) -> ODataSingleResponse {
    let response = response(incoming, request)
    if request.isSameOrigin { learnVersion(incoming.fields) }
    if incoming.isSuccess || response.isNotModified { return response }
    throw refused(incoming, request)
  }

  /// The error that an answer other than a success stands for.
  func refused(_ incoming: IncomingResponse, _ request: OutgoingRequest) -> ODataServiceError {
    let response = response(incoming, request)
    if incoming.status == 401 {
      return request.error(
        .authentication(.refused(challenge: incoming.fields[.wwwAuthenticate])), response: response)
    }
    return request.error(
      .http(status: incoming.status, payload: ErrorResponse.payload(response)), response: response)
  }

  func response(_ incoming: IncomingResponse, _ request: OutgoingRequest) -> ODataSingleResponse {
    let isConditional = request.fields.contains(.ifNoneMatch) || request.fields.contains(.ifModifiedSince)
    return ODataSingleResponse(
      httpStatus: incoming.status, fields: incoming.fields, payloadBytes: incoming.bytes,
      isNotModified: incoming.status == 304 && isConditional, url: request.url.absoluteString,
      serviceVersion: knownVersion
    ).of(knownModel)
  }
}
