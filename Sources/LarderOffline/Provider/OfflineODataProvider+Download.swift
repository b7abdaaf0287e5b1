@_spi(Stores) import LarderCore

// Downloading changes from the service.
extension OfflineODataProvider {
  /// Updates the local copy. If an earlier download was interrupted, this one resumes it.
  ///
  /// Each defining query uses the best method that the service offers: a delta link, a conditional request, or reading
  /// everything. Readers see a query's old rows or its new rows, never a mixture.
  ///
  /// The file is not locked while the store waits for the service; a small file beside it indicates that a download is
  /// running. An application that is about to be suspended calls ``cancelDownload()``, and this method again when it
  /// continues.
  ///
  /// - Parameters:
  ///   - names: the defining queries; nil for all.
  ///   - whole: reads everything, including media, regardless of delta links and ETags. Pending changes stay. The pages
  ///     that an interrupted download has staged are read again. To resume an interrupted whole download, call this
  ///     without `whole`.
  /// - Throws: the first error of a query. The other queries continue and their rows are kept. `downloadRunning` if a
  ///   download is running already, `definingQueryNotFound` for an unknown name. Cancelling the task cancels the
  ///   download.
  @discardableResult
  public func download(_ names: [String]? = nil, whole: Bool = false) async throws -> OfflineODataDownloadReport {
    let task = try state.withLock { state throws(OfflineODataError) in
      guard case .open(let store) = state.phase else { throw OfflineODataError(state.whyNotOpen) }
      guard state.download == nil else { throw OfflineODataError(.downloadRunning) }
      // The responses to an upload are newer than rows that a download read before them.
      let upload = state.upload
      let task = parametersWithKeys.environment.task { [self] in
        _ = await upload?.result
        return try await performDownload(store, names.map(Set.init), isWhole: whole)
      }
      state.download = task
      return task
    }
    return try await withTaskCancellationHandler {
      try await translated { try await task.value }
    } onCancel: {
      task.cancel()
    }
  }

  private func performDownload(
    _ store: OpenStore, _ names: Set<String>?, isWhole: Bool
  ) async throws -> OfflineODataDownloadReport {
    defer { _ = state.withLock { $0.download.take() } }
    do {
      try store.checkWritable()
      if let names {
        let knownNames = Set(try await store.replica.queries().map(\.name))
        if let unknown = names.subtracting(knownNames).min() {
          throw OfflineODataError(.definingQueryNotFound, "'\(unknown)'")
        }
      }
      let download = StoreDownload(store: store, names: names, isWhole: isWhole) { [weak self] event in
        if let self { eventPublisher.publish(event, of: self) }
      }
      let report = try await download.run()
      eventPublisher.publish(.downloadFinished(report), of: self)
      return report
    } catch {
      eventPublisher.publish(.downloadFailed(OfflineODataError(below: error), cause: error), of: self)
      throw error
    }
  }

  /// Cancels a running download. The rows that it has staged are kept, and the next download resumes there.
  public func cancelDownload() { state.withLock { $0.download }?.cancel() }

  /// Whether an interrupted download can be resumed, or the metadata or a defining query were never downloaded.
  public func hasPendingDownload() async throws -> Bool {
    let store = try openStore()
    return try await translated {
      if store.replica.plan.tables.isEmpty { return true }
      for row in try await store.replica.queries() where try await store.hasPendingDownload(row) { return true }
      return false
    }
  }
}

extension OpenStore {
  /// Stores the strategy that each query's download used.
  func storeStrategies(_ report: OfflineODataDownloadReport) async throws {
    let strategies = report.queries.compactMap { outcome in outcome.strategy.map { (outcome.name, $0) } }
    try await changeQuerySettings { settings in
      for (name, strategy) in strategies { settings.strategies[name] = strategy }
    }
  }
}
