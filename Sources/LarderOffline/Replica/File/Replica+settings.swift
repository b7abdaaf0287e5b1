import LarderStorage

/// An entry of the event log.
struct ReplicaEvent: Sendable, Hashable {
  let id: Int64
  /// Seconds since 1970.
  let time: Double
  /// The encoded text of the event.
  let text: String
}

extension Replica {
  /// The value of a setting; nil if there is none.
  func setting(_ name: String) async throws(StorageError) -> SQLValue? {
    try await database.read { (connection) throws(StorageError) in try connection.setting(name) }
  }

  /// Stores the value of a setting; nil removes it.
  func set(_ name: String, to value: SQLValue?) async throws(StorageError) {
    try await database.write { (connection) throws(StorageError) in try connection.set(name, to: value) }
  }

  /// Adds an entry to the event log and removes the oldest entries beyond `limit`. Returns the entry's number.
  @discardableResult
  func addEvent(_ text: String, at time: Double, limit: Int = 100, mergesRepeats: Bool = false)
    async throws(StorageError)
    -> Int64
  {
    try await database.write { (connection) throws(StorageError) in
      if mergesRepeats, let same = try connection.renewEvent(text, at: time) { return same }
      try connection.run("INSERT INTO larder_event(time, text) VALUES(?1, ?2)", .real(time), .text(text))
      let id = connection.lastInsertedRow
      try connection.run("DELETE FROM larder_event WHERE id <= ?1", .integer(id - Int64(limit)))
      return id
    }
  }

  /// The event log, oldest first.
  func events() async throws(StorageError) -> [ReplicaEvent] {
    try await database.read { (connection) throws(StorageError) in
      try connection.rows("SELECT id, time, text FROM larder_event ORDER BY id") { (row) throws(StorageError) in
        ReplicaEvent(id: try row.int64(0), time: row.real(1), text: try row.text(2))
      }
    }
  }
}

extension Connection {
  func setting(_ name: String) throws(StorageError) -> SQLValue? {
    try first("SELECT value FROM larder_setting WHERE name = ?1", .text(name)) { (row) throws(StorageError) in
      row.value(0)
    }
  }

  func set(_ name: String, to value: SQLValue?) throws(StorageError) {
    guard let value else { return try run("DELETE FROM larder_setting WHERE name = ?1", .text(name)) }
    try run("INSERT OR REPLACE INTO larder_setting(name, value) VALUES(?1, ?2)", .text(name), value)
  }
}

extension Connection {
  /// Updates the time of the newest event if it has this text; nil if it has another.
  fileprivate func renewEvent(_ text: String, at time: Double) throws(StorageError) -> Int64? {
    let newest = "SELECT id FROM larder_event WHERE id = (SELECT max(id) FROM larder_event) AND text = ?1"
    let id = try first(newest, .text(text)) { (row) throws(StorageError) in try row.int64(0) }
    guard let id else { return nil }
    try run("UPDATE larder_event SET time = ?1 WHERE id = ?2", .real(time), .integer(id))
    return id
  }
}
