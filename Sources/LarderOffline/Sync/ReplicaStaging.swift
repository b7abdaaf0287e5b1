import LarderHTTP
import LarderStorage

/// Staging in the store's file.
enum ReplicaStaging {
  /// Returns what an earlier download has staged, and where it was interrupted; nil if there is nothing to resume.
  static func resume(
    _ query: DefiningQueryRow, _ bound: BoundDefiningQuery, _ places: [Int64: QueryPlaces], _ replica: Replica
  ) async throws -> (any DownloadStaging, DownloadPosition)? {
    // The entity that contains the rows may be another row now.
    guard bound.container == nil else { return nil }
    let table = bound.table.number
    if let read = try await StagedRead.resume(replica, query: query.id, table: table, places: places),
      let position = position(read.position, .whole)
    {
      return (WholeStaging(read: read, countsRows: !bound.traits.hasExpand), position)
    }
    if let delta = try await StagedDelta.resume(replica, query: query.id, table: table, places: places),
      let position = position(delta.position, .changes)
    {
      return (ChangesStaging(delta: delta), position)
    }
    return nil
  }

  private static func position(_ text: String?, _ kind: DownloadMachine.Staging) -> DownloadPosition? {
    guard let text, let position = JSONSettings.decode(DownloadPosition.self, text), position.staging == kind else {
      return nil
    }
    return position
  }

  static func begin(
    _ kind: DownloadMachine.Staging, _ query: DefiningQueryRow, _ bound: BoundDefiningQuery,
    _ places: [Int64: QueryPlaces], _ store: OpenStore
  ) async throws -> any DownloadStaging {
    let table = bound.table.number
    let replica = store.replica
    switch kind {
    case .whole:
      let container = try await store.place(of: bound.container)
      let read = try await StagedRead.begin(
        replica, query: query.id, table: table, in: container, places: places)
      return WholeStaging(read: read, countsRows: !bound.traits.hasExpand)
    case .changes:
      return ChangesStaging(
        delta: try await StagedDelta.begin(replica, query: query.id, table: table, places: places))
    }
  }

  /// Passes a page's bytes on as they arrive, then ends the page. Returns the result of `end` and the number of bytes.
  static func read(
    _ arriving: ArrivingPage, into page: StagedPage, end: (StagedPage) async throws -> PageEnd
  ) async throws -> (PageEnd, Int64) {
    var bytes: Int64 = 0
    do {
      for try await piece in arriving.body {
        bytes += Int64(piece.count)
        arriving.progress(bytes, try await page.take(piece))
      }
      return (try await end(page), bytes)
    } catch {
      await page.cancel()
      throw error
    }
  }
}

/// Staging for the rows of a whole read, in the next generation of their tables.
struct WholeStaging: DownloadStaging {
  let read: StagedRead
  /// Whether the number of rows in pages counts the query's own table alone.
  let countsRows: Bool

  var kind: DownloadMachine.Staging { .whole }
  var earlierRows: Int64 { read.rows }

  func page(_ page: ArrivingPage) async throws -> (PageFacts, Int64) {
    let countsRows = countsRows
    let isAtom = page.form.isAtom
    let facts = { @Sendable (end: PageEnd) in
      PageFacts(
        nextLink: end.nextLink, deltaLink: end.deltaLink, count: end.count, rows: end.rows,
        stagedRows: countsRows ? end.stagedRows : nil, ownRows: end.stagedRows, isAtom: isAtom,
        contradictedLinks: end.contradictedLinks, fineValues: end.fineValues)
    }
    let position = { @Sendable (end: PageEnd) in page.position(facts(end)) }
    let (end, bytes) = try await ReplicaStaging.read(page, into: read.beginPage(page.form)) { staged in
      let end = try await staged.handOver(position: position)
      // The next page is requested while the rows of this one are being written.
      guard end.nextLink == nil || page.isCounted else { return end }
      return try await staged.settled(end)
    }
    return (facts(end), bytes)
  }

  func settle() async {
    await read.queue.settle()
    await read.replica.database.settle()
  }

  func nextInlinePage() async throws -> InlinePage? { try await read.nextInlinePage() }

  func inlinePage(_ inline: InlinePage, _ page: ArrivingPage) async throws -> (new: Int64, bytes: Int64) {
    let staged = read.beginPage(page.form, inline: inline)
    let (end, bytes) = try await ReplicaStaging.read(page, into: staged) { try await $0.end() }
    return (end.newRows ?? end.rows, bytes)
  }

  func finish(
    _ ending: DownloadMachine.Ending, at time: Double, marks: DownloadMarks
  ) async throws -> StagedOutcome {
    try await read.finish(
      deltaLink: ending.deltaLink, etag: ending.etag, lastModified: ending.lastModified, at: time, marks: marks)
  }

  func discard() async throws { try await read.discard() }
}

/// Staging for the pages of a delta, which are stored unchanged until all have arrived.
struct ChangesStaging: DownloadStaging {
  let delta: StagedDelta

  var kind: DownloadMachine.Staging { .changes }
  var earlierRows: Int64 { 0 }

  /// Pages of changes are already stored when they end.
  func settle() async {}

  func page(_ page: ArrivingPage) async throws -> (PageFacts, Int64) {
    let staged = delta.beginPage(page.form)
    var bytes: Int64 = 0
    for try await piece in page.body {
      bytes += Int64(piece.count)
      page.progress(bytes, try await staged.take(piece))
    }
    let end = try await staged.end()
    let facts = PageFacts(
      nextLink: end.nextLink, deltaLink: end.deltaLink, count: end.count, rows: end.rows, isAtom: page.form.isAtom,
      contradictedLinks: end.contradictedLinks, fineValues: end.fineValues)
    try await delta.save(position: page.position(facts))
    return (facts, bytes)
  }

  /// Always nil: the inline collections of a delta are complete.
  func nextInlinePage() async throws -> InlinePage? { nil }

  func inlinePage(_ inline: InlinePage, _ page: ArrivingPage) async throws -> (new: Int64, bytes: Int64) { (0, 0) }

  func finish(
    _ ending: DownloadMachine.Ending, at time: Double, marks: DownloadMarks
  ) async throws -> StagedOutcome {
    try await delta.apply(
      deltaLink: ending.deltaLink, etag: ending.etag, lastModified: ending.lastModified, at: time, marks: marks)
  }

  func discard() async throws { try await delta.discard() }
}
