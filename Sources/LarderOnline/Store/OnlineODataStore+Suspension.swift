import LarderCore
import LarderService

// Suspension: the store is closed, and knows that it goes on.
extension OnlineODataStore {
  /// Gives back all that the store holds of its cache's file, so that the system may suspend the process: nothing is open or
  /// locked when it returns. See the article "Suspension".
  ///
  /// Requests on their way are cancelled. Requests and ``open()`` fail with `ODataServiceError` (`suspended`) until
  /// ``resume()``; so does an ``open()`` or a ``resume()`` that still runs. Two calls at once, and any mixture with
  /// ``resume()``, run one after another. A store that is suspended or closed stays so.
  ///
  /// Throws what ``close()`` throws; the store is suspended all the same.
  public func suspend() async throws {
    // A resumption may wait for the network: one that runs ends now, and one that is still to run ends at once.
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

  /// Opens a suspended store again, as ``open()`` does; a cache that was closed apart stays closed. A store that is not suspended
  /// stays as it is.
  ///
  /// Throws what ``open()`` throws, and `ODataServiceError` (`suspended`) if ``suspend()`` is called meanwhile. The store
  /// stays suspended then, unless it was closed.
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
