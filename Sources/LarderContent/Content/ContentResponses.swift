/// The responses to one query, in order: an intermediate one if there is one, then the final one.
///
/// Each iterator starts a new request. Nothing happens before the first response is requested; leaving the loop ends
/// the query.
public struct ContentResponses<Value: Sendable>: AsyncSequence, Sendable {
  /// The element type: one response.
  public typealias Element = ContentResponse<Value>
  /// The error type: why there is no further response.
  public typealias Failure = ContentError

  let manager: ContentManager
  let query: ContentQuery<Value>

  /// Creates an iterator.
  public func makeAsyncIterator() -> Iterator { Iterator(manager: manager, query: query) }

  /// Delivers the responses one at a time.
  public struct Iterator: AsyncIteratorProtocol {
    private enum Phase {
      case first
      case final
      case done
    }

    private let manager: ContentManager
    private let query: ContentQuery<Value>
    private var phase = Phase.first

    init(manager: ContentManager, query: ContentQuery<Value>) {
      self.manager = manager
      self.query = query
    }

    /// The next response; nil after the final one or an error.
    public mutating func next() async throws(ContentError) -> ContentResponse<Value>? {
      if phase == .first {
        phase = .done
        let response = try await manager.first(query)
        if let response {
          if response.isIntermediate { phase = .final }
          return response
        }
        phase = .final
      }
      guard phase == .final else { return nil }
      phase = .done
      return try await manager.settled(query)
    }

    /// The next response, for a loop inside an actor; nil after the final one or an error.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ContentError) -> ContentResponse<Value>? {
      try await next()
    }
  }
}
