import LarderOData
import LarderStorage
import Synchronization

// Whether the first download has finished, and which queries cannot run before that.
extension OpenStore {
  /// The name of the setting that records that the first download has finished.
  private static let filledSetting = "filled"

  /// Whether the first download of the store has finished.
  func isFilled() async throws(StorageError) -> Bool { try await replica.setting(Self.filledSetting) != nil }

  /// Records that the store is filled, if all its defining queries have been downloaded.
  func noteFilled() async throws(StorageError) {
    guard try await !isFilled(), try await replica.queries().allSatisfy({ $0.downloaded != nil }) else { return }
    try await replica.set(Self.filledSetting, to: .integer(1))
  }

  /// Throws `neverDownloaded` for a query that reads a table whose rows have never been downloaded completely, if a
  /// defining query includes them: an empty result would be wrong.
  func checkDownloaded(_ text: String) async throws(OfflineODataError) {
    guard !isComplete.load(ordering: .relaxed), OpenStore.storeSet(text, replica.model) == nil else { return }
    let awaited: AwaitedRows
    do { awaited = try await awaitedRows() } catch { throw OfflineODataError(below: error) }
    guard !awaited.isEmpty else { return }
    let name = try await read { [self] snapshot -> String? in
      let query = try preparedQuery(text, snapshot)
      // A query for one entity by its key checks itself whether the entity exists, because it may have been created
      // here.
      let checksExistence = query.plan.checks.contains { $0.failure.name == .neverDownloaded }
      if checksExistence, query.plan.tables(snapshot).count == 1 { return nil }
      return try awaited.missingQuery(for: query, LocalRows(snapshot))
    }
    guard let name, let failure = ReadOutcome(.list, of: .awaited).failure else { return }
    throw OfflineODataError(failure, "'\(text.prefix { $0 != "?" })' needs the defining query '\(name)'")
  }

  private func awaitedRows() async throws -> AwaitedRows {
    let queries = try await replica.queries()
    var awaited = AwaitedRows()
    if queries.allSatisfy({ $0.downloaded != nil }) {
      isComplete.store(true, ordering: .relaxed)
      return awaited
    }
    let settings = try await querySettings()
    for query in queries {
      if let bound = try? bind(query, settings) { awaited.add(query, bound) }
    }
    return awaited
  }
}
