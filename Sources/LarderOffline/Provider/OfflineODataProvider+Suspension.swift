@_spi(Stores) import LarderCore

// Suspension: the store is closed, but keeps what it needs to be resumed.
extension OfflineODataProvider {
  /// Releases the files of the store, so that the system can suspend the process. When this returns, no file is open or
  /// locked, and the write-ahead log has been moved into the file. See the article "Suspension".
  ///
  /// A running download, a running upload and running requests end, as in ``close()``: the next download and upload
  /// resume where they were interrupted. Their callers, and all calls until ``resume()``, get `storeSuspended`; so does
  /// an ``open()`` or a ``resume()`` that is still running. Live results pause. ``events`` report the suspension as
  /// they report closing. Concurrent calls of this method and of ``resume()`` run one after another. A store that is
  /// suspended or closed stays so.
  ///
  /// Throws the errors of ``close()``; the store is suspended even then.
  public func suspend() async throws {
    // A resumption may wait for the network. One that is running is cancelled here, and one that has not started yet
    // ends as soon as it starts.
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

  /// Opens a suspended store again, as ``open()`` does. It detects a file that was replaced, damaged or given another
  /// key meanwhile, and sees what other processes have changed. Live results continue. It needs no network, unless the
  /// store was suspended during its first opening, which resumes. A store that is not suspended stays as it is.
  ///
  /// Throws the errors of ``open()``, `storeSuspended` if ``suspend()`` is called meanwhile, and `resourceNotFound` if
  /// the file was removed. In these cases the store stays suspended, unless it was closed.
  public func resume() async throws {
    try await calls.run { [self] in
      guard state.withLock({ $0.suspension != nil }) else { return }
      try await open(resumes: true)
    }
  }
}
