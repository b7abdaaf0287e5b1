import Storage
import Synchronization

// How far the store is filled, and what cannot be answered before it is.
extension OpenStore {
  /// The name under which it is kept that the first download has ended.
  private static let filledSetting = "filled"

  /// Whether the first download of the store has ended.
  func isFilled() async throws(StorageError) -> Bool { try await replica.setting(Self.filledSetting) != nil }

  /// Keeps that the store is filled, where all its defining queries have brought their rows.
  func noteFilled() async throws(StorageError) {
    guard try await !isFilled(), try await replica.queries().allSatisfy({ $0.downloaded != nil }) else { return }
    try await replica.set(Self.filledSetting, to: .integer(1))
  }

  /// Throws `neverDownloaded` for a question that reads a table whose rows have never come whole, where a defining query is
  /// to bring them: no rows would be the wrong answer.
  func checkDownloaded(_ text: String) async throws(OfflineODataError) {
    guard !isComplete.load(ordering: .relaxed), OpenStore.storeSet(text, replica.model) == nil else { return }
    let missing: [Int: String]
    do { missing = try await missingTables() } catch { throw OfflineODataError(below: error) }
    guard !missing.isEmpty else { return }
    let names = try await read { [self] connection, state, plan in
      try question(text, connection, state, plan).plan.tables(state, plan).compactMap { missing[$0] }
    }
    guard let name = names.min() else { return }
    throw OfflineODataError(.neverDownloaded, "'\(text.prefix { $0 != "?" })' waits for the defining query '\(name)'")
  }

  /// The tables that wait for the first download of a defining query, with its name.
  private func missingTables() async throws -> [Int: String] {
    let queries = try await replica.queries()
    if queries.allSatisfy({ $0.downloaded != nil }) {
      isComplete.store(true, ordering: .relaxed)
      return [:]
    }
    let settings = try await querySettings()
    var missing: [Int: String] = [:]
    var there: Set<Int> = []
    for query in queries {
      guard let bound = try? bind(query, settings) else { continue }
      let tables = bound.tables ?? [bound.table.number]
      if query.downloaded != nil {
        there.formUnion(tables)
      } else {
        for table in tables { missing[table] = query.name }
      }
    }
    return missing.filter { !there.contains($0.key) }
  }
}
