import LarderStorage

/// The rows that unfinished downloads have staged in the file.
enum UnfinishedDownloads {
  /// Removes the unfinished download of a query.
  static func drop(query: Int64, _ snapshot: ReplicaSnapshot) throws(StorageError) {
    let connection = snapshot.connection
    var registry = try ReplicaRegistry(snapshot.plan, connection)
    for (number, entry) in registry.entities where entry.reader == query {
      try registry.dropNext(table: number, connection)
    }
    for (number, entry) in registry.links where entry.reader == query {
      try registry.dropNext(links: number, connection)
    }
    for table in ["larder_download", "larder_inline", "larder_stage"] {
      try connection.run("DELETE FROM \(table) WHERE query IN (?1, -?1)", .integer(query))
    }
  }

  /// Removes the unfinished downloads that fill tables, except that of one query.
  static func dropReaders(besides query: Int64, _ snapshot: ReplicaSnapshot) throws(StorageError) {
    let registry = try ReplicaRegistry(snapshot.plan, snapshot.connection)
    let readers = registry.entities.values.compactMap(\.reader) + registry.links.values.compactMap(\.reader)
    for reader in Set(readers).subtracting([query]).sorted() { try drop(query: reader, snapshot) }
  }

  /// Removes the unfinished downloads whose rows are older than changes at the service. If they were resumed, they
  /// would restore old values.
  ///
  /// - `names`: the tables and links that the changes affect; nil if they may affect any.
  static func dropOutdated(_ names: Set<String>?, _ snapshot: ReplicaSnapshot) throws(StorageError) {
    if let names, names.isEmpty { return }
    let (plan, connection) = (snapshot.plan, snapshot.connection)
    let registry = try ReplicaRegistry(plan, connection)
    // The pages of a delta are stored unread: it is not known yet which tables they affect.
    var readers = Set(
      try connection.integers("SELECT query FROM larder_download WHERE way = 1 OR ?1", .integer(names == nil ? 1 : 0)))
    for (number, entry) in registry.entities where names?.contains(plan.tables[number].name) ?? true {
      if let reader = entry.reader { readers.insert(reader) }
    }
    for (number, entry) in registry.links where names?.contains(plan.links[number].name) ?? true {
      if let reader = entry.reader { readers.insert(reader) }
    }
    guard !readers.isEmpty else { return }
    for reader in readers.sorted() { try drop(query: reader, snapshot) }
    try connection.countVersionUp()
  }

  /// Removes all unfinished downloads.
  static func dropAll(_ plan: ReplicaPlan, _ connection: Connection) throws(StorageError) {
    var registry = try ReplicaRegistry(plan, connection)
    for number in Array(registry.entities.keys) { try registry.dropNext(table: number, connection) }
    for number in Array(registry.links.keys) { try registry.dropNext(links: number, connection) }
    for table in ["larder_download", "larder_inline", "larder_stage"] { try connection.run("DELETE FROM \(table)") }
  }
}

extension Replica {
  /// Removes the unfinished downloads that fill tables, except that of one query. Call it only while no download is
  /// running.
  func dropStaged(besides query: Int64) async throws(StorageError) {
    try await write { (snapshot) throws(StorageError) in
      try UnfinishedDownloads.dropReaders(besides: query, snapshot)
      try snapshot.connection.countVersionUp()
    }
  }
}
