import Storage

/// What the last download has inserted or updated: asked for by `sap.upsertedLastDownload()`.
///
/// A mark is a row's identity. Where a table had no rows before there is one mark for all of them, identity 0, which stands
/// for the rows that the service has: so a first download costs nothing. Marks are written in the transaction that makes
/// their rows what readers see; they count while their download is the last, and are swept afterwards.
struct DownloadMarks: Sendable {
  /// The name under which the number of the last download is kept.
  private static let setting = "last-download"

  /// The annotation, as it is bound.
  static let term = "sap.upsertedLastDownload"

  /// The download's number: one more than that of the last, whose alone there are marks.
  let download: Int64

  /// The marks of a download that begins.
  static func next(_ replica: Replica) async throws(StorageError) -> DownloadMarks {
    guard case .integer(let last)? = try await replica.setting(setting) else { return DownloadMarks(download: 1) }
    return DownloadMarks(download: last + 1)
  }

  /// Makes the download the last, wherever it is not yet.
  func begin(_ replica: Replica) async throws(StorageError) {
    let isKnown = try await replica.database.read { (connection) throws(StorageError) in try isLast(connection) }
    guard !isKnown else { return }
    try await replica.write { (connection, _, _) throws(StorageError) in try begin(connection) }
  }

  /// The same inside a transaction.
  func begin(_ connection: Connection) throws(StorageError) {
    guard try !isLast(connection) else { return }
    try connection.set(Self.setting, to: .integer(download))
    try connection.logChange([ReplicaChanges.downloads])
  }

  private func isLast(_ connection: Connection) throws(StorageError) -> Bool {
    try connection.setting(Self.setting) == .integer(download)
  }

  // MARK: Writing

  private static let insert = "INSERT OR IGNORE INTO larder_upserted(download, name, row) VALUES(?1, ?2, ?3)"

  /// Marks rows of a table.
  func mark(_ rows: some Sequence<Int64>, of table: EntityTable, _ connection: Connection) throws(StorageError) {
    for row in rows {
      try connection.run(Self.insert, .integer(download), .text(table.name), .integer(row))
    }
  }

  /// Marks rows of several tables.
  func mark(
    _ rows: some Sequence<RowReference>, in plan: ReplicaPlan, _ connection: Connection
  ) throws(StorageError) {
    for reference in rows {
      if let table = plan.table(reference.table) { try mark(CollectionOfOne(reference.row), of: table, connection) }
    }
  }

  /// Marks all rows of a table that had none before.
  func markAll(of table: EntityTable, _ connection: Connection) throws(StorageError) {
    try mark(CollectionOfOne(0), of: table, connection)
  }

  /// Hands the mark of a row to another identity.
  static func move(of table: EntityTable, from old: Int64, to new: Int64, _ connection: Connection) throws(StorageError)
  {
    try connection.run(
      """
      UPDATE OR REPLACE larder_upserted SET row = ?1
        WHERE download = (SELECT value FROM larder_setting WHERE name = ?2) AND name = ?3 AND row = ?4
      """, .integer(new), .text(setting), .text(table.name), .integer(old))
  }

  /// Deletes some marks of earlier downloads; answers whether there may be more.
  static func thin(_ connection: Connection) throws(StorageError) -> Bool {
    try connection.run(
      """
      DELETE FROM larder_upserted WHERE (download, name, row) IN (SELECT download, name, row FROM larder_upserted
        WHERE download < (SELECT value FROM larder_setting WHERE name = ?1) LIMIT 500)
      """, .text(setting))
    return connection.changes > 0
  }

  /// Forgets all.
  static func forget(_ connection: Connection) throws(StorageError) {
    try connection.run("DELETE FROM larder_upserted")
    try connection.set(setting, to: nil)
  }

  // MARK: Reading

  /// Whether the last download has inserted or updated a row.
  ///
  /// - Parameters:
  ///   - id: the row's identity.
  ///   - state: its ``LocalState``: what was made here and has not come back is none of a download's.
  static func condition(_ table: EntityTable, id: SQLText, state: SQLText) -> SQLText {
    """
    \(operand: state) & \(number: Int(LocalState.made)) = 0 AND EXISTS (SELECT 1 FROM larder_upserted WHERE download = \
    (SELECT value FROM larder_setting WHERE name = \(value: .text(setting))) AND name = \(value: .text(table.name)) \
    AND row IN (0, \(id)))
    """
  }

  /// Whether a statement asks for it.
  static func isRead(by sql: String) -> Bool { sql.contains("larder_upserted") }
}

extension ReplicaChanges {
  /// In the log of changes, beside the numbers of tables: which download is the last.
  static let downloads = -2
}
