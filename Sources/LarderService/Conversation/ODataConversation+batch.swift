@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData

extension ODataConversation {
  /// Sends several requests as one batch and reads all their responses into memory.
  ///
  /// A part that failed is a `failure` in its slot, and so is a part without a response (`malformedResponse`: it may have
  /// been executed). If the batch is rejected as a whole, the error is thrown. A batch with changes is never repeated,
  /// except as multipart after a 415: then nothing has changed.
  public func send(_ request: ODataBatchRequest) async throws(ODataServiceError) -> ODataBatchResponse {
    let parts = try await batchParts(request)
    let version = request.isRead ? knownVersion : try await version()
    let isJSON = try usesJSON(request, version: version)
    let (first, outgoing) = try await exchange(parts, of: request, version: version, isJSON: isJSON)
    let status = first.response.status
    guard isJSON, request.format == .automatic, status == 415 || status == 406 else {
      return try read(first, outgoing, parts)
    }
    state.withLock { $0.rejectsJSONBatches = true }
    // 406 is about the response: the changes may have been executed.
    guard status == 415 || request.isRead else { return try read(first, outgoing, parts) }
    let (second, multipart) = try await exchange(parts, of: request, version: version, isJSON: false)
    return try read(second, multipart, parts)
  }

  private func usesJSON(_ request: ODataBatchRequest, version: ODataVersion?) throws(ODataServiceError) -> Bool {
    switch request.format {
    case .multipart: return false
    case .automatic: return version == .v401 && !state.withLock { $0.rejectsJSONBatches }
    case .json:
      guard version.map({ $0 >= .v4 }) ?? true else {
        throw ODataServiceError(.notSupported("JSON batches before OData V4"), operation: "batch")
      }
      return true
    }
  }

  private func batchParts(_ request: ODataBatchRequest) async throws(ODataServiceError) -> BatchParts {
    guard !request.items.isEmpty, request.items.allSatisfy({ !$0.requests.isEmpty }) else {
      throw ODataServiceError(.invalidRequest("the batch or one of its change sets is empty"), operation: "batch")
    }
    var parts = BatchParts(root: root)
    for item in request.items {
      var members: [(ODataSingleRequest, OutgoingRequest)] = []
      for member in item.requests {
        members.append((member, try await outgoing(member, operation: member.operationName)))
      }
      switch item {
      case .single: try parts.append(members, isChangeSet: false)
      case .changeSet: try parts.append(members, isChangeSet: true)
      }
    }
    return parts
  }

  private func exchange(
    _ parts: BatchParts, of request: ODataBatchRequest, version: ODataVersion?, isJSON: Bool
  ) async throws(ODataServiceError) -> (BatchExchange, OutgoingRequest) {
    var fields = request.fields
    for field in RequestFields.fields(.batch(json: isJSON), version: version, isAtom: false, hasBody: true) {
      fields.setDefault(field.name, field.value)
    }
    // Before V4 a service always continues after an error, so there is nothing to request.
    if let continues = request.continuesOnError, let version, version >= .v4 {
      let preference = (version == .v4 ? "odata." : "") + "continue-on-error" + (continues ? "" : "=false")
      fields[.prefer] = fields[.prefer].map { $0 + ", " + preference } ?? preference
    }
    let written = try parts.written(isJSON: isJSON, version: version, random: options.environment.random)
    fields[.contentType] = written.contentType
    var outgoing = OutgoingRequest(
      operation: "batch", method: .post, url: try root.resolve("$batch"), isSameOrigin: true, fields: fields,
      body: .bytes(written.body), timeouts: request.timeouts ?? options.timeouts,
      repeatability: request.isRead ? .always : .never)
    outgoing.firstChange = parts.outgoing.joined().first { !$0.method.isSafe }?.url
    let response = try await exchange(outgoing)
    let stopsAtError = (version ?? .v4) >= .v4 && request.continuesOnError != true
    return (BatchExchange(response: response, written: written.parts, stopsAtError: stopsAtError), outgoing)
  }

  private func read(
    _ exchange: BatchExchange, _ outgoing: OutgoingRequest, _ parts: BatchParts
  ) throws(ODataServiceError) -> ODataBatchResponse {
    let response = exchange.response
    // Some services respond to the batch with an error's status and nevertheless send parts.
    let isMultipart = response.fields[.contentType]?.lowercased().hasPrefix("multipart/") ?? false
    guard response.isSuccess || isMultipart else { throw rejection(response, outgoing) }
    learnVersion(response.fields)
    let contents: BatchResults
    do throws(BatchError) {
      contents = try BatchResults.read(
        status: response.status, fields: response.fields, body: response.bytes, requests: exchange.written,
        stopsAtError: exchange.stopsAtError)
    } catch {
      throw outgoing.error(.malformedResponse("\(error)"), cause: error, response: self.response(response, outgoing))
    }
    let responses: [BatchResult?]
    switch contents {
    case .parts(let all): responses = all
    case .incomplete(let received, _): responses = received
    case .rejected: throw rejection(response, outgoing)
    }
    var slots: [ODataBatchResponse.Slot?] = []
    var changeSetResults: [Int: [ODataBatchResponse.RequestResult]] = [:]
    for (index, (part, members)) in zip(responses, parts.outgoing).enumerated() {
      let results = results(part, members)
      changeSetResults[index] = results
      slots.append(results.map(changeSet) ?? slot(part, members))
    }
    var batchResponse = ODataBatchResponse(httpStatus: response.status, fields: response.fields, slots: slots)
    batchResponse.changeSetResults = changeSetResults
    return batchResponse
  }

  /// The slot of a part that is not a change set with responses to its requests.
  private func slot(_ response: BatchResult?, _ members: [OutgoingRequest]) -> ODataBatchResponse.Slot? {
    guard let first = members.first else { return nil }
    switch response {
    case nil: return .failure(missing(first))
    case .notProcessed: return .failure(first.error(.notProcessed))
    case .single(let response):
      do throws(ODataServiceError) { return .response(try single(response, first)) } catch { return .failure(error) }
    case .changeSetFailed(let response):
      // The error is reported for the first request: the response rarely says which one failed.
      var error = rejection(incoming(response), first)
      error.isOfBatchPart = true
      return .failure(error)
    case .changeSet, .changeSetPartly: return nil
    }
  }

  private func missing(_ request: OutgoingRequest) -> ODataServiceError {
    let detail =
      "the batch's response contains no response to this request; check whether the service executed it before you send it again"
    return request.error(.malformedResponse(detail))
  }

  private func changeSet(_ results: [ODataBatchResponse.RequestResult]) -> ODataBatchResponse.Slot {
    var all: [ODataSingleResponse] = []
    var failures: [ODataServiceError] = []
    for result in results {
      switch result {
      case .success(let response): all.append(response)
      case .failure(let error): failures.append(error)
      }
    }
    // The other requests get 424 because of the one that failed (RFC 4918 §11.4); a missing response says less than an
    // error.
    let cause = failures.first { $0.httpStatus != nil && $0.httpStatus != 424 }
    if let failure = cause ?? failures.first { return .failure(failure) }
    return .changeSet(all)
  }

  /// The results of the requests of a change set; nil for other parts.
  private func results(
    _ part: BatchResult?, _ members: [OutgoingRequest]
  ) -> [ODataBatchResponse.RequestResult]? {
    switch part {
    case .changeSet(let responses): results(responses, members)
    case .changeSetPartly(let responses): results(responses, members)
    default: nil
    }
  }

  private func results(
    _ responses: [BatchResponse?], _ members: [OutgoingRequest]
  ) -> [ODataBatchResponse.RequestResult] {
    zip(responses, members).map { response, member in
      guard let response else { return .failure(missing(member)) }
      do throws(ODataServiceError) { return .success(try single(response, member)) } catch { return .failure(error) }
    }
  }

  private func single(
    _ response: BatchResponse, _ request: OutgoingRequest
  ) throws(ODataServiceError) -> ODataSingleResponse {
    do throws(ODataServiceError) {
      var checkedResponse = try checked(incoming(response), request)
      checkedResponse.contentID = response.id
      return checkedResponse
    } catch {
      var error = error
      error.isOfBatchPart = true
      throw error
    }
  }

  private func incoming(_ response: BatchResponse) -> IncomingResponse {
    IncomingResponse(status: response.status, fields: response.fields, bytes: response.body)
  }
}

/// A batch's response, and the parts with the ids with which they were written.
struct BatchExchange: Sendable {
  var response: IncomingResponse
  var written: [BatchRequestPart]
  /// Whether the service ends its response at an error, because the request did not ask it to continue.
  var stopsAtError: Bool
}
