import CLarderSQLite

/// A prepared statement of one connection, which is prepared once and run any number of times.
///
/// It is reset and its parameters are cleared after every run, so that it holds no lock and no pointer between runs.
@safe final class PreparedStatement {
  let sql: String
  /// The connection, which keeps its statements and outlives each use of them.
  unowned let connection: Connection
  /// The connection's file, for errors; nil in memory.
  let file: String?
  let handle: OpaquePointer
  /// True while its rows are being read: a second use needs another statement.
  private(set) var isRunning = false
  private var isFinalized = false

  /// Prepares the first statement of `sql`; nothing may follow it.
  init(_ sql: String, on connection: Connection, isKept: Bool) throws(StorageError) {
    self.sql = sql
    self.connection = connection
    file = connection.file
    var prepared: OpaquePointer?
    var text = sql
    let flags = isKept ? UInt32(SQLITE_PREPARE_PERSISTENT) : 0
    let (code, hasTail) = text.withUTF8 { bytes -> (Int32, Bool) in
      let characters = unsafe UnsafeRawPointer(bytes.baseAddress)?.assumingMemoryBound(to: CChar.self)
      var tail: UnsafePointer<CChar>?
      // The text outlives this closure; SQLite copies what it keeps of it.
      let code = unsafe sqlite3_prepare_v3(
        connection.handle, characters, Int32(clamping: bytes.count), flags, &prepared, &tail)
      guard let tail = unsafe tail, let characters = unsafe characters else { return (code, false) }
      let used = unsafe characters.distance(to: tail)
      return (code, unsafe bytes[used...].contains { !PreparedStatement.isBlank($0) })
    }
    guard code == SQLITE_OK else { throw connection.error(code, sql: sql) }
    guard let prepared = unsafe prepared else {
      throw StorageError(.misuse, message: "The SQL contains no statement", sql: sql, path: file)
    }
    guard !hasTail else {
      _ = unsafe sqlite3_finalize(prepared)
      throw StorageError(.misuse, message: "The SQL contains more than one statement", sql: sql, path: file)
    }
    unsafe handle = prepared
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 || byte == 0x3B
  }

  deinit { if !isFinalized { _ = unsafe sqlite3_finalize(handle) } }

  /// Finalizes the statement; it cannot be used again.
  func finalize() {
    guard !isFinalized else { return }
    isFinalized = true
    _ = unsafe sqlite3_finalize(handle)
  }

  /// Runs the statement and calls `body` for every row until it returns false.
  func forEachRow(
    _ values: [SQLValue], _ body: (borrowing Row) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try checkCount(values)
    try use { () throws(StorageError) in
      try bind(values, from: 0) { () throws(StorageError) in try self.stepThrough(body) }
    }
  }

  /// Runs the statement once for each row of a batch.
  func forEachRow(of batch: RowBatch) throws(StorageError) {
    try use { () throws(StorageError) in try run(batch) }
  }

  /// Runs the statement for rows of a batch in a given order; returns how many rows precede the one that breaks a
  /// constraint.
  func insert(_ batch: RowBatch, _ order: ArraySlice<Int32>) throws(StorageError) -> Int {
    var count = 0
    try use { () throws(StorageError) in count = try run(batch, order) }
    return count
  }

  /// Runs the statement with cells of one row, followed by integers, as parameters.
  func forEachRow(
    _ batch: RowBatch, row: Int, columns: [Int], integers: [Int64],
    body: (borrowing Row) throws(StorageError) -> Bool
  ) throws(StorageError) {
    try use { () throws(StorageError) in
      try bind(batch, row: row, columns: columns, integers: integers) { () throws(StorageError) in try stepThrough(body)
      }
    }
  }

  private func checkCount(_ values: [SQLValue]) throws(StorageError) {
    let wanted = unsafe sqlite3_bind_parameter_count(handle)
    guard wanted == values.count else {
      throw StorageError(
        .misuse, message: "\(values.count) values were given, but the statement has \(wanted) parameters", sql: sql,
        path: file)
    }
  }

  /// Begins a run that the caller steps, with copies of the values, until ``end()``.
  func begin(_ values: [SQLValue]) throws(StorageError) {
    try checkCount(values)
    isRunning = true
    for (index, value) in values.enumerated() {
      guard case .blob(let bytes) = value, !bytes.isEmpty else {
        try bind([value], from: 0, at: index) { () throws(StorageError) in }
        continue
      }
      let code = unsafe bytes.withUnsafeBytes {
        unsafe larder_sqlite3_bind_blob_copy(
          handle, Int32(clamping: index + 1), $0.baseAddress, UInt64($0.count))
      }
      try check(code)
    }
  }

  /// Ends a run. A second call does nothing.
  func end() {
    guard isRunning, !isFinalized else { return }
    // The result repeats the last step's, which has been reported.
    _ = unsafe sqlite3_reset(handle)
    _ = unsafe sqlite3_clear_bindings(handle)
    isRunning = false
  }

  /// Runs `body` while no other code uses the statement, and leaves it reset and without parameters.
  private func use(_ body: () throws(StorageError) -> Void) throws(StorageError) {
    guard !isRunning, !isFinalized else {
      throw StorageError(
        .misuse, message: "The statement is already running, or was finalized", sql: sql, path: file)
    }
    isRunning = true
    defer { end() }
    try body()
  }

  private func stepThrough(_ body: (borrowing Row) throws(StorageError) -> Bool) throws(StorageError) {
    while true {
      let code = unsafe sqlite3_step(handle)
      switch code {
      case SQLITE_ROW:
        let row = unsafe Row(handle, sql: sql, file: file)
        guard try body(row) else { return }
      case SQLITE_DONE: return
      default: throw connection.error(code, sql: sql)
      }
    }
  }

  /// Binds the values from `start` on and runs `body` while the bytes of blobs stay in place: they are not copied.
  private func bind(
    _ values: [SQLValue], from start: Int, at shift: Int = 0, _ body: () throws(StorageError) -> Void
  ) throws(StorageError) {
    var index = start
    while index < values.count {
      let parameter = Int32(clamping: index + shift + 1)
      switch values[index] {
      case .null: try check(unsafe sqlite3_bind_null(handle, parameter))
      case .integer(let number): try check(unsafe sqlite3_bind_int64(handle, parameter, number))
      case .real(let number): try check(unsafe sqlite3_bind_double(handle, parameter, number))
      case .text(var text):
        let code = text.withUTF8 { bytes -> Int32 in
          guard let start = bytes.baseAddress else {
            return unsafe larder_sqlite3_bind_text_copy(handle, parameter, "", 0)
          }
          let characters = unsafe UnsafeRawPointer(start).assumingMemoryBound(to: CChar.self)
          return unsafe larder_sqlite3_bind_text_copy(handle, parameter, characters, UInt64(bytes.count))
        }
        try check(code)
      case .blob(let bytes):
        guard !bytes.isEmpty else {
          try check(unsafe sqlite3_bind_zeroblob(handle, parameter, 0))
          break
        }
        return unsafe try bytes.withUnsafeBufferPointer { (buffer) throws(StorageError) -> Void in
          try check(
            unsafe larder_sqlite3_bind_blob_static(handle, parameter, buffer.baseAddress, UInt64(buffer.count)))
          try bind(values, from: index + 1, body)
        }
      }
      index += 1
    }
    try body()
  }

  private func check(_ code: Int32) throws(StorageError) {
    if code != SQLITE_OK { throw connection.error(code, sql: sql) }
  }
}
