import LarderStorage

/// The local keys of entities that pending requests create. The service assigns other keys to these entities, so foreign
/// keys with local keys differ from those that it returns.
struct PendingLocalKeys {
  private let queue: ChangeQueue
  private let plan: ReplicaPlan
  /// By the number of a table: its foreign key columns, with the key columns that they contain.
  private var foreignKeys: [Int: [String: [KeyColumn]]] = [:]
  /// By the name of a table: the rows that pending requests create, by column of the key and its value.
  private var created: [String: [String: [SQLValue: [Int64]]]] = [:]

  private struct KeyColumn {
    let table: EntityTable
    let name: String
  }

  init(_ queue: ChangeQueue, _ plan: ReplicaPlan) { (self.queue, self.plan) = (queue, plan) }

  /// Whether a column is a foreign key, and its value is the local key of an entity.
  mutating func contain(
    _ value: SQLValue, of column: String, in table: EntityTable
  ) throws(StorageError) -> Bool {
    for key in keyColumns(of: column, in: table) {
      for row in try rows(key.table)[key.name]?[value] ?? [] where try !isGiven(key, of: row) { return true }
    }
    return false
  }

  private mutating func keyColumns(of column: String, in table: EntityTable) -> [KeyColumn] {
    if foreignKeys[table.number] == nil {
      var columns: [String: [KeyColumn]] = [:]
      for other in plan.tables {
        for (foreign, key) in plan.foreignKeys(of: table, to: other) {
          columns[foreign, default: []].append(KeyColumn(table: other, name: key))
        }
      }
      foreignKeys[table.number] = columns
    }
    return foreignKeys[table.number]?[column] ?? []
  }

  private mutating func rows(_ table: EntityTable) throws(StorageError) -> [String: [SQLValue: [Int64]]] {
    if let rows = created[table.name] { return rows }
    var rows: [String: [SQLValue: [Int64]]] = [:]
    let insertions = try queue.effects(
      "kind = \(Effect.Kind.insert.rawValue) AND name = ?1", [.text(table.name)])
    for effect in insertions {
      for column in table.key.map({ table.columns[$0].name }) {
        if let value = effect.cells[column] { rows[column, default: [:]][value, default: []].append(effect.row) }
      }
    }
    created[table.name] = rows
    return rows
  }

  /// Whether the caller has set a key property of an entity that a pending request creates, so that the service does not
  /// assign it. A key property that contains another entity's key is not taken for one.
  private func isGiven(_ key: KeyColumn, of row: Int64) throws(StorageError) -> Bool {
    let path = key.table.columns.first { $0.name == key.name }?.path
    let requests = try queue.connection.integers(
      "SELECT request FROM larder_effect WHERE row = ?1 AND kind = \(Effect.Kind.insert.rawValue)", .integer(row))
    for id in requests {
      guard case .entity(let body)? = try queue.entry(id)?.request.body, let entity = body.entity(row) else { continue }
      if entity.properties.contains(where: { [$0.name] == path && $0.key == nil }) { return true }
    }
    return false
  }
}

extension QueuedEntity {
  /// The entity of a row: this one, or one that is created together with it.
  fileprivate func entity(_ row: Int64) -> QueuedEntity? {
    if self.row?.row == row { return self }
    for link in links {
      for entity in link.entities {
        if let match = entity.entity(row) { return match }
      }
    }
    return nil
  }
}
