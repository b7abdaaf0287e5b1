import LarderStorage

/// How many values there are, how many bytes they have, and the id of the next new row.
///
/// The newest row, which has the greatest id, stores these numbers: a new row is written anyway, so that no other write
/// is needed. If the newest row is long, it would have to be rewritten with each change of the numbers. In this case,
/// or if there is no row, the table `usage` stores them.
struct ObjectUsage: Sendable {
  private(set) var objects: Int64
  private(set) var bytes: Int64
  var next: Int64

  /// Adds to the numbers. They reach the end of their range only in a damaged file, which must not end the process.
  mutating func add(_ objects: Int64, _ bytes: Int64) {
    self.objects &+= objects
    self.bytes &+= bytes
  }

  /// True if a row with a value of this many bytes stores the usage while it is the newest.
  static func isStoredInRow(ofSize size: Int64) -> Bool { size <= 2048 }

  /// The usage that the file stores; nil if it stores none.
  static func read(_ connection: Connection) throws(StorageError) -> ObjectUsage? {
    let newest = try connection.first("SELECT objects, bytes, next FROM object ORDER BY id DESC LIMIT 1") {
      (row) throws(StorageError) in row.isNull(0) ? nil : try ObjectUsage(row)
    }
    if let usage = newest ?? nil { return usage }
    return try connection.first("SELECT objects, bytes, next FROM usage") { (row) throws(StorageError) in
      try ObjectUsage(row)
    }
  }

  private init(_ row: borrowing Row) throws(StorageError) {
    objects = try row.int64(0)
    bytes = try row.int64(1)
    next = try row.int64(2)
  }

  /// Writes the numbers to the newest row or the table `usage`.
  func write(_ connection: Connection) throws(StorageError) {
    let numbers: (SQLValue, SQLValue, SQLValue) = (.integer(objects), .integer(bytes), .integer(next))
    try connection.run(
      """
      UPDATE object SET objects = ?, bytes = ?, next = ?
      WHERE id = (SELECT max(id) FROM object) AND objects IS NOT NULL
      """, numbers.0, numbers.1, numbers.2)
    guard connection.changes == 0 else { return }
    try connection.run("UPDATE usage SET objects = ?, bytes = ?, next = ?", numbers.0, numbers.1, numbers.2)
  }
}
