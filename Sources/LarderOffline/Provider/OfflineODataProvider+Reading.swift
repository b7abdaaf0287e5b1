@_spi(Stores) import LarderCore
public import LarderOData
public import LarderService
import LarderStorage
import Synchronization

// Reads with other results than requests give: raw bytes, Swift types, streams, explanations.
extension OfflineODataProvider {
  /// Runs a query and returns the bytes that a service would send.
  ///
  /// - Parameters:
  ///   - path: a path relative to the service's root, such as `Orders?$filter=Status eq 'Open'`, or absolute.
  ///   - options: the version and the format.
  /// - Throws: `notFound` for an entity that does not exist, `notSupported` with the name of an unsupported feature,
  ///   `invalidInput`.
  public func readJSON(
    _ path: String, options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws -> OfflineODataResult {
    await afterScheduledChanges()
    let (bytes, end) = try await openStore().json(path, options)
    guard end.outcome != .nothing else { throw OfflineODataError(.entityNotFound, "'\(path.prefix { $0 != "?" })'") }
    return OfflineODataResult(contentType: end.mediaType, bytes: bytes, etag: end.etag)
  }

  /// Runs a typed query and returns the bytes that a service would send.
  public func readJSON<Entity: ODataDescribed>(
    _ query: ODataQuery<Entity>, options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws -> OfflineODataResult {
    try await readJSON(try text(query), options: options)
  }

  /// Runs a query and returns its result in pieces, read at the reader's pace, for results of any size. All pieces are
  /// of one state of the store, which is kept until the last piece is read or the stream is released.
  public func streamJSON(
    _ path: String, options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws -> OfflineODataResultStream {
    await afterScheduledChanges()
    let store = try openStore()
    let text = try store.relative(path)
    try await store.prepare(text, options)
    return try await translated {
      let stream = try await ResultStream.open(store.replica) { snapshot in
        try store.run(text, options, snapshot)
      }
      guard stream.end.outcome != .nothing else { throw OfflineODataError(.entityNotFound, "'\(text)'") }
      return OfflineODataResultStream(stream)
    }
  }

  /// Runs a query and decodes its result as a type of the application: an array for a collection, a `Decodable` type
  /// for one entity. Returns nil if the entity does not exist. The result is complete, whatever `resultPageSize` is.
  ///
  /// Values are decoded by their declared types: numbers from numbers (including those that V2 sends as text), `Date`
  /// from dates, `Bool` from booleans; text is never decoded as a number or a date. A `String` is the text as the
  /// service sent it, also for decimals and dates. Throws `undecodableType` with the property's path, its declared
  /// type, its content and the requested type.
  ///
  /// - Parameters:
  ///   - type: the type of the result.
  ///   - path: the query, relative to the service's root.
  public func read<Value: Decodable & Sendable>(_ type: Value.Type, _ path: String) async throws -> Value? {
    try await read(type, path, localRowsOnly: false)
  }

  /// Runs a query and decodes its result, and chooses the rows of entity sets.
  ///
  /// - Parameters:
  ///   - type: the type of the result.
  ///   - path: the query, relative to the service's root.
  ///   - localRowsOnly: whether entity sets contain only entities that were created here.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String, localRowsOnly: Bool
  ) async throws -> Value? {
    await afterScheduledChanges()
    let store = try openStore()
    let text = try store.relative(path)
    let options = OfflineODataResultOptions(localRowsOnly: localRowsOnly)
    try await store.prepare(text, options)
    return try await store.executeQuery(text, options, isPaged: false) { run, connection in
      try run.read(type, connection)
    }
  }

  /// Runs a typed query and decodes its result.
  public func read<Value: Decodable & Sendable, Entity: ODataDescribed>(
    _ type: Value.Type, _ query: ODataQuery<Entity>
  ) async throws -> Value? { try await read(type, try text(query)) }

  /// The results of a query: the current one, and a new one whenever a download or a local change affects what the
  /// query reads and the result differs.
  ///
  /// If there is no result, for example because the entity was deleted, the sequence ends with `notFound`. Use an
  /// optional type to continue: `live(Order?.self, "Orders(1)")`.
  public func live<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String
  ) throws -> OfflineODataLiveResults<Value> {
    try live(Value?.self, path).map { value in
      guard let value else { throw OfflineODataError(.resourceNotFound, path) }
      return value
    }
  }

  /// The results of a query, or nil while there is none, in the form that all stores share.
  public func liveResults<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String
  ) throws -> ODataLiveResults<Value?> {
    let results: OfflineODataLiveResults<Value?> = try live(Value?.self, path)
    return ODataLiveResults(results)
  }

  /// The results of a query, or nil while there is none: the current one, and a new one whenever a download or a local
  /// change affects what the query reads and the result differs.
  public func live<Value: Decodable & Sendable>(
    _ type: Value?.Type, _ path: String
  ) throws -> OfflineODataLiveResults<Value?> {
    let text = try openStore().relative(path)
    guard let resumable = state.withLock({ $0.resumable }) else { throw OfflineODataError(.storeNotOpen) }
    return OfflineODataLiveResults(
      {
        await resumable.current().map { store in
          LiveSource(replica: store.replica) { snapshot in
            try store.run(text, OfflineODataResultOptions(), snapshot, isPaged: false)
          }
        }
      },
      value: { run, connection in try run.read(Value.self, connection) })
  }

  private func text<Entity: ODataDescribed>(_ query: ODataQuery<Entity>) throws(OfflineODataError) -> String {
    let version = try openStore().replica.model.version
    do throws(ODataPrintingError) { return try query.text(version) } catch {
      throw OfflineODataError(.malformedURL, cause: error)
    }
  }

  /// The bytes of a media entity (`Photos(1)/$value`) or stream property (`Products(1)/Photo`) in the store, at the
  /// reader's pace.
  ///
  /// Throws `notFound` if they were never downloaded.
  public func streamMedia(_ path: String) async throws -> OfflineODataMedia { try await openStore().media(path) }

  /// Downloads the bytes of one media entity or stream property, whose entity is in the store. It needs the service.
  /// Bytes that are already the service's version are kept.
  public func downloadMedia(_ path: String) async throws {
    let store = try openStore()
    try store.checkWritable()
    let name = try await store.streamName(path)
    let source = try await store.plan(of: store.relative(path)).content.mediaTable?.name ?? ""
    let missingStream = StreamDownload.MissingStream(name: name, source: source, path: path)
    _ = try await translated { try await StreamDownload(store: store).fetch(missingStream) }
  }

  /// Whether a path names the bytes of a media entity or stream property.
  package func namesMedia(_ path: String, localRowsOnly: Bool = false) async throws -> Bool {
    let store = try openStore()
    return try await store.plan(of: store.relative(path), localRowsOnly: localRowsOnly).content.mediaTable != nil
  }

  /// The names of the columns of a result, as far as the model declares them; empty for a result without rows.
  package func columnNames(_ path: String, localRowsOnly: Bool = false) async throws -> [String] {
    let store = try openStore()
    return try await store.plan(of: store.relative(path), localRowsOnly: localRowsOnly).content.columnNames
  }

  /// The SQL of a query, and SQLite's query plan, for diagnosis.
  ///
  /// - Parameters:
  ///   - path: the query, relative to the service's root.
  ///   - localRowsOnly: whether entity sets contain only entities that were created here.
  public func explain(_ path: String, localRowsOnly: Bool = false) async throws -> OfflineODataExplanation {
    let store = try openStore()
    let text = try store.relative(path)
    try await store.prepare(text, OfflineODataResultOptions(localRowsOnly: localRowsOnly))
    return try await store.read { snapshot in
      let query = try store.preparedQuery(text, snapshot, QueryVariant(localRowsOnly: localRowsOnly))
      try query.plan.check(snapshot.connection)
      var explanation = OfflineODataExplanation(try Explanation(query.plan, on: snapshot.connection))
      explanation.isOfLocalRowsOnly = localRowsOnly
      return explanation
    }
  }
}

extension OfflineODataExplanation {
  init(_ explanation: Explanation) {
    statements = explanation.steps.map { step in
      Statement(
        path: step.path, isCount: step.isCount, sql: step.sql,
        parameters: step.parameters.map { $0.map(OfflineODataExplanation.literal) }, plan: step.plan)
    }
  }

  private static func literal(_ value: SQLValue) -> String {
    switch value {
    case .null: "NULL"
    case .integer(let number): String(number)
    case .real(let number): String(number)
    case .text(let text):
      "'" + text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "''") + "'"
    case .blob(let bytes): "x'" + Hexadecimal.text(bytes) + "'"
    }
  }
}

extension ReadContent {
  /// The table of the entities whose media are requested.
  var mediaTable: EntityTable? { if case .media(let shape, _) = self { shape.table } else { nil } }

  /// The names of the members of a row, without undeclared properties.
  var columnNames: [String] {
    switch self {
    case .objects(let shape):
      shape.members.compactMap { member in
        switch member.kind {
        case .column, .complex: member.name
        case .dynamic, .link: nil
        }
      } + shape.expands.compactMap(\.path.last)
    case .references: ["@id"]
    case .value(_, isRaw: false): ["value"]
    case .value, .count, .media: []
    }
  }
}
