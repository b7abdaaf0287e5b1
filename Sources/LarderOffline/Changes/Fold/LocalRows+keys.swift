import LarderStorage

// Local keys, which a row has until the server assigns another.
extension LocalRows {
  /// The key of a row as stored in `larder_local`. A local key is unique over all containing entities.
  static func keyText(_ cells: EntityCells, _ table: EntityTable) -> String {
    var key = EntityCells()
    for number in table.key {
      let name = table.columns[number].name
      key[name] = cells[name] ?? .null
    }
    return key.json
  }

  /// The row that had a key before the server assigned another; nil if there is none.
  func formerly(_ key: EntityCells, in table: EntityTable) throws(StorageError) -> Int64? {
    try connection.first(
      "SELECT row FROM larder_local WHERE name = ?1 AND key = ?2", .text(table.name),
      .text(Self.keyText(key, table))
    ) { (row) throws(StorageError) in try row.int64(0) }
  }

  /// If the response contains another key, stores the old one permanently, and writes the new one to the foreign keys
  /// of requests that depend on the one that created the row.
  mutating func replaceKey(
    of reference: RowReference, by serverCells: EntityCells, after request: Int64
  ) throws(StorageError) {
    guard let table = plan.table(reference.table) else { return }
    var shown = try effective(reference)
    if shown == nil { shown = try createdCells(by: request, reference) }
    guard let old = shown else { return }
    var new: [String: SQLValue] = [:]
    for column in table.key.map({ table.columns[$0].name }) {
      if let value = serverCells[column], value != .null, value != old[column] { new[column] = value }
    }
    guard !new.isEmpty else { return }
    var localCells = old
    localCells.merge(EntityCells(new))
    try absorbTwin(of: reference, table, localCells, madeBy: request)
    try replaceKey(from: old, to: localCells, of: reference, table, after: request)
  }

  /// Stores the old key of a row permanently, and writes the new one to the foreign keys of a request and of those that
  /// depend on it.
  mutating func replaceKey(
    from old: EntityCells, to new: EntityCells, of reference: RowReference, _ table: EntityTable, after request: Int64
  ) throws(StorageError) {
    try remember(old, of: reference, table)
    let dependents = try connection.integers(
      "SELECT request FROM larder_dependency WHERE earlier = ?1 UNION SELECT ?1", .integer(request)
    )
    for id in dependents {
      try replaceForeignKeys(of: id, to: table) { column, value in
        value == old[column] && new[column] != old[column] ? new[column] : nil
      }
    }
  }

  /// Stores a former key of a row permanently.
  func remember(_ key: EntityCells, of reference: RowReference, _ table: EntityTable) throws(StorageError) {
    try connection.run(
      "INSERT OR REPLACE INTO larder_local(name, key, row) VALUES(?1, ?2, ?3)", .text(table.name),
      .text(Self.keyText(key, table)), .integer(reference.row))
    // Queries that were planned before the first former key do not search for former keys.
    if !state.hasFormerKeys { try connection.countVersionUp() }
  }

  private func createdCells(by request: Int64, _ reference: RowReference) throws(StorageError) -> EntityCells? {
    try queue.effects(of: request).last { $0.kind == .insert && $0.reference == reference }?.cells
  }

  mutating func replaceForeignKeys(
    of request: Int64, to table: EntityTable, _ replacement: (String, SQLValue) -> SQLValue?
  ) throws(StorageError) {
    let effects = try queue.effects(of: request)
    for (seq, effect) in effects.enumerated() {
      guard effect.other == nil, let other = plan.table(effect.name) else { continue }
      var cells = effect.cells
      for (foreign, key) in plan.foreignKeys(of: other, to: table) {
        if let value = cells[foreign], let new = replacement(key, value) { cells[foreign] = new }
      }
      guard cells != effect.cells, let reference = effect.reference else { continue }
      if effect.kind == .insert, Self.keyText(cells, other) != Self.keyText(effect.cells, other) {
        try remember(effect.cells, of: reference, other)
      }
      try touch(reference)
      try connection.run(
        "UPDATE larder_effect SET cells = ?1 WHERE request = ?2 AND seq = ?3", .text(cells.json), .integer(request),
        .integer(Int64(seq)))
    }
  }
}

extension ReplicaPlan {
  /// The columns of a table that contain key columns of another, paired with these: by constraints at either end.
  func foreignKeys(of table: EntityTable, to other: EntityTable) -> [(foreign: String, key: String)] {
    var renamedKeys: [(String, String)] = []
    let key = Set(other.key)
    for navigation in table.navigations where navigation.target == other.number {
      guard case .columns(let pairs) = navigation.relation else { continue }
      for pair in pairs where key.contains(pair.target) {
        renamedKeys.append((table.columns[pair.source].name, other.columns[pair.target].name))
      }
    }
    for navigation in other.navigations where navigation.target == table.number {
      guard case .columns(let pairs) = navigation.relation else { continue }
      for pair in pairs where key.contains(pair.source) {
        renamedKeys.append((table.columns[pair.target].name, other.columns[pair.source].name))
      }
    }
    // A table that refers to itself by its own key columns has its key there, not a foreign key.
    return renamedKeys.filter { table.number != other.number || $0.0 != $0.1 }
  }
}
