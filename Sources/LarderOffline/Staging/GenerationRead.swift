@_spi(Stores) import LarderCore
import LarderOData
import LarderStorage

/// A whole read of one defining query. Rows are written to the next generation of their tables, page by page, and
/// readers do not see them before ``finish(deltaLink:etag:lastModified:at:marks:)``.
///
/// Staged rows survive the end of the process; ``resume(_:query:table:)`` continues after the last saved page. Rows of
/// an interrupted page are read again, which does no harm.
final class GenerationRead: Sendable {
  let replica: Replica
  let query: Int64
  /// The table of the query's own entities.
  let table: Int
  let plan: ReplicaPlan
  /// The position that was saved with the last page.
  let position: String?
  /// The number of pages that ended before this run, and of distinct rows of the query's own table that they staged.
  let pages: Int
  let rows: Int64
  let queue: RowQueue
  /// The entity that contains the query's own rows, if there is one.
  let container: Container?
  /// The positions of rows in the results of the store's defining queries.
  let places: [Int64: QueryPlaces]
  /// Whether links that rows lack are recorded, to be followed.
  let followsLinks: Bool

  /// An entity in the store, and its navigation property that contains rows.
  struct Container: Sendable, Hashable {
    let table: Int
    let navigation: Int
    let row: Int64
  }

  private init(
    _ replica: Replica, query: Int64, table: Int, plan: ReplicaPlan, position: String?, pages: Int, rows: Int64,
    container: Container? = nil, places: [Int64: QueryPlaces] = [:], followsLinks: Bool = false
  ) {
    self.container = container
    self.followsLinks = followsLinks
    self.places = places
    self.replica = replica
    self.query = query
    self.table = table
    self.plan = plan
    self.position = position
    self.pages = pages
    self.rows = rows
    queue = RowQueue(replica, GenerationWriter(plan: plan, query: query, root: table))
  }

  /// Starts again: discards what is staged for the query.
  ///
  /// A later page throws `inUse` if it returns rows of a table that the whole read of another query fills.
  static func begin(
    _ replica: Replica, query: Int64, table: Int, in container: Container? = nil, places: [Int64: QueryPlaces] = [:],
    followsLinks: Bool = false
  ) async throws(StorageError) -> GenerationRead {
    let plan = try await replica.write { (snapshot) throws(StorageError) in
      try UnfinishedDownloads.drop(query: query, snapshot)
      try snapshot.connection.run(
        "INSERT INTO larder_download(query, way, pages, rows, bytes) VALUES(?1, 0, 0, 0, 0)", .integer(query))
      return snapshot.plan
    }
    return GenerationRead(
      replica, query: query, table: table, plan: plan, position: nil, pages: 0, rows: 0, container: container,
      places: places, followsLinks: followsLinks)
  }

  /// Resumes with what is staged; nil if there is nothing.
  static func resume(
    _ replica: Replica, query: Int64, table: Int, places: [Int64: QueryPlaces] = [:]
  ) async throws(StorageError) -> GenerationRead? {
    let stored = try await replica.read { (snapshot) throws(StorageError) in
      try snapshot.connection.first(
        "SELECT position, pages, rows FROM larder_download WHERE query = ?1 AND way = 0", .integer(query)
      ) { (row) throws(StorageError) in (try row.textOrNil(0), try row.int64(1), try row.int64(2), snapshot.plan) }
    }
    guard let stored, stored.0 != nil || stored.1 > 0 else { return nil }
    return GenerationRead(
      replica, query: query, table: table, plan: stored.3, position: stored.0, pages: Int(clamping: stored.1),
      rows: stored.2,
      places: places)
  }

  /// Begins to read a page, or a page of an inline collection.
  func beginPage(_ form: PageForm, inline: InlinePage? = nil) -> GenerationPage {
    GenerationPage(self, form, inline)
  }

  /// Stores the position at which the download continues. Call it after the end of a page whose rows are written.
  func save(position: String?) async throws(StorageError) {
    try await replica.database.write { [query] (connection) throws(StorageError) in
      try connection.run(
        "UPDATE larder_download SET position = ?1 WHERE query = ?2", .text(position), .integer(query))
    }
  }

  /// The first inline collection that continues behind a link. Each such page must be read before the end.
  func nextInlinePage() async throws(StorageError) -> InlinePage? {
    try await replica.database.read { [query, plan] (connection) throws(StorageError) in
      try connection.first(Self.nextInline, .integer(query)) { (row) throws(StorageError) in
        let table = plan.table(try row.text(2))
        let path = try row.text(3)
        let navigation = table?.navigations.firstIndex { $0.path.joined(separator: "/") == path }
        return InlinePage(
          id: try row.int64(0), link: try row.text(1), table: table?.number ?? -1, navigation: navigation ?? -1,
          parent: try row.int64(4))
      }
    }
  }

  /// Makes the links of a navigation property that rows lack pages that must be read before the end. Returns their
  /// number; nil, and changes nothing, if there are more than `limit`.
  func follow(_ table: EntityTable, _ navigation: ReplicaNavigation, limit: Int) async throws(StorageError) -> Int? {
    let (name, path) = (table.name, navigation.path.joined(separator: "/"))
    let condition = "query = -?1 AND name = ?2 AND path = ?3"
    return try await replica.database.write { [query] (connection) throws(StorageError) -> Int? in
      let count = try connection.first(
        "SELECT count(*) FROM larder_inline WHERE \(condition)", .integer(query), .text(name), .text(path)
      ) { (row) throws(StorageError) in Int(try row.int64(0)) }
      guard let count, count <= limit else { return nil }
      try connection.run(
        "UPDATE larder_inline SET query = ?1 WHERE \(condition)", .integer(query), .text(name), .text(path))
      return count
    }
  }

  /// Ends an inline page that has no content.
  func end(_ inline: InlinePage) async throws(StorageError) {
    try await replica.database.write { (connection) throws(StorageError) in
      try connection.run("DELETE FROM larder_inline WHERE id = ?1", .integer(inline.id))
    }
  }

  /// Selects one row only, because there may be as many as rows.
  static let nextInline = """
    SELECT id, link, name, path, parent FROM larder_inline WHERE query = ?1 ORDER BY id LIMIT 1
    """

  /// Discards what is staged.
  func discard() async throws(StorageError) {
    await queue.stop()
    _ = try await replica.write { [query] (snapshot) throws(StorageError) in
      try UnfinishedDownloads.drop(query: query, snapshot)
      try snapshot.connection.countVersionUp()
    }
  }
}

/// A page of a whole read that is being read. It supports one caller at a time.
final class GenerationPage: Sendable {
  private let read: GenerationRead
  private let inline: InlinePage?
  private let state: Exclusive<Reading>

  private struct Reading: ~Copyable {
    var reader: PageReader
    /// Plain rows that are collected until there are many of them, by their table's number.
    var packed: [Int: PackedRows] = [:]
    var bytes: Int64 = 0
  }

  /// The number of bytes that are read before rows are passed on.
  private static let slice = 64 << 10
  /// Limits for plain rows. They are larger, because more rows at once can be written in a better order.
  private static let packedRows = 50_000
  private static let packedBytes = 6 << 20

  init(_ read: GenerationRead, _ form: PageForm, _ inline: InlinePage?) {
    self.read = read
    self.inline = inline
    let isFit = inline.map { read.plan.tables.indices.contains($0.table) && $0.navigation >= 0 } ?? false
    let inlineParent = isFit ? inline.map { (navigation: $0.navigation, table: $0.table, id: $0.parent) } : nil
    let container = read.container.map { (navigation: $0.navigation, table: $0.table, id: $0.row) }
    let parent = inline == nil ? container : inlineParent
    let table = parent.map { read.plan.tables[$0.table].navigations[$0.navigation].target } ?? read.table
    let places = read.places[read.query]
    let rows = PageRows(
      plan: read.plan, table: table, parent: parent, selected: places?.selected ?? [:],
      requested: inline == nil ? places?.requested : nil, followsLinks: read.followsLinks,
      keepsRawValues: places?.keepsRawValues ?? false)
    state = Exclusive(Reading(reader: PageReader(form, into: rows)))
  }

  /// Reads the next bytes. Returns the number of the page's own rows so far. Throws `PayloadError`, `AtomError`,
  /// ``PageError`` or ``ColumnValueError`` if the bytes are not rows, and `StorageError` if rows could not be
  /// written.
  @discardableResult
  func take(_ bytes: [UInt8]) async throws -> Int64 {
    var start = 0
    var rows: Int64 = 0
    while start < bytes.count {
      let end = min(start + GenerationPage.slice, bytes.count)
      let part = start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
      let (ripe, count) = try state.run { state in
        state.bytes += Int64(part.count)
        try state.reader.read(part)
        return (gather(&state, isEnd: false), state.reader.handler.rows.rootCount)
      }
      rows = count
      try await put(ripe)
      start = end
    }
    return rows
  }

  /// Packs plain rows. Returns the rows that are enough to be passed on; at the end all of them.
  private func gather(_ state: inout Reading, isEnd: Bool) -> (packed: [Int: PackedRows], batch: PageBatch?) {
    let handler = state.reader.handler
    guard handler.rows.frames.isEmpty else { return ([:], nil) }
    // Most rows are in the read's own table.
    handler.rows.batch.pack(into: &state.packed) {
      read.queue.empty($0, bytes: $0.number == read.table ? Self.packedBytes : 0)
    }
    let isBatchRipe = handler.rows.batch.isRipe(isEnd: isEnd)
    let size = state.packed.values.reduce((rows: 0, bytes: 0)) { ($0.rows + $1.rowCount, $0.bytes + $1.byteCount) }
    let isPackedRipe = isBatchRipe || isEnd || size.rows >= Self.packedRows || size.bytes >= Self.packedBytes
    return (
      isPackedRipe ? exchange(&state.packed, with: [:]) : [:], isBatchRipe ? handler.rows.take() : nil
    )
  }

  private func put(_ ripe: (packed: [Int: PackedRows], batch: PageBatch?)) async throws(StorageError) {
    for (table, rows) in ripe.packed.sorted(by: { $0.key < $1.key }) {
      try await read.queue.put(rows, of: read.plan.tables[table])
    }
    if let batch = ripe.batch { try await read.queue.put(batch) }
  }

  /// Ends the page and waits until its rows are written.
  func end(position: @escaping @Sendable (PageEnd) -> String? = { _ in nil }) async throws -> PageEnd {
    try await settled(try await handOver(position: position))
  }

  /// Waits until the passed rows are written. Returns the page's end with the resulting counts.
  func settled(_ end: PageEnd) async throws(StorageError) -> PageEnd {
    var end = end
    let written = try await read.queue.drain()
    (end.newRows, end.stagedRows, end.repeated) = (Int64(written.new), written.staged, written.repeated)
    return end
  }

  /// Ends the page, and waits only for the rows of the page before: the next page may be read while the rows of this
  /// one are written. `position` is called when they are written, and its result is stored with the last of them.
  func handOver(position: @escaping @Sendable (PageEnd) -> String?) async throws -> PageEnd {
    let (rest, end, bytes) = try state.run { state in
      try state.reader.finish()
      return (gather(&state, isEnd: true), state.reader.end, state.bytes)
    }
    try await put(rest)
    try await read.queue.end(PageMark(bytes: bytes, inline: inline, end: end, position: position))
    return end
  }
}
