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
  /// The number of pending changes that went to the error archive, because they do not fit the model.
  var unfitting = 0

  /// Changes the tables to follow another plan. Unfinished downloads are removed, because their rows have the old
  /// columns.
  static func run(
    from old: ReplicaPlan, to plan: ReplicaPlan, _ connection: Connection
  ) throws(StorageError) -> ReplicaMigration {
    var migration = ReplicaMigration()
    let transition = ModelTransition(from: old, to: plan)
    try UnfinishedDownloads.dropAll(old, connection)
    var before = try ReplicaRegistry(old, connection)
    var shown = LocalRows(ReplicaSnapshot(connection: connection, state: before.state(version: 0), plan: old))
    var unfolded = try shown.unfold()
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
      var change = TableMigration(entry, TableChange(from: table, to: newTable, transition.values), plan)
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
    migration.unfitting = try local.fit(to: transition)
    unfolded.bases = unfolded.bases.map { (reference, cells) in
      let base = transition.base(reference, cells) { LocalKey.value($0, row: $1, connection.environment) }
      return (reference, base)
    }
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
  let change: TableChange
  let plan: ReplicaPlan
  private(set) var isChanged = false
  /// Whether rows lack something that only a whole read returns.
  private(set) var isStale = false
  /// The columns for which rows have no values.
  private var unread: [String] = []
  /// The names that the old columns have now, if they are not columns of the new table.
  private var aside: [String: String] = [:]

  init(_ entry: ReplicaRegistry.Entry, _ change: TableChange, _ plan: ReplicaPlan) {
    self.entry = entry
    self.change = change
    self.plan = plan
  }

  private var table: EntityTable { change.new }
  private var name: String { ReplicaRegistry.name("e", entry) }
  private var sql: String { TableDDL.quoted(name) }

  /// The columns of the new table with the columns that had their properties before.
  private var pairs: [(column: ReplicaColumn, source: ReplicaColumn?)] {
    Array(zip(table.columns, change.sources)).map { (column: $0, source: $1) }
  }

  private func staysAsIs(_ column: ReplicaColumn, _ source: ReplicaColumn?) -> Bool {
    source.map { $0.name == column.name && change.keepsCells($0, column) } ?? false
  }

  mutating func run(_ connection: Connection) throws(StorageError) {
    let old = entry.shape
    let new = TableDDL.shape(table, in: plan)
    let converts = pairs.contains { pair in pair.source.map { !change.keepsCells($0, pair.column) } ?? false }
    guard old != new || converts else { return }
    isChanged = true
    if old.identity != new.identity || change.isKeyChanged {
      try rebuild(connection)
    } else {
      try changeColumns(old, connection)
    }
    if old.types != new.types { try renumberTypes(old.types, new.types, connection) }
    try connection.addUnread(unread, of: table.name)
    try connection.run(
      "UPDATE larder_table SET shape = ?1 WHERE id = ?2", .text(JSONSettings.encode(new)), .integer(entry.id))
  }

  private mutating func changeColumns(_ old: TableShape, _ connection: Connection) throws(StorageError) {
    let staying = Set(pairs.filter { staysAsIs($0.column, $0.source) }.map(\.column.name))
    var suffix = 0
    let columnNames = try connection.rows("SELECT name FROM pragma_table_info(?1)", .text(name)) {
      (row) throws(StorageError) in
      try row.text(0)
    }
    for column in old.columns where !staying.contains(column.name) {
      repeat { suffix += 1 } while columnNames.contains("@gone\(suffix)")
      // Removing a column would rewrite every row. The next generation no longer has it.
      try connection.run("ALTER TABLE \(sql) RENAME COLUMN \(TableDDL.quoted(column.name)) TO \"@gone\(suffix)\"")
      aside[column.name] = "@gone\(suffix)"
    }
    for (column, source) in pairs where !staying.contains(column.name) {
      let quoted = TableDDL.quoted(column.name)
      if let source, let former = aside[source.name], change.keepsCells(source, column) {
        try connection.run("ALTER TABLE \(sql) RENAME COLUMN \"\(former)\" TO \(quoted)")
        continue
      }
      try connection.run("ALTER TABLE \(sql) ADD COLUMN \(quoted) \(column.storage.sqlDeclaration)")
      try fill(column, source, from: sql, in: sql, connection)
    }
  }

  /// Fills a column with converted cells.
  ///
  /// - Parameters:
  ///   - former: the table that has the old cells.
  ///   - sql: the table to fill.
  private mutating func fill(
    _ column: ReplicaColumn, _ source: ReplicaColumn?, from former: String, in sql: String, _ connection: Connection
  ) throws(StorageError) {
    guard let source else {
      isStale = true
      return unread.append(column.name)
    }
    if source.storage != column.storage { isStale = true }
    let cells = TableDDL.quoted(aside[source.name] ?? source.name)
    let target = TableDDL.quoted(column.name)
    var isWhole = true
    var last = Int64.min
    while true {
      // The table cannot be changed while it is read.
      let slice = try connection.rows(
        "SELECT \"@id\", \(cells) FROM \(former) WHERE \"@id\" > ?1 AND \(cells) IS NOT NULL ORDER BY \"@id\" LIMIT 1000",
        .integer(last)
      ) { (row) throws(StorageError) in (row.integer(0), row.value(1)) }
      guard let end = slice.last?.0 else { break }
      last = end
      for (id, cell) in slice {
        if let converted = change.convert(cell, from: source, to: column) {
          try connection.run(
            "UPDATE OR IGNORE \(sql) SET \(target) = ?1 WHERE \"@id\" = ?2", converted, .integer(id))
        } else {
          isWhole = false
        }
      }
    }
    guard !isWhole else { return }
    isStale = true
    unread.append(column.name)
  }

  /// Handles a changed key: copies the rows that have the new key to another table with the same name in the registry.
  private mutating func rebuild(_ connection: Connection) throws(StorageError) {
    isStale = true
    let generation = try ReplicaRegistry.freeGeneration(of: entry.id, after: entry.generation, connection)
    let next = "e\(entry.id)_\(generation)"
    for statement in TableDDL.make(next, table, in: plan) { try connection.run(statement) }
    var names = SystemColumn.allCases.map { ($0.rawValue, $0.rawValue) }
    for (column, source) in pairs {
      if let source, change.keepsCells(source, column) { names.append((column.name, source.name)) }
    }
    try connection.run(
      """
      INSERT OR IGNORE INTO \(TableDDL.quoted(next))(\(TableDDL.list(names.map(\.0))))
        SELECT \(TableDDL.list(names.map(\.1))) FROM \(sql)
      """)
    for (column, source) in pairs {
      if let source, change.keepsCells(source, column) { continue }
      try fill(column, source, from: sql, in: TableDDL.quoted(next), connection)
    }
    // A row whose key has no value of the new type cannot be named. The next download returns it under its new key.
    for number in table.key where change.sources[number].map({ !change.keepsCells($0, table.columns[number]) }) ?? false
    {
      try connection.run(
        "DELETE FROM \(TableDDL.quoted(next)) WHERE \(TableDDL.quoted(table.columns[number].name)) IS NULL")
    }
    try connection.discard(name)
    try connection.run(
      "UPDATE larder_table SET generation = ?1 WHERE id = ?2", .integer(generation), .integer(entry.id))
  }

  private mutating func renumberTypes(
    _ oldNames: [String], _ new: [String], _ connection: Connection
  ) throws(StorageError) {
    let old = oldNames.map(change.newType)
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
