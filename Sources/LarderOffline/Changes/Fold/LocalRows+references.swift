import LarderOData
import LarderStorage

// The rows that a request names besides its own entity. A request that deletes one of these rows is sent later, because
// a service may reject the deletion of an entity that others still refer to.
extension LocalRows {
  /// The rows that a request links or unlinks.
  func referred(by request: QueuedRequest, _ effects: [Effect]) throws(StorageError) -> Set<Int64> {
    var rows = Set(request.namedRows.map(\.row))
    for effect in effects {
      if let other = effect.other {
        rows.formUnion([effect.row, other])
        continue
      }
      guard let table = plan.table(effect.name) else { continue }
      let parent = effect.cells.integer(.parent)
      if let parent { rows.insert(parent) }
      let foreign = table.navigations.filter { navigation in
        guard case .columns(let pairs) = navigation.relation, plan.isDependent(navigation, table) else { return false }
        return effect.kind == .delete || pairs.contains { effect.cells[table.columns[$0.source].name] != nil }
      }
      guard !foreign.isEmpty || effect.kind == .delete && table.isContained else { continue }
      let old = effect.kind == .insert ? EntityCells() : try effective(RowReference(effect.name, effect.row))
      if effect.kind == .delete, let parent = old?.integer(.parent) { rows.insert(parent) }
      var new = old ?? EntityCells()
      new.merge(effect.cells)
      for navigation in foreign {
        for cells in effect.kind == .set ? [old ?? EntityCells(), new] : [new] {
          if let row = try target(of: navigation, table, cells) { rows.insert(row) }
        }
      }
    }
    for effect in effects where effect.other == nil { rows.remove(effect.row) }
    if let entity = request.entity { rows.remove(entity.row) }
    return rows
  }

  private func target(
    of navigation: ReplicaNavigation, _ table: EntityTable, _ cells: EntityCells
  ) throws(StorageError) -> Int64? {
    guard case .columns(let pairs) = navigation.relation else { return nil }
    var values: [SQLValue] = []
    for pair in pairs {
      guard let value = cells[table.columns[pair.source].name], value != .null else { return nil }
      values.append(value)
    }
    let target = plan.tables[navigation.target]
    let condition = pairs.enumerated().map { "\(TableDDL.quoted(target.columns[$1.target].name)) = ?\($0 + 1)" }
    var match: Int64?
    let sql = "SELECT \"@id\" FROM \(state.tables[target.number]) WHERE \(condition.joined(separator: " AND ")) LIMIT 1"
    try connection.forEachRow(sql, values) { (row) throws(StorageError) in
      match = row.integer(0)
      return false
    }
    return match
  }

  /// The pending requests that name a row.
  func requests(naming row: Int64) throws(StorageError) -> [Int64] {
    try connection.integers(
      """
      SELECT q.id FROM larder_reference n JOIN larder_request q ON q.id = n.request
        WHERE n.row = ?1 AND q.state IN (0, 1)
      """, .integer(row)
    )
  }

  /// The pending requests that delete an entity with a key. A creation with the same key is sent after them.
  func deletions(of key: EntityCells, in table: EntityTable) throws(StorageError) -> [Int64] {
    let names = TableDDL.identity(of: table)
    let pendingEffects = try connection.rows(
      """
      SELECT e.request, coalesce(b.cells, (SELECT i.cells FROM larder_effect i WHERE i.row = e.row AND i.kind = 0))
        FROM larder_effect e JOIN larder_base b ON b.row = e.row WHERE e.kind = 2 AND e.name = ?1
      """, .text(table.name)
    ) { (row) throws(StorageError) in (try row.int64(0), try row.textOrNil(1).flatMap(EntityCells.init(json:))) }
    return pendingEffects.filter { _, base in base.map { base in names.allSatisfy { base[$0] == key[$0] } } ?? false }
      .map(\.0)
  }
}

extension ChangeQueue {
  /// Records the rows that a request names.
  func add(_ id: Int64, naming rows: some Sequence<Int64>) throws(StorageError) {
    for row in rows {
      try connection.run(
        "INSERT OR IGNORE INTO larder_reference(row, request) VALUES(?1, ?2)", .integer(row), .integer(id))
    }
  }
}

extension QueuedRequest {
  /// The rows that it names, including its own.
  var namedRows: [RowReference] {
    var rows: [RowReference] = []
    if let row = target.row { rows.append(row) }
    switch body {
    case .entity(let entity): rows += entity.namedRows
    case .properties(let properties): rows += properties.compactMap(\.key?.row)
    case .reference(.row(let row)): rows.append(row)
    case .reference(.url), .none, .bytes, .media: break
    }
    return rows
  }
}

extension QueuedEntity {
  fileprivate var namedRows: [RowReference] {
    var rows = properties.compactMap(\.key?.row)
    for link in links {
      for case .row(let row) in link.bindings { rows.append(row) }
      for entity in link.entities { rows += entity.namedRows }
    }
    return rows
  }
}
