import Dispatch
@_spi(Stores) package import LarderCore
import Synchronization

/// An open database file: a writer and a pool of readers in WAL mode.
///
/// What ``write(_:)`` has returned is durable as ``DatabaseOptions/Synchronous`` says. Readers see the last commit. A
/// database that is released without being closed closes its files on the thread that releases it.
package final class Database: Sendable {
  /// The file's path.
  package let path: String

  /// Whether the file is still at its path. A file that was moved or removed can still be read and written.
  package var isInPlace: Bool { writer.isInPlace }

  /// The environment, whose clock this file's work uses.
  package var environment: LarderEnvironment { options.environment }

  /// Whether the file is opened read-only because it is not writable: writing throws `readOnly`.
  package let isReadOnly: Bool

  /// Whether the file is opened read-only because the disk was full when it was opened: writing throws `full`.
  package let isFull: Bool

  private let options: DatabaseOptions
  private let writer: Connection
  private let writing = DispatchQueue(label: "larder.storage.writer", qos: .userInitiated)
  /// Held by the current writer: the queue's work, or a caller that found the writer free.
  private let inTurn = Exclusive<Void>(())
  let readers: ReaderPool
  private let mover: LogMover
  /// Set by `close` and `suspend`; work that has begun continues.
  private let use = Atomic(StoreUse.open)

  init(
    _ path: String, options: DatabaseOptions, writer: Connection, cipher: CipherRegistry.Registration?,
    stamp: FileStamp? = nil, isFull: Bool = false
  ) {
    self.path = path
    self.isFull = isFull
    self.options = options
    self.writer = writer
    isReadOnly = writer.isReadOnly
    readers = ReaderPool(path, options: options, cipher: cipher, stamp: stamp)
    var plain = options
    plain.extensions = nil
    mover = LogMover { [plain] () throws(StorageError) in
      let connection = try Connection(path, access: .readWrite, options: plain, cipher: cipher)
      // The first reader opens the log.
      try connection.run("SELECT 1 FROM sqlite_schema LIMIT 1")
      return connection
    }
  }

  /// Opens a file, creates it if it is missing, and brings it up to date. If the disk is full, a file that is up to
  /// date is opened for reading: ``isFull``.
  ///
  /// - Parameters:
  ///   - key: the key of an encrypted file; nil opens a plain one. ``rekey(_:from:to:schema:options:)`` converts
  ///     between them.
  ///   - schema: what the file must be. A file of another application, or of a later version, is left untouched.
  /// - Throws: `cannotOpen`, `readOnly`, `notADatabase`, `corrupt`, `foreignFile`, `newerSchema`, `busy`, `full`;
  ///   `wrongKey`, `encrypted`, `notEncrypted`, `notSupported`, before anything is changed.
  package static func open(
    _ path: String, key: StorageKey? = nil, schema: Schema, options: DatabaseOptions = .init()
  ) async throws(StorageError) -> Database {
    // Readers are opened later, when the program's current folder may have changed.
    let path = DatabaseFile(path).absolutePath
    return try await result(on: openingQueue()) { () throws(StorageError) in
      let environment = options.environment
      let begin = environment.uptime()
      var keys: FileKeys?
      while true {
        var cipher: CipherRegistry.Registration?
        do throws(StorageError) {
          keys = try unlock(path, key, keys)
          if let keys { cipher = try CipherRegistry.add(path, .encrypted(keys)) }
          let writer = try connect(path, schema: schema, options: options, cipher: cipher)
          return Database(path, options: options, writer: writer, cipher: cipher)
        } catch {
          if let opened = try openToRead(path, schema: schema, options: options, cipher: cipher, after: error) {
            return opened
          }
          // Another process that opens a new file at the same time may block the switch to a write-ahead log. SQLite
          // does not retry then, because two connections that both hold a read lock would wait for each other.
          let patience = Duration.milliseconds(options.busyTimeoutMilliseconds)
          guard error.category == .busy, environment.uptime() - begin < patience else { throw error }
          var generator = environment.generator
          environment.block(.microseconds(Int.random(in: 1000...10_000, using: &generator)))
        }
      }
    }
  }

  /// A new queue, whose thread may block.
  static func openingQueue() -> DispatchQueue { DispatchQueue(label: "larder.storage.open", qos: .userInitiated) }

  private static func unlock(
    _ path: String, _ key: StorageKey?, _ known: FileKeys?
  ) throws(StorageError) -> FileKeys? {
    guard path != ":memory:" else {
      guard key == nil else { throw .notSupported(path, "An in-memory database cannot be encrypted") }
      return nil
    }
    if let key { return try EncryptedFile(path: path).unlock(key, known: known) }
    if try DatabaseFile(path).content() == .encrypted { throw .encrypted(path) }
    return nil
  }

  private static func connect(
    _ path: String, schema: Schema, options: DatabaseOptions, cipher: CipherRegistry.Registration?
  ) throws(StorageError) -> Connection {
    let writer = try Connection(path, access: .readWriteCreate, options: options, cipher: cipher)
    do throws(StorageError) {
      guard !options.allowsReadOnly || !writer.isReadOnly else { throw .readOnly(path, "The file is read-only") }
      _ = try writer.transaction(.deferred) { (writer) throws(StorageError) in try schema.version(of: writer) }
      try prepare(writer, options)
      // Freed pages are overwritten, so that each page of the file has been written. A page that was never written
      // could not be distinguished from one that was erased.
      if cipher != nil { try writer.run("PRAGMA secure_delete = ON") }
      // If the file was rekeyed while it was opened, another file has replaced it.
      guard writer.isInPlace else { throw StorageError.locked(path) }
      if path != ":memory:" { Rekeying.removeLeftovers(of: try CipherVFS.fullPath(path)) }
      try schema.apply(to: writer)
      return writer
    } catch {
      // If the file was replaced, an error from reading it beside the other file's log says nothing about either.
      let isInPlace = writer.isInPlace
      try? writer.close()
      throw isInPlace ? error : .locked(path)
    }
  }

  private static func prepare(_ writer: Connection, _ options: DatabaseOptions) throws(StorageError) {
    let mode = try writer.first("PRAGMA journal_mode = WAL") { (row) throws(StorageError) in try row.text(0) }
    guard mode == "wal" else {
      throw StorageError(.cannotOpen, message: "The file cannot use a write-ahead log", path: writer.file)
    }
    try writer.setLogRules(logRules(options))
    try writer.run("PRAGMA foreign_keys = ON")
    try writer.run("PRAGMA cache_size = -\(options.writerCacheKibibytes)")
    if let pages = options.maximumPageCount { try writer.run("PRAGMA max_page_count = \(pages)") }
  }

  // MARK: Running work

  /// Runs `body` in a transaction that sees one state of the file from beginning to end.
  package func read<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await Database.result(on: readers.queue) { [self] () throws(StorageError) in
      try borrowReader(for: .transaction) { (connection) throws(StorageError) in
        try connection.transaction(.deferred, body)
      }
    }
  }

  /// Runs `body` in a transaction after all writes requested before. The transaction is committed if `body` returns.
  package func write<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await resultInTurn { [self] () throws(StorageError) in try writeNow(body, waits: true) }
  }

  /// Runs `body` in a write transaction whose commit may be lost if the machine crashes, the last commits first. It is
  /// for large amounts of data that can be downloaded again. Each commit is passed to the system without waiting for
  /// the disk, and the log grows longer before it is moved into the file.
  ///
  /// After a slice that takes long, the writer pauses so that other processes waiting for the lock can take it.
  package func stage<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await resultInTurn { [self] () throws(StorageError) in
      try checkOpen()
      try checkRoom()
      try writer.setLogRules(Self.stagingRules)
      let begin = options.environment.uptime()
      let value = try writer.transaction(.immediate, body)
      let wasLong = options.environment.uptime() - begin > BusyRetryPolicy.slice
      mover.follow(writer, by: options.stagedLogPages)
      if wasLong { options.environment.block(BusyRetryPolicy.gap) }
      return value
    }
  }

  /// Rules with SQLite's own number of pages. A log that has grown large is truncated when it restarts.
  private static func logRules(_ options: DatabaseOptions) -> Connection.LogRules {
    Connection.LogRules(synchronous: options.synchronous, pages: 1000, keptBytes: 4 << 20)
  }

  /// The log's file is not truncated: shrinking and growing it again costs the system time while the write lock is
  /// held.
  private static let stagingRules = Connection.LogRules(synchronous: .normal, pages: nil, keptBytes: -1)

  /// Runs `body`, which must only do short reads, blocking. There is no transaction, so each statement sees the last
  /// commit.
  @available(*, noasync)
  package func readNow<Value>(
    _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try borrowReader(for: .point, body)
  }

  /// Schedules `work` on the writer's thread, in turn. It may call ``WriterTurn/write(_:)``.
  ///
  /// - Parameter waits: whether a transaction waits for another process's lock; otherwise it throws `busy` at once.
  package func whereWriting(waits: Bool = true, _ work: @escaping @Sendable (WriterTurn) -> Void) {
    whereWriting(waits: waits, work) { _ in }
  }

  /// Schedules `work` as ``whereWriting(waits:_:)`` does. When its turn has ended, its result is passed to `afterwards`,
  /// which has no lock and may call a user's code. Later work waits for it.
  package func whereWriting<Value: Sendable>(
    waits: Bool = true, _ work: @escaping @Sendable (WriterTurn) -> Value,
    afterwards: @escaping @Sendable (Value) -> Void
  ) {
    writing.async { [self] in
      let value = inTurn.run { _ in work(WriterTurn(database: self, waits: waits)) }
      afterwards(value)
    }
  }

  /// Runs `work` on the caller's thread, blocking, if no other caller of this process is writing; returns nil
  /// otherwise.
  ///
  /// A transaction of this turn throws `busy` at once if another process has the file's lock.
  @available(*, noasync)
  package func writeHere<Value>(_ work: (WriterTurn) -> Value) -> Value? {
    var value: Value?
    _ = inTurn.runIfFree { _ in value = work(WriterTurn(database: self, waits: false)) }
    return value
  }

  /// Proof that no other caller of this process is writing.
  package struct WriterTurn {
    fileprivate let database: Database
    /// Whether a transaction waits for another process's lock.
    package let waits: Bool

    /// Runs `body` in a transaction, blocking. The transaction is committed if `body` returns.
    package func write<Value>(
      _ body: (Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value { try database.writeNow(body, waits: waits) }

    /// Throws if the database is closed or suspended. Call it before taking a lock beside the database, which stays
    /// open during the turn.
    package func checkOpen() throws(StorageError) { try database.checkOpen() }
  }

  private func writeNow<Value>(
    _ body: (Connection) throws(StorageError) -> Value, waits: Bool
  ) throws(StorageError) -> Value {
    try checkOpen()
    try checkRoom()
    try writer.setLogRules(Self.logRules(options))
    if waits { return try writer.transaction(.immediate, body) }
    writer.setBusyTimeout(milliseconds: 0)
    defer { writer.setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds) }
    return try writer.transaction(.immediate, body)
  }

  private func borrowReader<Value>(
    for purpose: ReaderPool.Purpose, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try checkOpen()
    return try readers.withConnection(for: purpose) { (connection) throws(StorageError) in
      // The database was closed while this call waited for a connection.
      try checkOpen()
      return try body(connection)
    }
  }

  func checkOpen() throws(StorageError) {
    if let error = StorageError.unusable(path, use.load(ordering: .acquiring)) { throw error }
  }

  private func checkRoom() throws(StorageError) { if isFull { throw .fullSinceOpening(path) } }

  // MARK: Maintenance

  /// Checks the file for damage without comparing every index; throws `corrupt` with the first problem.
  package func checkIntegrity() async throws(StorageError) {
    let finding = try await read { (connection) throws(StorageError) in
      connection.forgetPages()
      return try connection.first("PRAGMA quick_check(1)") { (row) throws(StorageError) in try row.text(0) }
    }
    guard finding == "ok" else {
      throw StorageError(.corrupt, message: finding ?? "The integrity check returned no result", path: path)
    }
  }

  /// Moves the write-ahead log into the file as far as no reader prevents it, and waits for the disk. It holds no lock
  /// that other processes' writers wait for. A durable commit after much staged work then has little left to wait for.
  package func settleLog() async throws(StorageError) {
    try await resultInTurn { [self] () throws(StorageError) in
      try checkOpen()
      mover.wait()
      try writer.moveLog()
    }
  }

  /// Waits until the log mover is idle: the file is not accessed again before the next work.
  package func settle() async {
    await withCheckedContinuation { waiting in
      writing.async { [self] in
        mover.wait()
        waiting.resume()
      }
    }
  }

  /// Moves the write-ahead log into the file and truncates it; throws `busy` if a reader prevents that.
  package func checkpoint() async throws(StorageError) {
    try await resultInTurn { [self] () throws(StorageError) in
      try checkOpen()
      mover.wait()
      let isHindered = try writer.first("PRAGMA wal_checkpoint(TRUNCATE)") { (row) throws(StorageError) in
        try row.int64(0) != 0
      }
      if isHindered == true {
        throw StorageError(.busy, message: "Another connection is still reading from the write-ahead log", path: path)
      }
    }
  }

  /// Waits for running work, moves the log into the file and closes it. A second call does nothing.
  ///
  /// Throws `busy` with the SQL of a statement that is still in use. The database is closed to new work nevertheless.
  package func close() async throws(StorageError) {
    guard use.exchange(.closed, ordering: .acquiringAndReleasing) == .open else { return }
    try await end()
  }

  /// Closes the database as ``close()`` does; from then on work throws `suspended`. To use the file again, open it as
  /// another object. Has no effect on a database that is already closed.
  package func suspend() async throws(StorageError) {
    let before = use.compareExchange(expected: .open, desired: .suspended, ordering: .acquiringAndReleasing)
    if before.exchanged { try await end() }
  }

  private func end() async throws(StorageError) {
    try await resultInTurn { [self] () throws(StorageError) in
      // If one of them fails, the others are closed nevertheless, because there is no second attempt.
      let results: [Result<Void, StorageError>] = [
        Result { () throws(StorageError) in try readers.close(use.load(ordering: .acquiring)) },
        Result { () throws(StorageError) in try mover.close() },
        Result { () throws(StorageError) in try closeWriter() },
      ]
      for result in results { try result.get() }
    }
  }

  private func closeWriter() throws(StorageError) {
    guard !isReadOnly else { return try writer.close() }
    // Closing the last connection would also move the log, but without reporting a failure. Pages that another store or
    // process reads are left in the log: waiting for its readers would block its writer.
    let moved = Result { () throws(StorageError) in try writer.run("PRAGMA wal_checkpoint(PASSIVE)") }
    try writer.close()
    try moved.get()
  }

  /// Runs work on the writer's thread, in turn.
  private func resultInTurn<Value: Sendable>(
    _ work: @escaping @Sendable () throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await Database.result(on: writing) { [self] () throws(StorageError) in
      try inTurn.run { (_) throws(StorageError) in try work() }
    }
  }

  /// Runs blocking work on a queue's thread and suspends until its result is there.
  static func result<Value: Sendable>(
    on queue: DispatchQueue, _ work: @escaping @Sendable () throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    let result = await withCheckedContinuation { (waiting: CheckedContinuation<Result<Value, StorageError>, Never>) in
      queue.async { waiting.resume(returning: Result { () throws(StorageError) in try work() }) }
    }
    return try result.get()
  }
}
