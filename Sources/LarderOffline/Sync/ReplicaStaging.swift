import LarderHTTP
import LarderStorage

/// Staging in the store's file.
enum ReplicaStaging {
  /// Returns what an earlier download has staged, and where it was interrupted; nil if there is nothing to resume.
  static func resume(
    _ query: DefiningQueryRow, bound: BoundDefiningQuery, places: [Int64: QueryPlaces], replica: Replica
  ) async throws -> (any DownloadStaging, DownloadPosition)? {
    // The entity that contains the rows may be another row now.
    guard bound.container == nil else { return nil }
    let table = bound.table.number
    if let read = try await GenerationRead.resume(replica, query: query.id, table: table, places: places),
      let position = position(read.position, .whole)
    {
      return (read, position)
    }
    if let delta = try await DeltaPages.resume(replica, query: query.id, table: table, places: places),
      let position = position(delta.position, .changes)
    {
      return (delta, position)
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
    _ kind: DownloadMachine.Staging, query: DefiningQueryRow, bound: BoundDefiningQuery,
    places: [Int64: QueryPlaces], store: OpenStore
  ) async throws -> any DownloadStaging {
    let table = bound.table.number
    let replica = store.replica
    switch kind {
    case .whole:
      let container = try await store.place(of: bound.container)
      return try await GenerationRead.begin(
        replica, query: query.id, table: table, in: container, places: places,
        followsLinks: store.settings.linkRequestLimit > 0)
    case .changes:
      return try await DeltaPages.begin(replica, query: query.id, table: table, places: places)
    }
  }
}

/// The rows of a whole read, in the next generation of their tables.
extension GenerationRead: DownloadStaging {
  var earlierRows: Int64 { rows }

  func page(_ arriving: ArrivingPage) async throws -> (PageEnd, Int64) {
    try await read(arriving, into: beginPage(arriving.form)) { page in
      let end = try await page.handOver(position: arriving.position)
      // The next page is requested while the rows of this one are being written.
      guard end.nextLink == nil || arriving.isCounted else { return end }
      return try await page.settled(end)
    }
  }

  /// Passes a page's bytes on as they arrive, then ends the page. Returns the result of `end` and the number of bytes.
  private func read(
    _ arriving: ArrivingPage, into page: GenerationPage, end: (GenerationPage) async throws -> PageEnd
  ) async throws -> (PageEnd, Int64) {
    var bytes: Int64 = 0
    do {
      for try await piece in arriving.body {
        bytes += Int64(piece.count)
        arriving.progress(bytes, try await page.take(piece))
      }
      return (try await end(page), bytes)
    } catch {
      // Rows that were passed on stay staged, and will be read again.
      await queue.settle()
      throw error
    }
  }

  func settle() async {
    await queue.settle()
    await replica.database.settle()
  }

  func inlinePage(_ inline: InlinePage, _ arriving: ArrivingPage) async throws -> (PageEnd, Int64) {
    try await read(arriving, into: beginPage(arriving.form, inline: inline)) { try await $0.end() }
  }

  func finish(
    _ ending: DownloadMachine.Ending, at time: Double, marks: DownloadMarks
  ) async throws -> DownloadOutcome {
    try await finish(
      deltaLink: ending.deltaLink, etag: ending.etag, lastModified: ending.lastModified, at: time,
      missingLinks: ending.missingLinks ?? [], marks: marks, keepsAbsent: ending.keepsAbsent ?? false)
  }
}

/// The pages of a delta, which are stored unchanged until all have arrived.
extension DeltaPages: DownloadStaging {
  var earlierRows: Int64 { 0 }

  /// Pages of changes are already stored when they end.
  func settle() async {}

  func page(_ arriving: ArrivingPage) async throws -> (PageEnd, Int64) {
    let page = beginPage(arriving.form)
    var bytes: Int64 = 0
    for try await piece in arriving.body {
      bytes += Int64(piece.count)
      arriving.progress(bytes, try await page.take(piece))
    }
    let end = try await page.end()
    try await save(position: arriving.position(end))
    return (end, bytes)
  }

  /// Always nil: a delta has no links to follow.
  func follow(_ table: EntityTable, _ navigation: ReplicaNavigation, limit: Int) async throws -> Int? { nil }

  func end(_ inline: InlinePage) async throws {}

  /// Always nil: the inline collections of a delta are complete.
  func nextInlinePage() async throws -> InlinePage? { nil }

  func inlinePage(_ inline: InlinePage, _ arriving: ArrivingPage) async throws -> (PageEnd, Int64) { (PageEnd(), 0) }

  func finish(
    _ ending: DownloadMachine.Ending, at time: Double, marks: DownloadMarks
  ) async throws -> DownloadOutcome {
    try await apply(
      deltaLink: ending.deltaLink, etag: ending.etag, lastModified: ending.lastModified, at: time, marks: marks)
  }
}
