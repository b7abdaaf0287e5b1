import LarderOData
import LarderStorage

/// Rows that an upload has created, deleted or moved to another place. They are recorded until a download shows what
/// the defining queries contain of them.
///
/// A download need not report such rows: the expanded entities of a deleted entity no longer belong to the query, an
/// entity that another client has deleted in between never belonged to it, and entities that a changed entity no longer
/// leads to are not reported.
struct UploadedRows {
  let connection: Connection

  init(_ connection: Connection) { self.connection = connection }

  /// Records an entity that the service has created. A table that no query reads needs no record.
  func note(created reference: RowReference) throws(StorageError) {
    guard try connection.bits(in: reference.table) != 0 else { return }
    try note(reference, nil)
  }

  /// Records an entity whose links, or the columns that contain them, the service has changed because of an upload. A
  /// delta then finds the row already moved and must determine whether a query still has it.
  func note(moved reference: RowReference) throws(StorageError) {
    guard try tracksChanges() else { return }
    try connection.run(
      "INSERT OR IGNORE INTO larder_uploaded(row, name, cells) VALUES(?1, ?2, '')", .integer(reference.row),
      .text(reference.table))
  }

  /// Records the entities of a table that a statement selects, as ``note(moved:)`` does. Its parameter `?1` is a row.
  func note(movedIn table: String, _ selection: String, _ row: Int64) throws(StorageError) {
    guard try tracksChanges() else { return }
    try connection.run(
      "INSERT OR IGNORE INTO larder_uploaded(row, name, cells) SELECT *, ?2, '' FROM (\(selection))", .integer(row),
      .text(table))
  }

  /// Records an entity that the service has deleted, if a delta may have to release the rows that it led to.
  ///
  /// - Parameter cells: the service's image of it.
  func note(deleted reference: RowReference, _ cells: EntityCells) throws(StorageError) {
    if try tracksChanges() { try note(reference, cells) } else { try forget(reference.row) }
  }

  private func tracksChanges() throws(StorageError) -> Bool {
    try connection.first("SELECT 1 FROM larder_query WHERE delta_link IS NOT NULL LIMIT 1") {
      (_) throws(StorageError) in true
    } ?? false
  }

  private func note(_ reference: RowReference, _ cells: EntityCells?) throws(StorageError) {
    try connection.run(
      "INSERT OR REPLACE INTO larder_uploaded(row, name, cells) VALUES(?1, ?2, ?3)", .integer(reference.row),
      .text(reference.table), .text(cells?.json))
  }

  private func forget(_ row: Int64) throws(StorageError) {
    try connection.run("DELETE FROM larder_uploaded WHERE row = ?1", .integer(row))
  }

  /// The entities that were created or moved, and the keyless ones of tables that queries read.
  func unsettled() throws(StorageError) -> [RowReference] {
    try references(
      """
      SELECT name, row FROM larder_uploaded WHERE coalesce(cells, '') = ''
      UNION SELECT name, row FROM larder_base WHERE \(ChangeQueue.isKeyless) AND NOT \(ChangeQueue.isGone)
        AND name IN (SELECT name FROM larder_membership) ORDER BY row
      """)
  }

  /// The entities that were moved.
  func moved() throws(StorageError) -> [RowReference] {
    try references("SELECT name, row FROM larder_uploaded WHERE cells = '' ORDER BY row")
  }

  private func references(_ sql: String) throws(StorageError) -> [RowReference] {
    try connection.rows(sql) { (row) throws(StorageError) in RowReference(try row.text(0), try row.int64(1)) }
  }

  /// Returns and removes the entities that were deleted.
  func takeDeleted() throws(StorageError) -> [(reference: RowReference, cells: EntityCells)] {
    let deleted = try connection.rows(
      "SELECT name, row, cells FROM larder_uploaded WHERE cells <> '' ORDER BY row"
    ) { (row) throws(StorageError) in
      (RowReference(try row.text(0), try row.int64(1)), EntityCells(json: try row.text(2)) ?? EntityCells())
    }
    if !deleted.isEmpty { try connection.run("DELETE FROM larder_uploaded WHERE cells <> ''") }
    return deleted
  }

  /// Removes created entities that no query has returned. Those with pending changes are examined after a later
  /// download, except keyless ones: their changes wait for a key that no download contains, so the next upload puts
  /// them into the error archive.
  ///
  /// - Parameter rows: the rows that were created or moved before a successful download of all queries.
  static func settle(_ rows: [RowReference], _ local: inout LocalRows) throws(StorageError) {
    for reference in rows {
      let row = try local.effective(reference)
      let base = try local.keptBase(reference.row)
      let isPending = row?.integer(.state) != LocalState.made
      if base??.isKeyless == true {
        // An earlier version has also recorded rows of tables that no query reads.
        if try local.connection.bits(in: reference.table) != 0 {
          try local.setBase(reference, to: nil)
          if !isPending { try local.forget(reference) }
        }
      } else if let row, row.integer(.queries) ?? 0 == 0, (row.integer(.state) ?? 0) & LocalState.made != 0 {
        guard !isPending, base.map({ $0?.isKept == true }) ?? true else { continue }
        try local.setBase(reference, to: nil)
        try local.forget(reference)
      }
      try UploadedRows(local.connection).forget(reference.row)
    }
    try local.finish()
  }
}

extension LocalRows {
  /// Restores the service's former images of deleted entities for the rest of a delta's transaction, which deletes them
  /// again. Returns the restored ones. An entity that exists again, or whose key another row has, stays as it is.
  mutating func showDeleted() throws(StorageError) -> [RowReference] {
    var shown: [RowReference] = []
    for (reference, cells) in try UploadedRows(connection).takeDeleted() {
      guard let table = plan.table(reference.table), try effective(reference) == nil else { continue }
      let key = TableDDL.identity(of: table).map { cells[$0] ?? .null }
      if !key.isEmpty, try row(table, table.identityCondition, key) != nil { continue }
      try show(cells, as: reference)
      shown.append(reference)
    }
    return shown
  }
}

extension Replica {
  /// The entities that uploads have created or moved, and that no download of all queries has settled.
  func unsettledRows() async throws(StorageError) -> [RowReference] {
    try await read { (snapshot) throws(StorageError) in try UploadedRows(snapshot.connection).unsettled() }
  }

  /// Removes the created entities that no query has returned, after a download of all queries that began after their
  /// upload.
  func settle(_ rows: [RowReference]) async throws(StorageError) {
    // The work is divided into short transactions, because others wait to write. After a crash, the next download does
    // the rest.
    for begin in stride(from: 0, to: rows.count, by: 200) {
      let some = Array(rows[begin..<min(rows.count, begin + 200)])
      try await write { (snapshot) throws(StorageError) in
        var local = LocalRows(snapshot)
        try UploadedRows.settle(some, &local)
      }
    }
  }
}
