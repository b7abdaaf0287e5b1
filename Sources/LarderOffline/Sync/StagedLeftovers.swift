import LarderCore
import LarderHTTP
import LarderService
import LarderStorage

// What downloads that were cut have left, and nobody goes on with.
extension OpenStore {
  /// Removes leftovers, unless a download is on its way: what looks like one may be its own then.
  func removeLeftovers() async throws(StorageError) {
    // Looked at first: the lock of downloads is taken only where there is something to remove.
    let hasStrays = try await replica.database.read { (connection) throws(StorageError) in
      try StoredStreams.hasStrays(connection)
    }
    let isStale = try await !staleDownloads().isEmpty
    guard hasStrays || isStale, let lock = try? FileLock(replica.database.path + "-download") else { return }
    defer { lock.release() }
    try await dropLeftovers()
    try await replica.database.write { (connection) throws(StorageError) in try StoredStreams.dropStrays(connection) }
  }

  /// Drops what is staged of downloads that will not go on there: cut in their first page, or too long ago. Only while no
  /// download is on its way.
  func dropLeftovers() async throws(StorageError) {
    let stale = try await staleDownloads()
    guard !stale.isEmpty else { return }
    try await replica.write { (connection, _, plan) throws(StorageError) in
      for query in stale { try StagedTables.drop(query: query, plan, connection) }
      try connection.countVersionUp()
    }
  }

  private func staleDownloads() async throws(StorageError) -> [Int64] {
    let found = try await replica.database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT query, position FROM larder_download") { (row) throws(StorageError) in
        (query: try row.int64(0), position: try row.textOrNil(1))
      }
    }
    return found.filter { one in
      let position = one.position.flatMap { JSONSettings.decode(DownloadPosition.self, $0) }
      return !(oldestStaging...now + DownloadPosition.skew).contains(position?.began ?? 0)
    }.map(\.query)
  }

  /// Now, in seconds since 1970.
  var now: Double { Double(conversation.options.environment.unixSeconds) }

  /// What was staged before this, in seconds since 1970, is too old to go on with.
  var oldestStaging: Double { now - Double(parameters.maximumStagingAge.components.seconds) }

  // MARK: Sweeping

  /// Begins to empty the tables that nobody reads any more, beside everything else.
  func beginSweeping() {
    let task = environment.task(priority: .utility) { [replica] in
      do { try await replica.sweep() } catch {
        // What is left is swept next time.
      }
    }
    _ = sweeping.withLock { exchange(&$0, with: task) }
  }

  func endSweeping() async {
    let task = sweeping.withLock { $0.take() }
    task?.cancel()
    await task?.value
  }

  /// Makes the tables of streams.
  func prepareStreams() async throws(StorageError) {
    try await replica.database.write { (connection) throws(StorageError) in try StoredStreams.prepare(connection) }
  }
}
