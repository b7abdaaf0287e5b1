@_spi(Stores) import LarderCore

// Uploading changes to the service.
extension OfflineODataProvider {
  /// Sends the pending changes in causal order. If an earlier upload was interrupted, this one resumes it.
  ///
  /// Changes that the service rejects go to the error archive, with the changes that depend on them. The upload
  /// continues with the others and throws no error for rejected ones. Each request is recorded before it is sent: if
  /// its response is lost, the next upload looks up the outcome, or repeats the request under its identifier, before it
  /// sends the change again. If a download is running, the upload waits for it.
  ///
  /// - Throws: the reason why the upload stopped: `communicationError` without a connection or without credentials, or
  ///   the cancellation by the caller. Changes that were not sent are still queued;
  ///   ``OfflineODataEvent/uploadFailed(_:_:)`` reports what was sent. `uploadRunning` if an upload is running already.
  ///   `unsupportedByService` if a transaction cannot be sent as one.
  @discardableResult
  public func upload(
    _ options: OfflineODataUploadOptions = OfflineODataUploadOptions()
  ) async throws -> OfflineODataUploadReport {
    await afterScheduledChanges()
    let task = try state.withLock { state throws(OfflineODataError) in
      guard case .open(let store) = state.phase else { throw OfflineODataError(state.whyNotOpen) }
      guard state.upload == nil else { throw OfflineODataError(.uploadRunning) }
      let download = state.download
      let task = parametersWithKeys.environment.task { [self] in
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
      if let self { eventPublisher.publish(event, of: self) }
    }
    do {
      let report = try await upload.run()
      eventPublisher.publish(.uploadFinished(report), of: self)
      return report
    } catch let interruption as UploadInterruption {
      eventPublisher.publish(.uploadFailed(interruption.report, interruption.error), of: self)
      throw interruption.error
    }
  }

  /// Cancels a running upload. Changes that were not sent stay in the queue.
  public func cancelUpload() { state.withLock { $0.upload }?.cancel() }

  /// The exact requests that an upload would send now. Nothing is sent.
  public func plan(
    _ options: OfflineODataUploadOptions = OfflineODataUploadOptions()
  ) async throws -> [OfflineODataPlannedRequest] {
    await afterScheduledChanges()
    let store = try openStore()
    return try await translated {
      try await UploadPlan(journal: UploadJournal(store: store, options: options)).requests()
    }
  }

  /// The number of changes in the scope of an upload that are not yet applied by the service: queued, sent without a
  /// response, or in the error archive.
  package func remainingCount(_ options: OfflineODataUploadOptions) async throws -> Int {
    try await UploadJournal(store: openStore(), options: options).remaining()
  }

  /// Whether changes are queued, or were sent and have no response yet.
  public func hasPendingUpload() async throws -> Bool { try await pendingUploadCount() > 0 }

  /// The number of changes that are queued, or were sent and have no response yet.
  package func pendingUploadCount() async throws -> Int {
    await afterScheduledChanges()
    return try await UploadJournal(store: openStore(), options: OfflineODataUploadOptions()).pendingCount()
  }
}
