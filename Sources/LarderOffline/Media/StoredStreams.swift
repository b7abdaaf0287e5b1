import LarderCore
public import LarderHTTP
import LarderOData
import LarderStorage

/// The bytes of media entities and stream properties in the store's file, in chunks.
enum StoredStreams {
  /// The bytes of a chunk.
  static let chunk = 256 << 10

  /// Which stream: of an entity by its identity; `property` is empty for a media entity's own.
  struct Name: Sendable, Hashable {
    var entity: Int64
    var property: String
  }

  /// What is known of a stream whose bytes are all there.
  struct Head: Sendable, Hashable {
    var contentType: String?
    var etag: String?
    var byteCount: Int64
    var generation: Int64
  }

  private static let statements = [
    """
    CREATE TABLE IF NOT EXISTS larder_stream(entity INTEGER NOT NULL, property TEXT NOT NULL, source TEXT NOT NULL,
      content_type TEXT, etag TEXT, bytes INTEGER NOT NULL, generation INTEGER NOT NULL, PRIMARY KEY(entity, property))
    """,
    """
    CREATE TABLE IF NOT EXISTS larder_stream_chunk(generation INTEGER NOT NULL, number INTEGER NOT NULL,
      bytes BLOB NOT NULL, PRIMARY KEY(generation, number)) WITHOUT ROWID
    """,
  ]

  /// What is kept of a stream; nil for nothing. What waits to be sent lies over what the service has.
  static func head(_ name: Name, _ connection: Connection) throws(StorageError) -> Head? {
    let waiting = try head(
      """
      SELECT content_type, NULL, bytes, generation FROM larder_media WHERE entity = ?1 AND property = ?2
        ORDER BY request DESC LIMIT 1
      """, name, connection)
    if let waiting { return waiting }
    return try brought(name, connection)
  }

  /// What a download has brought of a stream, or an upload has taken there.
  static func brought(_ name: Name, _ connection: Connection) throws(StorageError) -> Head? {
    try head(
      "SELECT content_type, etag, bytes, generation FROM larder_stream WHERE entity = ?1 AND property = ?2", name,
      connection)
  }

  private static func head(
    _ sql: String, _ name: Name, _ connection: Connection
  ) throws(StorageError) -> Head? {
    try connection.first(sql, .integer(name.entity), .text(name.property)) { (row) throws(StorageError) in
      Head(
        contentType: try row.textOrNil(0), etag: try row.textOrNil(1), byteCount: try row.int64(2),
        generation: try row.int64(3))
    }
  }

  /// The bytes of a stream, read as they are pulled: all of the state in which it was opened.
  static func body(_ head: Head, _ store: OpenStore) -> HTTPBodyStream {
    let next = Locked<Int64>(0)
    let count = (head.byteCount + Int64(chunk) - 1) / Int64(chunk)
    return HTTPBodyStream(length: Int(clamping: head.byteCount)) {
      let number = next.withLock { number in
        defer { number += 1 }
        return number
      }
      guard number < count else { return nil }
      let bytes = try await store.read { connection, _, _ in
        try connection.first(
          "SELECT bytes FROM larder_stream_chunk WHERE generation = ?1 AND number = ?2", .integer(head.generation),
          .integer(number)
        ) { (row) throws(StorageError) in try row.bytes(0) }
      }
      guard let bytes else { throw OfflineODataError(.mediaNotFound, "the stream was replaced while it was read") }
      return bytes
    }
  }

  /// Begins the bytes of a stream: a number that its chunks are kept under, never used before.
  static func begin(_ connection: Connection) throws(StorageError) -> Int64 { try connection.takeIdentities(1) }

  static func put(
    _ bytes: [UInt8], _ number: Int64, _ generation: Int64, _ connection: Connection
  ) throws(StorageError) {
    try connection.run(
      "INSERT OR REPLACE INTO larder_stream_chunk(generation, number, bytes) VALUES(?1, ?2, ?3)",
      .integer(generation), .integer(number), .blob(bytes))
  }

  /// Puts whole bytes in the place of those that were there; false where some of them were taken for a crash's by another
  /// process.
  static func finish(
    _ name: Name, source: String, _ head: Head, _ connection: Connection
  ) throws(StorageError) -> Bool {
    let wanted = (head.byteCount + Int64(chunk) - 1) / Int64(chunk)
    let count = try connection.first(
      "SELECT count(*) FROM larder_stream_chunk WHERE generation = ?1", .integer(head.generation)
    ) { (row) throws(StorageError) in try row.int64(0) }
    guard count == wanted else { return false }
    if let old = try brought(name, connection) { try drop(old.generation, connection) }
    try connection.run(
      """
      INSERT OR REPLACE INTO larder_stream(entity, property, source, content_type, etag, bytes, generation)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """, .integer(name.entity), .text(name.property), .text(source), .text(head.contentType), .text(head.etag),
      .integer(head.byteCount), .integer(head.generation))
    return true
  }

  /// Notes the version of the bytes that an upload has taken to the service.
  static func set(_ etag: String, of name: Name, _ connection: Connection) throws(StorageError) {
    try connection.run(
      "UPDATE larder_stream SET etag = ?3 WHERE entity = ?1 AND property = ?2", .integer(name.entity),
      .text(name.property), .text(etag))
  }

  static func drop(_ generation: Int64, _ connection: Connection) throws(StorageError) {
    try connection.run("DELETE FROM larder_stream_chunk WHERE generation = ?1", .integer(generation))
  }

  /// Drops the streams of entities that are gone from a table.
  static func sweep(
    _ source: String, _ table: String, _ connection: Connection
  ) throws(StorageError) {
    let gone = "source = ?1 AND entity NOT IN (SELECT \"@id\" FROM \(table))"
    try connection.run(
      "DELETE FROM larder_stream_chunk WHERE generation IN (SELECT generation FROM larder_stream WHERE \(gone))",
      .text(source))
    try connection.run("DELETE FROM larder_stream WHERE \(gone)", .text(source))
  }

  /// Makes the tables where they are missing.
  static func prepare(_ connection: Connection) throws(StorageError) {
    for sql in statements { try connection.run(sql) }
  }

  /// Neither a stream's, nor of one that is to be sent.
  private static let strays = """
    generation NOT IN (SELECT generation FROM larder_stream)
    AND generation NOT IN (SELECT generation FROM larder_media)
    """

  /// Whether there are bytes of streams that never came to their end.
  static func hasStrays(_ connection: Connection) throws(StorageError) -> Bool {
    try connection.first("SELECT 1 FROM larder_stream_chunk WHERE \(strays) LIMIT 1") { (_) throws(StorageError) in true
    }
      ?? false
  }

  /// Drops them.
  static func dropStrays(_ connection: Connection) throws(StorageError) {
    try connection.run("DELETE FROM larder_stream_chunk WHERE \(strays)")
  }
}

/// The bytes of a media entity or stream property, read as they are pulled.
public struct OfflineODataMedia: Sendable {
  /// The media type, where the service gave one.
  public let contentType: String?
  /// The version of the bytes.
  public let etag: String?
  /// The bytes.
  public let body: HTTPBodyStream

  /// As header fields.
  var fields: HTTPFields {
    var fields: HTTPFields = [:]
    if let contentType { fields[.contentType] = contentType }
    if let etag { fields[.etag] = etag }
    return fields
  }
}

extension OpenStore {
  /// Which stream a path names: `Photos(1)/$value`, `Products(1)/Photo`.
  func streamName(_ path: String) async throws(OfflineODataError) -> StoredStreams.Name {
    let text = try relative(path)
    return try await read { [self] connection, state, plan in
      let question = try question(text, connection, state, plan)
      guard case .media(let shape, let property) = question.plan.content, let id = shape.id else {
        throw OfflineODataError(.unsupportedRequest, "'\(path.prefix { $0 != "?" })' does not lead to media")
      }
      try question.plan.check(connection)
      var found: Int64?
      try ResultWriter(connection: connection, types: ResultTypes(model: plan.model, form: form(.init(), plan.model)))
        .forEachRow(question.plan.sql, ResultWriter.values(question.plan.parameters)) { row in
          found = row.integer(id)
          return false
        }
      guard let found else { throw OfflineODataError(.entityNotFound, "'\(path.prefix { $0 != "?" })'") }
      return StoredStreams.Name(entity: found, property: property ?? "")
    }
  }

  /// The bytes that a path names; throws `notFound` where the store has not got them.
  func media(_ path: String) async throws(OfflineODataError) -> OfflineODataMedia {
    let name = try await streamName(path)
    let head = try await read { connection, _, _ in try StoredStreams.head(name, connection) }
    guard let head else { throw OfflineODataError(.mediaNotFound, "'\(path.prefix { $0 != "?" })'") }
    return OfflineODataMedia(
      contentType: head.contentType, etag: head.etag, body: StoredStreams.body(head, self))
  }
}
