@_spi(Stores) import LarderCore
import LarderStorage

// Removes tables that are no longer read. They are removed from the registry at once and emptied later.
extension ReplicaRegistry {
  /// Makes the next generation of a table visible to readers. The former generation is recorded for removal.
  mutating func flip(table number: Int, _ connection: Connection) throws(StorageError) {
    guard var entry = entities[number], let next = entry.next else { return }
    try connection.discard(Self.name("e", entry))
    try forgetSearch(table: number, connection)
    entry.search = nil
    entry.generation = next
    entry.next = nil
    entry.reader = nil
    entities[number] = entry
    let shape = TableDDL.shape(plan.tables[number], in: plan)
    try connection.run(
      "UPDATE larder_table SET generation = ?1, next = NULL, reader = NULL, shape = ?2 WHERE id = ?3", .integer(next),
      .text(JSONSettings.encode(shape)), .integer(entry.id))
    try ReplicaViews.make(plan.tables[number], in: plan, Self.name("e", entry), connection)
  }

  /// Makes the next generation of a link table visible to readers. The former generation is recorded for removal.
  mutating func flip(links number: Int, _ connection: Connection) throws(StorageError) {
    guard var entry = links[number], let next = entry.next else { return }
    try connection.discard(Self.name("l", entry))
    try connection.discard("l\(entry.id)_\(next)_told")
    entry.generation = next
    entry.next = nil
    entry.reader = nil
    links[number] = entry
    try connection.run(
      "UPDATE larder_table SET generation = ?1, next = NULL, reader = NULL WHERE id = ?2", .integer(next),
      .integer(entry.id))
  }

  /// Drops the next generation of a table.
  mutating func dropNext(table number: Int, _ connection: Connection) throws(StorageError) {
    guard let entry = entities[number], let name = Self.nextName("e", entry) else { return }
    try connection.discard(name)
    try forgetNext(entry, connection)
    entities[number]?.next = nil
    entities[number]?.reader = nil
  }

  /// Drops the next generation of a link table.
  mutating func dropNext(links number: Int, _ connection: Connection) throws(StorageError) {
    guard let entry = links[number], let name = Self.nextName("l", entry) else { return }
    try connection.discard(name)
    try connection.discard(name + "_told")
    try forgetNext(entry, connection)
    links[number]?.next = nil
    links[number]?.reader = nil
  }

  private func forgetNext(_ entry: Entry, _ connection: Connection) throws(StorageError) {
    try connection.run("UPDATE larder_table SET next = NULL, reader = NULL WHERE id = ?1", .integer(entry.id))
  }

  /// Drops the full-text index of a table whose rows change. The next query that needs one creates it again.
  mutating func forgetSearch(table number: Int, _ connection: Connection) throws(StorageError) {
    guard let entry = entities[number], let search = entry.search else { return }
    entities[number]?.search = nil
    try connection.run("UPDATE larder_table SET search = NULL WHERE id = ?1", .integer(entry.id))
    try connection.discard(search)
  }

  /// Drops a table with its rows, and the links from and to it.
  mutating func drop(table number: Int, _ connection: Connection) throws(StorageError) {
    guard let entry = entities[number] else { return }
    try dropNext(table: number, connection)
    try forgetSearch(table: number, connection)
    try connection.discard(Self.name("e", entry))
    try ReplicaViews.drop(ReplicaViews.name(of: plan.tables[number], in: plan), connection)
    try connection.run("DELETE FROM larder_table WHERE id = ?1", .integer(entry.id))
    entities[number] = nil
    for link in plan.links where link.source == number || link.target == number {
      guard let entry = links[link.number] else { continue }
      try dropNext(links: link.number, connection)
      try connection.discard(Self.name("l", entry))
      try connection.run("DELETE FROM larder_table WHERE id = ?1", .integer(entry.id))
      links[link.number] = nil
    }
  }

  /// Drops all tables.
  mutating func dropAll(_ connection: Connection) throws(StorageError) {
    for (number, entry) in entities {
      try dropNext(table: number, connection)
      try forgetSearch(table: number, connection)
      try connection.discard(Self.name("e", entry))
      try ReplicaViews.drop(ReplicaViews.name(of: plan.tables[number], in: plan), connection)
    }
    for (number, entry) in links {
      try dropNext(links: number, connection)
      try connection.discard(Self.name("l", entry))
    }
    try connection.run("DELETE FROM larder_table")
    entities = [:]
    links = [:]
  }
}

extension Connection {
  /// Records that a physical table must be emptied and dropped.
  func discard(_ name: String) throws(StorageError) {
    try run("INSERT OR IGNORE INTO larder_litter(name) VALUES(?1)", .text(name))
  }
}

extension Replica {
  /// The longest duration of a transaction that prepares or cleans up. Readers never wait for one; other writers may.
  static let slice = Duration.milliseconds(12)

  /// Empties and drops the tables that are no longer read, and deletes download marks, in slices.
  func sweep() async throws(StorageError) {
    while try await sweepSlice(), !Task.isCancelled { await Task.yield() }
  }

  /// Empties tables for the duration of one slice. Returns whether there is more to do.
  private func sweepSlice() async throws(StorageError) -> Bool {
    try await database.stage { (connection) throws(StorageError) in
      let begin = connection.environment.uptime()
      let names = try connection.rows("SELECT name FROM larder_litter") { (row) throws(StorageError) in
        try row.text(0)
      }
      for name in names {
        while try connection.thin(name) {
          if connection.environment.uptime() - begin > Replica.slice { return true }
        }
        try connection.run("DROP TABLE IF EXISTS \(TableDDL.quoted(name))")
        try connection.run("DELETE FROM larder_litter WHERE name = ?1", .text(name))
        if connection.environment.uptime() - begin > Replica.slice { return true }
      }
      while try DownloadMarks.thin(connection) {
        if connection.environment.uptime() - begin > Replica.slice { return true }
      }
      return false
    }
  }

  /// Removes next generations that no download will resume, because of a crash between two transactions.
  func sweepOrphans() async throws(StorageError) {
    try await database.write { (connection) throws(StorageError) in
      try DownloadMarks.giveUpOrphans(connection)
      let orphans = "next IS NOT NULL AND reader NOT IN (SELECT query FROM larder_download)"
      let names = try connection.rows("SELECT kind, id, next FROM larder_table WHERE \(orphans)") {
        (row) throws(StorageError) in
        (isLinks: try row.int64(0) == 1, name: "\(try row.int64(1))_\(try row.int64(2))")
      }
      for orphan in names {
        try connection.discard((orphan.isLinks ? "l" : "e") + orphan.name)
        if orphan.isLinks { try connection.discard("l" + orphan.name + "_told") }
      }
      if !names.isEmpty { try connection.run("UPDATE larder_table SET next = NULL, reader = NULL WHERE \(orphans)") }
    }
  }
}

extension Connection {
  /// Deletes some rows of a table. Returns whether there may be more. A table that does not exist counts as empty.
  fileprivate func thin(_ name: String) throws(StorageError) -> Bool {
    let kind = try first("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1", .text(name)) {
      (row) throws(StorageError) in try row.text(0)
    }
    guard let kind, !kind.hasPrefix("CREATE VIRTUAL") else { return false }
    let table = TableDDL.quoted(name)
    if kind.hasSuffix("WITHOUT ROWID") {
      try run("DELETE FROM \(table) WHERE (source, target) IN (SELECT source, target FROM \(table) LIMIT 500)")
    } else {
      try run("DELETE FROM \(table) WHERE rowid IN (SELECT rowid FROM \(table) LIMIT 500)")
    }
    return changes > 0
  }
}
