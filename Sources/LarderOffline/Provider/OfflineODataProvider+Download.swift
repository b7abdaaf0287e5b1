import LarderCore

// Bringing the copy up to date.
extension OfflineODataProvider {
  /// Brings the copy up to date, and goes on where an earlier download was cut.
  ///
  /// Each defining query takes the best way that the service offers: a delta link, a condition, or reading everything;
  /// readers see its old rows or its new ones, never a mixture.
  ///
  /// The file is not locked while the service is waited for; a small file beside it says that a download is on its way.
  /// An application that is about to be suspended calls ``cancelDownload()``, and this again when it goes on.
  ///
  /// - Parameters:
  ///   - names: the defining queries; nil for all.
  ///   - whole: reads everything, media too, whatever delta links and ETags say. Pending changes stay. The pages
  ///     that an interrupted download has staged are read again. To resume an interrupted whole download, call this without
  ///     `whole`.
  /// - Throws: the first error of a query; the others go on and their rows are kept. `downloadRunning` where a download is
  ///   on its way, `definingQueryNotFound` for a name that there is not. Cancelling the task cancels the download.
  @discardableResult
  public func download(_ names: [String]? = nil, whole: Bool = false) async throws -> OfflineODataDownloadReport {
    let task = try state.withLock { state throws(OfflineODataError) in
      guard case .open(let store) = state.phase else { throw OfflineODataError(state.whyNotOpen) }
      guard state.download == nil else { throw OfflineODataError(.downloadRunning) }
      // The service's answers to changes are newer than what a download read before them.
      let upload = state.upload
      let task = given.environment.task { [self] in
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
        let known = Set(try await store.replica.queries().map(\.name))
        if let unknown = names.subtracting(known).min() {
          throw OfflineODataError(.definingQueryNotFound, "'\(unknown)'")
        }
      }
      let download = StoreDownload(store: store, names: names, isWhole: isWhole) { [weak self] event in
        if let self { telling.tell(event, of: self) }
      }
      let report = try await download.run()
      telling.tell(.downloadFinished(report), of: self)
      return report
    } catch {
      telling.tell(.downloadFailed(OfflineODataError(below: error), cause: error), of: self)
      throw error
    }
  }

  /// Cancels a download on its way; what it has staged is kept, and the next one goes on there.
  public func cancelDownload() { state.withLock { $0.download }?.cancel() }

  /// Whether a download was cut and can go on, or a defining query was never downloaded.
  public func hasPendingDownload() async throws -> Bool {
    let store = try openStore()
    return try await translated {
      for row in try await store.replica.queries() where try await store.hasPendingDownload(row) { return true }
      return false
    }
  }
}

extension OpenStore {
  /// Keeps the way that each query's download took.
  func keepWays(_ report: OfflineODataDownloadReport) async throws {
    let ways = report.queries.compactMap { outcome in outcome.way.map { (outcome.name, $0) } }
    try await changeQuerySettings { settings in for (name, way) in ways { settings.ways[name] = way } }
  }
}
