import LarderStorage

// A creation whose response was lost, and whose key the service assigns, is looked up by its content before it is sent
// again. A download may contain the entity before that, and another client may change or delete it in between. Then only
// the record made here shows that the creation has arrived.
extension LocalRows {
  /// Records the uncertain creations that a download contains: their content is that of a downloaded row which was added
  /// after they were first sent. Of several creations with equal content, each is recorded with a row of its own.
  func recordArrivals() throws(StorageError) {
    var creations: [String: [UncertainCreation]] = [:]
    var localKeys = PendingLocalKeys(queue, plan)
    for entry in try queue.uncertainCreations() {
      guard let creation = try uncertainCreation(entry, &localKeys) else { continue }
      creations[creation.table.name, default: []].append(creation)
    }
    for (_, creations) in creations.sorted(by: { $0.key < $1.key }) { try recordArrivals(of: creations) }
  }

  private struct UncertainCreation {
    let table: EntityTable
    let creation: ArrivalIndex.Creation
    /// The row in which a download contained it.
    let arrived: Int64?
    /// What the row contains, without NULLs, keys and local keys: as the creation was sent, and with the later changes of
    /// its transaction.
    let contents: Set<[String: ComparedValue]>
  }

  /// Nil for a creation with a key of the client: it is looked up by the key.
  private func uncertainCreation(
    _ entry: QueueEntry, _ localKeys: inout PendingLocalKeys
  ) throws(StorageError) -> UncertainCreation? {
    guard let entity = entry.request.entity, case .entity(let body) = entry.request.body,
      let table = plan.table(entity.table),
      let (newcomers, arrived) = try queue.arrival(of: entry.id),
      !table.type.key.allSatisfy({ key in body.properties.contains { $0.name == key.name } })
    else { return nil }
    var contents: Set<[String: ComparedValue]> = []
    var cells = EntityCells()
    for id in try [entry.id] + queue.members(ofUnit: entry.unit) where id == entry.id || id > entry.id {
      for effect in try queue.effects(of: id) where effect.name == entity.table && effect.row == entity.row {
        cells.merge(effect.cells)
        contents.insert(try identifying(cells, table, &localKeys))
      }
    }
    return UncertainCreation(
      table: table, creation: ArrivalIndex.Creation(request: entry.id, newcomers: newcomers), arrived: arrived,
      contents: contents)
  }

  /// The values by which a downloaded row is recognized. Keys can be the service's, and foreign keys can be local keys in
  /// place of these.
  private func identifying(
    _ cells: EntityCells, _ table: EntityTable, _ localKeys: inout PendingLocalKeys
  ) throws(StorageError) -> [String: ComparedValue] {
    var identifying: [String: ComparedValue] = [:]
    for column in table.columns where !table.key.contains(column.number) {
      guard column.storage != .stream, column.storage != .complex, let cell = cells[column.name], cell != .null,
        try !localKeys.contain(cell, of: column.name, in: table)
      else { continue }
      identifying[column.name] = ComparedValue(cell, column.storage)
    }
    if !identifying.isEmpty, let parent = cells[.parent], parent != .null {
      identifying[SystemColumn.parent.rawValue] = .cell(parent)
    }
    return identifying
  }

  /// Reads the downloaded rows of a table once, whatever the number of creations.
  private func recordArrivals(of creations: [UncertainCreation]) throws(StorageError) {
    guard let table = creations.first?.table, !state.tables[table.number].hasPrefix("(") else { return }
    let missing = creations.filter { $0.arrived == nil }
    var index = ArrivalIndex(missing.map { ($0.creation, $0.contents) })
    guard !index.isDone, let first = missing.map(\.creation.newcomers).min() else { return }
    let columns = index.columns.map { column in (name: column, storage: table.storage(of: column)) }
    let recorded = Set(creations.compactMap(\.arrived))
    var arrivals: [Int64: Int64] = [:]
    try connection.forEachRow(
      """
      SELECT "@id", \(TableDDL.list(index.columns)) FROM \(state.tables[table.number])
        WHERE "@id" >= ?1 AND "@queries" <> 0 AND NOT EXISTS
          (SELECT 1 FROM larder_effect WHERE row = "@id" AND kind = \(Effect.Kind.insert.rawValue)) ORDER BY 1
      """, [.integer(first)]
    ) { (row) throws(StorageError) in
      let id = row.integer(0)
      guard !recorded.contains(id) else { return true }
      var values: [String: ComparedValue] = [:]
      for (place, column) in columns.enumerated() {
        values[column.name] = ComparedValue(row.value(Int32(clamping: place + 1)), column.storage)
      }
      if let creation = index.creation(of: id, values) { arrivals[creation.request] = id }
      return !index.isDone
    }
    for (request, row) in arrivals { try queue.set(arrival: row, of: request) }
  }
}

extension EntityTable {
  /// How a column stores its values; nil for a column of ``SystemColumn``.
  fileprivate func storage(of column: String) -> ColumnStorage? { columns.first { $0.name == column }?.storage }
}
