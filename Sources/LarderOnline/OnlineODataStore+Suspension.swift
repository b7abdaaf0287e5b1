@_spi(Stores) import LarderCore
import LarderService

// Suspends and resumes the store.
extension OnlineODataStore {
  /// Releases all that the store holds of its cache's file, so that the system may suspend the process: no file is open
  /// or locked when it returns. See the article "Suspension".
  ///
  /// Running requests are cancelled. Requests and ``open()`` fail with `ODataServiceError` (`suspended`) until
  /// ``resume()``, and so does an ``open()`` or a ``resume()`` that is still running. Concurrent calls of this function
  /// and ``resume()`` run one after another. Has no effect on a store that is suspended or closed.
  ///
  /// Throws what ``close()`` throws. The store is suspended nevertheless.
  public func suspend() async throws {
    // A resumption may wait for the network: a running one is cancelled now, and a later one ends at once.
    let resuming = state.withLock { state -> Task<Void, any Error>? in
      state.waitingSuspensions += 1
      guard case .opening(let task) = state.phase, state.suspension != nil else { return nil }
      return task
    }
    resuming?.cancel()
    try await calls.run { [self] in
      state.withLock { $0.waitingSuspensions -= 1 }
      try await end(suspends: true)
    }
  }

  /// Reopens a suspended store, as ``open()`` does. A cache that was closed separately stays closed. Has no effect on a
  /// store that is not suspended.
  ///
  /// Throws what ``open()`` throws, and `ODataServiceError` (`suspended`) if ``suspend()`` is called meanwhile. The
  /// store stays suspended then, unless it was closed.
  public func resume() async throws {
    try await calls.run { [self] in
      guard state.withLock({ $0.suspension != nil }) else { return }
      do { try await open(resumes: true) } catch {
        guard state.withLock({ $0.suspension != nil && $0.waitingSuspensions > 0 }) else { throw error }
        throw ODataServiceError(.suspended, operation: "resume")
      }
    }
  }
}
