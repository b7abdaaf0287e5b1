@_spi(Stores) import LarderCore
import LarderOData
import LarderStorage

/// The changes of one defining query since its delta link. Pages are stored unchanged, then applied in one transaction
/// with the next link.
///
/// Applying changes a second time has no effect.
final class DeltaPages: Sendable {
  let replica: Replica
  let query: Int64
  /// The table of the query's own entities.
  let table: Int
  /// The positions of rows in the results of the store's defining queries.
  let places: [Int64: QueryPlaces]
  let position: String?
  let pages: Int

  private init(
    _ replica: Replica, query: Int64, table: Int, places: [Int64: QueryPlaces], position: String?, pages: Int
  ) {
    self.places = places
    self.replica = replica
    self.query = query
    self.table = table
    self.position = position
    self.pages = pages
  }

  /// Starts again: discards what is staged for the query.
  static func begin(
    _ replica: Replica, query: Int64, table: Int, places: [Int64: QueryPlaces] = [:]
  ) async throws(StorageError) -> DeltaPages {
    try await replica.write { (snapshot) throws(StorageError) in
      try UnfinishedDownloads.drop(query: query, snapshot)
      try snapshot.connection.run(
        "INSERT INTO larder_download(query, way, pages, rows, bytes) VALUES(?1, 1, 0, 0, 0)", .integer(query))
    }
    return DeltaPages(replica, query: query, table: table, places: places, position: nil, pages: 0)
  }

  /// Resumes with the staged pages; nil if there are none.
  static func resume(
    _ replica: Replica, query: Int64, table: Int, places: [Int64: QueryPlaces] = [:]
  ) async throws(StorageError) -> DeltaPages? {
    let stored = try await replica.database.read { (connection) throws(StorageError) in
      try connection.first(
        "SELECT position, pages FROM larder_download WHERE query = ?1 AND way = 1", .integer(query)
      ) { (row) throws(StorageError) in (try row.textOrNil(0), try row.int64(1)) }
    }
    guard let stored, stored.1 > 0 else { return nil }
    return DeltaPages(
      replica, query: query, table: table, places: places, position: stored.0, pages: Int(clamping: stored.1))
  }

  /// Begins to store a page.
  func beginPage(_ form: PageForm) -> DeltaPage { DeltaPage(self, form) }

  /// Stores the position at which the download continues. Call it after the end of a page.
  func save(position: String?) async throws(StorageError) {
    try await replica.database.write { [query] (connection) throws(StorageError) in
      try connection.run(
        "UPDATE larder_download SET position = ?1 WHERE query = ?2", .text(position), .integer(query))
    }
  }

  /// Discards what is staged.
  func discard() async throws(StorageError) {
    try await replica.write { [query] (snapshot) throws(StorageError) in
      try UnfinishedDownloads.drop(query: query, snapshot)
    }
  }

  /// Applies all pages, and stores the next link and conditions, in one transaction.
  ///
  /// Throws if a page cannot be read; nothing is changed then. Throws `inUse` if a whole read of another query fills
  /// one of the tables.
  /// - Parameters:
  ///   - time: the current time, in seconds since 1970.
  ///   - marks: the marks of the download that the changes are part of; nil if they are a download of their own.
  func apply(
    deltaLink: String?, etag: String?, lastModified: String?, at time: Double, marks: DownloadMarks? = nil
  ) async throws -> DownloadOutcome {
    let marks = if let marks { marks } else { try await DownloadMarks.next(replica) }
    let ending = DownloadEnding(
      deltaLink: deltaLink, etag: etag, lastModified: lastModified, time: time, marks: marks)
    let unreadable = Locked<(any Error & Sendable)?>(nil)
    do {
      return try await replica.write { [self] (snapshot) throws(StorageError) in
        let connection = snapshot.connection
        var local = LocalRows(snapshot)
        let unfolded = try local.unfold()
        let deleted = try local.showDeleted()
        var writer = try DeltaWriter(snapshot.plan, query: query, root: table, places: places, connection: connection)
        for reference in deleted { try writer.delete(reference, connection) }
        for reference in try UploadedRows(connection).moved() { writer.release(moved: reference) }
        do { try read(snapshot.plan, connection, &writer) } catch let error as StorageError {
          throw error
        } catch {
          unreadable.withLock { $0 = error }
          throw .givenUp(connection.file ?? "")
        }
        var outcome = try writer.finish(connection)
        outcome.conflicts = try local.refold(
          unfolded, writer.registry, read: query, navigations: places.mapValues { $0.navigations })
        outcome.noticed = local.noticed
        outcome.changed.formUnion(local.changed)
        for (table, rows) in writer.upserted {
          try marks.mark(rows, of: snapshot.plan.tables[table], connection)
        }
        try marks.mark(local.upserted, in: snapshot.plan, connection)
        try ending.write(query, connection)
        try UnfinishedDownloads.drop(query: query, snapshot)
        return outcome
      }
    } catch {
      throw unreadable.withLock { $0 } ?? error
    }
  }

  /// The rows of a page that is read now.
  fileprivate func rows(_ plan: ReplicaPlan, notesMembers: Bool) -> PageRows {
    let places = places[query]
    return PageRows(
      plan: plan, table: table, notesMembers: notesMembers, selected: places?.selected ?? [:],
      requested: places?.requested, keepsRawValues: places?.keepsRawValues ?? false)
  }

  private func read(_ plan: ReplicaPlan, _ connection: Connection, _ writer: inout DeltaWriter) throws {
    var page: Int64 = -1
    var reader: PageReader?
    var part: (page: Int64, part: Int64) = (0, -1)
    let sql = """
      SELECT page, part, form, bytes FROM larder_stage WHERE query = ?1 AND (page, part) > (?2, ?3)
      ORDER BY page, part LIMIT 1
      """
    while true {
      let next = try connection.first(sql, .integer(query), .integer(part.page), .integer(part.part)) {
        (row) throws(StorageError) in
        (page: try row.int64(0), part: try row.int64(1), form: try row.text(2), bytes: try row.bytes(3))
      }
      if next?.page != page {
        try reader?.finish()
        if let rest = reader?.handler.rows.take() { try writer.write(rest, connection) }
        guard let next else { return }
        let form = JSONSettings.decode(PageForm.self, next.form) ?? PageForm()
        reader = PageReader(form, into: rows(plan, notesMembers: true))
        page = next.page
      }
      guard let next else { return }
      part = (next.page, next.part)
      try reader?.read(next.bytes)
      if let handler = reader?.handler, handler.rows.frames.isEmpty, handler.rows.batch.isRipe(isEnd: false) {
        try writer.write(handler.rows.take(), connection)
      }
    }
  }
}

/// A page of changes that is being stored. It supports one caller at a time.
final class DeltaPage: Sendable {
  private let delta: DeltaPages
  private let form: PageForm
  private let state: Exclusive<Reading>

  private struct Reading: ~Copyable {
    /// Parses the bytes as they arrive, so that an unreadable page is detected before anything is applied.
    var reader: PageReader
    var parts: [[UInt8]] = []
    var byteCount = 0
    var rows: Int64 = 0
    var partCount: Int64 = 0
  }

  private static let partBytes = 256 << 10

  init(_ delta: DeltaPages, _ form: PageForm) {
    self.delta = delta
    self.form = form
    let rows = delta.rows(delta.replica.plan, notesMembers: false)
    state = Exclusive(Reading(reader: PageReader(form, into: rows)))
  }

  /// Stores the next bytes. Returns the number of the page's changes so far. Throws if the bytes are not changes.
  @discardableResult
  func take(_ bytes: [UInt8]) async throws -> Int64 {
    var start = 0
    var rows: Int64 = 0
    while start < bytes.count {
      let end = min(start + DeltaPage.partBytes, bytes.count)
      let part = Array(bytes[start..<end])
      let (isFull, count) = try state.run { state in
        try state.reader.read(part)
        if state.reader.handler.rows.frames.isEmpty {
          state.rows += Int64(state.reader.handler.rows.take().deltaLinks.count)
        }
        state.parts.append(part)
        state.byteCount += part.count
        return (state.byteCount >= DeltaPage.partBytes, state.rows + state.reader.handler.rows.rootCount)
      }
      rows = count
      if isFull { try await flush(isEnd: false) }
      start = end
    }
    return rows
  }

  private func flush(isEnd: Bool) async throws(StorageError) {
    let (bytes, part) = state.run { state in
      defer {
        state.parts = []
        state.byteCount = 0
        state.partCount += 1
      }
      return (Array(state.parts.joined()), state.partCount)
    }
    let form = JSONSettings.encode(form)
    try await delta.replica.database.write { [query = delta.query] (connection) throws(StorageError) in
      let page = try connection.first("SELECT pages FROM larder_download WHERE query = ?1", .integer(query)) {
        (row) throws(StorageError) in try row.int64(0)
      }
      guard let page else { throw .givenUp(connection.file ?? "") }
      if part == 0 {
        // Removes the rest of an interrupted page.
        try connection.run("DELETE FROM larder_stage WHERE query = ?1 AND page >= ?2", .integer(query), .integer(page))
      }
      try connection.run(
        "INSERT INTO larder_stage(query, page, part, form, bytes) VALUES(?1, ?2, ?3, ?4, ?5)", .integer(query),
        .integer(page), .integer(part), .text(form), .blob(bytes))
      guard isEnd else { return }
      try connection.run("UPDATE larder_download SET pages = pages + 1 WHERE query = ?1", .integer(query))
    }
  }

  /// Ends the page and stores its bytes.
  func end() async throws -> PageEnd {
    let end = try state.run { state in
      try state.reader.finish()
      state.rows += Int64(state.reader.handler.rows.batch.deltaLinks.count)
      var end = state.reader.end
      end.rows += state.rows
      return end
    }
    try await flush(isEnd: true)
    return end
  }
}
