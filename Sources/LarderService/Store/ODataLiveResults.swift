/// The result of a query, and a new one whenever it changes.
///
/// ```swift
/// for try await orders in shop.orders.filter({ $0.isOpen }).live() { show(orders) }
/// ```
public struct ODataLiveResults<Value: Sendable>: AsyncSequence, Sendable {
  /// A result of the query.
  public typealias Element = Value
  /// The type of the error that ends the sequence.
  public typealias Failure = any Error

  private let makeIterator: @Sendable () throws -> any AsyncIteratorProtocol<Value, any Error>

  /// Creates results from a sequence.
  package init(_ base: some AsyncSequence<Value, any Error> & Sendable) {
    makeIterator = { base.makeAsyncIterator() }
  }

  /// Creates results for each iterator. The first one fails if they cannot be created.
  init(_ body: @escaping @Sendable () throws -> ODataLiveResults) {
    makeIterator = { try body().makeIterator() }
  }

  /// Creates an iterator that watches the query.
  public func makeAsyncIterator() -> AsyncIterator {
    do { return AsyncIterator(base: try makeIterator()) } catch {
      return AsyncIterator(base: FailingIterator<Value>(error: error))
    }
  }

  /// Delivers the results.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var base: any AsyncIteratorProtocol<Value, any Error>

    /// Returns the next result that differs from the previous one; nil at the end. Throws `CancellationError` if the
    /// task was cancelled, on both stores.
    public mutating func next() async throws -> Value? {
      let value = try await base.next(isolation: #isolation)
      if value == nil { try Task.checkCancellation() }
      return value
    }
  }
}

/// An iterator that fails at once, and ends.
private struct FailingIterator<Element: Sendable>: AsyncIteratorProtocol {
  var error: (any Error)?

  mutating func next() async throws -> Element? {
    if let error = error.take() { throw error }
    return nil
  }
}
