import CLarderSQLite

/// The current row of a statement: valid during the call that receives it.
@safe package struct Row: ~Copyable {
  private let handle: OpaquePointer
  private let sql: String
  private let file: String?

  init(_ handle: OpaquePointer, sql: String, file: String?) {
    unsafe self.handle = handle
    self.sql = sql
    self.file = file
  }

  /// The number of columns.
  package var columnCount: Int { Int(unsafe sqlite3_column_count(handle)) }

  /// True if the column holds NULL; columns count from 0.
  package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// The value of an integer column; throws `unexpectedValue` for every other class of value.
  package func int64(_ column: Int32) throws(StorageError) -> Int64 {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { throw unexpected(column, "an integer") }
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// The value of an integer column, or nil for NULL.
  package func int64OrNil(_ column: Int32) throws(StorageError) -> Int64? {
    isNull(column) ? nil : try int64(column)
  }

  /// The value of a text column; throws `unexpectedValue` for every other class of value.
  package func text(_ column: Int32) throws(StorageError) -> String {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
      let start = unsafe sqlite3_column_text(handle, column)
    else { throw unexpected(column, "text") }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    // SQLite keeps the bytes until the next step; they are copied here.
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// The value of a text column, or nil for NULL.
  package func textOrNil(_ column: Int32) throws(StorageError) -> String? {
    isNull(column) ? nil : try text(column)
  }

  /// The value of a blob column, copied once; throws `unexpectedValue` for every other class of value.
  package func bytes(_ column: Int32) throws(StorageError) -> [UInt8] {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else { throw unexpected(column, "a blob") }
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    guard let start = unsafe start, count > 0 else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The length of a blob or text column in bytes. The value is not read into memory if that can be avoided.
  package func byteCount(_ column: Int32) -> Int { Int(unsafe sqlite3_column_bytes(handle, column)) }

  /// The storage class of a column's value.
  package func storageClass(_ column: Int32) -> SQLStorageClass {
    SQLStorageClass(rawValue: unsafe sqlite3_column_type(handle, column)) ?? .null
  }

  /// The value of a column as a floating-point number; other classes are converted by SQLite.
  package func real(_ column: Int32) -> Double { unsafe sqlite3_column_double(handle, column) }

  /// The value of a column as an integer; other classes are converted by SQLite.
  package func integer(_ column: Int32) -> Int64 { unsafe sqlite3_column_int64(handle, column) }

  /// The text of a text column; nil for every other class of value.
  package func textIfText(_ column: Int32) -> String? {
    guard let bytes = unsafe utf8IfText(column) else { return nil }
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  /// The bytes of a text column, valid until the next row; nil for every other class of value.
  @inline(__always)
  package func utf8IfText(_ column: Int32) -> UnsafeBufferPointer<UInt8>? {
    // The connection is opened without a mutex and used by one thread at a time, so the value of its row may be fetched
    // once and read as often as needed.
    let value = unsafe sqlite3_column_value(handle, column)
    guard unsafe sqlite3_value_type(value) == SQLITE_TEXT, let start = unsafe sqlite3_value_text(value) else {
      return nil
    }
    return unsafe UnsafeBufferPointer(start: start, count: Int(sqlite3_value_bytes(value)))
  }

  /// The value of an integer column; nil for every other class of value.
  package func integerIfInteger(_ column: Int32) -> Int64? {
    let value = unsafe sqlite3_column_value(handle, column)
    return unsafe sqlite3_value_type(value) == SQLITE_INTEGER ? sqlite3_value_int64(value) : nil
  }

  /// The value of a floating-point column; nil for every other class of value.
  package func realIfReal(_ column: Int32) -> Double? {
    let value = unsafe sqlite3_column_value(handle, column)
    return unsafe sqlite3_value_type(value) == SQLITE_FLOAT ? sqlite3_value_double(value) : nil
  }

  /// The bytes of a column as a text; numbers are converted by SQLite, and NULL has none. Valid until the next row.
  package func utf8(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    let start = unsafe sqlite3_column_text(handle, column)
    return unsafe UnsafeBufferPointer(
      start: start, count: start == nil ? 0 : Int(sqlite3_column_bytes(handle, column)))
  }

  /// The bytes of a blob or text; none for NULL. Valid until the next row.
  package func rawBytes(_ column: Int32) -> UnsafeBufferPointer<UInt8> {
    guard let start = unsafe sqlite3_column_blob(handle, column) else {
      return unsafe UnsafeBufferPointer(start: nil, count: 0)
    }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe UnsafeBufferPointer(start: start.assumingMemoryBound(to: UInt8.self), count: count)
  }

  /// Passes the bytes of a blob or text to a closure; none for NULL.
  @inlinable
  package func withBytes<Value, Failure: Error>(
    _ column: Int32, _ body: (UnsafeBufferPointer<UInt8>) throws(Failure) -> Value
  ) throws(Failure) -> Value { try unsafe body(rawBytes(column)) }

  /// The value of a column, with its bytes copied.
  package func value(_ column: Int32) -> SQLValue {
    switch storageClass(column) {
    case .null: .null
    case .integer: .integer(integer(column))
    case .real: .real(real(column))
    case .text: unsafe .text(String(decoding: utf8(column), as: UTF8.self))
    case .blob: unsafe .blob(Array(rawBytes(column)))
    }
  }

  private func unexpected(_ column: Int32, _ wanted: String) -> StorageError {
    StorageError(.unexpectedValue, message: "Column \(column) is not \(wanted)", sql: sql, path: file)
  }
}
