import LarderStorage

/// Read-only views under the names of entity sets, for people who open the file with another program.
enum ReplicaViews {
  /// Makes the view of a table, in place of the one that there was.
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

  /// The table's name, out of the way of the file's other tables and of names that differ in case alone.
  static func name(of table: EntityTable, in plan: ReplicaPlan) -> String {
    let folded = TableColumns.folded(table.name)
    // SQLite keeps every name that begins so for itself.
    if folded.hasPrefix("sqlite_") { return "\(table.number)~\(table.name)" }
    let isTaken = folded.hasPrefix("larder_") || isPhysical(folded)
    let isSecond = plan.tables.prefix(table.number).contains { TableColumns.folded($0.name) == folded }
    return isTaken || isSecond ? "\(table.name)~\(table.number)" : table.name
  }

  /// `e3_7`, `l3_7`, and what belongs to them.
  private static func isPhysical(_ name: String) -> Bool {
    guard let first = name.first, "elfs".contains(first), let line = name.firstIndex(of: "_") else { return false }
    let digits = name[name.index(after: name.startIndex)..<line]
    return !digits.isEmpty && digits.allSatisfy(\.isNumber)
  }
}
