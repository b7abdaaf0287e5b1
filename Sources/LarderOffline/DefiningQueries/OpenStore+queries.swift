import LarderCore
import LarderOData
import LarderService
import LarderStorage
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Defining queries and the event log of an open store.
extension OpenStore {
  /// What is kept of a defining query beside the replica's own row.
  struct QuerySettings: Codable, Sendable, Hashable {
    /// Queries by name that are to be read whole each time.
    var untracked: Set<String> = []
    /// The way of each query's last download.
    var ways: [String: OfflineODataDownloadStrategy] = [:]
  }

  private static let querySettingsName = "queries"

  /// What is kept of the defining queries.
  func querySettings() async throws -> QuerySettings {
    guard case .text(let text)? = try await replica.setting(Self.querySettingsName) else { return QuerySettings() }
    return JSONSettings.decode(QuerySettings.self, text) ?? QuerySettings()
  }

  /// Changes what is kept of the defining queries.
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
      row.url, plan: plan, binder: binder(plan), pageSize: parameters.pageSize,
      tracksChanges: !settings.untracked.contains(row.name))
    if row.streams { try bound.checkStreams(plan) }
    return bound
  }

  /// Throws `tooManyDefiningQueries` where as many of the queries before one bring rows of a table as can be told apart.
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
          .tooManyDefiningQueries, "\(Connection.maximumQueries) bring those of \(replica.plan.tables[table].name)")
      }
    } catch { throw OfflineODataError(below: error) }
  }

  /// Where rows stand in the answers of the defining queries, by number; of one that does not fit the model any more that is
  /// not known.
  func queryPlaces(_ settings: QuerySettings) async throws -> [Int64: QueryPlaces] {
    var all: [Int64: QueryPlaces] = [:]
    for row in try await replica.queries() {
      guard let bound = try? bind(row, settings) else { continue }
      var places = QueryPlaces(bound, replica.plan)
      places.isContradicted = row.memory?.contradictedLinks != nil
      all[row.id] = places
    }
    return all
  }

  /// Adds a defining query, or changes the one of its name where `replaces`.
  func add(_ query: OfflineODataDefiningQuery, replaces: Bool) async throws {
    if let known = try await replica.query(query.name) {
      guard replaces else { throw OfflineODataError(.duplicateDefiningQuery, "'\(query.name)'") }
      let isTracked = try await !querySettings().untracked.contains(query.name)
      let isSame = known.url == query.query && known.streams == query.automaticallyRetrievesStreams
      // As applications add it each time: nothing is written.
      if isSame, isTracked == query.tracksChanges { return }
    }
    let plan = replica.plan
    if !plan.tables.isEmpty {
      let bound = try BoundDefiningQuery(
        query.query, plan: plan, binder: binder(plan), pageSize: nil, tracksChanges: query.tracksChanges)
      if query.automaticallyRetrievesStreams { try bound.checkStreams(plan) }
      try await checkCount(bound, before: try await replica.query(query.name)?.id)
    }
    isComplete.store(false, ordering: .relaxed)
    _ = try await replica.addQuery(query.name, url: query.query, streams: query.automaticallyRetrievesStreams)
    try await changeQuerySettings { settings in
      if query.tracksChanges { settings.untracked.remove(query.name) } else { settings.untracked.insert(query.name) }
    }
  }

  /// Removes a defining query and the rows that no other one brings; false where there is none of that name.
  @discardableResult
  func remove(_ name: String) async throws -> Bool {
    guard try await replica.query(name) != nil else { return false }
    try await replica.removeQuery(name)
    try await changeQuerySettings { settings in
      settings.untracked.remove(name)
      settings.ways[name] = nil
    }
    return true
  }

  /// The defining queries and what became of them.
  func status() async throws -> [OfflineODataDefiningQueryStatus] {
    let settings = try await querySettings()
    let plan = replica.plan
    var all: [OfflineODataDefiningQueryStatus] = []
    for row in try await replica.queries() {
      let query = OfflineODataDefiningQuery(
        row.name, row.url, automaticallyRetrievesStreams: row.streams,
        tracksChanges: !settings.untracked.contains(row.name))
      // One that does not fit the model any more has no table.
      let table = plan.tables.isEmpty ? nil : (try? bind(row, settings))?.table
      let rows = if let table { try await replica.rowCount(of: row.id, in: table.number) } else { Int64(0) }
      all.append(
        OfflineODataDefiningQueryStatus(
          definingQuery: query, rows: rows, lastDownload: row.downloaded.map { Date(timeIntervalSince1970: $0) },
          lastWay: settings.ways[row.name], hasDeltaLink: row.deltaLink != nil,
          hasPendingDownload: try await hasPendingDownload(row),
          contradictedLinks: row.memory?.contradictedLinks ?? [:]))
    }
    return all
  }

  /// Whether a query was never downloaded, or its download was cut.
  func hasPendingDownload(_ row: DefiningQueryRow) async throws -> Bool {
    if row.downloaded == nil { return true }
    let found = try await replica.database.read { (connection) throws(StorageError) in
      try connection.first("SELECT position FROM larder_download WHERE query = ?1", .integer(row.id)) {
        (row) throws(StorageError) in row.isNull(0)
      }
    }
    return found == false
  }

  /// Adds an operation to the event log, or renews its newest line where that says the same and `once` is set. A log that
  /// cannot be written fails nothing.
  func log(_ record: EventLog.Record, once: Bool = false) async {
    _ = try? await replica.addEvent(
      JSONSettings.encode(record), at: environment.now().timeIntervalSince1970, limit: EventLog.limit, once: once)
  }

  /// Makes the indexes that the application asks for; before there are metadata, notes them for the making of the tables.
  func askIndexes() async throws {
    let indexes = parameters.indexes
    guard !indexes.isEmpty else { return }
    let isFilled = try await read { _, _, plan in !plan.tables.isEmpty }
    guard !isFilled else {
      for index in indexes {
        guard try await replica.addIndex(on: index.entitySet, index.properties) else {
          throw OfflineODataError(
            .invalidParameter, "there is no index on \(index.entitySet) (\(index.properties.joined(separator: ", ")))")
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

  /// Gives the conversation the model in use.
  func useModel() async throws {
    // What a transaction sees is what is in use, also after another process has changed it.
    let model = try await read { _, _, plan in plan.model }
    conversation.use(model)
  }
}
