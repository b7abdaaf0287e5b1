import CSQLite

extension StorageError {
  /// The engine's result code as an error.
  init(code: Int32, message: String, sql: String? = nil, file: String?) {
    self.init(Category(resultCode: code), code: code, message: message, sql: sql, file: file)
  }
}

extension StorageError.Category {
  init(resultCode: Int32) {
    self =
      switch resultCode & 0xFF {
      case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: .busy
      case SQLITE_CORRUPT: .corrupt
      case SQLITE_NOTADB: .notADatabase
      case SQLITE_FULL: .full
      case SQLITE_READONLY, SQLITE_PERM: .readOnly
      case SQLITE_CANTOPEN, SQLITE_AUTH: .cannotOpen
      case SQLITE_IOERR, SQLITE_NOMEM: .inputOutput
      case SQLITE_CONSTRAINT: .constraint
      case SQLITE_TOOBIG: .tooLarge
      case SQLITE_MISUSE, SQLITE_RANGE, SQLITE_ERROR, SQLITE_SCHEMA: .misuse
      case SQLITE_MISMATCH: .unexpectedValue
      case SQLITE_INTERRUPT, SQLITE_ABORT: .interrupted
      default: .other
      }
  }
}
