// SQLite from Swift, and what else touches the disk or digests bytes. Everything above speaks to these types only.
//
// The way of one piece of work:
// 1. Schema/      ``Database/open(_:key:schema:options:)`` looks at the file first (whose is it, is it whole), then
//                 brings it up to date by ``Schema``.
// 2. Connection/  one writer on its serial queue, readers lent from a pool; no async call blocks a thread of the
//                 concurrency pool. Closures are transactions.
//                 A ``ReadSession`` keeps a transaction open between calls.
// 3. Statement/   SQL is prepared once a connection; values are bound by class; a ``Row`` is read in place. A ``RowBatch``
//                 is many rows for one statement, a ``RowCursor`` a query that stops between rows.
//    Function/    functions, aggregate functions and collations of ours: ``SQLExtensions``.
// 4. Error/       every failure is a ``StorageError``: category, the engine's codes, the SQL without values, the file.
// 5. Lock/        an advisory lock that tells other stores and processes that a file is in use; a number that tells them
//                 that it has changed; whether a store is open, suspended or closed.
// 6. Digest/      SHA-256, HMAC and random bytes from the platform's library.
// 7. Encryption/  a VFS between SQLite and the system's files that seals pages, log and temporary files; keys; rekeying.
// 8. Recency/     what was used last, for the tiers in memory of the stores above.
// 9. File/        a file that appears whole or not at all, for what is written beside databases; the flush to the disk itself.

import Dispatch
package import LarderCore
import Synchronization

/// One database file in use: a writer and a pool of readers in WAL mode.
///
/// What ``write(_:)`` has returned is durable as ``DatabaseOptions/Synchronous`` says. Readers see the last commit.
package final class Database: Sendable {
  /// The file's path.
  package let path: String

  /// Whether the file is still at its path; one that was moved or removed is read and written on where it is.
  package var isInPlace: Bool { writer.isInPlace }

  /// The clock of this file's work.
  package var environment: LarderEnvironment { options.environment }

  /// Whether the file is only read, for it may not be written to: writing throws `readOnly`.
  package let isReadOnly: Bool

  /// Whether the file is only read, for the disk was full when it was opened: writing throws `full`.
  package let isFull: Bool

  private let options: DatabaseOptions
  private let writer: Connection
  private let writing = DispatchQueue(label: "larder.storage.writer", qos: .userInitiated)
  /// Taken by the one that writes: the work of the queue, or a caller if the writer is free.
  private let inTurn = Exclusive<Void>(())
  let readers: ReaderPool
  private let mover: LogMover
  /// Set by `close` and `suspend`; work that has begun goes on.
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
      // The log is opened by who reads first.
      try connection.run("SELECT 1 FROM sqlite_schema LIMIT 1")
      return connection
    }
  }

  /// Opens a file, makes it where it is missing, and brings it up to date. Where the disk is full, a file that is up to date is
  /// opened to be read: ``isFull``.
  ///
  /// - Parameters:
  ///   - key: encrypts the file; nil opens a plain one. ``rekey(_:from:to:schema:options:)`` makes the one of the other.
  ///   - schema: what the file must be. A file of another application, or of a later version, is left untouched.
  /// - Throws: `cannotOpen`, `readOnly`, `notADatabase`, `corrupt`, `foreignFile`, `newerSchema`, `busy`, `full`;
  ///   `wrongKey`, `encrypted`, `notEncrypted`, `notSupported`, before anything is changed.
  package static func open(
    _ path: String, key: StorageKey? = nil, schema: Schema, options: DatabaseOptions = .init()
  ) async throws(StorageError) -> Database {
    // Readers are opened later, when the program may work in another folder.
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
          let writer = try connect(path, schema, options, cipher)
          return Database(path, options: options, writer: writer, cipher: cipher)
        } catch {
          if let opened = try openToRead(path, schema, options, cipher, after: error) { return opened }
          // Who opens a new file at the same moment may stand in the way of its change to a log, and SQLite does not
          // wait for that: two that both read would wait for each other.
          let patience = Duration.milliseconds(options.busyTimeoutMilliseconds)
          guard error.category == .busy, environment.uptime() - begin < patience else { throw error }
          var generator = environment.generator
          environment.block(.microseconds(Int.random(in: 1000...10_000, using: &generator)))
        }
      }
    }
  }

  /// A thread that may block.
  static func openingQueue() -> DispatchQueue { DispatchQueue(label: "larder.storage.open", qos: .userInitiated) }

  private static func unlock(
    _ path: String, _ key: StorageKey?, _ known: FileKeys?
  ) throws(StorageError) -> FileKeys? {
    guard path != ":memory:" else {
      guard key == nil else { throw .notSupported(path, "A database in memory is not encrypted") }
      return nil
    }
    if let key { return try EncryptedFile(path: path).unlock(key, known: known) }
    if try DatabaseFile(path).content() == .encrypted { throw .encrypted(path) }
    return nil
  }

  private static func connect(
    _ path: String, _ schema: Schema, _ options: DatabaseOptions, _ cipher: CipherRegistry.Registration?
  ) throws(StorageError) -> Connection {
    let writer = try Connection(path, access: .readWriteCreate, options: options, cipher: cipher)
    do throws(StorageError) {
      guard !options.allowsReadOnly || !writer.isReadOnly else { throw .readOnly(path, "The file may only be read") }
      _ = try writer.transaction(.deferred) { (writer) throws(StorageError) in try schema.version(of: writer) }
      try prepare(writer, options)
      // Its pages are overwritten when they are freed, so that each page of the file has been written: one that was not
      // cannot be told from one that was wiped.
      if cipher != nil { try writer.run("PRAGMA secure_delete = ON") }
      // A file that was rekeyed while it was opened has another in its place.
      guard writer.isInPlace else { throw StorageError.locked(path) }
      if path != ":memory:" { Rekeying.removeLeftovers(of: try CipherVFS.fullPath(path)) }
      try schema.apply(to: writer)
      return writer
    } catch {
      // What was read of a file beside another's log says nothing about either.
      let isInPlace = writer.isInPlace
      try? writer.close()
      throw isInPlace ? error : .locked(path)
    }
  }

  private static func prepare(_ writer: Connection, _ options: DatabaseOptions) throws(StorageError) {
    let mode = try writer.first("PRAGMA journal_mode = WAL") { (row) throws(StorageError) in try row.text(0) }
    guard mode == "wal" else {
      throw StorageError(.cannotOpen, message: "The file cannot use a write-ahead log", file: writer.file)
    }
    try writer.setLogRules(logRules(options))
    try writer.run("PRAGMA foreign_keys = ON")
    try writer.run("PRAGMA cache_size = -\(options.writerCacheKibibytes)")
    if let pages = options.maximumPageCount { try writer.run("PRAGMA max_page_count = \(pages)") }
  }

  // MARK: Working

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

  /// Runs `body` in a transaction after all writes asked for before; committed where it returns.
  package func write<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws(StorageError) -> Value
  ) async throws(StorageError) -> Value {
    try await resultInTurn { [self] () throws(StorageError) in try writeNow(body, waits: true) }
  }

  /// The same of work that may be lost with the machine, the last commits first: what can be fetched again, in great
  /// numbers. Each commit is with the system, none is waited for, and the log grows longer before it is moved.
  ///
  /// Slices of some length leave a gap behind them, in which other processes get the lock that wait for it.
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

  /// SQLite's own number of pages; a log that grew once is cut when it begins anew.
  private static func logRules(_ options: DatabaseOptions) -> Connection.LogRules {
    Connection.LogRules(synchronous: options.synchronous, pages: 1000, keptBytes: 4 << 20)
  }

  /// The log's file stays as it is: to give its end back and to take it again keeps the system busy while the write lock is
  /// held.
  private static let stagingRules = Connection.LogRules(synchronous: .normal, pages: nil, keptBytes: -1)

  /// Runs `body`, short reads, blocking; without a transaction, so each statement sees the last commit.
  @available(*, noasync)
  package func readNow<Value>(
    _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try borrowReader(for: .point, body)
  }

  /// Runs `work` soon on the writer's thread, in turn: there ``WriterTurn/write(_:)`` may be called.
  ///
  /// - Parameter waits: whether a transaction waits for another process's lock; otherwise it throws `busy` at once.
  package func whereWriting(waits: Bool = true, _ work: @escaping @Sendable (WriterTurn) -> Void) {
    writing.async { [self] in inTurn.run { _ in work(WriterTurn(database: self, waits: waits)) } }
  }

  /// Runs `work` on the caller's thread, blocking, where nobody of this process writes; nil where somebody does.
  ///
  /// A transaction of this turn throws `busy` at once where another process has the file's lock.
  @available(*, noasync)
  package func writeHere<Value>(_ work: (WriterTurn) -> Value) -> Value? {
    var value: Value?
    _ = inTurn.runIfFree { _ in value = work(WriterTurn(database: self, waits: false)) }
    return value
  }

  /// Proof that nobody else of this process writes.
  package struct WriterTurn {
    fileprivate let database: Database
    /// Whether a transaction waits for another process's lock.
    package let waits: Bool

    /// Runs `body` in a transaction, blocking; committed where it returns.
    package func write<Value>(
      _ body: (Connection) throws(StorageError) -> Value
    ) throws(StorageError) -> Value { try database.writeNow(body, waits: waits) }

    /// Throws where the database is closed or suspended: before a lock beside it is taken. It stays open during the turn.
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
    return try readers.borrow(for: purpose) { (connection) throws(StorageError) in
      // Closed while waiting for a connection.
      try checkOpen()
      return try body(connection)
    }
  }

  func checkOpen() throws(StorageError) {
    if let error = StorageError.unusable(path, use.load(ordering: .acquiring)) { throw error }
  }

  private func checkRoom() throws(StorageError) { if isFull { throw .fullSinceOpening(path) } }

  // MARK: Keeping house

  /// Looks for damage without comparing every index; throws `corrupt` with the first finding.
  package func checkIntegrity() async throws(StorageError) {
    let finding = try await read { (connection) throws(StorageError) in
      connection.forgetPages()
      return try connection.first("PRAGMA quick_check(1)") { (row) throws(StorageError) in try row.text(0) }
    }
    guard finding == "ok" else {
      throw StorageError(.corrupt, message: finding ?? "No result of the check", file: path)
    }
  }

  /// Moves the write-ahead log into the file as far as no reader stands in the way, waits for the disk, and holds nothing
  /// that other processes' writers wait for: a durable commit behind much that was staged has little left to wait for.
  package func settleLog() async throws(StorageError) {
    try await resultInTurn { [self] () throws(StorageError) in
      try checkOpen()
      mover.wait()
      try writer.moveLog()
    }
  }

  /// Waits until nothing is moved beside the writer: no more is done to the file before the next work.
  package func settle() async {
    await withCheckedContinuation { waiting in
      writing.async { [self] in
        mover.wait()
        waiting.resume()
      }
    }
  }

  /// Moves the write-ahead log into the file and cuts it to nothing; throws `busy` where a reader stands in the way.
  package func checkpoint() async throws(StorageError) {
    try await resultInTurn { [self] () throws(StorageError) in
      try checkOpen()
      mover.wait()
      let isHindered = try writer.first("PRAGMA wal_checkpoint(TRUNCATE)") { (row) throws(StorageError) in
        try row.int64(0) != 0
      }
      if isHindered == true {
        throw StorageError(.busy, message: "Somebody reads from the log still", file: path)
      }
    }
  }

  /// Waits for running work, moves the log into the file and closes; a second call does nothing.
  ///
  /// Throws `busy` with the SQL of a statement that is still in use; the database is closed to new work all the same.
  package func close() async throws(StorageError) {
    guard use.exchange(.closed, ordering: .acquiringAndReleasing) == .open else { return }
    try await end()
  }

  /// Closes as ``close()`` does; from then on work throws `suspended`. It is opened again as another object. One that is closed
  /// stays so.
  package func suspend() async throws(StorageError) {
    let before = use.compareExchange(expected: .open, desired: .suspended, ordering: .acquiringAndReleasing)
    if before.exchanged { try await end() }
  }

  private func end() async throws(StorageError) {
    try await resultInTurn { [self] () throws(StorageError) in
      // If one of them fails, the others are closed all the same: nobody tries again.
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
    // The last connection's close would do it too, but says nothing about a failure. What another store or process reads
    // is left to it: waiting for its readers would keep its writer waiting.
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
