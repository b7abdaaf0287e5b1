import LarderOData
import LarderStorage

// The rows that a request names besides its own entity. A request that deletes one of these rows is sent later, because
// a service may reject the deletion of an entity that others still refer to. A row that no query includes any more stays
// in the store while a request names it.
extension LocalRows {
  /// The rows that a request links, unlinks or refers to, and those that contain its entities: paths at the service
  /// contain their keys.
  func referred(by request: QueuedRequest, _ effects: [Effect]) throws(StorageError) -> Set<Int64> {
    var named = request.namedRows
    if let entity = request.entity { named.append(entity) }
    for effect in effects {
      if let other = effect.other {
        guard let link = plan.link(effect.name) else { continue }
        named.append(RowReference(plan.tables[link.source].name, effect.row))
        named.append(RowReference(plan.tables[link.target].name, other))
        continue
      }
      guard let table = plan.table(effect.name) else { continue }
      named.append(RowReference(effect.name, effect.row))
      if let container = try snapshot.container(of: effect.cells, table) { named.append(container) }
      let foreign = table.navigations.filter { navigation in
        guard case .columns(let pairs) = navigation.relation, plan.isDependent(navigation, table) else { return false }
        return effect.kind == .delete || pairs.contains { effect.cells[table.columns[$0.source].name] != nil }
      }
      guard !foreign.isEmpty else { continue }
      let old = effect.kind == .insert ? EntityCells() : try effective(RowReference(effect.name, effect.row))
      var new = old ?? EntityCells()
      new.merge(effect.cells)
      for navigation in foreign {
        for cells in effect.kind == .set ? [old ?? EntityCells(), new] : [new] {
          guard let row = try target(of: navigation, table, cells) else { continue }
          named.append(RowReference(plan.tables[navigation.target].name, row))
        }
      }
    }
    var rows: Set<Int64> = []
    for reference in Set(named) { rows.formUnion(try containers(of: reference).map(\.row)) }
    for effect in effects where effect.other == nil { rows.remove(effect.row) }
    if let entity = request.entity { rows.remove(entity.row) }
    return rows
  }

  /// An entity, the entity that contains it, the entity that contains that one, and so on.
  func containers(of entity: RowReference) throws(StorageError) -> [RowReference] {
    var all = [entity]
    while let last = all.last, let table = plan.table(last.table), table.isContained, all.count < 32 {
      var cells = try effective(last)
      if cells == nil { cells = try base(of: last) }
      guard let cells, let container = try snapshot.container(of: cells, table) else { break }
      all.append(container)
    }
    return all
  }

  /// Records, for changes that an earlier version has queued, the rows that contain their entities.
  func nameContainers() throws(StorageError) {
    for entry in try queue.entries() {
      let named = entry.request.namedRows + (entry.request.entity.map { [$0] } ?? [])
      for reference in named { try queue.add(entry.id, naming: try containers(of: reference).dropFirst().map(\.row)) }
    }
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
    case .parameters(let parameters): rows += parameters.namedRows
    case .reference(.row(let row)): rows.append(row)
    case .reference(.url), .none, .bytes, .media: break
    }
    return rows
  }
}

extension QueuedEntity {
  fileprivate var namedRows: [RowReference] {
    var rows = properties.compactMap(\.key?.row)
    if case .row(let row)? = reference { rows.append(row) }
    for link in links {
      for case .row(let row) in link.bindings { rows.append(row) }
      for entity in link.entities { rows += entity.namedRows }
    }
    return rows
  }
}
