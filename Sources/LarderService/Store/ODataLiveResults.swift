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

  private let base: any AsyncSequence<Value, any Error> & Sendable

  /// Creates results from a sequence.
  package init(_ base: some AsyncSequence<Value, any Error> & Sendable) { self.base = base }

  /// Creates results whose first one fails if they cannot be created.
  init(_ body: () throws -> ODataLiveResults) {
    do { self = try body() } catch { self.init(FailingResults<Value>(error: error)) }
  }

  /// Creates an iterator that watches the query.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: base.makeAsyncIterator()) }

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

/// A sequence that fails at once, and ends.
private struct FailingResults<Element: Sendable>: AsyncSequence, AsyncIteratorProtocol, Sendable {
  var error: (any Error)?

  func makeAsyncIterator() -> FailingResults { self }

  mutating func next() async throws -> Element? {
    if let error = error.take() { throw error }
    return nil
  }
}
