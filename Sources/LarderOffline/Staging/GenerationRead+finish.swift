@_spi(Stores) import LarderCore
import LarderStorage

/// What a download has changed.
struct DownloadOutcome: Sendable, Hashable {
  /// The numbers of the entity tables whose rows or links have changed.
  var changed: Set<Int> = []
  /// Whether a delta did not say which rows the query still has. They must then be read as a whole.
  var isIncomplete = false
  /// The number of rows of the query's own table that it now has.
  var rows: Int64 = 0
  /// Entities with pending changes of this device that the server has changed.
  var conflicts: [RowReference] = []
  /// The pending changes that conflict with those of the server.
  var noticed: [OfflineODataNoticedConflict] = []
}

extension GenerationRead {
  /// Makes the staged rows visible to readers, in one short transaction that also stores the next link and conditions.
  ///
  /// Before it, in slices, rows of other queries are copied, and unchanged tables are found, which stay as they are.
  /// - Parameters:
  ///   - time: the current time, in seconds since 1970.
  ///   - missingLinks: the requested links that the service did not return.
  ///   - marks: the marks of the download that the read is part of; nil if it is a download of its own.
  ///   - keepsAbsent: whether rows and links that the read did not return stay, because it left out entities.
  func finish(
    deltaLink: String?, etag: String?, lastModified: String?, at time: Double, missingLinks: [String] = [],
    marks: DownloadMarks? = nil, keepsAbsent: Bool = false
  ) async throws(StorageError) -> DownloadOutcome {
    let marks = if let marks { marks } else { try await DownloadMarks.next(replica) }
    let compared = try await compare(marks, keepsAbsent: keepsAbsent)
    let ending = DownloadEnding(
      deltaLink: deltaLink, etag: etag, lastModified: lastModified, missingLinks: missingLinks, time: time,
      marks: marks, marked: compared.marked)
    return try await end(compared, ending)
  }

  /// The staged rows, compared with those that readers see.
  struct Compared: Sendable {
    let work: Work
    fileprivate var changed: [Int: Upserted] = [:]
    fileprivate var changedLinks: Set<Int> = []
    /// The number of the read's marks; nil if it has none yet.
    var marked: Int64?
    /// Rows of each table that had pending changes when the others were marked. These changes may be undone before the
    /// end.
    fileprivate var pendingRows: [Int: Set<Int64>] = [:]
    /// Queries that may have lost rows because of what the read has changed of other rows.
    fileprivate var doubtful: Set<Int64> = []
    /// Whether rows and links that the read did not return stay.
    fileprivate let keepsAbsent: Bool

    fileprivate init(_ work: Work, keepsAbsent: Bool) { (self.work, self.keepsAbsent) = (work, keepsAbsent) }
  }

  /// The work that is done in slices, before the end.
  func compare(_ marks: DownloadMarks, keepsAbsent: Bool = false) async throws(StorageError) -> Compared {
    _ = try await queue.drain()
    var compared = Compared(try await begin(), keepsAbsent: keepsAbsent)
    for table in compared.work.tables {
      if keepsAbsent { try await copyAbsent(table) }
      try await copyRows(table)
    }
    for link in compared.work.links { try await copyLinks(link, keepsAbsent: keepsAbsent) }
    for table in compared.work.tables where try await hasChanged(table) {
      compared.changed[table.number] = try await mark(table, marks, &compared)
    }
    for link in compared.work.links where try await hasChanged(link) { compared.changedLinks.insert(link.number) }
    for (other, places) in places where other != query {
      if try await moves(rowsOf: other, places, compared) { compared.doubtful.insert(other) }
    }
    return compared
  }

  /// Finishes the read, in one transaction.
  func end(_ compared: Compared, _ ending: DownloadEnding) async throws(StorageError) -> DownloadOutcome {
    // Without this, the commit that makes the rows visible would hold the write lock until everything staged before is
    // on disk. That commit reports write errors.
    if queue.byteCount > GenerationRead.muchStaged || compared.work.tables.contains(where: \.isShared) {
      try? await replica.database.settleLog()
    }
    return try await replica.write { [self] (snapshot) throws(StorageError) in
      try flip(compared, ending: ending, plan: snapshot.plan, connection: snapshot.connection)
    }
  }

  /// The number of bytes of rows for which a disk may take long.
  private static let muchStaged = 1 << 20

  /// The tables that the read writes, with their generations.
  struct Work: Sendable {
    struct Table: Sendable {
      let number: Int
      let current: String
      let next: String
      let bit: Int64
      /// Whether the table contains rows of other queries.
      let isShared: Bool
    }
    struct Links: Sendable {
      let number: Int
      let current: String
      let next: String
      /// The tables at both ends after the read.
      let source: String
      let target: String
    }

    var tables: [Table] = []
    var links: [Links] = []
  }

  /// Creates an empty next generation of tables that the query returned rows of before: they may be empty now.
  private func begin() async throws(StorageError) -> Work {
    try await queue.write { [self] (writer, connection) throws(StorageError) in
      let names = try connection.rows("SELECT name FROM larder_membership WHERE query = ?1", .integer(query)) {
        (row) throws(StorageError) in try row.text(0)
      }
      try writer.prepare(table: table, connection)
      for name in names { if let table = plan.table(name) { try writer.prepare(table: table.number, connection) } }
      let registry = try ReplicaRegistry(plan, connection)
      let state = registry.state(version: 0)
      var work = Work()
      var ends = state.tables
      for (number, entry) in registry.entities.sorted(by: { $0.key < $1.key }) where entry.reader == query {
        guard let next = ReplicaRegistry.nextName("e", entry) else { continue }
        let name = plan.tables[number].name
        let bit = try connection.giveBit(to: query, in: name)
        ends[number] = TableDDL.quoted(next)
        work.tables.append(
          Work.Table(
            number: number, current: state.tables[number], next: TableDDL.quoted(next), bit: bit,
            isShared: try connection.bits(in: name) != 1 << bit))
      }
      for (number, entry) in registry.links.sorted(by: { $0.key < $1.key }) where entry.reader == query {
        guard let next = ReplicaRegistry.nextName("l", entry) else { continue }
        work.links.append(
          Work.Links(
            number: number, current: state.links[number], next: next, source: ends[plan.links[number].source],
            target: ends[plan.links[number].target]))
      }
      return work
    }
  }

  /// Copies rows that other queries return, in slices.
  private func copyRows(_ work: Work.Table) async throws(StorageError) {
    let table = plan.tables[work.number]
    let names = (SystemColumn.allCases.filter { $0 != .queries }.map(\.rawValue) + table.columns.map(\.name))
    let list = TableDDL.list(names)
    let named = """
      INSERT OR IGNORE INTO \(work.next)(\(list),"@queries") SELECT \(list),"@queries" & ~?1 FROM \(work.current)
      WHERE "@id" IN (\(Connection.namedRows)) AND "@id" NOT IN (SELECT row FROM larder_base)
      """
    try await replica.database.stage { (connection) throws(StorageError) in
      try connection.run(named, .integer(1 << work.bit))
      try connection.keepNamed(in: work.next, queries: 0)
    }
    guard work.isShared else { return }
    let copy = """
      INSERT OR IGNORE INTO \(work.next)(\(list),"@queries") SELECT \(list),"@queries" & ~?1 FROM \(work.current)
      WHERE "@id" > ?2 AND "@id" <= ?3 AND ("@queries" & ~?1 <> 0 OR "@state" <> 0)
      """
    try await inSlices(of: work.current) { (connection, from, to) throws(StorageError) in
      try connection.run(copy, .integer(1 << work.bit), .integer(from), .integer(to))
    }
  }

  /// Copies rows of the query that the read did not return, in slices. Those with pending changes are kept as bases.
  private func copyAbsent(_ work: Work.Table) async throws(StorageError) {
    let list = plan.tables[work.number].columnList
    let copy = """
      INSERT OR IGNORE INTO \(work.next)(\(list)) SELECT \(list) FROM \(work.current)
      WHERE "@id" > ?1 AND "@id" <= ?2 AND "@id" NOT IN (SELECT row FROM larder_base)
      """
    try await inSlices(of: work.current) { (connection, from, to) throws(StorageError) in
      try connection.run(copy, .integer(from), .integer(to))
    }
  }

  /// Copies links that the payload did not contain, if the rows at both ends exist.
  private func copyLinks(_ work: Work.Links, keepsAbsent: Bool) async throws(StorageError) {
    let next = TableDDL.quoted(work.next)
    let completeTable = TableDDL.quoted(work.next + "_told")
    let isUntold =
      keepsAbsent
      ? ""
      : """
      AND NOT EXISTS(SELECT 1 FROM \(completeTable) WHERE side = 0 AND id = l.source)
      AND NOT EXISTS(SELECT 1 FROM \(completeTable) WHERE side = 1 AND id = l.target)
      """
    let copy = """
      INSERT OR IGNORE INTO \(next)(source, target) SELECT source, target FROM \(work.current) AS l
      WHERE source > ?1 AND source <= ?2 \(isUntold)
      AND EXISTS(SELECT 1 FROM \(work.source) WHERE "@id" = l.source)
      AND EXISTS(SELECT 1 FROM \(work.target) WHERE "@id" = l.target)
      """
    try await inSlices(of: work.current, by: "source") { (connection, from, to) throws(StorageError) in
      try connection.run(copy, .integer(from), .integer(to))
    }
  }

  /// Runs work for ranges of identities, as many in one transaction as fit into a slice.
  private func inSlices(
    of table: String, by column: String = "@id",
    _ body: @escaping @Sendable (Connection, Int64, Int64) throws(StorageError) -> Void
  ) async throws(StorageError) {
    // A property may have the name of any alias.
    let name = TableDDL.quoted(column)
    let find = "SELECT max(\(name)) FROM (SELECT \(name) FROM \(table) WHERE \(name) > ?1 ORDER BY \(name) LIMIT 200)"
    var last: Int64? = 0
    while let from = last {
      last = try await replica.database.stage { (connection) throws(StorageError) -> Int64? in
        let begin = connection.environment.uptime()
        var from = from
        while true {
          let to = try connection.first(find, .integer(from)) { (row) throws(StorageError) in try row.int64OrNil(0) }
          guard let to, let to else { return nil }
          try body(connection, from, to)
          from = to
          if connection.environment.uptime() - begin > Replica.slice { return from }
        }
      }
    }
  }

  // MARK: Differences

  /// Selects rows of the next generation that the current one lacks or has with other values.
  private func differing(_ work: Work.Table, without left: Set<SystemColumn>) -> String {
    let columns =
      SystemColumn.allCases.filter { !left.contains($0) }.map(\.rawValue) + plan.tables[work.number].columns.map(\.name)
    func row(_ alias: String) -> String {
      "(" + columns.map { "\(alias).\(TableDDL.quoted($0)) COLLATE BINARY" }.joined(separator: ",") + ")"
    }
    return """
      FROM \(work.next) AS n LEFT JOIN \(work.current) AS c ON c."@id" = n."@id"
      WHERE (c."@id" IS NULL OR \(row("n")) IS NOT \(row("c")))
      """
  }

  /// Which rows of a table the read has returned or changed.
  fileprivate enum Upserted: Sendable {
    /// All rows of the table, because it had none of the service before.
    case all
    /// The marked rows.
    case marked
  }

  /// Marks, in slices, the rows of a table that the read has returned or changed. Rows with pending changes are not
  /// marked here; they are compared with their bases when these change.
  ///
  /// - Parameter compared: receives the number of the read's marks, and the rows with pending changes.
  private func mark(
    _ work: Work.Table, _ marks: DownloadMarks, _ compared: inout Compared
  ) async throws(StorageError) -> Upserted {
    let table = plan.tables[work.number]
    let hasNone = try await replica.database.read { (connection) throws(StorageError) in
      // A table that another query of this download has filled is marked completely.
      if try marks.hasMarkedAll(of: table, connection) { return true }
      let downloadedRow = "SELECT 1 FROM \(work.current) WHERE \"@state\" & \(LocalState.made) = 0 LIMIT 1"
      return try connection.first(downloadedRow) { (_) throws(StorageError) in false } ?? true
    }
    if hasNone { return .all }
    let number: Int64
    if let marked = compared.marked {
      number = marked
    } else {
      number = try await replica.database.stage { [query] (connection) throws(StorageError) in
        try DownloadMarks.stage(for: query, connection)
      }
      compared.marked = number
    }
    let name = table.name
    let sql = """
      INSERT OR IGNORE INTO larder_upserted(download, name, row) SELECT ?1, ?2, n."@id"
      \(differing(work, without: [.id, .queries])) AND n."@id" > ?3 AND n."@id" <= ?4
      AND NOT EXISTS(SELECT 1 FROM larder_base WHERE row = n."@id")
      """
    let pendingRows = Locked<Set<Int64>>([])
    try await inSlices(of: work.next) { (connection, from, to) throws(StorageError) in
      try connection.run(sql, .integer(number), .text(name), .integer(from), .integer(to))
      let rows = try connection.integers(
        "SELECT row FROM larder_base WHERE name = ?1 AND row > ?2 AND row <= ?3", .text(name), .integer(from),
        .integer(to))
      pendingRows.withLock { $0.formUnion(rows) }
    }
    compared.pendingRows[work.number] = pendingRows.withLock { $0 }
    return .marked
  }

  /// Marks rows whose pending changes were undone after the other rows were marked.
  private func markLate(
    _ compared: Compared, _ marks: DownloadMarks, _ connection: Connection
  ) throws(StorageError) {
    for work in compared.work.tables {
      let sql = """
        INSERT OR IGNORE INTO larder_upserted(download, name, row) SELECT ?1, ?2, n."@id"
        \(differing(work, without: [.id, .queries])) AND n."@id" = ?3
        AND NOT EXISTS(SELECT 1 FROM larder_base WHERE row = ?3)
        """
      for row in compared.pendingRows[work.number] ?? [] {
        try connection.run(sql, .integer(marks.download), .text(plan.tables[work.number].name), .integer(row))
      }
    }
  }

  private func hasChanged(_ work: Work.Table) async throws(StorageError) -> Bool {
    let sql = """
      SELECT EXISTS(SELECT 1 \(differing(work, without: [.id])))
      OR (SELECT count(*) FROM \(work.next)) <> (SELECT count(*) FROM \(work.current))
      OR EXISTS(SELECT 1 FROM larder_base WHERE name = ?1)
      """
    let table = plan.tables[work.number].name
    return try await replica.database.read { (connection) throws(StorageError) in
      try connection.first(sql, .text(table)) { (row) throws(StorageError) in try row.int64(0) != 0 } ?? true
    }
  }

  /// Whether the read has changed joining columns, or removed links, of rows of another query. The other query's delta
  /// will not report which rows these led to.
  private func moves(
    rowsOf other: Int64, _ places: QueryPlaces, _ compared: Compared
  ) async throws(StorageError) -> Bool {
    var checks: [(table: String?, sql: String)] = []
    for work in compared.work.tables where work.isShared && compared.changed[work.number] != nil {
      let table = plan.tables[work.number]
      let columns = places.joiningColumns(of: table, plan).sorted().map { TableDDL.quoted(table.columns[$0].name) }
      guard !columns.isEmpty else { continue }
      let differ = columns.map { "n.\($0) IS NOT c.\($0)" }.joined(separator: " OR ")
      let rows = "\(work.next) AS n JOIN \(work.current) AS c ON c.\"@id\" = n.\"@id\""
      checks.append((table.name, "SELECT 1 FROM \(rows) WHERE c.\"@queries\" & ?1 <> 0 AND (\(differ)) LIMIT 1"))
    }
    for work in compared.work.links where compared.changedLinks.contains(work.number) {
      guard places.isJoined(by: work.number, plan) else { continue }
      let next = "SELECT 1 FROM \(TableDDL.quoted(work.next)) AS n WHERE n.source = c.source AND n.target = c.target"
      checks.append((nil, "SELECT 1 FROM \(work.current) AS c WHERE NOT EXISTS(\(next)) LIMIT 1"))
    }
    let finalChecks = checks
    return try await replica.database.read { (connection) throws(StorageError) in
      for check in finalChecks {
        var values: [SQLValue] = []
        if let table = check.table {
          guard let bit = try connection.bit(of: other, in: table) else { continue }
          values = [.integer(1 << bit)]
        }
        var hasRow = false
        try connection.forEachRow(check.sql, values) { (_) throws(StorageError) in
          hasRow = true
          return false
        }
        if hasRow { return true }
      }
      return false
    }
  }

  private func hasChanged(_ work: Work.Links) async throws(StorageError) -> Bool {
    let next = TableDDL.quoted(work.next)
    let sql = """
      SELECT EXISTS(
      SELECT 1 FROM \(next) AS n WHERE NOT EXISTS(
      SELECT 1 FROM \(work.current) AS c WHERE c.source = n.source AND c.target = n.target))
      OR (SELECT count(*) FROM \(next)) <> (SELECT count(*) FROM \(work.current))
      OR EXISTS(SELECT 1 FROM larder_base_link WHERE name = ?1)
      """
    let link = plan.links[work.number].name
    return try await replica.database.read { (connection) throws(StorageError) in
      try connection.first(sql, .text(link)) { (row) throws(StorageError) in try row.int64(0) != 0 } ?? true
    }
  }

  // MARK: The end

  private func flip(
    _ compared: Compared, ending: DownloadEnding, plan: ReplicaPlan, connection: Connection
  ) throws(StorageError) -> DownloadOutcome {
    let work = compared.work
    var registry = try ReplicaRegistry(plan, connection)
    var outcome = DownloadOutcome()
    for table in work.tables where registry.entities[table.number]?.reader != query {
      throw .givenUp(connection.file ?? "")
    }
    try markLate(compared, ending.marks, connection)
    for table in work.tables {
      if let upserted = compared.changed[table.number] {
        try registry.flip(table: table.number, connection)
        outcome.changed.insert(table.number)
        if case .all = upserted { try ending.marks.markAll(of: plan.tables[table.number], connection) }
      } else {
        try registry.dropNext(table: table.number, connection)
      }
    }
    for link in work.links {
      if compared.changedLinks.contains(link.number) {
        try registry.flip(links: link.number, connection)
        outcome.changed.formUnion([plan.links[link.number].source, plan.links[link.number].target])
      } else {
        try registry.dropNext(links: link.number, connection)
      }
    }
    try connection.countVersionUp()
    var local = LocalRows(ReplicaSnapshot(connection: connection, state: registry.state(version: 0), plan: plan))
    outcome.conflicts = try local.refold(
      readWith: Dictionary(uniqueKeysWithValues: work.tables.map { ($0.number, $0.bit) }),
      told: compared.keepsAbsent
        ? [:] : Dictionary(uniqueKeysWithValues: work.links.map { ($0.number, $0.next + "_told") }),
      query: query, navigations: places.mapValues { $0.navigations }, keepsAbsent: compared.keepsAbsent)
    outcome.noticed = local.noticed
    outcome.changed.formUnion(local.changed)
    try ending.marks.mark(local.upserted, in: plan, connection)
    try ending.write(query, connection)
    for other in compared.doubtful { try connection.readWhole(other) }
    try connection.run("DELETE FROM larder_inline WHERE query IN (?1, -?1)", .integer(query))
    try connection.logChange(outcome.changed)
    let rows = try connection.first("SELECT rows FROM larder_download WHERE query = ?1", .integer(query)) {
      (row) throws(StorageError) in try row.int64(0)
    }
    outcome.rows = rows ?? 0
    try connection.run("DELETE FROM larder_download WHERE query = ?1", .integer(query))
    return outcome
  }
}

/// The results of a finished download that are stored for the next one.
struct DownloadEnding: Sendable {
  var deltaLink: String?
  var etag: String?
  var lastModified: String?
  /// The requested links that the service did not return; nil if a delta does not change them.
  var missingLinks: [String]?
  /// The time in seconds since 1970.
  var time: Double
  var marks: DownloadMarks
  /// The number of the staged marks.
  var marked: Int64?

  func write(_ query: Int64, _ connection: Connection) throws(StorageError) {
    try marks.begin(connection)
    if let marked { try marks.count(staged: marked, connection) }
    if let missingLinks { try MissingLinks.set(missingLinks, of: query, connection) }
    let isNews = try connection.first(
      """
      SELECT 1 FROM larder_query WHERE id = ?1 AND (downloaded IS NULL
      OR EXISTS(SELECT 1 FROM larder_setting WHERE name = 'former query ' || ?1))
      """, .integer(query)
    ) { (_) throws(StorageError) in true }
    if isNews != nil {
      try connection.forgetFormerQuery(of: query)
      try connection.countVersionUp()
      // Tasks waiting for the first result of the query are notified, even if it is empty.
      try connection.logChange(nil)
    }
    try connection.run(
      "UPDATE larder_query SET delta_link = ?1, etag = ?2, last_modified = ?3, downloaded = ?4 WHERE id = ?5",
      .text(deltaLink), .text(etag), .text(lastModified), .real(time), .integer(query))
  }
}
