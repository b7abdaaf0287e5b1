import LarderStorage

// Rows that no defining query includes any more, and that a pending change changes or names: the change could not be
// sent without them. They are marked in `larder_reference`, with 0 as the request.
extension LocalRows {
  /// Deletes those of these rows that were kept for changes, and that no change needs any more.
  mutating func deleteKept(_ rows: Set<Int64>) throws(StorageError) {
    guard try connection.hasMarkedRows else { return }
    var marked: [Int64] = []
    for row in rows.sorted() where try connection.isMarked(row) { marked.append(row) }
    guard !marked.isEmpty else { return }
    for row in marked {
      guard try !connection.isNamed(row), try pendingState(of: row) == 0 else { continue }
      for table in plan.tables where !state.tables[table.number].hasPrefix("(") {
        let isLeft = try connection.first(
          "SELECT 1 FROM \(state.tables[table.number]) WHERE \"@id\" = ?1 AND \"@queries\" = 0 AND \"@state\" = 0",
          .integer(row)
        ) { (_) throws(StorageError) in true }
        guard isLeft == true else { continue }
        try connection.run("DELETE FROM larder_base WHERE row = ?1", .integer(row))
        try show(nil, as: RowReference(table.name, row))
        try forget(RowReference(table.name, row))
      }
    }
    try forgetMarks(of: marked)
  }

  /// Removes the marks of those of these rows that a query includes again, or that no longer exist.
  private func forgetMarks(of rows: [Int64]) throws(StorageError) {
    // A whole read marks rows before its tables replace the present ones.
    let isReading = try connection.first("SELECT 1 FROM larder_table WHERE reader IS NOT NULL LIMIT 1") {
      (_) throws(StorageError) in true
    }
    guard isReading == nil else { return }
    let marked = "SELECT value AS row FROM json_each(?1) WHERE value NOT IN (SELECT row FROM larder_base)"
    let list = SQLValue.text(JSONSettings.encode(rows))
    var unneeded = Set(try connection.integers(marked, list))
    for table in state.tables where !unneeded.isEmpty && !table.hasPrefix("(") {
      let left = "SELECT n.row FROM (\(marked)) AS n CROSS JOIN \(table) ON \"@id\" = n.row WHERE \"@queries\" = 0"
      unneeded.subtract(try connection.integers(left, list))
    }
    for row in unneeded {
      try connection.run("DELETE FROM larder_reference WHERE row = ?1 AND request = 0", .integer(row))
    }
  }
}

extension Connection {
  /// Selects the rows that changes name.
  static let namedRows = "SELECT n.row \(naming)"

  /// Selects whether a change names row `?1`. Only the references of the row are read.
  static let namingRow = "SELECT 1 \(naming) AND n.row = ?1 LIMIT 1"

  /// A deletion needs only the rows that contain its entity, for the path. Its references to other rows decide when it is
  /// sent, and keep no row if its entity is not contained.
  private static let naming = """
    FROM larder_reference n JOIN larder_request q ON q.id = n.request
      WHERE (NOT EXISTS(
        SELECT 1 FROM larder_effect e WHERE e.request = q.id AND e.row = q.entity AND e.kind = \(Effect.Kind.delete.rawValue))
      OR EXISTS(
        SELECT 1 FROM larder_base b WHERE b.row = q.entity AND json_extract(b.cells, '$."@parent"') IS NOT NULL))
    """

  fileprivate func isNamed(_ row: Int64) throws(StorageError) -> Bool {
    try first(Self.namingRow, .integer(row)) { (_) throws(StorageError) in true } ?? false
  }

  /// Marks a row that no query includes any more if a change names it. Returns whether one does.
  func keepNamed(_ row: Int64) throws(StorageError) -> Bool {
    guard try isNamed(row) else { return false }
    try run("INSERT OR IGNORE INTO larder_reference(row, request) VALUES(?1, 0)", .integer(row))
    return true
  }

  /// Marks the rows of a table that changes name, and whose `@queries` are these.
  func keepNamed(in table: String, queries: Int64) throws(StorageError) {
    try run(
      """
      INSERT OR IGNORE INTO larder_reference(row, request)
        SELECT "@id", 0 FROM (\(Self.namedRows)) AS n CROSS JOIN \(table) ON "@id" = n.row WHERE "@queries" = ?1
      """, .integer(queries))
  }

  /// Marks the rows with pending changes in whose bases `@queries` are these.
  func keepPending(in name: String, queries: Int64) throws(StorageError) {
    try run(
      """
      INSERT OR IGNORE INTO larder_reference(row, request)
        SELECT row, 0 FROM larder_base WHERE name = ?1 AND json_extract(cells, '$."@queries"') = ?2
      """, .text(name), .integer(queries))
  }

  /// All marked rows.
  func markedRows() throws(StorageError) -> [Int64] {
    try integers("SELECT row FROM larder_reference WHERE request = 0")
  }

  /// The marked rows that a request names.
  func markedRows(namedBy request: Int64) throws(StorageError) -> [Int64] {
    try integers(
      """
      SELECT n.row FROM larder_reference AS n CROSS JOIN larder_reference AS m ON m.row = n.row AND m.request = 0
        WHERE n.request = ?1
      """, .integer(request))
  }

  fileprivate var hasMarkedRows: Bool {
    get throws(StorageError) {
      try first("SELECT 1 FROM larder_reference WHERE request = 0 LIMIT 1") { (_) throws(StorageError) in true }
        ?? false
    }
  }

  func isMarked(_ row: Int64) throws(StorageError) -> Bool {
    try first("SELECT 1 FROM larder_reference WHERE row = ?1 AND request = 0", .integer(row)) {
      (_) throws(StorageError) in true
    } ?? false
  }
}
