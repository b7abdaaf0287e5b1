@_spi(Stores) import LarderCore
public import LarderHTTP
import LarderOData
import LarderStorage

/// The bytes of media entities and stream properties in the store's file, in chunks.
enum StoredStreams {
  /// The size of a chunk in bytes.
  static let chunk = 256 << 10

  /// The name of a stream: the identity of its entity, and the property, which is empty for the content of a media entity.
  struct Name: Sendable, Hashable {
    var entity: Int64
    var property: String
  }

  /// The metadata of a stream that is stored completely.
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

  /// The metadata of a stored stream; nil if there is none. A pending change takes precedence over the service's version.
  static func head(_ name: Name, _ connection: Connection) throws(StorageError) -> Head? {
    let pendingHead = try head(
      """
      SELECT content_type, NULL, bytes, generation FROM larder_media WHERE entity = ?1 AND property = ?2
        ORDER BY request DESC LIMIT 1
      """, name, connection)
    if let pendingHead { return pendingHead }
    return try downloadedHead(name, connection)
  }

  /// The metadata of the service's version of a stream, as a download or an upload has stored it.
  static func downloadedHead(_ name: Name, _ connection: Connection) throws(StorageError) -> Head? {
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

  /// Stores bytes as they arrive, one chunk in each transaction, under a new generation. If the content fails, its chunks
  /// are removed at the next opening.
  static func store(
    _ body: HTTPBodyStream, in database: Database
  ) async throws -> (generation: Int64, byteCount: Int64) {
    let generation = try await database.write { (connection) throws(StorageError) in
      try connection.takeIdentities(1)
    }
    func put(_ bytes: [UInt8], chunk number: Int64) async throws(StorageError) {
      try await database.write { (connection) throws(StorageError) in
        try connection.run(
          "INSERT OR REPLACE INTO larder_stream_chunk(generation, number, bytes) VALUES(?1, ?2, ?3)",
          .integer(generation), .integer(number), .blob(bytes))
      }
    }
    var (byteCount, number) = (Int64(0), Int64(0))
    var buffered: [UInt8] = []
    for try await piece in body {
      buffered += piece
      byteCount += Int64(piece.count)
      // A piece may be the whole content, so the rest is moved only once.
      var written = 0
      while buffered.count - written >= chunk {
        try await put(Array(buffered[written..<written + chunk]), chunk: number)
        written += chunk
        number += 1
      }
      buffered.removeFirst(written)
    }
    if !buffered.isEmpty { try await put(buffered, chunk: number) }
    return (generation, byteCount)
  }

  /// Replaces a stream by the chunks of a generation. Returns false if another process has removed some of the chunks
  /// because it took them for leftovers of a crash.
  static func finish(
    _ name: Name, source: String, _ head: Head, _ connection: Connection
  ) throws(StorageError) -> Bool {
    let chunkCount = (head.byteCount + Int64(chunk) - 1) / Int64(chunk)
    let count = try connection.first(
      "SELECT count(*) FROM larder_stream_chunk WHERE generation = ?1", .integer(head.generation)
    ) { (row) throws(StorageError) in try row.int64(0) }
    guard count == chunkCount else { return false }
    if let old = try downloadedHead(name, connection) { try drop(old.generation, connection) }
    try connection.run(
      """
      INSERT OR REPLACE INTO larder_stream(entity, property, source, content_type, etag, bytes, generation)
        VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
      """, .integer(name.entity), .text(name.property), .text(source), .text(head.contentType), .text(head.etag),
      .integer(head.byteCount), .integer(head.generation))
    return true
  }

  /// Sets the ETag of a stream after an upload.
  static func set(_ etag: String, of name: Name, _ connection: Connection) throws(StorageError) {
    try connection.run(
      "UPDATE larder_stream SET etag = ?3 WHERE entity = ?1 AND property = ?2", .integer(name.entity),
      .text(name.property), .text(etag))
  }

  static func drop(_ generation: Int64, _ connection: Connection) throws(StorageError) {
    try connection.run("DELETE FROM larder_stream_chunk WHERE generation = ?1", .integer(generation))
  }

  /// Removes the streams of entities that are no longer in a table.
  static func sweep(
    _ source: String, _ table: String, _ connection: Connection
  ) throws(StorageError) {
    let deletedEntities = "source = ?1 AND entity NOT IN (SELECT \"@id\" FROM \(table))"
    try connection.run(
      "DELETE FROM larder_stream_chunk WHERE generation IN (SELECT generation FROM larder_stream WHERE \(deletedEntities))",
      .text(source))
    try connection.run("DELETE FROM larder_stream WHERE \(deletedEntities)", .text(source))
  }

  /// Creates the tables if they do not exist.
  static func prepare(_ connection: Connection) throws(StorageError) {
    for sql in statements { try connection.run(sql) }
  }

  /// The condition for chunks that belong neither to a stored stream nor to one that is to be uploaded.
  private static let isUnreferenced = """
    generation NOT IN (SELECT generation FROM larder_stream)
    AND generation NOT IN (SELECT generation FROM larder_media)
    """

  /// Whether there are chunks of streams that were never completed.
  static func hasUnreferencedChunks(_ connection: Connection) throws(StorageError) -> Bool {
    try connection.first("SELECT 1 FROM larder_stream_chunk WHERE \(isUnreferenced) LIMIT 1") {
      (_) throws(StorageError) in true
    }
      ?? false
  }

  /// Removes the chunks of streams that were never completed.
  static func dropUnreferencedChunks(_ connection: Connection) throws(StorageError) {
    try connection.run("DELETE FROM larder_stream_chunk WHERE \(isUnreferenced)")
  }
}

/// The bytes of a media entity or stream property, read on demand.
public struct OfflineODataMedia: Sendable {
  /// The media type, if the service has sent one.
  public let contentType: String?
  /// The ETag of the bytes.
  public let etag: String?
  /// The bytes.
  public let body: HTTPBodyStream

  /// The media type and the ETag as header fields.
  var fields: HTTPFields {
    var fields: HTTPFields = [:]
    if let contentType { fields[.contentType] = contentType }
    if let etag { fields[.etag] = etag }
    return fields
  }
}

extension EntityTable {
  /// Whether its entities have streams: as media entities, or in stream properties.
  var hasStreams: Bool { columns.contains { $0.storage == .stream } || types.contains { $0.hasStream } }

  /// Whether the URLs of its entities can be built without those of other entities.
  var hasReachableStreams: Bool {
    switch place {
    case .entitySet, .singleton: true
    case .containment, .type: false
    }
  }
}
