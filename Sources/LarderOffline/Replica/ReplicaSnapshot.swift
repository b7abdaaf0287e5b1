import LarderStorage

/// The local copy as one transaction sees it.
struct ReplicaSnapshot: Sendable {
  /// The connection of the transaction. It must not be used after the transaction.
  let connection: Connection
  /// The physical tables at the beginning of the transaction, and those that were created in it since, if known.
  var state: ReplicaState
  let plan: ReplicaPlan
}

extension ReplicaSnapshot {
  /// The entity that contains an entity of a table with these cells; nil if it is not in the store.
  func container(of cells: EntityCells, _ table: EntityTable) throws(StorageError) -> RowReference? {
    guard let id = cells.integer(.parent) else { return nil }
    let containers = plan.containers(of: table.number)
    for number in containers {
      let name = plan.tables[number].name
      if containers.count == 1 { return RowReference(name, id) }
      let isThere = try connection.first(
        "SELECT 1 FROM \(state.tables[number]) WHERE \"@id\" = ?1 UNION ALL SELECT 1 FROM larder_base WHERE row = ?1 AND name = ?2",
        .integer(id), .text(name)
      ) { (_) throws(StorageError) in true }
      if isThere == true { return RowReference(name, id) }
    }
    return nil
  }
}
