import CLarderSQLite
@_spi(Stores) package import LarderCore

/// One connection to one database file.
///
/// Every call blocks. One thread at a time uses a connection: ``Database`` lends it to the closures that it runs, and
/// takes it back when they end.
//
// @unchecked Sendable: the handle is opened without SQLite's own mutex, and nothing in here is locked. `Database` lends
// a connection to one closure at a time (the writer on its serial queue, readers by removing them from the pool under
// its lock). Closures cannot keep it, because what they return is Sendable, and only `Database` creates and uses
// connections.
@safe package final class Connection: @unchecked Sendable {
  /// The file's path; nil for a database in memory.
  package let file: String?
  let handle: OpaquePointer
  private var statements: [String: PreparedStatement] = [:]
  private var isClosed = false
  private var logRules: LogRules?
  /// The environment, whose clock this connection uses.
  package let environment: LarderEnvironment
  /// The number of pages in the log after the last commit, if the rules leave moving the log to its owner.
  private let length = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  private let patience = UnsafeMutablePointer<BusyRetryPolicy>.allocate(capacity: 1)
  /// Released after the handle is closed. Threads that do not use the connection read it too.
  private let use: Locked<FilesInUse.Token?>
  /// Nil for a file that is not encrypted.
  private var cipher: CipherRegistry.Registration?

  /// The number of statements kept prepared. When a connection exceeds it, it drops all of them.
  private static let statementLimit = 64

  /// How a file is opened.
  enum Access {
    case readWriteCreate, readWrite, readOnly
    /// Opens the file as one that does not change: without locks, and without its log.
    case immutable
  }

  /// - Parameter cipher: registers the file with the VFS of encrypted files; nil opens a plain file.
  init(
    _ path: String, access: Access, options: DatabaseOptions, cipher: CipherRegistry.Registration?
  ) throws(StorageError) {
    file = path == ":memory:" ? nil : path
    self.cipher = cipher
    unsafe length.initialize(to: 0)
    self.environment = options.environment
    unsafe patience.initialize(to: BusyRetryPolicy(options.environment))
    use = Locked(
      file == nil ? nil : try FilesInUse.enter(path, makes: access == .readWriteCreate, options.protection))
    let mode =
      switch access {
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readOnly: SQLITE_OPEN_READONLY
      case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
      }
    var opened: OpaquePointer?
    let name = access == .immutable ? Connection.immutableURI(path) : path
    let code = unsafe sqlite3_open_v2(
      name, &opened, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE | mode, cipher == nil ? nil : CipherVFS.name)
    guard let opened = unsafe opened else {
      throw StorageError(code: SQLITE_NOMEM, message: "There is not enough memory for a connection", path: path)
    }
    unsafe handle = opened
    guard code == SQLITE_OK else {
      let error = self.error(code, sql: nil)
      _ = unsafe sqlite3_close_v2(opened)
      isClosed = true
      throw error
    }
    // The file's content is treated as data: its own functions, triggers or views must not run with side effects.
    _ = unsafe larder_sqlite3_db_config_int(opened, SQLITE_DBCONFIG_DEFENSIVE, 1)
    _ = unsafe larder_sqlite3_db_config_int(opened, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    // Apple's library keeps the log of a closed file by default.
    var isKept: Int32 = 0
    _ = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    setBusyTimeout(milliseconds: options.busyTimeoutMilliseconds)
    do throws(StorageError) {
      if FileFlush.full != nil {
        // Only on Apple's platforms: the drive keeps the order of log and file.
        for name in ["fullfsync", "checkpoint_fullfsync"] { try run("PRAGMA \(name) = ON") }
      }
      if let extensions = options.extensions { try register(extensions) }
    } catch {
      _ = unsafe sqlite3_close_v2(opened)
      isClosed = true
      throw error
    }
  }

  deinit {
    defer {
      unsafe length.deallocate()
      unsafe patience.deinitialize(count: 1)
      unsafe patience.deallocate()
    }
    guard !isClosed else { return }
    statements = [:]
    // The `_v2` form waits for statements that are still held; there are none unless a row escaped.
    _ = unsafe sqlite3_close_v2(handle)
  }

  /// True if nothing can be written to the file.
  var isReadOnly: Bool { unsafe sqlite3_db_readonly(handle, "main") == 1 }

  private static func immutableURI(_ path: String) -> String {
    // The URI has an authority, which is empty, because a path that begins with two slashes has none.
    var uri = "file://".unicodeScalars
    // The loop runs over scalars, because a character may consist of one of these and a combining mark.
    for scalar in path.unicodeScalars {
      switch scalar {
      case "%": uri += "%25".unicodeScalars
      case "?": uri += "%3F".unicodeScalars
      case "#": uri += "%23".unicodeScalars
      default: uri.append(scalar)
      }
    }
    return String(uri) + "?immutable=1"
  }

  /// Whether the file is still where it was opened. Writes to a file that was moved or removed are lost.
  var isInPlace: Bool {
    guard let file, let use = use.withLock({ $0 }) else { return true }
    return use.isReached(by: file)
  }

  // MARK: Running statements

  /// Runs a statement and ignores its rows, if any.
  package func run(_ sql: String, _ values: SQLValue...) throws(StorageError) {
    try statement(sql).forEachRow(values) { (_) throws(StorageError) in true }
  }

  /// Runs a statement once for each row of a batch, with the row's cells as `?1`, `?2` and so on.
  package func run(_ sql: String, rows: RowBatch) throws(StorageError) { try statement(sql).forEachRow(of: rows) }

  /// Inserts rows of a batch, with the row's cells as `?1`, `?2` and so on, in the order of `order`.
  ///
  /// Stops at the first row that breaks a constraint; the rows before it are written. Returns their number.
  package func insert(
    _ sql: String, rows: RowBatch, order: ArraySlice<Int32>
  ) throws(StorageError) -> Int { try statement(sql).insert(rows, order) }

  /// Runs a statement with some cells of a batch's row, not copied, as `?1` and so on, followed by integers. Passes
  /// each row of the result to `body` until it returns false.
  package func forEachRow(
    _ sql: String, of batch: RowBatch, row: Int, columns: [Int], integers: [Int64] = [],
    body: (borrowing Row) throws(StorageError) -> Bool = { _ in true }
  ) throws(StorageError) {
    try statement(sql).forEachRow(batch, row: row, columns: columns, integers: integers, body: body)
  }

  /// Runs a query and passes each row to `body` until it returns false.
  package func forEachRow(
    _ sql: String, _ values: [SQLValue] = [], _ body: (borrowing Row) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try statement(sql).forEachRow(values, body)
  }

  /// Begins a query that can pause between rows. It must end before the connection is lent to others.
  package func cursor(_ sql: String, _ values: [SQLValue] = []) throws(StorageError) -> RowCursor {
    try RowCursor(try PreparedStatement(sql, on: self, isKept: false), values)
  }

  /// Runs a query and maps each row to a value.
  package func rows<Value>(
    _ sql: String, _ values: SQLValue..., make: (borrowing Row) throws(StorageError) -> Value
  ) throws(StorageError) -> [Value] {
    var all: [Value] = []
    try statement(sql).forEachRow(values) { (row) throws(StorageError) in
      all.append(try make(row))
      return true
    }
    return all
  }

  /// Runs a query and returns the first column of each row, which must be an integer.
  package func integers(_ sql: String, _ values: SQLValue...) throws(StorageError) -> [Int64] {
    var all: [Int64] = []
    try statement(sql).forEachRow(values) { (row) throws(StorageError) in
      all.append(try row.int64(0))
      return true
    }
    return all
  }

  /// Runs a query and maps its first row to a value; nil if there is none.
  package func first<Value>(
    _ sql: String, _ values: SQLValue..., make: (borrowing Row) throws(StorageError) -> Value
  ) throws(StorageError) -> Value? {
    var value: Value?
    try statement(sql).forEachRow(values) { (row) throws(StorageError) in
      value = try make(row)
      return false
    }
    return value
  }

  /// The number of rows that the last `INSERT`, `UPDATE` or `DELETE` changed.
  package var changes: Int { Int(unsafe sqlite3_changes64(handle)) }

  /// The row id of the last insert.
  package var lastInsertedRow: Int64 { unsafe sqlite3_last_insert_rowid(handle) }

  private func statement(_ sql: String) throws(StorageError) -> PreparedStatement {
    guard !isClosed else { throw StorageError(.closed, message: "The connection is closed", sql: sql, path: file) }
    if let cached = statements[sql] {
      if !cached.isRunning { return cached }
      return try PreparedStatement(sql, on: self, isKept: false)
    }
    if statements.count >= Connection.statementLimit { statements = statements.filter { $0.value.isRunning } }
    let statement = try PreparedStatement(sql, on: self, isKept: true)
    statements[sql] = statement
    return statement
  }

  // MARK: Transactions

  /// How long a statement waits for another connection's lock.
  func setBusyTimeout(milliseconds: Int32) {
    unsafe patience.pointee.limit = .milliseconds(milliseconds)
    guard milliseconds > 0 else {
      _ = unsafe sqlite3_busy_handler(handle, nil, nil)
      return
    }
    _ = unsafe sqlite3_busy_handler(
      handle,
      { note, count in unsafe note?.assumingMemoryBound(to: BusyRetryPolicy.self).pointee.waits(count) == true ? 1 : 0
      },
      patience)
  }

  /// How a writer manages the write-ahead log.
  struct LogRules: Equatable {
    /// What a commit waits for.
    let synchronous: DatabaseOptions.Synchronous
    /// The number of pages at which a commit moves the log into the file; nil leaves that to others.
    let pages: Int32?
    /// The size in bytes to which the log's file is truncated when the log restarts; -1 does not truncate it.
    let keptBytes: Int
  }

  /// Sets the rules for the log. Call it between transactions only.
  func setLogRules(_ rules: LogRules) throws(StorageError) {
    guard rules != logRules else { return }
    // SQLite applies these pragmas while it prepares the statement, so a cached statement would have no effect.
    for pragma in ["synchronous = \(rules.synchronous.rawValue)", "journal_size_limit = \(rules.keptBytes)"] {
      try PreparedStatement("PRAGMA \(pragma)", on: self, isKept: false).forEachRow([]) { (_) throws(StorageError) in
        true
      }
    }
    if let pages = rules.pages {
      _ = unsafe sqlite3_wal_autocheckpoint(handle, pages)
    } else {
      _ = unsafe sqlite3_wal_hook(
        handle,
        { note, _, _, pages in
          unsafe note?.storeBytes(of: pages, as: Int32.self)
          return SQLITE_OK
        }, length)
    }
    logRules = rules
  }

  /// The number of pages in the log after the last commit, if the rules leave moving it to others.
  var logLength: Int32 { unsafe length.pointee }

  /// Moves the log into the file, as far as no reader prevents it and no other connection is doing it.
  func moveLog() throws(StorageError) {
    let code = unsafe sqlite3_wal_checkpoint_v2(handle, nil, SQLITE_CHECKPOINT_PASSIVE, nil, nil)
    guard code == SQLITE_OK || code & 0xFF == SQLITE_BUSY || code & 0xFF == SQLITE_LOCKED else {
      throw error(code, sql: nil)
    }
  }

  /// Discards the plaintext pages that are cached for an encrypted file, so that they are decrypted again.
  func forgetPages() { cipher?.keys?.forgetPages() }

  /// True between `BEGIN` and `COMMIT` or `ROLLBACK`.
  package var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Runs `body` in a transaction, which is committed if `body` returns and rolled back if it throws.
  ///
  /// A writer takes its lock at once (`IMMEDIATE`), so that it never fails half-way because of a lock. Transactions do
  /// not nest; ``savepoint(_:)`` does.
  func transaction<Value>(
    _ kind: TransactionKind, _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try run(kind.rawValue)
    do {
      let value = try body(self)
      try run("COMMIT")
      if kind == .immediate { try flushDrive() }
      return value
    } catch {
      // After some errors (disk full, corruption) SQLite has already rolled back. A failure of the rollback itself has
      // the same cause in the file as `error`, which is thrown below.
      if isInTransaction { try? run("ROLLBACK") }
      throw error
    }
  }

  /// Flushes the drive after a commit that must survive a loss of power, if SQLite does not: whatever `fullfsync` says,
  /// Apple's library only makes the drive keep an order (`F_BARRIERFSYNC`).
  private func flushDrive() throws(StorageError) {
    guard FileFlush.full != nil, logRules?.synchronous == .full, let file else { return }
    // SQLite has no locks on the log's file, so it may be opened and closed here.
    let path = unsafe sqlite3_db_filename(handle, "main").map { unsafe String(cString: $0) } ?? file
    // Without a log, flushing the folder is enough: a full flush covers the whole drive.
    guard let reason = FilesInUse.flush(path + "-wal") else { return try DatabaseFile(file).syncFolder() }
    guard reason == 0 else {
      throw StorageError(errno: reason, "The write-ahead log cannot be flushed", path: file, otherwise: .inputOutput)
    }
  }

  /// Runs `body` as a part of the current transaction that can fail alone: its changes are undone if it throws.
  package func savepoint<Value>(
    _ body: (Connection) throws(StorageError) -> Value
  ) throws(StorageError) -> Value {
    try run("SAVEPOINT part")
    do {
      let value = try body(self)
      try run("RELEASE part")
      return value
    } catch {
      if isInTransaction {
        try? run("ROLLBACK TO part")
        try? run("RELEASE part")
      }
      throw error
    }
  }

  enum TransactionKind: String {
    case deferred = "BEGIN DEFERRED"
    case immediate = "BEGIN IMMEDIATE"
  }

  // MARK: Ending

  /// Finalizes all statements and closes the connection. Throws `busy` with the statement's SQL if one is still in use.
  func close() throws(StorageError) {
    guard !isClosed else { return }
    if let running = statements.values.first(where: \.isRunning) {
      throw StorageError(.busy, message: "A statement is still in use", sql: running.sql, path: file)
    }
    for statement in statements.values { statement.finalize() }
    statements = [:]
    var next = unsafe sqlite3_next_stmt(handle, nil)
    while let openStatement = unsafe next {
      // Statements that virtual tables keep for themselves are not running, and end with the connection.
      if unsafe sqlite3_stmt_busy(openStatement) != 0 {
        let sql = unsafe sqlite3_sql(openStatement).map { unsafe String(cString: $0) }
        throw StorageError(.busy, message: "A statement is still in use", sql: sql, path: file)
      }
      unsafe next = sqlite3_next_stmt(handle, openStatement)
    }
    let code = unsafe sqlite3_close(handle)
    guard code == SQLITE_OK else { throw error(code, sql: nil) }
    isClosed = true
    _ = use.withLock { $0.take() }
    cipher = nil
  }

  func error(_ code: Int32, sql: String?) -> StorageError {
    var message = unsafe sqlite3_errmsg(handle).map { unsafe String(cString: $0) } ?? "Unknown error"
    if [SQLITE_CORRUPT, SQLITE_IOERR].contains(code & 0xFF), let finding = cipher?.keys?.takeFinding() {
      message += ": \(finding)"
    }
    let system = unsafe sqlite3_system_errno(handle)
    return StorageError(code: code, system: system, message: message, sql: sql, path: file)
  }
}
