@_spi(Stores) import LarderCore
import LarderHTTP
import LarderService
import LarderStorage

// Removes what interrupted downloads have left and no download will resume.
extension OpenStore {
  /// Removes leftovers, unless a download is running: what looks like a leftover may then be part of it.
  func removeLeftovers() async throws(StorageError) {
    // This check comes first, so that the lock of downloads is taken only if there is something to remove.
    let hasStrays = try await replica.database.read { (connection) throws(StorageError) in
      try StoredStreams.hasUnreferencedChunks(connection)
    }
    let isStale = try await !staleDownloads().isEmpty
    guard hasStrays || isStale, let lock = try? FileLock(replica.database.path + "-download") else { return }
    defer { lock.release() }
    try await dropLeftovers()
    try await replica.database.write { (connection) throws(StorageError) in
      try StoredStreams.dropUnreferencedChunks(connection)
    }
  }

  /// Runs the removal of leftovers. A failure is reported: the next removal includes what is left.
  func reportingLeftovers(_ remove: () async throws -> Void) async {
    do { try await remove() } catch {
      let error = OfflineODataError(below: error)
      if error.isCancelled || Task.isCancelled || replica.changes.isEnded { return }
      report(.leftoversNotRemoved(path: replica.database.path, error))
    }
  }

  /// Discards the staged rows of downloads that cannot be resumed, because they were interrupted in their first page or
  /// too long ago. Call this only while no download is running.
  func dropLeftovers() async throws(StorageError) {
    let stale = try await staleDownloads()
    guard !stale.isEmpty else { return }
    try await replica.write { (snapshot) throws(StorageError) in
      for query in stale { try UnfinishedDownloads.drop(query: query, snapshot) }
      try snapshot.connection.countVersionUp()
    }
  }

  private func staleDownloads() async throws(StorageError) -> [Int64] {
    let staged = try await replica.database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT query, position FROM larder_download") { (row) throws(StorageError) in
        (query: try row.int64(0), position: try row.textOrNil(1))
      }
    }
    return staged.filter { leftover in
      let position = leftover.position.flatMap { JSONSettings.decode(DownloadPosition.self, $0) }
      return !(oldestStaging...now + DownloadPosition.maximumClockSetback).contains(position?.began ?? 0)
    }.map(\.query)
  }

  /// The current time, in seconds since 1970.
  var now: Double { Double(conversation.options.environment.unixSeconds) }

  /// The oldest start of a staged download that may still be resumed, in seconds since 1970.
  var oldestStaging: Double { now - Double(settings.stagingAgeLimit.components.seconds) }

  // MARK: Sweeping

  /// Starts a background task that empties the tables that are no longer read.
  func beginSweeping() {
    let task = environment.task(priority: .utility) { [self] in
      await reportingLeftovers { try await replica.sweep() }
    }
    _ = sweeping.withLock { exchange(&$0, with: task) }
  }

  func endSweeping() async {
    let task = sweeping.withLock { $0.take() }
    task?.cancel()
    await task?.value
  }

  /// Creates the tables of streams.
  func prepareStreams() async throws(StorageError) {
    try await replica.database.write { (connection) throws(StorageError) in try StoredStreams.prepare(connection) }
  }
}
