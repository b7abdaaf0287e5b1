import LarderStorage

/// A defining query as it is stored in the file.
struct DefiningQueryRow: Sendable, Hashable, Identifiable {
  let id: Int64
  var name: String
  /// The query, relative to the service root.
  var url: String
  /// Whether the bytes of media entities and stream properties are downloaded too.
  var streams: Bool
  /// The delta link and the conditions from the last finished download.
  var deltaLink: String?
  var etag: String?
  var lastModified: String?
  /// When the last download finished, in seconds since 1970; nil if none has.
  var downloaded: Double?
  /// What the query's downloads have learned about the service, as encoded text.
  var facts: String?
  /// The requested links that the service did not return, by the names of ``RequestedLinks``.
  var missingLinks: Set<String>

  /// What the query's downloads have learned about the service; nil if nothing is stored.
  var memory: QueryMemory? { facts.flatMap { JSONSettings.decode(QueryMemory.self, $0) } }

  fileprivate static let columns =
    "id, name, url, streams, delta_link, etag, last_modified, downloaded, facts, "
    + "(SELECT value FROM larder_setting AS s WHERE s.name = '\(MissingLinks.setting)' || larder_query.id)"

  fileprivate init(_ row: borrowing Row) throws(StorageError) {
    id = try row.int64(0)
    name = try row.text(1)
    url = try row.text(2)
    streams = try row.int64(3) != 0
    deltaLink = try row.textOrNil(4)
    etag = try row.textOrNil(5)
    lastModified = try row.textOrNil(6)
    downloaded = row.isNull(7) ? nil : row.real(7)
    facts = try row.textOrNil(8)
    missingLinks = MissingLinks.names(try row.textOrNil(9))
  }
}

extension Replica {
  /// All defining queries, in the order in which they were added.
  func queries() async throws(StorageError) -> [DefiningQueryRow] {
    try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT \(DefiningQueryRow.columns) FROM larder_query ORDER BY id") {
        (row) throws(StorageError) in try DefiningQueryRow(row)
      }
    }
  }

  /// The defining query with a name.
  func query(_ name: String) async throws(StorageError) -> DefiningQueryRow? {
    try await queries().first { $0.name == name }
  }

  /// Adds a defining query. A query with this name and another URL is changed, and its next download reads everything.
  func addQuery(_ name: String, url: String, streams: Bool) async throws(StorageError) -> DefiningQueryRow {
    try await write { (snapshot) throws(StorageError) in
      let connection = snapshot.connection
      try connection.keepFormerQuery(of: name, before: url)
      try connection.countVersionUp()
      try connection.run(
        """
        INSERT INTO larder_query(name, url, streams) VALUES(?1, ?2, ?3) ON CONFLICT(name) DO UPDATE SET
          delta_link = CASE WHEN url IS excluded.url AND streams IS excluded.streams THEN delta_link END,
          etag = CASE WHEN url IS excluded.url AND streams IS excluded.streams THEN etag END,
          last_modified = CASE WHEN url IS excluded.url AND streams IS excluded.streams THEN last_modified END,
          facts = CASE WHEN url IS excluded.url THEN facts END, url = excluded.url, streams = excluded.streams
        """, .text(name), .text(url), .integer(streams ? 1 : 0))
      let row = try connection.first(
        "SELECT \(DefiningQueryRow.columns) FROM larder_query WHERE name = ?1", .text(name)
      ) { (row) throws(StorageError) in try DefiningQueryRow(row) }
      guard let row else { throw .givenUp(connection.file ?? "") }
      return row
    }
  }

  /// Stores what downloads of a query have learned.
  func setFacts(_ facts: String?, of query: Int64) async throws(StorageError) {
    try await database.write { (connection) throws(StorageError) in
      try connection.run("UPDATE larder_query SET facts = ?1 WHERE id = ?2", .text(facts), .integer(query))
    }
  }

  /// The numbers of the tables that a query has returned rows of.
  func tables(of query: Int64) async throws(StorageError) -> Set<Int> {
    try await read { (snapshot) throws(StorageError) in
      let names = try snapshot.connection.rows("SELECT name FROM larder_membership WHERE query = ?1", .integer(query)) {
        (row) throws(StorageError) in try row.text(0)
      }
      return Set(names.compactMap { snapshot.plan.table($0)?.number })
    }
  }

  /// The number of rows of a table that a query has returned; 0 if it never returned any.
  func rowCount(of query: Int64, in table: Int) async throws(StorageError) -> Int64 {
    try await read { (snapshot) throws(StorageError) in
      guard let bit = try snapshot.connection.bit(of: query, in: snapshot.plan.tables[table].name) else { return 0 }
      let count = try snapshot.connection.first(
        "SELECT count(*) FROM \(snapshot.state.tables[table]) WHERE \"@queries\" & ?1 <> 0", .integer(1 << bit)
      ) { (row) throws(StorageError) in try row.int64(0) }
      return count ?? 0
    }
  }

  /// Removes a defining query, its unfinished download, and the rows that no other query returns.
  func removeQuery(_ name: String) async throws(StorageError) {
    guard let query = try await query(name) else { return }
    try await write { (snapshot) throws(StorageError) in
      let connection = snapshot.connection
      try UnfinishedDownloads.drop(query: query.id, snapshot)
      var registry = try ReplicaRegistry(snapshot.plan, connection)
      let names = try connection.rows("SELECT name, bit FROM larder_membership WHERE query = ?1", .integer(query.id)) {
        (row) throws(StorageError) in (try row.text(0), try row.int64(1))
      }
      try connection.run("DELETE FROM larder_membership WHERE query = ?1", .integer(query.id))
      try connection.run("DELETE FROM larder_query WHERE id = ?1", .integer(query.id))
      try connection.forgetFormerQuery(of: query.id)
      try MissingLinks.set([], of: query.id, connection)
      for (name, bit) in names {
        guard let table = snapshot.plan.table(name), let entry = registry.entities[table.number] else { continue }
        let physical = TableDDL.quoted(ReplicaRegistry.name("e", entry))
        let mask = Int64(1) << bit
        try connection.removeBases(of: mask, in: name)
        if try connection.bits(in: name) == 0, try !connection.hasPending(physical, name) {
          // No other query has rows in the table: it is dropped now and emptied later.
          try registry.drop(table: table.number, connection)
          continue
        }
        try connection.keepNamed(in: physical, queries: mask)
        try connection.run(
          """
          DELETE FROM \(physical) WHERE "@queries" = ?1 AND "@state" = 0 AND "@id" NOT IN (\(Connection.namedRows))
          """, .integer(mask))
        try connection.run(
          "UPDATE \(physical) SET \"@queries\" = \"@queries\" & ~?1 WHERE \"@queries\" & ?1 <> 0", .integer(mask))
        try registry.forgetSearch(table: table.number, connection)
      }
      try connection.countVersionUp()
      try connection.logChange(Set(names.compactMap { snapshot.plan.table($0.0)?.number }))
    }
  }

  /// Removes all rows and links, and the results of all downloads. Defining queries, settings and events stay.
  func clear() async throws(StorageError) {
    try await write { (snapshot) throws(StorageError) in
      let connection = snapshot.connection
      var registry = try ReplicaRegistry(snapshot.plan, connection)
      try registry.dropAll(connection)
      for table in ["larder_download", "larder_inline", "larder_stage", "larder_membership", "larder_uploaded"]
        + ReplicaSchema.changes
      {
        try connection.run("DELETE FROM \(table)")
      }
      try DownloadMarks.forget(connection)
      try connection.run(
        "DELETE FROM larder_setting WHERE name GLOB 'former query *' OR name GLOB '\(MissingLinks.setting)*'")
      try connection.run(
        "UPDATE larder_query SET delta_link = NULL, etag = NULL, last_modified = NULL, downloaded = NULL")
      try connection.countVersionUp()
      try connection.logChange(nil)
    }
    try await sweep()
  }
}

extension Connection {
  /// Removes the bit of a query from the bases of a table, and the bases of rows that no other query includes and no
  /// change needs: with its base, such a row would come back.
  fileprivate func removeBases(of bit: Int64, in name: String) throws(StorageError) {
    try run(
      """
      DELETE FROM larder_base WHERE name = ?1 AND json_extract(cells, '$."@queries"') = ?2
        AND row NOT IN (\(Self.namedRows))
        AND NOT EXISTS(SELECT 1 FROM larder_request WHERE entity = larder_base.row)
        AND NOT EXISTS(SELECT 1 FROM larder_effect WHERE row = larder_base.row)
      """, .text(name), .integer(bit))
    try keepPending(in: name, queries: bit)
    try run(
      """
      UPDATE larder_base SET cells = json_set(cells, '$."@queries"', json_extract(cells, '$."@queries"') & ~?1)
        WHERE name = ?2 AND json_extract(cells, '$."@queries"') & ?1 <> 0
      """, .integer(bit), .text(name))
  }

  /// Whether a table has rows that were created here, or that changes change or name.
  fileprivate func hasPending(_ physical: String, _ name: String) throws(StorageError) -> Bool {
    try first(
      """
      SELECT 1 FROM larder_base WHERE name = ?1
      UNION ALL SELECT 1 FROM (\(Self.namedRows)) AS n CROSS JOIN \(physical) ON "@id" = n.row
      UNION ALL SELECT 1 FROM \(physical) WHERE "@state" <> 0 LIMIT 1
      """, .text(name)
    ) { (_) throws(StorageError) in true } ?? false
  }

  /// Makes the next download of a query read everything.
  func readWhole(_ query: Int64) throws(StorageError) {
    try run(
      "UPDATE larder_query SET delta_link = NULL, etag = NULL, last_modified = NULL WHERE id = ?1", .integer(query))
  }

  /// The bit of a query in a table; nil if it has none yet.
  func bit(of query: Int64, in name: String) throws(StorageError) -> Int64? {
    try first("SELECT bit FROM larder_membership WHERE query = ?1 AND name = ?2", .integer(query), .text(name)) {
      (row) throws(StorageError) in try row.int64(0)
    }
  }

  /// The largest number of queries that can return rows of one table: a row has one bit for each.
  static let maximumQueries = 62

  /// Returns the bit of a query in a table, and assigns one if it has none. Throws `notSupported` if all are taken.
  func giveBit(to query: Int64, in name: String) throws(StorageError) -> Int64 {
    if let bit = try bit(of: query, in: name) { return bit }
    let usedBits = try integers("SELECT bit FROM larder_membership WHERE name = ?1", .text(name))
    guard let free = (0..<Int64(Self.maximumQueries)).first(where: { !usedBits.contains($0) }) else {
      throw .notSupported(file ?? "", "More than \(Self.maximumQueries) defining queries include rows of \(name)")
    }
    try run(
      "INSERT INTO larder_membership(query, name, bit) VALUES(?1, ?2, ?3)", .integer(query), .text(name),
      .integer(free))
    // The state contains the bits of all queries, which determine what rows have.
    try countVersionUp()
    return free
  }

  /// The bits of all queries in a table.
  func bits(in name: String) throws(StorageError) -> Int64 {
    let usedBits = try integers("SELECT bit FROM larder_membership WHERE name = ?1", .text(name))
    return usedBits.reduce(0) { $0 | 1 << $1 }
  }
}

// The former text of a query. It says what the rows of the last download have, if the text was changed since.
extension Connection {
  private static func formerQuery(_ query: Int64) -> String { "former query \(query)" }

  /// Stores the text of a query that has returned rows, before the text is changed.
  func keepFormerQuery(of name: String, before url: String) throws(StorageError) {
    let sql = "SELECT id, url FROM larder_query WHERE name = ?1 AND url <> ?2 AND downloaded IS NOT NULL"
    let former = try first(sql, .text(name), .text(url)) { (row) throws(StorageError) in
      (id: try row.int64(0), url: try row.text(1))
    }
    guard let former else { return }
    try run(
      "INSERT OR IGNORE INTO larder_setting(name, value) VALUES(?1, ?2)", .text(Self.formerQuery(former.id)),
      .text(former.url))
  }

  /// Removes the stored former text, when the rows belong to the current text.
  func forgetFormerQuery(of query: Int64) throws(StorageError) {
    try run("DELETE FROM larder_setting WHERE name = ?1", .text(Self.formerQuery(query)))
  }

  /// The defining queries, with the facts that determine what rows have.
  func knownQueries(_ plan: ReplicaPlan) throws(StorageError) -> [KnownQuery] {
    var bits: [Int64: [Int: Int64]] = [:]
    try forEachRow("SELECT query, name, bit FROM larder_membership") { (row) throws(StorageError) in
      if let table = plan.table(try row.text(1)) {
        bits[try row.int64(0), default: [:]][table.number] = try row.int64(2)
      }
      return true
    }
    return try rows(
      """
      SELECT q.id, q.name, coalesce(s.value, q.url), q.downloaded IS NOT NULL, m.value FROM larder_query AS q
      LEFT JOIN larder_setting AS s ON s.name = 'former query ' || q.id
      LEFT JOIN larder_setting AS m ON m.name = '\(MissingLinks.setting)' || q.id ORDER BY q.id
      """
    ) { (row) throws(StorageError) in
      KnownQuery(
        name: try row.text(1), url: try row.text(2), isDownloaded: try row.int64(3) != 0,
        bits: bits[try row.int64(0)] ?? [:], missingLinks: MissingLinks.names(try row.textOrNil(4)))
    }
  }
}
