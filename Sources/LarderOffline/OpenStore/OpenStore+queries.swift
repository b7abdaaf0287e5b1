@_spi(Stores) import LarderCore
import LarderOData
import LarderService
import LarderStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// The defining queries and the event log of an open store.
extension OpenStore {
  /// Settings of the defining queries that are stored beside the replica's own rows for them.
  struct QuerySettings: Codable, Sendable, Hashable {
    /// The names of queries that are read completely at each download.
    var untracked: Set<String> = []
    /// The strategy of each query's last download, by the query's name.
    var strategies: [String: OfflineODataDownloadStrategy] = [:]
    /// The names of queries that keep values that do not fit; nil for none.
    private var rawValues: Set<String>?

    /// Whether a query keeps values that do not fit.
    func keepsRawValues(_ query: String) -> Bool { rawValues?.contains(query) ?? false }

    mutating func setKeepsRawValues(_ keepsRawValues: Bool, _ query: String) {
      var names = rawValues ?? []
      if keepsRawValues { names.insert(query) } else { names.remove(query) }
      rawValues = names.isEmpty ? nil : names
    }

    /// The names in the store's file, which must not change.
    private enum CodingKeys: String, CodingKey {
      case untracked
      case strategies = "ways"
      case rawValues
    }
  }

  private static let querySettingsName = "queries"

  /// Reads the settings of the defining queries.
  func querySettings() async throws -> QuerySettings {
    guard case .text(let text)? = try await replica.setting(Self.querySettingsName) else { return QuerySettings() }
    return JSONSettings.decode(QuerySettings.self, text) ?? QuerySettings()
  }

  /// Changes the settings of the defining queries.
  func changeQuerySettings(_ change: @escaping @Sendable (inout QuerySettings) -> Void) async throws {
    try await replica.database.write { (connection) throws(StorageError) in
      var settings = QuerySettings()
      if case .text(let text)? = try connection.setting(Self.querySettingsName) {
        settings = JSONSettings.decode(QuerySettings.self, text) ?? settings
      }
      change(&settings)
      try connection.set(Self.querySettingsName, to: .text(JSONSettings.encode(settings)))
    }
  }

  /// Binds a defining query to the model in use.
  func bind(_ row: DefiningQueryRow, _ settings: QuerySettings) throws(OfflineODataError) -> BoundDefiningQuery {
    let plan = replica.plan
    let bound = try BoundDefiningQuery(
      row.url, plan: plan, binder: try binder(plan), pageSize: self.settings.pageSize,
      tracksChanges: !settings.untracked.contains(row.name))
    if row.streams { try bound.checkStreams(plan) }
    return bound
  }

  /// Throws `tooManyDefiningQueries` if the queries before this one already include the largest number that can be
  /// distinguished in one of its tables.
  ///
  /// - Parameter id: the query's own; nil for one that is not added yet.
  func checkCount(_ query: BoundDefiningQuery, before id: Int64?) async throws(OfflineODataError) {
    do {
      let earlier = try await replica.queries().filter { $0.id < id ?? .max }
      guard earlier.count >= Connection.maximumQueries else { return }
      let settings = try await querySettings()
      let tables = earlier.flatMap { (try? bind($0, settings))?.tables ?? [] }
      let counts = Dictionary(tables.map { ($0, 1) }, uniquingKeysWith: +)
      for table in query.tables ?? [query.table.number] where counts[table, default: 0] >= Connection.maximumQueries {
        throw OfflineODataError(
          .tooManyDefiningQueries,
          "\(Connection.maximumQueries) defining queries already return rows of \(replica.plan.tables[table].name)")
      }
    } catch { throw OfflineODataError(below: error) }
  }

  /// The places of rows in the results of the defining queries, by the query's number. Queries that no longer fit the
  /// model are left out.
  func queryPlaces(_ settings: QuerySettings) async throws -> [Int64: QueryPlaces] {
    var all: [Int64: QueryPlaces] = [:]
    for row in try await replica.queries() {
      guard let bound = try? bind(row, settings) else { continue }
      var places = QueryPlaces(bound, replica.plan)
      places.isContradicted = row.memory?.contradictedLinks != nil
      places.keepsRawValues = settings.keepsRawValues(row.name)
      all[row.id] = places
    }
    return all
  }

  /// Adds a defining query. If `replaces` is true, it replaces a query with the same name.
  func add(_ query: OfflineODataDefiningQuery, replaces: Bool) async throws {
    if let existing = try await replica.query(query.name) {
      guard replaces else { throw OfflineODataError(.duplicateDefiningQuery, "'\(query.name)'") }
      let settings = try await querySettings()
      let isTracked = !settings.untracked.contains(query.name)
      let keepsRawValues = settings.keepsRawValues(query.name)
      let isSame = existing.url == query.query && existing.streams == query.automaticallyRetrievesStreams
      // Applications add their queries at every launch: nothing is written if nothing has changed.
      if isSame, isTracked == query.tracksChanges, keepsRawValues == query.keepsRawValues { return }
      // Changes alone would leave the kept values in the store.
      if keepsRawValues, !query.keepsRawValues { try await replica.readWhole(existing.id) }
    }
    let plan = replica.plan
    if !plan.tables.isEmpty {
      let bound = try BoundDefiningQuery(
        query.query, plan: plan, binder: try binder(plan), pageSize: nil, tracksChanges: query.tracksChanges)
      if query.automaticallyRetrievesStreams { try bound.checkStreams(plan) }
      try await checkCount(bound, before: try await replica.query(query.name)?.id)
    }
    isComplete.store(false, ordering: .relaxed)
    if query.keepsRawValues { try await replica.expectRawValues() }
    _ = try await replica.addQuery(query.name, url: query.query, streams: query.automaticallyRetrievesStreams)
    try await changeQuerySettings { settings in
      settings.setKeepsRawValues(query.keepsRawValues, query.name)
      if query.tracksChanges { settings.untracked.remove(query.name) } else { settings.untracked.insert(query.name) }
    }
  }

  /// Removes a defining query and the rows that no other query includes. Returns false if there is no query with the
  /// name.
  @discardableResult
  func remove(_ name: String) async throws -> Bool {
    guard try await replica.query(name) != nil else { return false }
    try await replica.write { (snapshot) throws(StorageError) in try LocalRows(snapshot).nameContainers() }
    try await replica.removeQuery(name)
    try await changeQuerySettings { settings in
      settings.untracked.remove(name)
      settings.setKeepsRawValues(false, name)
      settings.strategies[name] = nil
    }
    return true
  }

  /// The defining queries with their status.
  func status() async throws -> [OfflineODataDefiningQueryStatus] {
    let settings = try await querySettings()
    let plan = replica.plan
    var all: [OfflineODataDefiningQueryStatus] = []
    for row in try await replica.queries() {
      let query = OfflineODataDefiningQuery(
        row.name, row.url, automaticallyRetrievesStreams: row.streams,
        tracksChanges: !settings.untracked.contains(row.name), keepsRawValues: settings.keepsRawValues(row.name))
      // A query that no longer fits the model has no table.
      let table = plan.tables.isEmpty ? nil : (try? bind(row, settings))?.table
      let rows = if let table { try await replica.rowCount(of: row.id, in: table.number) } else { Int64(0) }
      all.append(
        OfflineODataDefiningQueryStatus(
          definingQuery: query, rows: rows, lastDownload: row.downloaded.map { Date(timeIntervalSince1970: $0) },
          lastStrategy: settings.strategies[row.name], hasDeltaLink: row.deltaLink != nil,
          hasPendingDownload: try await hasPendingDownload(row),
          contradictedLinks: row.memory?.contradictedLinks ?? [:]))
    }
    return all
  }

  /// Whether a query was never downloaded, or its download was interrupted.
  func hasPendingDownload(_ row: DefiningQueryRow) async throws -> Bool {
    if row.downloaded == nil { return true }
    let isPositionNull = try await replica.database.read { (connection) throws(StorageError) in
      try connection.first("SELECT position FROM larder_download WHERE query = ?1", .integer(row.id)) {
        (row) throws(StorageError) in row.isNull(0)
      }
    }
    return isPositionNull == false
  }

  /// Adds an operation to the event log. If `mergesRepeats` is set and the newest entry has the same content, only
  /// that entry's time is updated. If the log cannot be written, that is reported, and the operation does not fail.
  func log(_ record: EventLog.Record, mergesRepeats: Bool = false) async {
    guard !replica.isReadOnly else { return }
    do throws(StorageError) {
      try await replica.addEvent(
        JSONSettings.encode(record), at: environment.now().timeIntervalSince1970, limit: EventLog.limit,
        mergesRepeats: mergesRepeats)
    } catch {
      guard ![.closed, .suspended].contains(error.category) else { return }
      report(.eventNotLogged(record.type, path: replica.database.path, OfflineODataError(error)))
    }
  }

  /// Creates the indexes that the application requests. If there are no metadata yet, it records them for when the
  /// tables are created.
  func requestIndexes() async throws {
    let indexes = settings.indexes
    guard !indexes.isEmpty else { return }
    let isFilled = try await read { snapshot in !snapshot.plan.tables.isEmpty }
    guard !isFilled else {
      for index in indexes {
        guard try await replica.addIndex(on: index.entitySet, index.properties) else {
          throw OfflineODataError(
            .invalidParameter,
            "indexes: \(index.entitySet) (\(index.properties.joined(separator: ", "))) must name an entity set and "
              + "properties of it whose values can be compared")
        }
      }
      return
    }
    try await replica.database.write { (connection) throws(StorageError) in
      for index in indexes {
        try connection.run(
          "INSERT OR IGNORE INTO larder_index(name, paths) VALUES(?1, ?2)", .text(index.entitySet),
          .text(index.properties.joined(separator: ",")))
      }
    }
  }

  /// Sets the current model in the conversation with the service.
  func useModel() async throws {
    // The model that a transaction sees is the current one, even after another process has changed it.
    let model = try await read { snapshot in snapshot.plan.model }
    conversation.use(model)
  }
}
