import LarderOData
import LarderStorage

// Keyless rows: rows that were created together with another and that no response of the service contained. The service
// has assigned them keys that only a download contains. Until then they stay as they were created, and none of their
// changes is sent.
extension LocalRows {
  /// Records that the service has a row under an unknown key, unless a download has stored the row.
  mutating func markKeyless(_ reference: RowReference) throws(StorageError) {
    guard let table = plan.table(reference.table), var base = try keptBase(reference.row) ?? nil, base.isMadeHere else {
      return
    }
    base.isKeyless = true
    try keep(base, as: reference)
    try remember(base, of: reference, table)
  }

  /// What a download has found out about a keyless row.
  enum Keyless {
    /// It contains the row: the server's version.
    case matched(EntityCells)
    /// It does not contain the row. Another query may contain it, so only a download of all queries shows that the row
    /// is missing (``UploadedRows/settle(_:_:)``).
    case unknown
  }

  /// Finds the rows of downloads that are keyless rows, and gives them the identities of these.
  mutating func findKeyless() throws(StorageError) -> [RowReference: Keyless] {
    var matched: [RowReference: Keyless] = [:]
    let isAny = try connection.first("SELECT 1 FROM larder_base WHERE \(ChangeQueue.isKeyless) LIMIT 1") {
      (_) throws(StorageError) in true
    }
    guard isAny == true else { return matched }
    var keyless = KeylessRows(try keptBases(), plan)
    // Containers were created before contained rows, so that their foreign keys are the service's by then.
    while let (table, group) = keyless.takeGroup() {
      let candidates = try newcomers(table, beside: group)
      let matches = KeylessMatch.matches(of: group.map(\.cells), in: candidates.map(\.cells), table, plan)
      for (place, row) in group.enumerated() {
        if let match = matches[place] {
          matched[row.reference] = .matched(try adopt(candidates[match], as: row, table, &keyless))
        } else {
          matched[row.reference] = .unknown
        }
      }
    }
    return matched
  }

  typealias Row = KeylessRows.Row

  /// The rows of a table that were added after the group was created, belong to the same entities, and have no pending
  /// changes.
  private func newcomers(_ table: EntityTable, beside group: [Row]) throws(StorageError) -> [Row] {
    guard let first = group.first, !state.tables[table.number].hasPrefix("(") else { return [] }
    let ties = plan.ties(of: table)
    let conditions = ties.indices.map { "\(TableDDL.quoted(ties[$0])) IS ?\($0 + 2)" }
    let sql = """
      SELECT "@id" FROM \(state.tables[table.number]) WHERE "@id" > ?1 AND "@queries" <> 0
      AND NOT EXISTS(SELECT 1 FROM larder_base WHERE row = "@id")
      \(conditions.map { "AND \($0)" }.joined(separator: " ")) ORDER BY 1
      """
    var ids: [Int64] = []
    let values = ties.map { first.cells[$0] ?? .null }
    try connection.forEachRow(sql, [.integer(first.reference.row)] + values) { (row) throws(StorageError) in
      ids.append(row.integer(0))
      return true
    }
    var rows: [Row] = []
    for id in ids {
      let reference = RowReference(table.name, id)
      if let cells = try effective(reference) { rows.append((reference, cells)) }
    }
    return rows
  }

  /// Gives the server's row the identity of the row that was created here. Returns the server's version.
  private mutating func adopt(
    _ candidate: Row, as row: Row, _ table: EntityTable, _ keyless: inout KeylessRows
  ) throws(StorageError) -> EntityCells {
    try show(nil, as: row.reference)
    try connection.run(
      "UPDATE \(state.tables[table.number]) SET \"@id\" = ?1 WHERE \"@id\" = ?2", .integer(row.reference.row),
      .integer(candidate.reference.row))
    try DownloadMarks.forget(candidate.reference.row, of: table, connection)
    try moveTies(of: table, from: candidate.reference.row, to: row.reference.row)
    try keep(candidate.cells, as: row.reference)
    try touch(row.reference)
    try replaceKey(of: row, by: candidate.cells, table, &keyless)
    return candidate.cells
  }

  /// Replaces the key of a row by the service's in foreign keys: of other keyless rows, and of pending changes.
  private mutating func replaceKey(
    of row: Row, by new: EntityCells, _ table: EntityTable, _ keyless: inout KeylessRows
  ) throws(StorageError) {
    for (reference, cells) in keyless.replaceKey(of: row, by: new, table) {
      try keep(cells, as: reference)
      try touch(reference)
    }
    let requests = try connection.integers(
      "SELECT request FROM larder_reference WHERE row = ?1", .integer(row.reference.row)
    )
    for request in requests {
      try replaceForeignKeys(of: request, to: table) { column, value in value == row.cells[column] ? new[column] : nil }
    }
  }
}

/// Matches downloaded rows with rows that were created here. This type does no I/O.
enum KeylessMatch {
  /// The index of the matching row for each row created here; nil for none. All created rows belong to the same
  /// entities.
  static func matches(
    of created: [EntityCells], in downloaded: [EntityCells], _ table: EntityTable, _ plan: ReplicaPlan
  ) -> [Int?] {
    let columns = table.columns.filter { !table.key.contains($0.number) && $0.storage != .stream }
    func values(_ cells: EntityCells) -> [(name: String, value: ODataValue)] {
      columns.compactMap { column in
        guard let cell = cells[column.name], cell != .null,
          let value = try? column.value(of: cell, model: plan.model)
        else { return nil }
        return (column.name, value)
      }
    }
    let sent = created.map { cells in
      QueuedEntity(properties: values(cells).map { QueuedProperty(name: $0.name, value: QueuedValue($0.value)) })
    }
    let entities = downloaded.enumerated().map { place, cells in
      ODataEntity(id: "\(place)", properties: values(cells).map { ODataProperty($0.name, $0.value) })
    }
    let isTied = plan.ties(of: table).contains { name in created.first?[name].map { $0 != .null } ?? false }
    guard !isTied else { return DeepInsert.matches(of: sent, in: entities).map { $0?.id.flatMap { Int($0) } } }
    // There is no container that limits the candidates, so only unique matches are accepted.
    return sent.map { sentCells in
      let places = entities.indices.filter { SentContent.matches(sentCells, entities[$0]) }
      guard places.count == 1, !sentCells.properties.isEmpty else { return nil }
      return sent.count { SentContent.matches($0, entities[places[0]]) } == 1 ? places[0] : nil
    }
  }
}
