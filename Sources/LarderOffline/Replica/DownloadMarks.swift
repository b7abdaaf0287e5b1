import LarderStorage

/// The rows that the last download has inserted or updated, for `sap.upsertedLastDownload()`.
///
/// A mark is a row's identity. If a table had no rows before, there is one mark for all rows that the service has,
/// identity 0: a first download therefore costs nothing. Marks become valid in the transaction that makes their rows
/// visible to readers. That transaction writes few marks; many are staged before it under a number of their own. Marks
/// are valid while their download is the last one, and are swept afterwards.
struct DownloadMarks: Sendable {
  /// The name of the setting that stores the number of the last download.
  private static let setting = "last-download"

  /// The annotation's name in bound queries.
  static let term = "sap.upsertedLastDownload"

  /// The number of the download: one more than that of the last download, which alone has valid marks.
  let download: Int64

  /// Returns the marks of a new download.
  static func next(_ replica: Replica) async throws(StorageError) -> DownloadMarks {
    guard case .integer(let last)? = try await replica.setting(setting) else { return DownloadMarks(download: 1) }
    return DownloadMarks(download: last + 1)
  }

  /// Makes the download the last one, unless it already is.
  func begin(_ replica: Replica) async throws(StorageError) {
    let isAlreadyLast = try await replica.database.read { (connection) throws(StorageError) in try isLast(connection) }
    guard !isAlreadyLast else { return }
    try await replica.write { (snapshot) throws(StorageError) in try begin(snapshot.connection) }
  }

  /// Makes the download the last one, unless it already is, inside a transaction.
  func begin(_ connection: Connection) throws(StorageError) {
    guard try !isLast(connection) else { return }
    try connection.set(Self.setting, to: .integer(download))
    try connection.logChange([ReplicaChanges.downloads])
  }

  private func isLast(_ connection: Connection) throws(StorageError) -> Bool {
    try connection.setting(Self.setting) == .integer(download)
  }

  /// Selects the number of the last download.
  private static let last = "SELECT value FROM larder_setting WHERE name = '\(setting)'"

  /// Selects the numbers of the last download's marks: its own number, and those of reads that staged their marks.
  private static let counting = "\(last) UNION ALL SELECT number FROM larder_marked WHERE download = (\(last))"

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

  /// Whether all rows of a table are marked.
  func hasMarkedAll(of table: EntityTable, _ connection: Connection) throws(StorageError) -> Bool {
    let sql = "SELECT 1 FROM larder_upserted WHERE download = ?1 AND name = ?2 AND row = 0"
    return try connection.first(sql, .integer(download), .text(table.name)) { (_) throws(StorageError) in true }
      ?? false
  }

  /// Marks all rows of a table that had none before.
  func markAll(of table: EntityTable, _ connection: Connection) throws(StorageError) {
    try mark(CollectionOfOne(0), of: table, connection)
  }

  /// Moves the mark of a row to another identity.
  static func move(of table: EntityTable, from old: Int64, to new: Int64, _ connection: Connection) throws(StorageError)
  {
    try connection.run(
      "UPDATE OR REPLACE larder_upserted SET row = ?1 WHERE download IN (\(counting)) AND name = ?2 AND row = ?3",
      .integer(new), .text(table.name), .integer(old))
  }

  /// Removes the marks of a row, including those that are not valid yet.
  static func forget(_ row: Int64, of table: EntityTable, _ connection: Connection) throws(StorageError) {
    try connection.run(
      """
      DELETE FROM larder_upserted WHERE download IN (\(last) UNION ALL SELECT number FROM larder_marked)
        AND name = ?1 AND row = ?2
      """, .text(table.name), .integer(row))
  }

  /// Removes all marks.
  static func forget(_ connection: Connection) throws(StorageError) {
    try connection.run("DELETE FROM larder_upserted")
    try connection.run("DELETE FROM larder_marked")
    try connection.set(setting, to: nil)
  }

  // MARK: Staging

  /// Returns a number for marks that a whole read will write and that are not valid yet. Marks of an earlier attempt of
  /// the query are discarded.
  static func stage(for query: Int64, _ connection: Connection) throws(StorageError) -> Int64 {
    try connection.run(
      "UPDATE larder_marked SET download = 0 WHERE download IS NULL AND query = ?1", .integer(query))
    let number = try connection.first("SELECT coalesce(min(number), 0) - 1 FROM larder_marked") {
      (row) throws(StorageError) in try row.int64(0)
    }
    let markNumber = number ?? -1
    try connection.run("INSERT INTO larder_marked(number, query) VALUES(?1, ?2)", .integer(markNumber), .integer(query))
    return markNumber
  }

  /// Gives up the staged marks of downloads that will not be resumed.
  static func giveUpOrphans(_ connection: Connection) throws(StorageError) {
    try connection.run(
      """
      UPDATE larder_marked SET download = 0
        WHERE download IS NULL AND query NOT IN (SELECT query FROM larder_download)
      """)
  }

  /// Makes staged marks those of this download.
  func count(staged number: Int64, _ connection: Connection) throws(StorageError) {
    try connection.run(
      "UPDATE larder_marked SET download = ?1 WHERE number = ?2", .integer(download), .integer(number))
  }

  // MARK: Sweeping

  /// Deletes some marks that are no longer valid. Returns whether there may be others.
  static func thin(_ connection: Connection) throws(StorageError) -> Bool {
    let old = try connection.first(
      """
      SELECT number FROM larder_marked WHERE download < coalesce((\(last)), 1)
      UNION ALL SELECT * FROM (SELECT download FROM larder_upserted WHERE download > 0 AND download < (\(last)) LIMIT 1)
      LIMIT 1
      """
    ) { (row) throws(StorageError) in try row.int64(0) }
    guard let old else { return false }
    try connection.run(
      """
      DELETE FROM larder_upserted WHERE (download, name, row) IN (SELECT download, name, row FROM larder_upserted
        WHERE download = ?1 LIMIT 500)
      """, .integer(old))
    if connection.changes == 0 { try connection.run("DELETE FROM larder_marked WHERE number = ?1", .integer(old)) }
    return true
  }

  // MARK: Reading

  /// The condition that the last download has inserted or updated a row.
  ///
  /// - Parameters:
  ///   - id: the row's identity.
  ///   - state: the row's ``LocalState``. Rows that were created in the store and not downloaded since are not marked.
  static func condition(_ table: EntityTable, id: SQLText, state: SQLText) -> SQLText {
    """
    \(operand: state) & \(number: Int(LocalState.made)) = 0 AND EXISTS (SELECT 1 FROM larder_upserted WHERE download IN \
    (\(SQLText(stringLiteral: counting))) AND name = \(value: .text(table.name)) AND row IN (0, \(id)))
    """
  }

  /// Whether a statement reads the marks.
  static func isRead(by sql: String) -> Bool { sql.contains("larder_upserted") }
}

extension ReplicaChanges {
  /// The number of the last download in the log of changes. Tables have numbers from 0 on.
  static let downloads = -2
}
