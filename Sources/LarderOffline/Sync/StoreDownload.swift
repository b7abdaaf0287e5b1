@_spi(Stores) import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// One download of a store. It downloads the metadata first, then the defining queries; queries without a common table
/// run in parallel.
struct StoreDownload: Sendable {
  let store: OpenStore
  /// The names of the defining queries to download; nil for all.
  let names: Set<String>?
  /// Whether the download ignores delta links, ETags and staged rows, and reads everything.
  var isWhole = false
  /// Receives events about progress and finished queries.
  let emit: @Sendable (OfflineODataEvent) -> Void

  /// The name of the setting that stores the ETag of the metadata.
  static let metadataETag = "metadata-etag"

  /// Runs the download. Only one download can run in a store, across all processes; throws `downloadRunning` if another
  /// one is running.
  ///
  /// Throws the first error of a query. The other queries continue, unless the service cannot be reached.
  func run() async throws -> OfflineODataDownloadReport {
    let lock: FileLock
    do throws(StorageError) { lock = try FileLock(store.replica.database.path + "-download") } catch {
      throw error.category == .inUse ? OfflineODataError(.downloadRunning) : OfflineODataError(error)
    }
    defer { lock.release() }
    try store.checkInPlace()
    store.presence.forget()
    let environment = store.conversation.options.environment
    let begin = environment.uptime()
    do {
      try await refreshMetadata()
      let uploaded = try await store.replica.unsettledRows()
      let report = try await queries()
      if names == nil, report.queries.allSatisfy({ $0.error == nil }) { try await store.replica.settle(uploaded) }
      try await store.storeStrategies(report)
      await store.reportingLeftovers { try await store.dropLeftovers() }
      await store.reportingLeftovers { try await store.replica.sweep() }
      try await store.noteFilled()
      try store.checkInPlace()
      if let error = report.queries.compactMap(\.error).first { throw error }
      return report
    } catch {
      let downloadError = OfflineODataError(below: error)
      var record = EventLog.Record(type: "Download")
      record.details = downloadError.errorMessage
      record.errorCode = downloadError.errorCode
      record.milliseconds = (environment.uptime() - begin).milliseconds
      // The event is logged even if the task was cancelled.
      let event = record
      await environment.task { await store.log(event) }.value
      throw error
    }
  }

  // MARK: Metadata

  /// Requests the metadata again, with its ETag, and adapts the tables to it.
  private func refreshMetadata() async throws {
    emit(.downloadProgress(OfflineODataDownloadProgress(.metadata)))
    var request = ODataSingleRequest(.read, "$metadata", useCache: false)
    let isKnown = !store.replica.plan.tables.isEmpty
    if isKnown, !isWhole, case .text(let etag)? = try await store.replica.setting(Self.metadataETag) {
      request.validators = HTTPValidators(etag: etag)
    }
    let response: ODataSingleResponse
    do throws(ODataServiceError) { response = try await store.conversation.send(request) } catch {
      // Without data, there is no entity set to look up.
      let error = isKnown ? try await store.attributed(error) : error
      if !error.isForeign, error.httpStatus == 404 || error.httpStatus == 410 {
        throw OfflineODataError(
          .requestRejected, "\(error.description). There is no OData service at \(store.root.url.absoluteString)")
      }
      throw error.isCancelled ? CancellationError() : error
    }
    guard !response.isNotModified else { return try await store.useModel() }
    let migration = try await store.replica.adopt(metadata: response.payloadBytes, mayBeEmpty: false)
    let etag = response.sender == .requested ? response.etag : nil
    try await store.replica.set(Self.metadataETag, to: etag.map { .text($0) })
    try await store.useModel()
    if migration.unfitting > 0 { store.report(.changesUnfitting(migration.unfitting)) }
    let changed = migration.changed + migration.removed
    guard isKnown, !changed.isEmpty || !migration.queries.isEmpty else { return }
    // What was learned about the service may no longer be true.
    for query in try await store.replica.queries() { try await store.replica.setFacts(nil, of: query.id) }
    try await store.replica.set(LinkMemory.setting, to: nil)
    var record = EventLog.Record(type: "Metadata")
    record.details = "The service's metadata changed: \(changed.joined(separator: ", "))"
    await store.log(record)
  }

  // MARK: Queries

  /// A query that has not started yet.
  private struct PendingQuery: Sendable {
    let row: DefiningQueryRow
    let bound: BoundDefiningQuery

    /// Whether both queries return rows of the same table.
    func collides(with other: PendingQuery) -> Bool {
      guard let ownTables = bound.writtenTables, let otherTables = other.bound.writtenTables else { return true }
      return !ownTables.isDisjoint(with: otherTables)
    }

    /// The number of nested entities that contain the query's rows. These entities must be downloaded first.
    var depth: Int { bound.container.map { $0.path.segments.count } ?? 0 }
  }

  private func queries() async throws -> OfflineODataDownloadReport {
    var outcomes: [OfflineODataQueryOutcome] = []
    var pendingQueries: [PendingQuery] = []
    let rows = try await store.replica.queries().filter { names?.contains($0.name) ?? true }
    let settings = try await store.querySettings()
    for row in rows {
      do throws(OfflineODataError) {
        let bound = try store.bind(row, settings)
        try await store.checkCount(bound, before: row.id)
        pendingQueries.append(PendingQuery(row: row, bound: bound))
      } catch {
        let outcome = OfflineODataQueryOutcome(name: row.name, error: error)
        outcomes.append(outcome)
        await log(outcome, .zero)
        emit(.queryFinished(outcome))
      }
    }
    // Queries of the same depth run in the order in which they were added.
    pendingQueries = pendingQueries.enumerated().sorted {
      ($0.element.depth, $0.offset) < ($1.element.depth, $1.offset)
    }.map(
      \.element)
    let places = try await store.queryPlaces(settings)
    let total = rows.count
    let marks = try await DownloadMarks.next(store.replica)
    var running: [Int64: PendingQuery] = [:]
    var deferredQueries: [PendingQuery] = []
    try await withThrowingTaskGroup(of: (Int64, OfflineODataQueryOutcome).self) { group in
      while true {
        while running.count < store.settings.parallelQueries,
          let next = next(of: pendingQueries, besides: Array(running.values))
        {
          let pending = pendingQueries.remove(at: next)
          running[pending.row.id] = pending
          let done = outcomes.count
          group.addTask {
            (pending.row.id, await download(pending, places: places, marks: marks, done: done, total: total))
          }
        }
        guard let (id, outcome) = try await group.next() else { break }
        if let pending = running.removeValue(forKey: id), outcome.error?.name == .storeInUse {
          deferredQueries.append(pending)
          continue
        }
        outcomes.append(outcome)
        emit(.queryFinished(outcome))
        // If the service cannot be reached, the remaining queries would fail one after another.
        if outcome.error?.category == .communicationError || Task.isCancelled { pendingQueries = [] }
      }
    }
    // A service may send rows of tables that the query does not name. Such a query runs alone, so that it conflicts
    // with no other.
    for pending in deferredQueries where !Task.isCancelled {
      try await store.replica.dropStaged(besides: pending.row.id)
      let outcome = await download(
        pending, places: places, marks: marks, done: outcomes.count, total: total, isAlone: true)
      outcomes.append(outcome)
      emit(.queryFinished(outcome))
    }
    try Task.checkCancellation()
    return OfflineODataDownloadReport(queries: outcomes)
  }

  /// The index of the first query that shares no table with a running query. A query of contained rows must also share
  /// none with the queries before it.
  private func next(of pendingQueries: [PendingQuery], besides running: [PendingQuery]) -> Int? {
    pendingQueries.indices.first { place in
      let pending = pendingQueries[place]
      let before = pending.depth > 0 ? pendingQueries[..<place] : []
      return !(running + before).contains { $0.collides(with: pending) }
    }
  }

  private func download(
    _ pending: PendingQuery, places: [Int64: QueryPlaces], marks: DownloadMarks, done: Int, total: Int,
    isAlone: Bool = false
  ) async -> OfflineODataQueryOutcome {
    let environment = store.conversation.options.environment
    let begin = environment.uptime()
    let emit = emit
    let downloadRun = DownloadRun(
      query: pending.row, bound: pending.bound, store: store, places: places, isWhole: isWhole, marks: marks
    ) { progress in
      var progress = progress
      (progress.finishedQueries, progress.totalQueries) = (done, total)
      emit(.downloadProgress(progress))
    }
    let outcome = await downloadRun.run()
    if !isAlone, outcome.error?.name == .storeInUse { return outcome }
    await log(outcome, environment.uptime() - begin)
    return outcome
  }

  private func log(_ outcome: OfflineODataQueryOutcome, _ time: Duration) async {
    var record = EventLog.Record(type: "Query")
    record.query = outcome.name
    record.strategy = outcome.strategy?.rawValue
    (record.rows, record.bytes, record.pages) = (outcome.rows, outcome.byteCount, outcome.pages)
    record.milliseconds = time.milliseconds
    let sentences = outcome.notes + (outcome.error.map { [$0.errorMessage] } ?? [])
    record.details = sentences.isEmpty ? nil : sentences.joined(separator: " ")
    record.errorCode = outcome.error?.errorCode
    await store.log(record)
  }
}

extension Duration {
  /// The duration in whole milliseconds.
  var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1000 + attoseconds / 1_000_000_000_000_000
  }
}
