import LarderCore

// Suspension: the store is closed, and knows that it goes on.
extension OfflineODataProvider {
  /// Gives back all that the store holds of its files, so that the system may suspend the process: nothing is open or locked when
  /// it returns, and the log is moved into the file. See the article "Suspension".
  ///
  /// A download, an upload and requests on their way end, as by ``close()``: the next download and upload resume where they were
  /// interrupted. Their callers, and all calls until ``resume()``, get `storeSuspended`; so does an
  /// ``open()`` or a ``resume()`` that still runs. Live results wait. ``events`` tell of it as of closing. Two calls at
  /// once, and any mixture with ``resume()``, run one after another. A store that is suspended or closed stays so.
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

  /// Opens a suspended store again, as ``open()`` does: a file that was replaced, damaged or given another key meanwhile is noticed,
  /// and what other processes have changed is seen. Live results go on. It needs no network, unless the store was suspended during
  /// its first opening, which resumes. A store that is not suspended stays as it is.
  ///
  /// Throws what ``open()`` throws, `storeSuspended` if ``suspend()`` is called meanwhile, and `resourceNotFound` if the file was
  /// removed. The store stays suspended then, unless it was closed.
  public func resume() async throws {
    try await calls.run { [self] in
      guard state.withLock({ $0.suspension != nil }) else { return }
      try await open(resumes: true)
    }
  }
}
