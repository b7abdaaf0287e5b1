import LarderCore
import LarderOData
import LarderStorage

/// A whole read of one defining query: rows go to the next generation of their tables, page by page, and nobody sees
/// them before ``finish(deltaLink:etag:lastModified:at:marks:)``.
///
/// What has been staged survives the process; ``resume(_:query:table:)`` goes on behind the last page that was saved.
/// Rows of a page that was cut come again and do no harm.
final class StagedRead: Sendable {
  let replica: Replica
  let query: Int64
  /// The table of the query's own entities.
  let table: Int
  let plan: ReplicaPlan
  /// What was saved with the last page.
  let position: String?
  /// Pages that ended before this, and rows of the query's own table that were staged, each counted once.
  let pages: Int
  let rows: Int64
  let queue: RowQueue
  /// The entity that contains the query's own rows, where one does.
  let container: Container?
  /// Where rows stand in the answers of the store's defining queries.
  let places: [Int64: QueryPlaces]

  /// An entity in the store, and its navigation property that contains rows.
  struct Container: Sendable, Hashable {
    let table: Int
    let navigation: Int
    let row: Int64
  }

  private init(
    _ replica: Replica, _ query: Int64, _ table: Int, _ plan: ReplicaPlan, position: String?, pages: Int, rows: Int64,
    container: Container? = nil, places: [Int64: QueryPlaces] = [:]
  ) {
    self.container = container
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

  /// Begins anew: what is staged for the query is dropped.
  ///
  /// Throws `inUse` later, when a page brings rows of a table that the whole read of another query fills.
  static func begin(
    _ replica: Replica, query: Int64, table: Int, in container: Container? = nil, places: [Int64: QueryPlaces] = [:]
  ) async throws(StorageError) -> StagedRead {
    let plan = try await replica.write { (connection, _, plan) throws(StorageError) in
      try StagedTables.drop(query: query, plan, connection)
      try connection.run(
        "INSERT INTO larder_download(query, way, pages, rows, bytes) VALUES(?1, 0, 0, 0, 0)", .integer(query))
      return plan
    }
    return StagedRead(
      replica, query, table, plan, position: nil, pages: 0, rows: 0, container: container, places: places)
  }

  /// Goes on with what is staged; nil where there is nothing.
  static func resume(
    _ replica: Replica, query: Int64, table: Int, places: [Int64: QueryPlaces] = [:]
  ) async throws(StorageError) -> StagedRead? {
    let found = try await replica.read { (connection, _, plan) throws(StorageError) in
      try connection.first(
        "SELECT position, pages, rows FROM larder_download WHERE query = ?1 AND way = 0", .integer(query)
      ) { (row) throws(StorageError) in (try row.textOrNil(0), try row.int64(1), try row.int64(2), plan) }
    }
    guard let found, found.0 != nil || found.1 > 0 else { return nil }
    return StagedRead(
      replica, query, table, found.3, position: found.0, pages: Int(clamping: found.1), rows: found.2,
      places: places)
  }

  /// Begins to read a page, or one of a collection in line.
  func beginPage(_ form: PageForm, inline: InlinePage? = nil) -> StagedPage {
    StagedPage(self, form, inline)
  }

  /// Keeps where the download goes on; behind a page that has ended with its rows written.
  func save(position: String?) async throws(StorageError) {
    try await replica.database.write { [query] (connection) throws(StorageError) in
      try connection.run(
        "UPDATE larder_download SET position = ?1 WHERE query = ?2", .text(position), .integer(query))
    }
  }

  /// The first collection in line that goes on behind a link: each is a page to be read before the end.
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

  /// There may be as many as rows.
  static let nextInline = """
    SELECT id, link, name, path, parent FROM larder_inline WHERE query = ?1 ORDER BY id LIMIT 1
    """

  /// Throws away what is staged.
  func discard() async throws(StorageError) {
    await queue.stop()
    _ = try await replica.write { [query] (connection, _, plan) throws(StorageError) in
      try StagedTables.drop(query: query, plan, connection)
      try connection.countVersionUp()
    }
  }
}

/// A page on its way into a whole read. One caller at a time.
final class StagedPage: Sendable {
  private let read: StagedRead
  private let inline: InlinePage?
  private let state: Exclusive<Reading>

  private struct Reading: ~Copyable {
    var reader: PageReader
    /// Plain rows that wait until there are many of them, by their table's number.
    var packed: [Int: PackedSlot] = [:]
    var bytes: Int64 = 0
    var inlines = 0
  }

  /// Bytes that are read before rows are handed on.
  private static let slice = 64 << 10
  private static let chunkRows = 1000
  private static let chunkBytes = 2 << 20
  /// The same of plain rows: they are written in an order that is the better the more there are.
  private static let runRows = 50_000
  private static let runBytes = 6 << 20

  init(_ read: StagedRead, _ form: PageForm, _ inline: InlinePage?) {
    self.read = read
    self.inline = inline
    let isFit = inline.map { read.plan.tables.indices.contains($0.table) && $0.navigation >= 0 } ?? false
    let around = isFit ? inline.map { (navigation: $0.navigation, table: $0.table, id: $0.parent) } : nil
    let container = read.container.map { (navigation: $0.navigation, table: $0.table, id: $0.row) }
    let parent = inline == nil ? container : around
    let table = parent.map { read.plan.tables[$0.table].navigations[$0.navigation].target } ?? read.table
    let collector = RowCollector(
      plan: read.plan, table: table, parent: parent, selected: read.places[read.query]?.selected ?? [:])
    state = Exclusive(Reading(reader: PageReader(form, collector)))
  }

  /// Reads the next bytes; answers how many rows of its own the page has told so far. Throws `PayloadError`, `AtomError`, ``RowCollectorError``, ``ColumnValueError`` where they are
  /// no rows, `StorageError` where rows could not be written.
  @discardableResult
  func take(_ bytes: [UInt8]) async throws -> Int64 {
    var start = 0
    var rows: Int64 = 0
    while start < bytes.count {
      let end = min(start + StagedPage.slice, bytes.count)
      let part = start == 0 && end == bytes.count ? bytes : Array(bytes[start..<end])
      let (ripe, count) = try state.run { state in
        state.bytes += Int64(part.count)
        try state.reader.read(part)
        return (gather(&state, isEnd: false), state.reader.collector.rows.rootCount)
      }
      rows = count
      for load in ripe { try await read.queue.put(load) }
      start = end
    }
    return rows
  }

  /// Packs rows that are plain; answers what there is enough of to be handed on, at the end all, in the payload's order.
  private func gather(_ state: inout Reading, isEnd: Bool) -> [RowQueue.Load] {
    let collector = state.reader.collector
    guard collector.rows.frames.isEmpty else { return [] }
    var ripe: [RowQueue.Load] = []
    // Those of the read's own table are the most.
    collector.pack(into: &state.packed) { read.queue.empty($0, bytes: $0.number == read.table ? Self.runBytes : 0) }
    let chunk = collector.rows.chunk
    let isChunkRipe =
      chunk.order.count >= Self.chunkRows || chunk.byteCount >= Self.chunkBytes
      || isEnd && !(chunk.isEmpty && chunk.told.isEmpty)
    let size = state.packed.values.reduce((rows: 0, bytes: 0)) { ($0.rows + $1.rowCount, $0.bytes + $1.byteCount) }
    if isChunkRipe || isEnd || size.rows >= Self.runRows || size.bytes >= Self.runBytes {
      for packed in state.packed.values.sorted(by: { $0.table.number < $1.table.number }) { ripe.append(.run(packed)) }
      state.packed = [:]
    }
    if isChunkRipe { ripe.append(.chunk(collector.take())) }
    return ripe
  }

  /// Tells that the page is whole; waits until its rows are written.
  func end(position: @escaping @Sendable (PageEnd) -> String? = { _ in nil }) async throws -> PageEnd {
    try await settled(try await handOver(position: position))
  }

  /// Waits until the rows that were handed over are written; answers a page's end with what that found.
  func settled(_ end: PageEnd) async throws(StorageError) -> PageEnd {
    var end = end
    let written = try await read.queue.drain()
    (end.newRows, end.stagedRows) = (Int64(written.new), written.staged)
    return end
  }

  /// The same without waiting, but for the page before: the next page may be read while the rows of this one are written.
  /// `position` is asked when they are, and what it answers is kept with the last of them.
  func handOver(position: @escaping @Sendable (PageEnd) -> String?) async throws -> PageEnd {
    let (rest, end, bytes) = try state.run { state in
      try state.reader.finish()
      return (gather(&state, isEnd: true), state.reader.end, state.bytes)
    }
    for load in rest { try await read.queue.put(load) }
    try await read.queue.end(PageMark(bytes: bytes, inline: inline, end: end, position: position))
    return end
  }

  /// Gives the page up: its rows that were handed over stay staged, and come again.
  func cancel() async { await read.queue.settle() }
}
