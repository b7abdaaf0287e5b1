import Locking
import ODataService

// Suspension: the store is closed, and knows that it goes on.
extension OnlineODataStore {
  /// Gives back all that the store holds of its cache's file, so that the system may suspend the process: nothing is open or
  /// locked when it returns. See the article "Suspension".
  ///
  /// Requests on their way are cancelled. Requests and ``open()`` fail with `ODataServiceError` (`suspended`) until
  /// ``resume()``; an opening on its way fails so, too. Two calls at once, and any mixture with ``resume()``, run one after
  /// another. A store that is suspended or closed stays so.
  ///
  /// Throws what ``close()`` throws; the store is suspended all the same.
  public func suspend() async throws {
    try await calls.run { [self] in
      state.withLock { state in
        guard state.suspension == nil else { return }
        switch state.phase {
        case .closed, .closing: break
        case .opening: state.suspension = Suspension()
        case .open:
          state.suspension = Suspension(
            wasOpen: true, leavesCacheClosed: state.options.useCache && state.cache == nil)
        }
      }
      try await end()
    }
  }

  /// Opens a suspended store again, as ``open()`` does; a cache that was closed apart stays closed. A store that is not suspended
  /// stays as it is.
  ///
  /// Throws what ``open()`` throws; the store stays suspended then, unless it was closed meanwhile.
  public func resume() async throws {
    try await calls.run { [self] in
      guard state.withLock({ $0.suspension != nil }) else { return }
      try await open(resumes: true)
    }
  }
}
