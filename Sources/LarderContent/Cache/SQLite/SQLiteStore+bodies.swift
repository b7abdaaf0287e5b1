import LarderCore
import LarderStorage

// Large content. It is written piece by piece where no reader sees it, and deleted piece by piece when no reader uses
// it any more.
extension SQLiteStore {
  /// The number of chunks that one transaction deletes.
  private static let deletionSlice = 32
  /// After this many seconds a staged or doomed body is considered abandoned, even if other caches have the file open.
  private static let orphanAge: Int64 = 3600

  /// Writes chunks of a staged body, from number `first` on. Creates the body if there is none yet. Returns its id.
  func stage(_ chunks: [[UInt8]], first: Int, of body: Int64?) async throws(CacheError) -> Int64 {
    let writtenBody = WrittenBody()
    try await change(weight: chunks.reduce(0) { $0 + $1.count }) { (connection, _) throws(StorageError) in
      let id: Int64
      if let body { id = body } else { id = try SQLiteStore.makeBody(connection) }
      try SQLiteStore.insert(chunks, first: first, of: id, connection)
      writtenBody.id = id
    }
    return writtenBody.id
  }

  private static func makeBody(_ connection: Connection) throws(StorageError) -> Int64 {
    try connection.run(
      "INSERT INTO body(state, touched) VALUES(?, ?)", .integer(SQLiteCacheSchema.BodyState.staged.rawValue),
      .integer(connection.environment.unixSeconds))
    return connection.lastInsertedRow
  }

  private static func insert(
    _ chunks: [[UInt8]], first: Int, of body: Int64, _ connection: Connection
  ) throws(StorageError) {
    for (offset, chunk) in chunks.enumerated() {
      let id = SQLiteCacheSchema.chunk(first + offset, of: body)
      try connection.run(
        "INSERT INTO chunk(id, checksum, bytes) VALUES(?, ?, ?)", .integer(id),
        .integer(StoredRow.checksum(chunk: id, chunk)), .blob(chunk))
    }
    try connection.run(
      "UPDATE body SET touched = ? WHERE id = ?", .integer(connection.environment.unixSeconds),
      .integer(body))
  }

  /// Writes the last chunks of a staged body and stores it as an entry, in one step. Throws `gone` if the body is no
  /// longer staged.
  func commit(_ chunks: [[UInt8]], first: Int, _ row: NewRow) async throws(CacheError) {
    let wasStaged = WrittenBody()
    let weight = chunks.reduce(0) { $0 + $1.count }
    try await change(.entry(row.key), weight: weight) { [self] (connection, doomed) throws(StorageError) in
      try connection.run(
        "UPDATE body SET state = ? WHERE id = ? AND state = ?",
        .integer(SQLiteCacheSchema.BodyState.live.rawValue), .integer(row.body),
        .integer(SQLiteCacheSchema.BodyState.staged.rawValue))
      guard connection.changes == 1 else { return }
      try SQLiteStore.insert(chunks, first: first, of: row.body, connection)
      try put(row, connection, &doomed)
      wasStaged.id = row.body
    }
    if wasStaged.id == 0 { throw .gone }
  }

  /// Abandons a staged body.
  func abandon(_ body: Int64) {
    if holds.doom([body]) { deleteChunksInTurn() }
  }

  /// Ends the use of a body.
  func release(_ body: Int64) {
    if holds.release(body) { deleteChunksInTurn() }
  }

  /// Removes a damaged entry in the background.
  func discard(_ condition: String, _ value: Int64) {
    inTurn(.cleanUpFailed) { [self] turn throws(StorageError) in
      let doomed = try turn.write { (connection) throws(StorageError) in
        var doomed: [Int64] = []
        try remove(condition, .integer(value), connection, &doomed)
        return doomed
      }
      if holds.doom(doomed) { try deleteChunks(turn) }
    }
  }

  /// Deletes the chunks of bodies that nothing needs any more, in turns of the writer.
  func deleteChunksInTurn() { inTurn(.cleanUpFailed) { [self] turn throws(StorageError) in try deleteChunks(turn) } }

  /// Deletes some chunks; the others are deleted in later turns of the writer, so that changes can run in between.
  func deleteChunks(_ turn: Database.WriterTurn) throws(StorageError) {
    let bodies = holds.deletable(SQLiteStore.deletionSlice)
    guard !bodies.isEmpty else { return }
    defer { deleteChunksInTurn() }
    do throws(StorageError) {
      let done = try turn.write { (connection) throws(StorageError) in
        var remaining = SQLiteStore.deletionSlice
        var done: [Int64] = []
        for body in bodies where remaining > 0 {
          let count = try SQLiteStore.deleteChunks(of: body, limit: remaining, connection)
          if count < remaining { done.append(body) }
          remaining -= max(1, count)
        }
        return done
      }
      holds.finish(done)
    } catch {
      holds.finish(bodies)
      throw error
    }
  }

  /// Deletes chunks of a body, and the body itself if fewer chunks than the maximum are left. Returns how many there
  /// were.
  private static func deleteChunks(
    of body: Int64, limit: Int, _ connection: Connection
  ) throws(StorageError) -> Int {
    try connection.run(
      "DELETE FROM chunk WHERE id IN (SELECT id FROM chunk WHERE id >= ? AND id < ? LIMIT ?)",
      .integer(SQLiteCacheSchema.chunk(0, of: body)), .integer(SQLiteCacheSchema.chunk(0, of: body + 1)),
      .integer(Int64(limit)))
    let count = connection.changes
    if count < limit { try connection.run("DELETE FROM body WHERE id = ?", .integer(body)) }
    return count
  }

  /// Waits for running deletions, up to some hundred megabytes. The next opening deletes the rest.
  func finishDeletion() async throws(CacheError) {
    for _ in 0..<64 where !holds.isIdle {
      // This change waits for the turns that were requested before it.
      try await change { (_, _) in }
    }
  }

  /// Dooms bodies that killed processes left staged or doomed: all of them if no other cache has the file open,
  /// otherwise those that were not changed for an hour.
  func clearUp() async throws(CacheError) {
    let before = claim.isAlone ? Int64.max : seconds - SQLiteStore.orphanAge
    try await change { (connection, doomed) throws(StorageError) in
      let abandoned = try connection.integers(
        "SELECT id FROM body WHERE state <> ? AND touched < ?",
        .integer(SQLiteCacheSchema.BodyState.live.rawValue), .integer(before)
      )
      for body in abandoned {
        // A writer that is still writing the body finds that it is gone.
        try connection.run(
          "UPDATE body SET state = ? WHERE id = ?", .integer(SQLiteCacheSchema.BodyState.doomed.rawValue),
          .integer(body))
      }
      doomed += abandoned
    }
  }

  /// Writes some of the recorded uses in the background.
  func flushSomeUses() {
    inTurn(.usesNotWritten) { [self] turn throws(StorageError) in
      let slice = uses.removeSlice()
      defer { if uses.continuesFlushing() { flushSomeUses() } }
      try turn.write { (connection) throws(StorageError) in try SQLiteStore.write(slice, connection) }
    }
  }
}
