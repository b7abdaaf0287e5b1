import LarderStorage

/// Finds entities of the store by their entity-ids.
struct EntityFinder {
  let plan: ReplicaPlan
  let registry: ReplicaRegistry
  /// The table in which ids without a conventional form are looked up.
  let preferredTable: Int

  func find(_ url: String, _ connection: Connection) throws(StorageError) -> (table: Int, id: Int64)? {
    if let entity = try find(EntityID.segments(url)[...], connection) { return entity }
    guard registry.entities[preferredTable] != nil else { return nil }
    let id = try connection.first("SELECT \"@id\" FROM \(name(preferredTable)) WHERE \"@uri\" = ?1", .text(url)) {
      (row) throws(StorageError) in try row.int64(0)
    }
    return id.map { (preferredTable, $0) }
  }

  /// Finds the entity that contains the one with an id.
  func findContainer(of url: String, _ connection: Connection) throws(StorageError) -> (table: Int, id: Int64)? {
    var segments = EntityID.segments(url)[...]
    // The key may be a separate segment.
    if segments.popLast()?.key == nil { _ = segments.popLast() }
    return try find(segments, connection)
  }

  private func find(
    _ segments: ArraySlice<EntityID.Segment>, _ connection: Connection
  ) throws(StorageError) -> (table: Int, id: Int64)? {
    for start in segments.indices {
      guard let table = plan.table(segments[start].name), !table.isContained else { continue }
      if let entity = try walk(segments[start...], from: table, connection) { return entity }
    }
    return nil
  }

  private func name(_ table: Int) -> String {
    registry.entities[table].map { TableDDL.quoted(ReplicaRegistry.name("e", $0)) }
      ?? TableDDL.empty(plan.tables[table])
  }

  private func walk(
    _ segments: ArraySlice<EntityID.Segment>, from table: EntityTable, _ connection: Connection
  ) throws(StorageError) -> (table: Int, id: Int64)? {
    var table = table
    var parent: Int64?
    var current: Int64?
    for (place, segment) in zip(segments.indices, segments) {
      if segment.name.contains("."), segment.key == nil, current != nil || place > segments.startIndex { continue }
      var key = segment.key
      if place > segments.startIndex {
        if let id = current, let next = table.navigation([segment.name]), next.relation == .containment {
          parent = id
          current = nil
          table = plan.tables[next.target]
        } else if current == nil {
          // The key is a separate segment.
          key = segment.name
        } else {
          return nil
        }
      }
      if key == nil, !table.key.isEmpty, case .singleton = table.place {
        current = try first(table, connection)
      } else if key != nil || table.key.isEmpty {
        let cells = key.flatMap { EntityID.cells($0, in: table, model: plan.model) } ?? []
        guard cells.count == table.key.count else { return nil }
        current = try row(table, cells: cells, parent: parent, connection: connection)
        if current == nil { return nil }
      }
    }
    return current.map { (table.number, $0) }
  }

  private func first(_ table: EntityTable, _ connection: Connection) throws(StorageError) -> Int64? {
    try connection.first("SELECT \"@id\" FROM \(name(table.number)) LIMIT 1") { (row) throws(StorageError) in
      row.integer(0)
    }
  }

  private func row(
    _ table: EntityTable, cells: [SQLValue], parent: Int64?, connection: Connection
  ) throws(StorageError) -> Int64? {
    guard !table.key.isEmpty else { return try first(table, connection) }
    let condition = table.identityCondition
    let arguments = (table.isContained ? [.integer(parent)] : []) + cells
    var id: Int64?
    let sql = "SELECT \"@id\" FROM \(name(table.number)) WHERE \(condition)"
    try connection.forEachRow(sql, arguments) { (row) throws(StorageError) in
      id = row.integer(0)
      return false
    }
    return id
  }
}
