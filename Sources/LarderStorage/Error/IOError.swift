import CLarderSQLite

/// SQLite's extended result codes for I/O errors, whose macros Swift does not import.
enum IOError {
  static let read = SQLITE_IOERR | 1 << 8
  static let shortRead = SQLITE_IOERR | 2 << 8
  static let write = SQLITE_IOERR | 3 << 8
  static let sync = SQLITE_IOERR | 4 << 8
  static let truncate = SQLITE_IOERR | 6 << 8
  static let size = SQLITE_IOERR | 7 << 8
  static let unlock = SQLITE_IOERR | 8 << 8
  static let access = SQLITE_IOERR | 13 << 8
  static let checkReservedLock = SQLITE_IOERR | 14 << 8
  static let lock = SQLITE_IOERR | 15 << 8
  static let close = SQLITE_IOERR | 16 << 8
  static let sharedSize = SQLITE_IOERR | 19 << 8
  static let sharedLock = SQLITE_IOERR | 20 << 8
  static let sharedMap = SQLITE_IOERR | 21 << 8
}
