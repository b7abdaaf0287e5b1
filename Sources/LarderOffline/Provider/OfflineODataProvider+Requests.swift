@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
public import LarderService
import Synchronization

// Requests: scheduled, awaited, blocking. A read returns data of the local copy. A change is applied to the copy and
// sent by the next upload. A request sends nothing to the service.
extension OfflineODataProvider {
  /// Starts a request and returns at once.
  ///
  /// A read calls `requestStarted`, `requestServerResponse` with data of the local copy in the form of a service's
  /// response, and `requestFinished`; so one listener serves the online store and this one. A change is applied to the
  /// copy, gets the response that the service would send, and is sent by the next ``upload(_:)``.
  ///
  /// Requests take effect in the order of the calls: a change after all requests before it, a read after all changes
  /// before it. A request that fails or is cancelled does not affect the others. `requestStarted` is called on the
  /// caller's thread before this returns. The other listener methods are called on other threads, for different
  /// requests in any order. A change with streamed content delays the requests after it, so such content must not
  /// depend on their responses.
  @discardableResult
  public func schedule(_ request: ODataRequest, listener: (any ODataRequestListener)?) -> ODataRequestExecution {
    let execution = ODataRequestExecution(request: request, listener: listener)
    running.add(execution)
    let store = Result { () throws(OfflineODataError) in try openStore() }
    execution.start()
    // The turn is taken here and not in the task, because tasks start in any order.
    let turn = turns.enter(request.claim)
    let task = parametersWithKeys.environment.task { [running] in
      await OfflineODataProvider.run(execution, on: store, in: turn)
      running.remove(execution)
    }
    execution.onCancel { task.cancel() }
    return execution
  }

  private static func run(
    _ execution: ODataRequestExecution, on store: Result<OpenStore, OfflineODataError>, in turn: RequestTurns.Turn
  ) async {
    do throws(OfflineODataError) {
      let response = try await turn.take { () async throws(OfflineODataError) -> ODataResponse? in
        let store = try store.get()
        return execution.isCancelled ? nil : try await store.response(to: execution.request)
      }
      guard let response = response ?? nil else { return execution.cancel() }
      // The turn has ended, so a listener may send a request to the store and wait for the response.
      execution.receive(serverResponse: response)
      execution.finish()
    } catch { execution.fail(error) }
  }

  /// Waits until the changes that were scheduled before have been applied.
  func afterScheduledChanges() async {
    guard !turns.isEmpty else { return }
    await turns.enter(.shared(RequestClaim.store)).take {}
  }

  /// Runs a request and blocks the calling thread until the response is available.
  @available(*, noasync, message: "Use execute(_:) in asynchronous code.")
  public func executeBlocking(_ request: ODataRequest) throws -> ODataResponse {
    let store = try openStore()
    let turn = turns.enter(request.claim)
    return try blocking { [self] in
      try await translated {
        let response = try await turn.take { () async throws(OfflineODataError) in try await store.response(to: request)
        }
        guard let response else { throw CancellationError() }
        return response
      }
    }
  }
}

extension RequestClaim {
  /// The resource that all requests claim: the whole store.
  fileprivate static let store = ""
}

extension ODataRequest {
  /// A change needs the store exclusively; reads share it. So changes run one by one, and reads wait for the changes
  /// before them.
  fileprivate var claim: RequestClaim { isRead ? .shared(RequestClaim.store) : .alone(RequestClaim.store) }
}

extension OpenStore {
  /// The response to a request.
  func response(to request: ODataRequest) async throws(OfflineODataError) -> ODataResponse {
    switch request {
    case .single(let single): return .single(try await response(to: single))
    case .batch(let batch): return .batch(try await response(to: batch))
    }
  }

  /// Runs the parts of a batch one by one. A part that fails does not affect the others, as at a service that continues
  /// on errors. If the request sets `continuesOnError` to false, the parts after a failure are not run. A change set is
  /// one transaction, here and in the upload.
  private func response(to batch: ODataBatchRequest) async throws(OfflineODataError) -> ODataBatchResponse {
    var slots: [ODataBatchResponse.Slot?] = []
    for item in batch.items {
      guard let first = item.requests.first else {
        throw OfflineODataError(.unsupportedRequest, "a change set without requests")
      }
      if batch.continuesOnError == false, slots.contains(where: { $0?.failure != nil }) {
        slots.append(.failure(ODataServiceError(.notProcessed, operation: first.operationName)))
        continue
      }
      do throws(OfflineODataError) { slots.append(try await response(to: item)) } catch {
        // An error that ends the store or the task also ends the batch.
        guard !error.isCancelled, error.name != .storeNotOpen, error.name != .storeSuspended else { throw error }
        slots.append(.failure(error.asPart(item)))
      }
    }
    return ODataBatchResponse(httpStatus: 200, slots: slots)
  }

  private func response(to item: ODataBatchRequest.Item) async throws(OfflineODataError) -> ODataBatchResponse.Slot {
    switch item {
    case .single(let single):
      var response = try await response(to: single)
      response.contentID = single.contentID
      return .response(response)
    case .changeSet(let requests):
      for request in requests {
        guard let set = storeSet(of: request.path) else { continue }
        throw OfflineODataError(.unsupportedChange, "\(set.rawValue) in a change set")
      }
      return .changeSet(try await change(requests, isChangeSet: true))
    }
  }

  private func response(to request: ODataSingleRequest) async throws(OfflineODataError) -> ODataSingleResponse {
    switch request.operation {
    case .read, .invokeFunction: return try await readResponse(to: request)
    case .readMedia: return try await mediaResponse(to: request)
    default:
      if let set = storeSet(of: request.path) { return try await change(request, of: set) }
      return try await change(request)
    }
  }

  private func readResponse(to request: ODataSingleRequest) async throws(OfflineODataError) -> ODataSingleResponse {
    let path = request.path
    if path.prefix(while: { $0 != "?" }).hasSuffix("$metadata") { return try await metadata(path) }
    let (bytes, end) = try await json(path, OfflineODataResultOptions(request))
    let version = replica.model.version
    var fields: HTTPFields = [version.field: version.text]
    if let etag = end.etag { fields[.etag] = etag }
    let status: Int
    switch end.outcome {
    case .content:
      fields[.contentType] = end.mediaType
      status = 200
    case .null: status = 204
    case .nothing: throw OfflineODataError(.entityNotFound, "'\(path.prefix { $0 != "?" })'")
    }
    var response = ODataSingleResponse(
      httpStatus: status, fields: fields, payloadBytes: bytes, url: try root.absolute(path), serviceVersion: version)
    if storeSet(of: path) != nil { response.model = combinedModel(replica.plan) }
    return response.with(model: replica.model)
  }

  private func metadata(_ path: String) async throws(OfflineODataError) -> ODataSingleResponse {
    let bytes: [UInt8]?
    do { bytes = try await replica.metadata() } catch { throw OfflineODataError(below: error) }
    guard let bytes else { throw OfflineODataError(.neverDownloaded) }
    let isJSON = bytes.first { $0 > 0x20 } == UInt8(ascii: "{")
    return ODataSingleResponse(
      httpStatus: 200, fields: [.contentType: isJSON ? "application/json" : "application/xml"], payloadBytes: bytes,
      url: try root.absolute(path), serviceVersion: replica.model.version)
  }

  private func mediaResponse(to request: ODataSingleRequest) async throws(OfflineODataError) -> ODataSingleResponse {
    let media = try await media(request.path)
    let bytes: [UInt8]
    do { bytes = try await media.body.collect() } catch { throw OfflineODataError(below: error) }
    return ODataSingleResponse(
      httpStatus: 200, fields: media.fields, payloadBytes: bytes, url: try root.absolute(request.path),
      serviceVersion: replica.model.version)
  }
}

extension OfflineODataError {
  /// The error as that of a part of a batch: the status that a service would send, the store's message, and this error
  /// as the cause. There is no URL, because there was no exchange.
  fileprivate func asPart(_ item: ODataBatchRequest.Item) -> ODataServiceError {
    let category: ODataServiceError.Category =
      switch self {
      case .notFound: .http(status: 404, payload: words)
      case .invalidInput: .http(status: 400, payload: words)
      case .preconditionFailed: .http(status: 412, payload: words)
      case .notSupported: .notSupported(errorMessage)
      case .communicationError, .serverSideError, .clientInternalError: .http(status: 500, payload: words)
      }
    let operation = if case .single(let request) = item { request.operationName } else { "batch" }
    return ODataServiceError(category, operation: operation, cause: self)
  }

  private var words: ODataErrorPayload { ODataErrorPayload(code: String(errorCode), message: errorMessage) }
}
