import LarderStorage

/// Read-only views with the names of entity sets, for people who open the file with another program.
enum ReplicaViews {
  /// Creates the view of a table, and replaces an existing one.
  static func make(
    _ table: EntityTable, in plan: ReplicaPlan, _ physical: String, _ connection: Connection
  ) throws(StorageError) {
    switch table.place {
    case .entitySet, .singleton, .containment: break
    case .type: return
    }
    let name = TableDDL.quoted(name(of: table, in: plan))
    try connection.run("DROP VIEW IF EXISTS \(name)")
    let columns = table.columns.filter { $0.storage != .complex }.map { TableDDL.quoted($0.name) }
    let shown = columns.isEmpty ? "1 AS \"-\"" : columns.joined(separator: ",")
    try connection.run("CREATE VIEW \(name) AS SELECT \(shown) FROM \(TableDDL.quoted(physical))")
  }

  static func drop(_ name: String, _ connection: Connection) throws(StorageError) {
    try connection.run("DROP VIEW IF EXISTS \(TableDDL.quoted(name))")
  }

  /// The name of the view: the table's name, changed if it conflicts with the file's other tables or differs from
  /// another name only in case.
  static func name(of table: EntityTable, in plan: ReplicaPlan) -> String {
    let folded = TableColumns.folded(table.name)
    // SQLite reserves every name with this prefix.
    if folded.hasPrefix("sqlite_") { return "\(table.number)~\(table.name)" }
    let isTaken = folded.hasPrefix("larder_") || isPhysical(folded)
    let isSecond = plan.tables.prefix(table.number).contains { TableColumns.folded($0.name) == folded }
    return isTaken || isSecond ? "\(table.name)~\(table.number)" : table.name
  }

  /// Whether a name is a physical one: `e3_7`, `l3_7`, and what belongs to them.
  private static func isPhysical(_ name: String) -> Bool {
    guard let first = name.first, "elfs".contains(first), let line = name.firstIndex(of: "_") else { return false }
    let digits = name[name.index(after: name.startIndex)..<line]
    return !digits.isEmpty && digits.allSatisfy(\.isNumber)
  }
}
