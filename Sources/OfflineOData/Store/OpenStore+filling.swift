import OData
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
    let awaited: AwaitedRows
    do { awaited = try await awaitedRows() } catch { throw OfflineODataError(below: error) }
    guard !awaited.isEmpty else { return }
    let name = try await read { [self] connection, state, plan in
      let question = try question(text, connection, state, plan)
      return try awaited.query(of: question, LocalRows(plan, state, connection))
    }
    guard let name else { return }
    throw OfflineODataError(.neverDownloaded, "'\(text.prefix { $0 != "?" })' waits for the defining query '\(name)'")
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

/// The rows that wait for the first download of a defining query: those of a table that none has brought rows of yet, and
/// those of one entity where each has a query of its own for what it contains.
private struct AwaitedRows: Sendable {
  /// The names of queries that are to bring rows, by table.
  private var awaited: [Int: String] = [:]
  /// Tables that a query has brought rows of; those that one has brought whatever entity contains the rows.
  private var there: Set<Int> = []
  private var thereOfAll: Set<Int> = []
  private var contained: [Contained] = []

  private struct Contained {
    let container: RowContainer
    let query: String
    let isThere: Bool
  }

  var isEmpty: Bool { awaited.isEmpty }

  mutating func add(_ query: DefiningQueryRow, _ bound: BoundDefiningQuery) {
    let tables = bound.tables ?? [bound.table.number]
    let isThere = query.downloaded != nil
    if isThere { there.formUnion(tables) } else { for table in tables { awaited[table] = query.name } }
    if let container = bound.container {
      contained.append(Contained(container: container, query: query.name, isThere: isThere))
    } else if isThere {
      thereOfAll.formUnion(tables)
    }
  }

  /// The name of a query that a question waits for.
  func query(of question: PreparedQuestion, _ rows: LocalRows) throws -> String? {
    let names = question.plan.tables(rows.state, rows.plan).subtracting(there).compactMap { awaited[$0] }
    return try names.min() ?? queryOfContainer(question, rows)
  }

  private func queryOfContainer(_ question: PreparedQuestion, _ rows: LocalRows) throws -> String? {
    guard contained.contains(where: { !$0.isThere }), case .path(let path) = question.url.resource,
      let own = RowContainer(path, rows.plan),
      !thereOfAll.contains(rows.plan.tables[own.table].navigations[own.navigation].target),
      let row = try own.row(rows)
    else { return nil }
    let same = try contained.filter { one in
      try one.container.table == own.table && one.container.navigation == own.navigation
        && one.container.row(rows) == row
    }
    return same.contains(where: \.isThere) ? nil : same.map(\.query).min()
  }
}
