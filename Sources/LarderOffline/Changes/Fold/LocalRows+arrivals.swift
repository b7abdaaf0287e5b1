import LarderStorage

// A creation whose response was lost, and whose key the service assigns, is looked up by its content before it is sent
// again. A download may contain the entity before that, and another client may delete it in between. Then only the record
// made here shows that the creation has arrived.
extension LocalRows {
  /// Records the uncertain creations that a download contains: their content is that of a downloaded row which was added
  /// after they were first sent. Of several creations with equal content, each is recorded with a row of its own.
  func recordArrivals() throws(StorageError) {
    let uncertain = try uncertainCreations()
    var recorded = Set(uncertain.compactMap(\.arrived))
    for creation in uncertain where creation.arrived == nil {
      guard let row = try downloadedRow(creation, besides: recorded) else { continue }
      recorded.insert(row)
      try connection.run(
        "UPDATE larder_request SET attempt = json_set(attempt, '$.arrived', ?2) WHERE id = ?1", .integer(creation.id),
        .integer(row))
    }
  }

  private struct UncertainCreation {
    var id: Int64
    var table: String
    var cells: EntityCells
    /// The first identity that was given to a row after the creation was first sent.
    var newcomers: Int64
    /// The row in which a download contained it.
    var arrived: Int64?
  }

  private func uncertainCreations() throws(StorageError) -> [UncertainCreation] {
    try connection.rows(
      """
      SELECT r.id, e.name, e.cells, json_extract(r.attempt, '$.newcomers'), json_extract(r.attempt, '$.arrived')
        FROM larder_request AS r JOIN larder_effect AS e ON e.request = r.id AND e.row = r.entity AND e.kind = ?2
        WHERE r.state = ?1 AND json_extract(r.attempt, '$.newcomers') IS NOT NULL ORDER BY r.id
      """, .integer(Int64(RequestState.sent.rawValue)), .integer(Int64(Effect.Kind.insert.rawValue))
    ) { (row) throws(StorageError) in
      UncertainCreation(
        id: try row.int64(0), table: try row.text(1),
        cells: try row.textOrNil(2).flatMap(EntityCells.init(json:)) ?? EntityCells(), newcomers: try row.int64(3),
        arrived: try row.int64OrNil(4))
    }
  }

  /// The first downloaded row with the content of a creation. Keys are not compared: the service has assigned another.
  private func downloadedRow(
    _ creation: UncertainCreation, besides recorded: Set<Int64>
  ) throws(StorageError) -> Int64? {
    guard let table = plan.table(creation.table), !state.tables[table.number].hasPrefix("(") else { return nil }
    var (terms, values): ([String], [SQLValue]) = ([], [.integer(creation.newcomers)])
    for column in table.columns where !table.key.contains(column.number) {
      guard column.storage != .stream, column.storage != .complex, let cell = creation.cells[column.name], cell != .null
      else { continue }
      values.append(cell)
      terms.append("\(TableDDL.quoted(column.name)) IS ?\(values.count)")
    }
    guard !terms.isEmpty else { return nil }
    var match: Int64?
    try connection.forEachRow(
      """
      SELECT "@id" FROM \(state.tables[table.number]) WHERE "@id" >= ?1 AND "@queries" <> 0
        AND \(terms.joined(separator: " AND ")) AND "@id" NOT IN (SELECT row FROM larder_effect WHERE kind = ?2) ORDER BY 1
      """, values
    ) { (row) throws(StorageError) in
      let id = row.integer(0)
      guard !recorded.contains(id) else { return true }
      match = id
      return false
    }
    return match
  }
}
