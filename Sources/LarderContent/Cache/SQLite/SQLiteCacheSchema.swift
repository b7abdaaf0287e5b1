import LarderStorage

/// The schema of a ``SQLiteCache``'s file.
///
/// `entry` holds one stored response a row, with its content if that is small. Larger content is in `chunk`, in pieces
/// of one length, whose ids consist of the id of their `body` and their number. A body is staged while it is written,
/// live while a row of `entry` refers to it, and doomed from then on, until its chunks have been deleted a few at a
/// time. No id is ever reused. `used` orders the entries by their last use; it is not a time. `usage` holds the sum of
/// `entry.cost`.
enum SQLiteCacheSchema {
  /// The application id: `LrdR`.
  static let applicationID: Int32 = 0x4C72_6452

  static var schema: Schema { Schema(applicationID: applicationID, steps: [FirstTables()]) }

  /// The maximum number of content bytes in the entry's own row.
  static let inlineLimit = 64 << 10
  /// The number of bytes in a chunk; the last chunk of a body has fewer.
  static let chunkBytes = 64 << 10
  /// The maximum number of chunks of a body, which is also the number of ids for its chunks.
  static let chunkLimit: Int64 = 1 << 24
  /// The maximum number of bytes of one body.
  static let bodyLimit = Int(chunkLimit) * chunkBytes

  /// The id of a chunk.
  static func chunk(_ number: Int, of body: Int64) -> Int64 { body &* chunkLimit &+ Int64(number) }

  /// The values of `body.state`.
  enum BodyState: Int64 {
    case staged = 0
    case live = 1
    case doomed = 2
  }
}

/// Creates the tables of version 1.
private struct FirstTables: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run(
      """
      CREATE TABLE entry(
        id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE, used INTEGER NOT NULL, cost INTEGER NOT NULL,
        size INTEGER NOT NULL, body INTEGER NOT NULL, checksum INTEGER NOT NULL, metadata BLOB NOT NULL,
        content BLOB NOT NULL) STRICT
      """)
    try connection.run("CREATE INDEX entry_by_use ON entry(used)")
    try connection.run(
      """
      CREATE TABLE body(
        id INTEGER PRIMARY KEY AUTOINCREMENT, state INTEGER NOT NULL, touched INTEGER NOT NULL) STRICT
      """)
    try connection.run(
      "CREATE TABLE chunk(id INTEGER PRIMARY KEY, checksum INTEGER NOT NULL, bytes BLOB NOT NULL) STRICT")
    try connection.run("CREATE TABLE usage(one INTEGER PRIMARY KEY CHECK(one = 1), total INTEGER NOT NULL) STRICT")
    try connection.run("INSERT INTO usage VALUES(1, 0)")
  }
}
