import LarderOData

/// The results of a request that a cache answers first.
struct CachedResults<Value: Decodable & Sendable>: AsyncSequence, Sendable {
  typealias Element = Value?
  typealias Failure = any Error

  let store: any ODataStore
  let path: String

  func makeAsyncIterator() -> AsyncIterator { AsyncIterator(results: self) }

  struct AsyncIterator: AsyncIteratorProtocol {
    let results: CachedResults
    private var events: AsyncStream<ODataRequestEvent>.Iterator?
    private var last: [UInt8]?
    private var isEnded = false

    init(results: CachedResults) { self.results = results }

    mutating func next() async throws -> Value?? {
      if isEnded { return nil }
      var events = events ?? results.store.schedule(.single(.read(results.path))).events.makeAsyncIterator()
      while let event = await events.next(isolation: #isolation) {
        switch event {
        case .requestStarted, .requestFailed: continue
        case .requestFinished(let end):
          isEnded = true
          if let error = end.error { throw error }
          if end.status == .cancelled { throw ODataServiceError(.cancelled, operation: "read") }
          return nil
        case .requestCacheResponse(let step), .requestServerResponse(let step):
          guard case .single(let response)? = step.response, response.payloadBytes != last else { continue }
          last = response.payloadBytes
          self.events = events
          return .some(try response.decoded(Value.self, model: results.store.model))
        }
      }
      return nil
    }
  }
}
