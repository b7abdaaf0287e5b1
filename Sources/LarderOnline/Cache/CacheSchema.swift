import LarderStorage

/// The schema of the technical cache's file.
///
/// `entry` holds one complete response in each row. Its content is behind all columns that are read without it. `metadata`
/// holds the service's `$metadata`, which no clean-up removes. `usage` holds the sum of `entry.cost`, updated in the same
/// transactions. An `id` is never reused: the result of a request for a deleted row
/// must not be written to another row. `scope` and `variant` are digests under `salt`: the file contains no credential.
enum CacheSchema {
  /// `LrdC`.
  static let applicationID: Int32 = 0x4C72_6443

  static var schema: Schema { Schema(applicationID: applicationID, steps: [CacheTables(), EntrySenders()]) }
}

/// Version 1.
private struct CacheTables: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run("CREATE TABLE property(name TEXT PRIMARY KEY, value BLOB NOT NULL) STRICT, WITHOUT ROWID")
    try connection.run(
      """
      CREATE TABLE entry(
        id INTEGER PRIMARY KEY AUTOINCREMENT, url TEXT NOT NULL, scope BLOB NOT NULL, variant BLOB NOT NULL,
        status INTEGER NOT NULL, stored INTEGER NOT NULL, used INTEGER NOT NULL, cost INTEGER NOT NULL,
        checksum INTEGER NOT NULL, delta_link TEXT, fields TEXT NOT NULL, payload BLOB NOT NULL,
        UNIQUE(url, scope, variant)) STRICT
      """)
    try connection.run("CREATE INDEX entry_by_use ON entry(used)")
    try connection.run(
      """
      CREATE TABLE metadata(
        scope BLOB PRIMARY KEY, stored INTEGER NOT NULL, checksum INTEGER NOT NULL, fields TEXT NOT NULL,
        payload BLOB NOT NULL) STRICT
      """)
    try connection.run("CREATE TABLE usage(one INTEGER PRIMARY KEY CHECK(one = 1), total INTEGER NOT NULL) STRICT")
    try connection.run("INSERT INTO usage VALUES(1, 0)")
    try connection.run("INSERT INTO property VALUES('salt', ?)", .blob(Digest.randomBytes(32)))
  }
}

/// Version 2: the URL that sent an entry's response, if it is not the requested one.
private struct EntrySenders: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run("ALTER TABLE entry ADD COLUMN sender TEXT")
  }
}
