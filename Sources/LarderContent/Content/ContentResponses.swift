/// The responses to one query, in order: an intermediate one where there is one, then the final one.
///
/// Each iterator asks anew. Nothing happens before the first response is asked for; leaving the loop ends the query.
public struct ContentResponses<Value: Sendable>: AsyncSequence, Sendable {
  /// One response.
  public typealias Element = ContentResponse<Value>
  /// Why no further response came.
  public typealias Failure = ContentError

  let manager: ContentManager
  let query: ContentQuery<Value>

  /// Begins to ask.
  public func makeAsyncIterator() -> Iterator { Iterator(manager: manager, query: query) }

  /// Asks for one response after the other.
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

    /// The same from within an actor.
    public mutating func next(
      isolation actor: isolated (any Actor)?
    ) async throws(ContentError) -> ContentResponse<Value>? {
      try await next()
    }
  }
}
