public import LarderOData

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The interface of every OData store: reads and changes resources with requests, with or without a listener.
///
/// The online store and the offline store conform to it. Application code and a listener work with either.
public protocol ODataStore: AnyObject, Sendable {
  /// Opens the store: connects, or loads the stored data. Has no effect on a store that is already open.
  func open() async throws
  /// Closes the store. Requests fail from now on; running requests are cancelled.
  func close() async throws
  /// The root of the service, as it was given.
  var serviceRoot: URL { get }
  /// The service's model, as far as it is known: it gives the values that are read their types.
  var model: EdmModel? { get }
  /// True between a successful ``open()`` and ``close()``.
  var isOpen: Bool { get }
  /// Whether the store sends nothing and returns responses from its cache alone.
  var isPassive: Bool { get }
  /// Switches between active and passive mode, at any time. A running request keeps the mode it started with.
  ///
  /// Throws if the store has no cache.
  func setPassive(_ passive: Bool) throws
  /// Starts a request and returns at once. The listener is retained until `requestFinished`.
  @discardableResult
  func schedule(_ request: ODataRequest, listener: (any ODataRequestListener)?) -> ODataRequestExecution
  /// Runs a request and returns the same final response as ``schedule(_:listener:)``.
  ///
  /// Throws the request's error; ``ODataServiceError`` (`notCached`) for a miss in passive mode. Cancelling the task
  /// stops the transfer, and throws `CancellationError`.
  func execute(_ request: ODataRequest) async throws -> ODataResponse
  /// Runs a request and blocks the calling thread until the response is there. Never uses the cache, and fails in
  /// passive mode.
  @available(*, noasync, message: "Use execute(_:) in asynchronous code.")
  func executeBlocking(_ request: ODataRequest) throws -> ODataResponse
  /// Runs a query and decodes its result as a type of the application: an array for a collection, a `Decodable` type
  /// for one entity or value. The result is complete, on however many pages it and the related entities in it come. Nil
  /// for the null value, and in an offline store for an entity that does not exist.
  ///
  /// Values are decoded by their declared types: numbers from numbers (including those that V2 sends as text), `Date`
  /// from dates, `Bool` from booleans; text is never decoded as a number or a date. A `String` is the text as the
  /// service sent it, also for decimals and dates. Otherwise the error `undecodableType` is thrown, with the property's
  /// path, its declared type, the kind of its value and the requested type.
  ///
  /// - Parameters:
  ///   - type: the type of the result.
  ///   - path: the query, relative to the service's root.
  func read<Value: Decodable & Sendable>(_ type: Value.Type, _ path: String) async throws -> Value?
  /// The results of a query, decoded like those of ``read(_:_:)``; nil while there is none.
  ///
  /// - An offline store delivers the present result, and a new one whenever a download or a local change, in this
  ///   process or another, affects what the query reads and the result differs.
  /// - An online store delivers the result of its cache, if all its pages are there, and then the server's if it
  ///   differs, in passive mode only the cache's; then the sequence ends. Nil for status 404 or 410.
  func liveResults<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String
  ) throws -> ODataLiveResults<Value?>
}

extension ODataStore {
  /// Starts a request without a listener and returns at once.
  @discardableResult
  public func schedule(_ request: ODataRequest) -> ODataRequestExecution { schedule(request, listener: nil) }

  /// Runs a request and returns its final response.
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

  /// Runs a query and decodes its result, with all pages that follow.
  public func read<Value: Decodable & Sendable>(_ type: Value.Type, _ path: String) async throws -> Value? {
    try await ResultReader(self).result(path).decoded(type)
  }

  /// The result of the cache, then that of the server if it differs.
  public func liveResults<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String
  ) throws -> ODataLiveResults<Value?> { ODataLiveResults(CachedResults<Value>(store: self, path: path)) }

  /// Runs one request and returns its response.
  public func execute(single request: ODataSingleRequest) async throws -> ODataSingleResponse {
    guard case .single(let response) = try await execute(.single(request)) else {
      throw ODataServiceError(
        .malformedResponse("a batch response to a single request"), operation: request.operationName)
    }
    return response
  }

  /// Runs a batch and returns its responses.
  public func execute(batch request: ODataBatchRequest) async throws -> ODataBatchResponse {
    guard case .batch(let response) = try await execute(.batch(request)) else {
      throw ODataServiceError(.malformedResponse("a single response to a batch"), operation: "batch")
    }
    return response
  }
}
