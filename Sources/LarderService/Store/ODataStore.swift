public import LarderOData

/// What every store offers: reading and changing OData resources by requests, with or without a listener.
///
/// Conformers: the online store and the offline store. Application code and one listener run unchanged on either.
public protocol ODataStore: AnyObject, Sendable {
  /// Makes the store usable: connects, or loads what it keeps. A store that is open already stays as it is.
  func open() async throws
  /// Ends the use of the store. Requests fail from now on; those on their way are ended.
  func close() async throws
  /// What the service offers, as far as it is known: it gives the values that are read their types.
  var model: EdmModel? { get }
  /// True between a successful ``open()`` and ``close()``.
  var isOpen: Bool { get }
  /// True where the store sends nothing and answers from its cache alone.
  var isPassive: Bool { get }
  /// Switches between active and passive, at any time; a request on its way keeps the mode it started with.
  ///
  /// Throws where there is no cache to be passive with.
  func setPassive(_ passive: Bool) throws
  /// Starts a request and returns at once. The listener is held until `requestFinished`.
  @discardableResult
  func schedule(_ request: ODataRequest, listener: (any ODataRequestListener)?) -> ODataRequestExecution
  /// Runs a request and gives its final answer, as ``schedule(_:listener:)`` would.
  ///
  /// Throws the request's error; ``ODataServiceError`` (`notCached`) for a miss in passive mode. Cancelling the task
  /// ends the transfer.
  func execute(_ request: ODataRequest) async throws -> ODataResponse
  /// Runs a request and blocks the calling thread until its answer is there. Never uses the cache, fails in passive mode.
  @available(*, noasync, message: "Use execute(_:) in asynchronous code.")
  func executeBlocking(_ request: ODataRequest) throws -> ODataResponse
}

extension ODataStore {
  /// Starts a request without a listener and returns at once.
  @discardableResult
  public func schedule(_ request: ODataRequest) -> ODataRequestExecution { schedule(request, listener: nil) }

  /// Runs a request and gives its final answer.
  public func execute(_ request: ODataRequest) async throws -> ODataResponse {
    let execution = schedule(request, listener: nil)
    let response = try await withTaskCancellationHandler {
      try await execution.finalResponse()
    } onCancel: {
      execution.cancel()
    }
    guard let response else { throw ODataServiceError(.notCached, operation: "execute") }
    return response
  }

  /// Runs one request and gives its answer.
  public func execute(single request: ODataSingleRequest) async throws -> ODataSingleResponse {
    guard case .single(let response) = try await execute(.single(request)) else {
      throw ODataServiceError(.malformedAnswer("a batch answer to a single request"), operation: request.operationName)
    }
    return response
  }

  /// Runs a batch and gives its answers.
  public func execute(batch request: ODataBatchRequest) async throws -> ODataBatchResponse {
    guard case .batch(let response) = try await execute(.batch(request)) else {
      throw ODataServiceError(.malformedAnswer("a single answer to a batch"), operation: "batch")
    }
    return response
  }
}
