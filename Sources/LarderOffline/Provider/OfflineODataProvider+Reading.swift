import LarderCore
public import LarderOData
import LarderService
import LarderStorage
import Synchronization

// Answers in other forms than requests give: raw bytes, Swift types, streams, explanations.
extension OfflineODataProvider {
  /// The answer to a question as the bytes that a service would send.
  ///
  /// - Parameters:
  ///   - path: relative to the service's root, such as `Orders?$filter=Status eq 'Open'`, or absolute.
  ///   - options: version and form.
  /// - Throws: `notFound` for an entity that there is not, `notSupported` with the construct's name, `invalidInput`.
  public func readJSON(
    _ path: String, options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws -> OfflineODataResult {
    await afterScheduledChanges()
    let (bytes, end) = try await openStore().json(path, options)
    guard end.outcome != .nothing else { throw OfflineODataError(.entityNotFound, "'\(path.prefix { $0 != "?" })'") }
    return OfflineODataResult(contentType: end.mediaType, bytes: bytes, etag: end.etag)
  }

  /// The same of a typed query.
  public func readJSON<Entity: ODataDescribed>(
    _ query: ODataQuery<Entity>, options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws -> OfflineODataResult {
    try await readJSON(try text(query), options: options)
  }

  /// The same piece by piece at the reader's pace, for answers of any size. All pieces are of one state of the store, which
  /// is kept until the last is read or the stream is dropped.
  public func streamJSON(
    _ path: String, options: OfflineODataResultOptions = OfflineODataResultOptions()
  ) async throws -> OfflineODataResultStream {
    await afterScheduledChanges()
    let store = try openStore()
    let text = try store.relative(path)
    try await store.prepare(text, options)
    return try await translated {
      let stream = try await ResultStream.open(store.replica) { connection, state, plan in
        try store.run(text, options, connection, state, plan)
      }
      guard stream.end.outcome != .nothing else { throw OfflineODataError(.entityNotFound, "'\(text)'") }
      return OfflineODataResultStream(stream)
    }
  }

  /// What a question asks for as a value of a type of the application's: an array for a collection, a `Decodable` for one
  /// entity. Nil where there is no such entity. It is the whole answer, whatever `answerPageSize` says.
  ///
  /// Values are decoded by their declared types: numbers from numbers (those that V2 sends as text, too), `Date` from dates,
  /// `Bool` from booleans; text is never taken for a number or a date. A `String` is the text as the service sent it, also of
  /// decimals and dates. Throws `undecodableType` with the property's path, its declared type, what it holds and what was
  /// asked for.
  ///
  /// - Parameters:
  ///   - type: the type of the answer.
  ///   - path: the question, relative to the service's root.
  ///   - localRowsOnly: whether entity sets are only those of their entities that were created here.
  public func read<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String, localRowsOnly: Bool = false
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

  /// The same of a typed query.
  public func read<Value: Decodable & Sendable, Entity: ODataDescribed>(
    _ type: Value.Type, _ query: ODataQuery<Entity>
  ) async throws -> Value? { try await read(type, try text(query)) }

  /// What a question asks for, now and again whenever a download or a change here touches what it reads and the answer
  /// differs.
  ///
  /// Where there is nothing, as for an entity that was deleted, the sequence ends with `notFound`. Ask for an optional type to
  /// go on: `live(Order?.self, "Orders(1)")`.
  public func live<Value: Decodable & Sendable>(
    _ type: Value.Type, _ path: String
  ) throws -> OfflineODataLiveResults<Value> {
    try live(Value?.self, path).map { value in
      guard let value else { throw OfflineODataError(.resourceNotFound, path) }
      return value
    }
  }

  /// What a question asks for, or nil while there is nothing: now, and again whenever a download or a change here touches what
  /// it reads and the answer differs.
  public func live<Value: Decodable & Sendable>(
    _ type: Value?.Type, _ path: String
  ) throws -> OfflineODataLiveResults<Value?> {
    let text = try openStore().relative(path)
    guard let resumable = state.withLock({ $0.resumable }) else { throw OfflineODataError(.storeNotOpen) }
    return OfflineODataLiveResults(
      {
        await resumable.current().map { store in
          LiveSource(replica: store.replica) { connection, state, plan in
            try store.run(text, OfflineODataResultOptions(), connection, state, plan, isPaged: false)
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

  /// The bytes of a media entity (`Photos(1)/$value`) or stream property (`Products(1)/Photo`) as the store has them, at the
  /// reader's pace.
  ///
  /// Throws `notFound` where they were never downloaded.
  public func streamMedia(_ path: String) async throws -> OfflineODataMedia { try await openStore().media(path) }

  /// Fetches the bytes of one media entity or stream property, whose entity is in the store; needs the service. What is
  /// there in the service's version stays.
  public func downloadMedia(_ path: String) async throws {
    let store = try openStore()
    try store.checkWritable()
    let name = try await store.streamName(path)
    let text = try store.relative(path)
    let source = try await store.read { connection, state, plan in
      try store.preparedQuery(text, connection, state, plan).plan.content.mediaTable?.name
    }
    let missingStream = StreamDownload.MissingStream(name: name, source: source ?? "", path: path)
    _ = try await translated { try await StreamDownload(store: store).fetch(missingStream) }
  }

  /// Whether a path names the bytes of a media entity or stream property.
  package func namesMedia(_ path: String, localRowsOnly: Bool = false) async throws -> Bool {
    let store = try openStore()
    let text = try store.relative(path)
    return try await store.read { connection, state, plan in
      try store.preparedQuery(text, connection, state, plan, QueryVariant(localRowsOnly: localRowsOnly)).plan.content
        .mediaTable
        != nil
    }
  }

  /// The names of what the rows of an answer have, as far as the model tells them; empty for what has no rows.
  package func columnNames(_ path: String, localRowsOnly: Bool = false) async throws -> [String] {
    let store = try openStore()
    let text = try store.relative(path)
    return try await store.read { connection, state, plan in
      try store.preparedQuery(text, connection, state, plan, QueryVariant(localRowsOnly: localRowsOnly)).plan.content
        .columnNames
    }
  }

  /// The SQL that answers a question, and SQLite's plan for it: for diagnosis.
  ///
  /// - Parameters:
  ///   - path: the question, relative to the service's root.
  ///   - localRowsOnly: whether entity sets are only those of their entities that were created here.
  public func explain(_ path: String, localRowsOnly: Bool = false) async throws -> OfflineODataExplanation {
    let store = try openStore()
    let text = try store.relative(path)
    try await store.prepare(text, OfflineODataResultOptions(localRowsOnly: localRowsOnly))
    return try await store.read { connection, state, plan in
      let question = try store.preparedQuery(text, connection, state, plan, QueryVariant(localRowsOnly: localRowsOnly))
      try question.plan.check(connection)
      var explanation = OfflineODataExplanation(try Explanation(question.plan, on: connection))
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
    case .blob(let bytes): "x'" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined() + "'"
    }
  }
}

extension ReadContent {
  /// The table of the entities whose media are asked for.
  var mediaTable: EntityTable? { if case .media(let shape, _) = self { shape.table } else { nil } }

  /// The names of what a row shows, without undeclared properties.
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
