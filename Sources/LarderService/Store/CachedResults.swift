import LarderOData

/// The results of a read: first from the cache if it has all pages, then from the service.
struct CachedResults<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  typealias Element = Value?
  typealias Failure = any Error

  let store: any ODataStore
  let path: String

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let results: CachedResults
    private var run: RunningRead?
    private var last: JSONNode?
    /// Why the cached result cannot be decoded, until the service has responded.
    private var cacheError: (any Error)?
    private var isEnded = false

    init(results: CachedResults) { self.results = results }

    mutating func next() async throws -> Value?? {
      if isEnded { return nil }
      let run = run ?? RunningRead(results.store, results.path)
      self.run = run
      var events = run.events
      while let event = await events.next(isolation: #isolation) {
        run.events = events
        switch event {
        case .requestStarted, .requestFailed: continue
        case .requestFinished(let end):
          isEnded = true
          return try final(end)
        case .requestCacheResponse(let step):
          guard case .single(let response)? = step.response else { continue }
          do {
            if let value = try changed(await results.cachedPages.result(response)) { return value }
          } catch let error as ODataServiceError {
            if case .notCached = error.category { continue }
            // The service may return another result, which replaces the cached one.
            cacheError = error
          }
        case .requestServerResponse(let step):
          guard case .single(let response)? = step.response else { continue }
          if let value = try changed(await ResultReader(results.store).result(response)) { return value }
        }
      }
      isEnded = true
      throw CancellationError()
    }

    /// The value of a content; nil if it is the one before.
    private mutating func changed(_ content: DecodableContent) throws -> Value?? {
      guard content.node != last else { return nil }
      let value = try content.decoded(Value.self)
      last = content.node
      return .some(value)
    }

    /// What the end of the request means: nil ends the sequence.
    private mutating func final(_ end: ODataRequestEvent.Snapshot) throws -> Value?? {
      if let error = end.error {
        guard let failure = error as? ODataServiceError, !failure.isForeign,
          failure.httpStatus == 404 || failure.httpStatus == 410
        else {
          throw CancellationError.replacing(error)
        }
        return last == .null ? nil : .some(nil)
      }
      if end.status == .cancelled { throw CancellationError() }
      if last == nil { throw cacheError ?? ODataServiceError(.notCached, operation: "read", url: results.path) }
      return nil
    }
  }

  /// Reads further pages from the cache alone.
  private var cachedPages: ResultReader {
    ResultReader(store) { [store] path in
      var request = ODataSingleRequest.read(path)
      request.readsCacheAlone = true
      return try await store.execute(single: request)
    }
  }
}

/// A read that is cancelled when its result is no longer needed.
private final class RunningRead {
  let execution: ODataRequestExecution
  var events: AsyncStream<ODataRequestEvent>.Iterator

  init(_ store: any ODataStore, _ path: String) {
    execution = store.schedule(.single(.read(path)))
    events = execution.events.makeAsyncIterator()
  }

  deinit { execution.cancel() }
}
