import LarderStorage

extension Replica {
  /// Adds an index on properties of a table's entities, for queries that filter or order by them.
  ///
  /// - Parameters:
  ///   - table: an entity set, or another table by its name in the plan.
  ///   - paths: the properties in their order; `Address/City` for a part of a complex one.
  /// - Returns: false if the model has no such table or property, or the property's values have no order.
  @discardableResult
  func addIndex(on table: String, _ paths: [String]) async throws(StorageError) -> Bool {
    try await write { (snapshot) throws(StorageError) in
      let connection = snapshot.connection
      guard let table = snapshot.plan.table(table), !paths.isEmpty else { return false }
      let columns = paths.map { table.column($0.split(separator: "/").map(String.init)) }
      guard columns.allSatisfy({ $0?.storage.isComparable ?? false }) else { return false }
      try connection.run(
        "INSERT OR IGNORE INTO larder_index(name, paths) VALUES(?1, ?2)", .text(table.name),
        .text(paths.joined(separator: ",")))
      guard connection.changes > 0 else { return true }
      let registry = try ReplicaRegistry(snapshot.plan, connection)
      guard let entry = registry.entities[table.number] else { return true }
      // Later generations have the index from the beginning, with another name.
      let physical = ReplicaRegistry.name("e", entry)
      var number = 0
      while try connection.hasIndex("\(physical)_a\(number)") { number += 1 }
      let names = columns.compactMap { $0?.name }
      try connection.run(
        "CREATE INDEX \(TableDDL.quoted("\(physical)_a\(number)")) ON \(TableDDL.quoted(physical))(\(TableDDL.list(names)))"
      )
      return true
    }
  }
}

extension Connection {
  fileprivate func hasIndex(_ name: String) throws(StorageError) -> Bool {
    try first("SELECT 1 FROM sqlite_schema WHERE type = 'index' AND name = ?1", .text(name)) {
      (_) throws(StorageError) in true
    } ?? false
  }
}
