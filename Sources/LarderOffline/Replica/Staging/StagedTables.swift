import LarderStorage

/// What unfinished downloads keep in the file.
enum StagedTables {
  /// Throws the unfinished download of a query away.
  static func drop(query: Int64, _ plan: ReplicaPlan, _ connection: Connection) throws(StorageError) {
    var registry = try ReplicaRegistry(plan, connection)
    for (number, entry) in registry.entities where entry.reader == query {
      try registry.dropNext(table: number, connection)
    }
    for (number, entry) in registry.links where entry.reader == query {
      try registry.dropNext(links: number, connection)
    }
    for table in ["larder_download", "larder_inline", "larder_stage"] {
      try connection.run("DELETE FROM \(table) WHERE query = ?1", .integer(query))
    }
  }

  /// Throws the unfinished downloads away that fill tables, but not those of one query.
  static func dropReaders(besides query: Int64, _ plan: ReplicaPlan, _ connection: Connection) throws(StorageError) {
    let registry = try ReplicaRegistry(plan, connection)
    let readers = registry.entities.values.compactMap(\.reader) + registry.links.values.compactMap(\.reader)
    for reader in Set(readers).subtracting([query]).sorted() { try drop(query: reader, plan, connection) }
  }

  /// Throws the unfinished downloads away whose rows are older than changes that have come to the service: gone on with,
  /// they would bring back what was before.
  ///
  /// - `names`: the tables and links that the changes are about; nil where they may be about any.
  static func dropOutdated(
    _ names: Set<String>?, _ plan: ReplicaPlan, _ connection: Connection
  ) throws(StorageError) {
    if let names, names.isEmpty { return }
    let registry = try ReplicaRegistry(plan, connection)
    // Pages of a delta are kept as they came: what is in them is not known yet.
    var readers = Set(
      try connection.integers("SELECT query FROM larder_download WHERE way = 1 OR ?1", .integer(names == nil ? 1 : 0)))
    for (number, entry) in registry.entities where names?.contains(plan.tables[number].name) ?? true {
      if let reader = entry.reader { readers.insert(reader) }
    }
    for (number, entry) in registry.links where names?.contains(plan.links[number].name) ?? true {
      if let reader = entry.reader { readers.insert(reader) }
    }
    guard !readers.isEmpty else { return }
    for reader in readers.sorted() { try drop(query: reader, plan, connection) }
    try connection.countVersionUp()
  }

  /// Throws all unfinished downloads away.
  static func dropAll(_ plan: ReplicaPlan, _ connection: Connection) throws(StorageError) {
    var registry = try ReplicaRegistry(plan, connection)
    for number in Array(registry.entities.keys) { try registry.dropNext(table: number, connection) }
    for number in Array(registry.links.keys) { try registry.dropNext(links: number, connection) }
    for table in ["larder_download", "larder_inline", "larder_stage"] { try connection.run("DELETE FROM \(table)") }
  }
}

extension Replica {
  /// Throws the unfinished downloads away that fill tables, but not those of one query; only while none is on its way.
  func dropStaged(besides query: Int64) async throws(StorageError) {
    try await write { (connection, _, plan) throws(StorageError) in
      try StagedTables.dropReaders(besides: query, plan, connection)
      try connection.countVersionUp()
    }
  }
}
