import LarderCore

// Bringing changes to the service.
extension OfflineODataProvider {
  /// Sends the changes that wait, in causal order, and goes on where an earlier upload was cut.
  ///
  /// What the service refuses goes to the error archive with the changes that depend on it; the rest goes on, and nothing
  /// is thrown for it. Every send is written down before it leaves: one whose answer is lost is looked up, or repeated under
  /// its name, before it is sent again. A download on its way is waited for.
  ///
  /// - Throws: why it stopped: `communicationError` without a connection or without credentials, the caller's cancelling.
  ///   What was not sent is still queued; ``OfflineODataEvent/uploadFailed(_:_:)`` tells what was. `uploadRunning` where an
  ///   upload is on its way. `unsupportedByService` where a transaction cannot be sent as one.
  @discardableResult
  public func upload(
    _ options: OfflineODataUploadOptions = OfflineODataUploadOptions()
  ) async throws -> OfflineODataUploadReport {
    await afterScheduledChanges()
    let task = try state.withLock { state throws(OfflineODataError) in
      guard case .open(let store) = state.phase else { throw OfflineODataError(state.whyNotOpen) }
      guard state.upload == nil else { throw OfflineODataError(.uploadRunning) }
      let download = state.download
      let task = given.environment.task { [self] in
        _ = await download?.result
        return try await performUpload(store, options)
      }
      state.upload = task
      return task
    }
    return try await withTaskCancellationHandler {
      try await translated { try await task.value }
    } onCancel: {
      task.cancel()
    }
  }

  private func performUpload(
    _ store: OpenStore, _ options: OfflineODataUploadOptions
  ) async throws -> OfflineODataUploadReport {
    defer { _ = state.withLock { $0.upload.take() } }
    try store.checkWritable()
    let upload = StoreUpload(store: store, options: options) { [weak self] event in
      if let self { telling.tell(event, of: self) }
    }
    do {
      let report = try await upload.run()
      telling.tell(.uploadFinished(report), of: self)
      return report
    } catch let cut as UploadInterruption {
      telling.tell(.uploadFailed(cut.report, cut.error), of: self)
      throw cut.error
    }
  }

  /// Cancels an upload on its way. What was not sent stays in the queue.
  public func cancelUpload() { state.withLock { $0.upload }?.cancel() }

  /// The exact requests that an upload would send now; nothing is sent.
  public func plan(
    _ options: OfflineODataUploadOptions = OfflineODataUploadOptions()
  ) async throws -> [OfflineODataPlannedRequest] {
    await afterScheduledChanges()
    let store = try openStore()
    return try await translated {
      try await UploadPlan(journal: UploadJournal(store: store, options: options)).requests()
    }
  }

  /// How many changes that an upload is about are not with the service: queued, sent and not answered, or in the error
  /// archive.
  package func remainingCount(_ options: OfflineODataUploadOptions) async throws -> Int {
    try await UploadJournal(store: openStore(), options: options).remaining()
  }

  /// Whether changes are queued, or were sent and not answered yet.
  public func hasPendingUpload() async throws -> Bool { try await pendingUploadCount() > 0 }

  /// How many changes are queued, or were sent and not answered yet.
  package func pendingUploadCount() async throws -> Int {
    await afterScheduledChanges()
    return try await UploadJournal(store: openStore(), options: OfflineODataUploadOptions()).left()
  }
}
