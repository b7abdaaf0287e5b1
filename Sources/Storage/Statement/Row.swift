import CSQLite

/// The row that a statement stands on: valid inside the call that receives it.
@safe package struct Row: ~Copyable {
  private let handle: OpaquePointer
  private let sql: String
  private let file: String?

  init(_ handle: OpaquePointer, sql: String, file: String?) {
    unsafe self.handle = handle
    self.sql = sql
    self.file = file
  }

  /// True where the column holds NULL; columns count from 0.
  package func isNull(_ column: Int32) -> Bool { unsafe sqlite3_column_type(handle, column) == SQLITE_NULL }

  /// An integer column; throws `unexpectedValue` for every other class of value.
  package func int64(_ column: Int32) throws(StorageError) -> Int64 {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_INTEGER else { throw unexpected(column, "an integer") }
    return unsafe sqlite3_column_int64(handle, column)
  }

  /// An integer column or nil for NULL.
  package func int64OrNil(_ column: Int32) throws(StorageError) -> Int64? {
    isNull(column) ? nil : try int64(column)
  }

  /// A text column; throws `unexpectedValue` for every other class of value.
  package func text(_ column: Int32) throws(StorageError) -> String {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_TEXT,
      let start = unsafe sqlite3_column_text(handle, column)
    else { throw unexpected(column, "a text") }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    // SQLite keeps the bytes until the next step; they are copied here.
    return unsafe String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self)
  }

  /// A text column or nil for NULL.
  package func textOrNil(_ column: Int32) throws(StorageError) -> String? {
    isNull(column) ? nil : try text(column)
  }

  /// A blob column, copied once; throws `unexpectedValue` for every other class of value.
  package func bytes(_ column: Int32) throws(StorageError) -> [UInt8] {
    guard unsafe sqlite3_column_type(handle, column) == SQLITE_BLOB else { throw unexpected(column, "a blob") }
    let start = unsafe sqlite3_column_blob(handle, column)
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    guard let start = unsafe start, count > 0 else { return [] }
    return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  /// The length of a blob or text column in bytes, without reading it into memory where that can be avoided.
  package func byteCount(_ column: Int32) -> Int { Int(unsafe sqlite3_column_bytes(handle, column)) }

  private func unexpected(_ column: Int32, _ wanted: String) -> StorageError {
    StorageError(.unexpectedValue, message: "Column \(column) is not \(wanted)", sql: sql, file: file)
  }
}
