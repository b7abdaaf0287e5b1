@_spi(Stores) import LarderCore
import LarderStorage

// Full-text indexes (FTS5). They are created when a query first needs one, and dropped when rows change.
extension Replica {
  /// Creates the missing full-text indexes of tables, in slices. ``ReplicaState/search`` then contains their names.
  ///
  /// An index contains the table's string columns in their order, and a row's `@id` as its `rowid`. A read-only file
  /// gets no index: searches then scan its rows.
  func prepareSearch(_ tables: Set<Int>) async throws(StorageError) {
    guard !isReadOnly else { return }
    for table in tables.sorted() {
      // An index becomes useless if rows change while it is created. The last attempt excludes other writers.
      for attempt in 0..<3 { if try await makeSearch(table, isPatient: attempt < 2) { break } }
    }
  }

  /// Creates the index of one table. Returns false if its rows have changed meanwhile, or a sweep has removed it.
  private func makeSearch(_ table: Int, isPatient: Bool) async throws(StorageError) -> Bool {
    guard isPatient else {
      return try await write { (snapshot) throws(StorageError) in
        guard let index = try SearchIndex.begin(table, snapshot) else { return true }
        var last: Int64? = 0
        while let from = last { last = try index.fill(after: from, snapshot.connection) }
        return try index.end(table, snapshot)
      }
    }
    let begun = try await write { (snapshot) throws(StorageError) in
      try SearchIndex.begin(table, snapshot)
    }
    guard let index = begun else { return true }
    var last: Int64? = 0
    while let from = last {
      last = try await database.stage { (connection) throws(StorageError) -> Int64? in
        guard try connection.hasTable(index.name, index.name) else { return nil }
        let begin = connection.environment.uptime()
        var next = from
        while let to = try index.fill(after: next, connection) {
          next = to
          if connection.environment.uptime() - begin > Replica.slice { return next }
        }
        return nil
      }
    }
    return try await write { (snapshot) throws(StorageError) in try index.end(table, snapshot) }
  }
}

/// A full-text index that is being created.
private struct SearchIndex: Sendable {
  let name: String
  let table: String
  let columns: [String]
  let generation: Int64
  let change: Int64

  /// Creates an empty index; nil if the table has an index, or has never had rows.
  static func begin(_ table: Int, _ snapshot: ReplicaSnapshot) throws(StorageError) -> SearchIndex? {
    let (plan, connection) = (snapshot.plan, snapshot.connection)
    guard plan.tables.indices.contains(table) else { return nil }
    let registry = try ReplicaRegistry(plan, connection)
    guard let entry = registry.entities[table], entry.search == nil else { return nil }
    var number = 1
    while try connection.hasTable("s\(entry.id)_\(number)", "s\(entry.id)_\(number)") { number += 1 }
    let columns = plan.tables[table].columns.filter { $0.storage == .string }
    let index = SearchIndex(
      name: "s\(entry.id)_\(number)", table: TableDDL.quoted(ReplicaRegistry.name("e", entry)),
      columns: columns.map(\.name), generation: entry.generation, change: try connection.lastChange())
    // The index is marked as litter until it is complete, so that a sweep removes it after a crash.
    try connection.discard(index.name)
    try index.make(connection)
    return index
  }

  /// Makes the index that of the table. Returns false if it does not match the current rows, or no longer exists.
  func end(_ number: Int, _ snapshot: ReplicaSnapshot) throws(StorageError) -> Bool {
    let connection = snapshot.connection
    let registry = try ReplicaRegistry(snapshot.plan, connection)
    let changes = try connection.changes(since: change)
    let isSame = changes.tables.map { !$0.contains(number) } ?? false
    guard let entry = registry.entities[number], entry.generation == generation, isSame,
      try connection.hasTable(name, name)
    else { return false }
    if entry.search != nil { return true }
    try connection.run("DELETE FROM larder_litter WHERE name = ?1", .text(name))
    try connection.run("UPDATE larder_table SET search = ?1 WHERE id = ?2", .text(name), .integer(entry.id))
    try connection.countVersionUp()
    return true
  }

  private var places: [String] { columns.isEmpty ? ["c0"] : columns.indices.map { "c\($0)" } }
  private var values: [String] { columns.isEmpty ? ["NULL"] : columns.map(TableDDL.quoted) }

  func make(_ connection: Connection) throws(StorageError) {
    try connection.run(
      "CREATE VIRTUAL TABLE \(TableDDL.quoted(name)) USING fts5(\(places.joined(separator: ",")), content='', tokenize='unicode61')"
    )
  }

  /// Adds the next rows. Returns the identity of the last one; nil after the end.
  func fill(after last: Int64, _ connection: Connection) throws(StorageError) -> Int64? {
    let to = try connection.first(
      "SELECT max(id) FROM (SELECT \"@id\" AS id FROM \(table) WHERE \"@id\" > ?1 ORDER BY \"@id\" LIMIT 100)",
      .integer(last)
    ) { (row) throws(StorageError) in try row.int64OrNil(0) }
    guard let to, let to else { return nil }
    try connection.run(
      """
      INSERT INTO \(TableDDL.quoted(name))(rowid, \(places.joined(separator: ","))) SELECT "@id",
      \(values.joined(separator: ",")) FROM \(table) WHERE "@id" > ?1 AND "@id" <= ?2
      """, .integer(last), .integer(to))
    return to
  }
}
