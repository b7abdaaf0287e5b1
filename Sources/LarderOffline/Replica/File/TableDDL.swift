import LarderOData
import LarderStorage

/// The SQL that creates and drops physical tables.
enum TableDDL {
  /// A name in quotes. Strings in queries of FTS5 are written alike.
  static func quoted(_ name: String) -> String {
    guard name.utf8.contains(UInt8(ascii: "\"")) else { return "\"\(name)\"" }
    return "\"" + name.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"") + "\""
  }

  static func list(_ names: [String]) -> String { names.map(quoted).joined(separator: ",") }

  /// Creates the physical table of entities and its indexes.
  static func make(
    _ name: String, _ table: EntityTable, in plan: ReplicaPlan, requested: [[Int]] = []
  ) -> [String] {
    var parts = SystemColumn.allCases.map { "\(quoted($0.rawValue)) \($0.declaration)" }
    parts += table.columns.map { "\(quoted($0.name)) \($0.storage.sqlDeclaration)" }
    var all = ["CREATE TABLE \(quoted(name))(\(parts.joined(separator: ",")))"]
    let identity = identity(of: table)
    if !identity.isEmpty {
      all.append("CREATE UNIQUE INDEX \(quoted(name + "_key")) ON \(quoted(name))(\(list(identity)))")
    }
    for (number, columns) in indexes(of: table, in: plan, requested: requested).enumerated() {
      let names = columns.map { table.columns[$0].name }
      all.append("CREATE INDEX \(quoted("\(name)_x\(number)")) ON \(quoted(name))(\(list(names)))")
    }
    return all
  }

  /// The unique columns: the key, within the parent for contained entities; without a key, the entity-id.
  static func identity(of table: EntityTable) -> [String] {
    let parent = table.isContained ? [SystemColumn.parent.rawValue] : []
    if !table.key.isEmpty { return parent + table.key.map { table.columns[$0].name } }
    return parent + [SystemColumn.uri.rawValue]
  }

  /// The columns that rows are looked up by: ends of navigation properties, and those that the application asked for.
  static func indexes(of table: EntityTable, in plan: ReplicaPlan, requested: [[Int]]) -> [[Int]] {
    var indexes: [[Int]] = []
    func add(_ columns: [Int]) {
      let isOfKey = !table.isContained && Array(table.key.prefix(columns.count)) == columns
      let isDuplicate = indexes.contains { Array($0.prefix(columns.count)) == columns }
      if !isOfKey, !isDuplicate { indexes.append(columns) }
    }
    for other in plan.tables {
      for navigation in other.navigations where navigation.target == table.number {
        guard case .columns(let pairs) = navigation.relation else { continue }
        let columns = pairs.map(\.target)
        // If the columns contain the key, the key's own index finds the row.
        if !table.isContained, !table.key.isEmpty, Set(table.key).isSubset(of: columns) { continue }
        add(columns)
      }
    }
    requested.forEach(add)
    return indexes
  }

  /// Creates the physical table of links.
  static func makeLinks(_ name: String) -> [String] {
    [
      "CREATE TABLE \(quoted(name))(source INTEGER NOT NULL, target INTEGER NOT NULL, PRIMARY KEY(source, target)) WITHOUT ROWID",
      "CREATE INDEX \(quoted(name + "_back")) ON \(quoted(name))(target, source)",
    ]
  }

  /// SQL that takes the place of a table that does not exist yet: its columns without rows.
  static func empty(_ table: EntityTable) -> String {
    let names = SystemColumn.allCases.map(\.rawValue) + table.columns.map(\.name)
    return "(SELECT " + names.map { "NULL AS \(quoted($0))" }.joined(separator: ",") + " WHERE 0)"
  }

  static let emptyLinks = "(SELECT NULL AS source, NULL AS target WHERE 0)"

  /// The shape of a table's physical table, to compare with what a model requires.
  static func shape(_ table: EntityTable, in plan: ReplicaPlan) -> TableShape {
    TableShape(
      columns: table.columns.map { TableShape.Column(name: $0.name, storage: "\($0.storage)") },
      identity: identity(of: table), types: table.types.map(\.name))
  }
}

/// The shape of a physical table.
struct TableShape: Codable, Hashable, Sendable {
  struct Column: Codable, Hashable, Sendable {
    let name: String
    let storage: String
  }

  var columns: [Column]
  var identity: [String]
  /// The types that rows refer to by number.
  var types: [String]

  static let links = TableShape(columns: [], identity: [], types: [])
}

extension SystemColumn {
  var declaration: String {
    switch self {
    case .id: "INTEGER PRIMARY KEY"
    case .type: "INTEGER NOT NULL DEFAULT 0"
    case .parent: "INTEGER"
    case .queries: "INTEGER NOT NULL DEFAULT 0"
    case .state: "INTEGER NOT NULL DEFAULT 0"
    case .etag, .uri, .media: "TEXT"
    }
  }

  /// The index of the column in the physical table.
  var place: Int {
    switch self {
    case .id: 0
    case .type: 1
    case .parent: 2
    case .queries: 3
    case .state: 4
    case .etag: 5
    case .uri: 6
    case .media: 7
    }
  }
}

extension EntityTable {
  /// The list of ``columnNames`` in SQL.
  var columnList: String { TableDDL.list(columnNames) }
}
