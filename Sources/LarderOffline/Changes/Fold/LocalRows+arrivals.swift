import LarderStorage

// A creation whose response was lost, and whose key the service assigns, is looked up by its content before it is sent
// again. A download may contain the entity before that, and another client may change or delete it in between. Then only
// the record made here shows that the creation has arrived.
extension LocalRows {
  /// Records the uncertain creations that a download contains: their content is that of a downloaded row which was added
  /// after they were first sent. Of several creations with equal content, each is recorded with a row of its own.
  func recordArrivals() throws(StorageError) {
    var creations: [String: [UncertainCreation]] = [:]
    for entry in try queue.uncertainCreations() {
      if let creation = try uncertainCreation(entry) { creations[creation.table.name, default: []].append(creation) }
    }
    for (_, creations) in creations.sorted(by: { $0.key < $1.key }) { try recordArrivals(of: creations) }
  }

  private struct UncertainCreation {
    let request: Int64
    let table: EntityTable
    /// The first identity that was given to a row after the creation was first sent.
    let newcomers: Int64
    /// The row in which a download contained it.
    let arrived: Int64?
    /// What the row contains, without NULLs, keys and foreign keys: as the creation was sent, and with the later changes of
    /// its transaction.
    let contents: [EntityCells]
  }

  /// Nil for a creation with a key of the client: it is looked up by the key.
  private func uncertainCreation(_ entry: QueueEntry) throws(StorageError) -> UncertainCreation? {
    guard let entity = entry.request.entity, case .entity(let body) = entry.request.body,
      let table = plan.table(entity.table),
      let (newcomers, arrived) = try queue.arrival(of: entry.id),
      !table.type.key.allSatisfy({ key in body.properties.contains { $0.name == key.name } })
    else { return nil }
    var contents: [EntityCells] = []
    for id in try [entry.id] + queue.members(ofUnit: entry.unit) where id == entry.id || id > entry.id {
      for effect in try queue.effects(of: id) where effect.name == entity.table && effect.row == entity.row {
        var cells = contents.last ?? EntityCells()
        cells.merge(effect.cells)
        if contents.last != cells { contents.append(cells) }
      }
    }
    return UncertainCreation(
      request: entry.id, table: table, newcomers: newcomers, arrived: arrived,
      contents: contents.map { identifying($0, table) })
  }

  /// The cells by which a downloaded row is recognized. Keys and foreign keys can be the service's.
  private func identifying(_ cells: EntityCells, _ table: EntityTable) -> EntityCells {
    let foreign = Set(table.navigations.flatMap { plan.foreignKey(of: $0, in: table) })
    var identifying = EntityCells()
    for column in table.columns where !table.key.contains(column.number) && !foreign.contains(column.name) {
      guard column.storage != .stream, column.storage != .complex, let cell = cells[column.name], cell != .null
      else { continue }
      identifying[column.name] = cell
    }
    if !identifying.isEmpty, let parent = cells[.parent], parent != .null { identifying[.parent] = parent }
    return identifying
  }

  /// Reads the downloaded rows of a table once, whatever the number of creations.
  private func recordArrivals(of creations: [UncertainCreation]) throws(StorageError) {
    guard let table = creations.first?.table, !state.tables[table.number].hasPrefix("(") else { return }
    let missing = creations.filter { $0.arrived == nil }
    // The creations by the columns that they set, and by the values of these.
    var index: [[String]: [[SQLValue]: [UncertainCreation]]] = [:]
    for creation in missing {
      for content in Set(creation.contents) where !content.isEmpty {
        let columns = content.values.keys.sorted()
        index[columns, default: [:]][columns.map { content[$0] ?? .null }, default: []].append(creation)
      }
    }
    guard !index.isEmpty, let first = missing.map(\.newcomers).min() else { return }
    let columns = Set(index.keys.joined()).sorted()
    var recorded = Set(creations.compactMap(\.arrived))
    var arrivals: [Int64: Int64] = [:]
    try connection.forEachRow(
      """
      SELECT "@id", \(columns.map { TableDDL.quoted($0) }.joined(separator: ", ")) FROM \(state.tables[table.number])
        WHERE "@id" >= ?1 AND "@queries" <> 0 AND NOT EXISTS
          (SELECT 1 FROM larder_effect WHERE row = "@id" AND kind = \(Effect.Kind.insert.rawValue)) ORDER BY 1
      """, [.integer(first)]
    ) { (row) throws(StorageError) in
      let id = row.integer(0)
      guard !recorded.contains(id) else { return true }
      var cells: [String: SQLValue] = [:]
      for (place, column) in columns.enumerated() { cells[column] = row.value(Int32(clamping: place + 1)) }
      let match = index.lazy.compactMap { columns, creations in
        creations[columns.map { cells[$0] ?? .null }]?.first { arrivals[$0.request] == nil && $0.newcomers <= id }
      }.min { $0.request < $1.request }
      guard let match else { return true }
      recorded.insert(id)
      arrivals[match.request] = id
      return arrivals.count < missing.count
    }
    for (request, row) in arrivals { try queue.set(arrival: row, of: request) }
  }
}
