import Storage

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

  /// Throws all unfinished downloads away.
  static func dropAll(_ plan: ReplicaPlan, _ connection: Connection) throws(StorageError) {
    var registry = try ReplicaRegistry(plan, connection)
    for number in Array(registry.entities.keys) { try registry.dropNext(table: number, connection) }
    for number in Array(registry.links.keys) { try registry.dropNext(links: number, connection) }
    for table in ["larder_download", "larder_inline", "larder_stage"] { try connection.run("DELETE FROM \(table)") }
  }
}
