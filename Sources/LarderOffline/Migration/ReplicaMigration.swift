import LarderOData
import LarderStorage

/// What a new metadata document has changed in a store.
struct ReplicaMigration: Sendable, Hashable {
  /// Tables that keep their rows and now have more, fewer or other columns.
  var changed: [String] = []
  /// Tables that are no longer in the model.
  var removed: [String] = []
  /// Defining queries whose next download reads everything, because a delta does not return what their rows lack.
  var queries: [String] = []

  /// Changes the tables to follow another plan. Unfinished downloads are removed, because their rows have the old
  /// columns.
  static func run(
    from old: ReplicaPlan, to plan: ReplicaPlan, _ connection: Connection
  ) throws(StorageError) -> ReplicaMigration {
    var migration = ReplicaMigration()
    try UnfinishedDownloads.dropAll(old, connection)
    var before = try ReplicaRegistry(old, connection)
    var shown = LocalRows(ReplicaSnapshot(connection: connection, state: before.state(version: 0), plan: old))
    let unfolded = try shown.unfold()
    for number in Array(before.entities.keys) {
      try ReplicaViews.drop(ReplicaViews.name(of: old.tables[number], in: old), connection)
      try before.forgetSearch(table: number, connection)
    }
    for link in old.links {
      try migration.dropOther(link, old: old, plan: plan, registry: before, connection: connection)
    }
    var stale: Set<String> = []
    for table in old.tables {
      guard let entry = before.entities[table.number] else { continue }
      guard let newTable = plan.table(table.name), newTable.isContained == table.isContained else {
        try connection.discard(ReplicaRegistry.name("e", entry))
        try connection.run("DELETE FROM larder_table WHERE id = ?1", .integer(entry.id))
        migration.removed.append(table.name)
        stale.insert(table.name)
        continue
      }
      var change = TableMigration(entry, newTable, plan)
      try change.run(connection)
      if change.isChanged { migration.changed.append(table.name) }
      if change.isStale || !haveSameNavigations(table, in: old, newTable, in: plan) { stale.insert(table.name) }
    }
    try migration.forgetDownloads(of: stale, connection)
    for name in migration.removed {
      try connection.run("DELETE FROM larder_membership WHERE name = ?1", .text(name))
    }
    let after = try ReplicaRegistry(plan, connection)
    for (number, entry) in after.entities {
      try ReplicaViews.make(plan.tables[number], in: plan, ReplicaRegistry.name("e", entry), connection)
    }
    // Pending changes are applied again to the migrated rows.
    var local = LocalRows(ReplicaSnapshot(connection: connection, state: after.state(version: 0), plan: plan))
    try local.fitEffects()
    _ = try local.refold(unfolded, after)
    try connection.logChange(nil)
    return migration
  }

  /// Drops links whose ends are different now, or that a constraint defines now.
  private mutating func dropOther(
    _ link: LinkTable, old: ReplicaPlan, plan: ReplicaPlan, registry: ReplicaRegistry, connection: Connection
  ) throws(StorageError) {
    guard let entry = registry.links[link.number] else { return }
    let stays = plan.links.contains { other in
      other.name == link.name && plan.tables[other.source].name == old.tables[link.source].name
        && plan.tables[other.target].name == old.tables[link.target].name
    }
    if stays { return }
    try connection.discard(ReplicaRegistry.name("l", entry))
    try connection.run("DELETE FROM larder_table WHERE id = ?1", .integer(entry.id))
  }

  /// Whether all navigation properties lead to the same tables, joined in the same way. If not, links are missing.
  private static func haveSameNavigations(
    _ first: EntityTable, in plan: ReplicaPlan, _ second: EntityTable, in otherPlan: ReplicaPlan
  ) -> Bool {
    func outline(_ table: EntityTable, _ plan: ReplicaPlan) -> Set<String> {
      Set(
        table.navigations.map { navigation in
          let relation =
            switch navigation.relation {
            case .columns: "columns"
            case .links(let number, _): plan.links[number].name
            case .containment: "in"
            case .container: "out"
            }
          return "\(navigation.path.joined(separator: "/")) \(plan.tables[navigation.target].name) \(relation)"
        })
    }
    return outline(second, otherPlan).isSubset(of: outline(first, plan))
  }

  private mutating func forgetDownloads(of names: Set<String>, _ connection: Connection) throws(StorageError) {
    for name in names.sorted() {
      let concerned = "id IN (SELECT query FROM larder_membership WHERE name = ?1)"
      let affectedQueries = try connection.rows("SELECT name FROM larder_query WHERE \(concerned)", .text(name)) {
        (row) throws(StorageError) in try row.text(0)
      }
      try connection.run(
        "UPDATE larder_query SET delta_link = NULL, etag = NULL, last_modified = NULL, facts = NULL WHERE \(concerned)",
        .text(name))
      for query in affectedQueries where !queries.contains(query) { queries.append(query) }
    }
  }
}

/// Changes one physical table to follow another declaration, and keeps its rows.
private struct TableMigration {
  let entry: ReplicaRegistry.Entry
  let table: EntityTable
  let plan: ReplicaPlan
  private(set) var isChanged = false
  /// Whether rows lack something that only a whole read returns.
  private(set) var isStale = false

  init(_ entry: ReplicaRegistry.Entry, _ table: EntityTable, _ plan: ReplicaPlan) {
    self.entry = entry
    self.table = table
    self.plan = plan
  }

  private var name: String { ReplicaRegistry.name("e", entry) }
  private var sql: String { TableDDL.quoted(name) }

  mutating func run(_ connection: Connection) throws(StorageError) {
    let old = entry.shape
    let new = TableDDL.shape(table, in: plan)
    guard old != new else { return }
    isChanged = true
    if old.identity != new.identity {
      try rebuild(old, connection)
    } else {
      try changeColumns(old, connection)
    }
    if old.types != new.types { try renumberTypes(old.types, new.types, connection) }
    try connection.run(
      "UPDATE larder_table SET shape = ?1 WHERE id = ?2", .text(JSONSettings.encode(new)), .integer(entry.id))
  }

  private mutating func changeColumns(_ old: TableShape, _ connection: Connection) throws(StorageError) {
    let before = Dictionary(old.columns.map { ($0.name, $0.storage) }, uniquingKeysWith: { first, _ in first })
    var suffix = 0
    let columnNames = try connection.rows("SELECT name FROM pragma_table_info(?1)", .text(name)) {
      (row) throws(StorageError) in
      try row.text(0)
    }
    func putAside(_ column: String) throws(StorageError) -> String {
      repeat { suffix += 1 } while columnNames.contains("@gone\(suffix)")
      // Removing a column would rewrite every row. The next generation no longer has it.
      try connection.run("ALTER TABLE \(sql) RENAME COLUMN \(TableDDL.quoted(column)) TO \"@gone\(suffix)\"")
      return "@gone\(suffix)"
    }
    let newNames = Set(table.columns.map(\.name))
    for column in old.columns where !newNames.contains(column.name) { _ = try putAside(column.name) }
    for column in table.columns {
      let quoted = TableDDL.quoted(column.name)
      guard let storage = before[column.name] else {
        try connection.run("ALTER TABLE \(sql) ADD COLUMN \(quoted) \(column.storage.sqlDeclaration)")
        isStale = true
        continue
      }
      guard storage != "\(column.storage)" else { continue }
      let aside = try putAside(column.name)
      try connection.run("ALTER TABLE \(sql) ADD COLUMN \(quoted) \(column.storage.sqlDeclaration)")
      if let converted = Self.conversion(TableDDL.quoted(aside), from: storage, to: column.storage) {
        try connection.run("UPDATE \(sql) SET \(quoted) = \(converted)")
      }
      isStale = true
    }
  }

  /// The SQL of the old value in the new storage; nil if it cannot be converted.
  private static func conversion(_ column: String, from old: String, to new: ColumnStorage) -> String? {
    switch (old, new) {
    case ("integer", .decimal), ("integer", .string), ("decimal", .string), ("guid", .string), ("date", .string):
      "CAST(\(column) AS TEXT)"
    case ("integer", .real): "CAST(\(column) AS REAL)"
    default: nil
    }
  }

  /// Handles a changed key: copies the rows that have the new key to another table with the same name in the registry.
  private mutating func rebuild(_ old: TableShape, _ connection: Connection) throws(StorageError) {
    isStale = true
    let old = Set(old.columns)
    let generation = try ReplicaRegistry.freeGeneration(of: entry.id, after: entry.generation, connection)
    let next = "e\(entry.id)_\(generation)"
    for statement in TableDDL.make(next, table, in: plan) { try connection.run(statement) }
    let shared = table.columns.filter { old.contains(.init(name: $0.name, storage: "\($0.storage)")) }
    let names = TableDDL.list(SystemColumn.allCases.map(\.rawValue) + shared.map(\.name))
    try connection.run("INSERT OR IGNORE INTO \(TableDDL.quoted(next))(\(names)) SELECT \(names) FROM \(sql)")
    try connection.discard(name)
    try connection.run(
      "UPDATE larder_table SET generation = ?1 WHERE id = ?2", .integer(generation), .integer(entry.id))
  }

  private mutating func renumberTypes(
    _ old: [String], _ new: [String], _ connection: Connection
  ) throws(StorageError) {
    let current = try connection.first("SELECT generation FROM larder_table WHERE id = ?1", .integer(entry.id)) {
      (row) throws(StorageError) in try row.int64(0)
    }
    let name = TableDDL.quoted("e\(entry.id)_\(current ?? entry.generation)")
    if !old.allSatisfy(new.contains) { isStale = true }
    let moved = old.indices.filter { number in new.indices.contains(number) ? new[number] != old[number] : true }
    guard !moved.isEmpty else { return }
    let cases = moved.map { "WHEN \($0) THEN \(new.firstIndex(of: old[$0]) ?? 0)" }.joined(separator: " ")
    try connection.run("UPDATE \(name) SET \"@type\" = CASE \"@type\" \(cases) ELSE \"@type\" END")
  }
}
