import LarderStorage

// A new model may have columns for which the stored rows have no values until the queries that returned them are read
// again.
extension Connection {
  private static func setting(_ table: String) -> String { "unread columns \(table)" }

  /// Selects whether a query that has been read under the present model has returned a row of table `?1` with the bits
  /// `?2`.
  private static let isRead = """
    SELECT 1 FROM larder_membership m JOIN larder_query q ON q.id = m.query
      WHERE m.name = ?1 AND (?2 >> m.bit) & 1 AND q.facts IS NOT NULL LIMIT 1
    """

  /// The columns that were not read for a row.
  ///
  /// - Parameter queries: the row's `@queries`.
  func unreadColumns(of table: String, queries: Int64) throws(StorageError) -> Set<String> {
    guard queries != 0, case .text(let names)? = try setting(Self.setting(table)) else { return [] }
    let isRead = try first(Self.isRead, .text(table), .integer(queries)) { (_) throws(StorageError) in true }
    return isRead == true ? [] : Set(JSONSettings.decode([String].self, names) ?? [])
  }

  /// Records that no row of a table has values for columns. Those that some query has still not read stay recorded.
  func addUnread(_ columns: [String], of table: String) throws(StorageError) {
    let former = try unreadColumns(of: table, queries: -1)
    let all = former.union(columns)
    try set(Self.setting(table), to: all.isEmpty ? nil : .text(JSONSettings.encode(all.sorted())))
  }
}
