import LarderOData
import LarderStorage

/// The physical tables that exist. The registry is read and changed inside a transaction.
///
/// A table's physical name consists of its number in the file and its generation: `e3_7`, for links `l3_7`. The number
/// stays when the model changes and with it the numbers of the plan.
struct ReplicaRegistry: Sendable {
  /// An entry of the registry.
  struct Entry: Sendable {
    let id: Int64
    var generation: Int64
    var next: Int64?
    var reader: Int64?
    var search: String?
    var shape: TableShape
  }

  let plan: ReplicaPlan
  var entities: [Int: Entry] = [:]
  var links: [Int: Entry] = [:]
  private let hasFormerKeys: Bool
  private let hasRawValues: Bool
  private let queries: [KnownQuery]

  init(_ plan: ReplicaPlan, _ connection: Connection) throws(StorageError) {
    self.plan = plan
    hasFormerKeys =
      try connection.first("SELECT 1 FROM larder_local LIMIT 1") { (_) throws(StorageError) in true } ?? false
    hasRawValues = try connection.setting(RawValue.setting) != nil
    queries = try connection.knownQueries(plan)
    let tables = Dictionary(plan.tables.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
    let names = Dictionary(plan.links.map { ($0.name, $0.number) }, uniquingKeysWith: { first, _ in first })
    let sql = "SELECT kind, name, id, generation, next, reader, search, shape FROM larder_table"
    try connection.forEachRow(sql) { (row) throws(StorageError) in
      let isLinks = try row.int64(0) == 1
      let name = try row.text(1)
      let entry = Entry(
        id: try row.int64(2), generation: try row.int64(3), next: try row.int64OrNil(4), reader: try row.int64OrNil(5),
        search: try row.textOrNil(6), shape: JSONSettings.decode(TableShape.self, try row.text(7)) ?? .links)
      // Tables that are no longer in the model are left for the migration.
      if isLinks, let number = names[name] { links[number] = entry }
      if !isLinks, let number = tables[name] { entities[number] = entry }
      return true
    }
  }

  /// The state that transactions see.
  func state(version: Int64) -> ReplicaState {
    ReplicaState(
      version: version,
      tables: plan.tables.map { table in
        entities[table.number].map { TableDDL.quoted(Self.name("e", $0)) } ?? TableDDL.empty(table)
      },
      links: plan.links.map { link in
        links[link.number].map { TableDDL.quoted(Self.name("l", $0)) } ?? TableDDL.emptyLinks
      },
      search: plan.tables.map { table in entities[table.number]?.search.map(TableDDL.quoted) },
      hasFormerKeys: hasFormerKeys, hasRawValues: hasRawValues, queries: queries)
  }

  static func name(_ letter: String, _ entry: Entry) -> String { "\(letter)\(entry.id)_\(entry.generation)" }
  static func nextName(_ letter: String, _ entry: Entry) -> String? { entry.next.map { "\(letter)\(entry.id)_\($0)" } }

  // MARK: Creating

  /// Creates a table if it is missing, and returns whether it was. The caller must increment the version.
  mutating func make(table number: Int, _ connection: Connection) throws(StorageError) -> Bool {
    guard entities[number] == nil else { return false }
    let table = plan.tables[number]
    let shape = TableDDL.shape(table, in: plan)
    let entry = try insert(kind: 0, table.name, shape, connection)
    entities[number] = entry
    for sql in TableDDL.make(Self.name("e", entry), table, in: plan, requested: try requestedIndexes(table, connection))
    {
      try connection.run(sql)
    }
    try ReplicaViews.make(table, in: plan, Self.name("e", entry), connection)
    return true
  }

  /// Creates a link table if it is missing, and returns whether it was.
  mutating func make(links number: Int, _ connection: Connection) throws(StorageError) -> Bool {
    guard links[number] == nil else { return false }
    let entry = try insert(kind: 1, plan.links[number].name, .links, connection)
    links[number] = entry
    for sql in TableDDL.makeLinks(Self.name("l", entry)) { try connection.run(sql) }
    return true
  }

  private func insert(
    kind: Int64, _ name: String, _ shape: TableShape, _ connection: Connection
  ) throws(StorageError) -> Entry {
    try connection.run(
      "INSERT INTO larder_table(kind, name, generation, shape) VALUES(?1, ?2, 1, ?3)", .integer(kind), .text(name),
      .text(JSONSettings.encode(shape)))
    let id = connection.lastInsertedRow
    // The number may be that of a dropped table, whose rows may not have been removed yet.
    let generation = try Self.freeGeneration(of: id, after: 0, connection)
    try connection.run("UPDATE larder_table SET generation = ?1 WHERE id = ?2", .integer(generation), .integer(id))
    return Entry(id: id, generation: generation, shape: shape)
  }

  /// Creates the next generation of a table for a whole read. Returns its physical name.
  mutating func makeNext(
    table number: Int, reader: Int64, _ connection: Connection
  ) throws(StorageError) -> String {
    if let entry = entities[number], entry.reader == reader, let name = Self.nextName("e", entry) { return name }
    _ = try make(table: number, connection)
    let table = plan.tables[number]
    let entry = try next(of: entities[number], reader, connection)
    entities[number] = entry
    let name = Self.nextName("e", entry) ?? ""
    for sql in TableDDL.make(name, table, in: plan, requested: try requestedIndexes(table, connection)) {
      try connection.run(sql)
    }
    return name
  }

  /// Creates the next generation of a link table.
  mutating func makeNext(
    links number: Int, reader: Int64, _ connection: Connection
  ) throws(StorageError) -> String {
    if let entry = links[number], entry.reader == reader, let name = Self.nextName("l", entry) { return name }
    _ = try make(links: number, connection)
    let entry = try next(of: links[number], reader, connection)
    links[number] = entry
    let name = Self.nextName("l", entry) ?? ""
    for sql in TableDDL.makeLinks(name) { try connection.run(sql) }
    // The entities whose links the payload contained completely, as sources (0) and targets (1). Other entities keep
    // their links.
    try connection.run(
      "CREATE TABLE \(TableDDL.quoted(name + "_told"))(side INTEGER, id INTEGER, PRIMARY KEY(side, id))")
    return name
  }

  private func next(
    of entry: Entry?, _ reader: Int64, _ connection: Connection
  ) throws(StorageError) -> Entry {
    guard var entry else { throw .givenUp(connection.file ?? "") }
    if let other = entry.reader, other != reader {
      throw .inUse(connection.file ?? "")
    }
    entry.next = try Self.freeGeneration(of: entry.id, after: entry.generation, connection)
    entry.reader = reader
    try connection.run(
      "UPDATE larder_table SET next = ?1, reader = ?2 WHERE id = ?3", .integer(entry.next), .integer(reader),
      .integer(entry.id))
    return entry
  }

  /// The next generation number without a table: a dropped table may not have been emptied yet.
  static func freeGeneration(
    of id: Int64, after generation: Int64, _ connection: Connection
  ) throws(StorageError) -> Int64 {
    var next = generation + 1
    while try connection.hasTable("e\(id)_\(next)", "l\(id)_\(next)") { next += 1 }
    return next
  }

  /// The indexes that the application asked for.
  func requestedIndexes(_ table: EntityTable, _ connection: Connection) throws(StorageError) -> [[Int]] {
    let texts = try connection.rows("SELECT paths FROM larder_index WHERE name = ?1", .text(table.name)) {
      (row) throws(StorageError) in try row.text(0)
    }
    return texts.compactMap { text in
      let columns = text.split(separator: ",").map { path in
        table.column(path.split(separator: "/").map(String.init))?.number
      }
      return columns.contains(nil) ? nil : columns.compactMap(\.self)
    }
  }
}

extension Connection {
  /// Whether the file has a table with one of these names.
  func hasTable(_ name: String, _ other: String) throws(StorageError) -> Bool {
    try first(
      "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name IN (?1, ?2)", .text(name), .text(other)
    ) { (_) throws(StorageError) in true } ?? false
  }
}
