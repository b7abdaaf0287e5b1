import LarderStorage

/// The schema of an ``ObjectStore``'s file.
///
/// `object` holds one value a row. The value's bytes are the last column, so that the other columns are read without
/// them. Its `labels` column lists the labels that have rows in `label`, so that the old row alone determines which of
/// them to delete. `label` maps a label to its keys, in order. `request` holds how often and when (as a rising number)
/// each value was requested by key. It is separate from the values, so that counting never rewrites a value. A value
/// that was never requested may have no row there. `objects`, `bytes` and `next` of the newest row, or else of `usage`,
/// are the number of rows of `object`, the sum of `size` and the id of the next new row; see ``ObjectUsage``. An id is
/// never reused, because request counts that are not written yet refer to it. `version` increases with each put that
/// replaces a value. Timestamps are microseconds since 1970.
enum ObjectSchema {
  /// The application id: `LrdO`.
  static let applicationID: Int32 = 0x4C72_644F

  static var schema: Schema { Schema(applicationID: applicationID, steps: [ObjectTables()]) }
}

/// Creates the tables of version 1.
private struct ObjectTables: SchemaStep {
  func run(on connection: Connection) throws(StorageError) {
    try connection.run(
      """
      CREATE TABLE object(
        id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, version INTEGER NOT NULL, created INTEGER NOT NULL, updated INTEGER NOT NULL,
        expires INTEGER, coding INTEGER NOT NULL, checksum INTEGER NOT NULL, size INTEGER NOT NULL, objects INTEGER,
        bytes INTEGER, next INTEGER, labels BLOB, value BLOB NOT NULL) STRICT
      """)
    try connection.run("CREATE INDEX object_by_expiry ON object(expires, size) WHERE expires IS NOT NULL")
    try connection.run(
      """
      CREATE TABLE label(label TEXT NOT NULL, key TEXT NOT NULL, object INTEGER NOT NULL, PRIMARY KEY(label, key))
      STRICT, WITHOUT ROWID
      """)
    try connection.run(
      "CREATE TABLE request(object INTEGER PRIMARY KEY, times INTEGER NOT NULL, last INTEGER NOT NULL) STRICT")
    try connection.run("CREATE INDEX request_by_times ON request(times, last)")
    try connection.run("CREATE INDEX request_by_last ON request(last)")
    try connection.run(
      """
      CREATE TABLE usage(
        one INTEGER PRIMARY KEY CHECK(one = 1), objects INTEGER NOT NULL, bytes INTEGER NOT NULL,
        next INTEGER NOT NULL) STRICT
      """)
    try connection.run("INSERT INTO usage VALUES(1, 0, 0, 1)")
  }
}
