import CLarderSQLite

extension Connection {
  /// The engine's open file; nil if there is none.
  var mainFile: UnsafeMutablePointer<sqlite3_file>? {
    var file: UnsafeMutablePointer<sqlite3_file>?
    let code = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_FILE_POINTER, &file)
    return unsafe code == SQLITE_OK && file?.pointee.pMethods != nil ? file : nil
  }

  /// Sets how many bytes the engine leaves free at the end of each page when it rewrites the file.
  func setReserve(_ count: Int32) -> Bool {
    var count = count
    return unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_RESERVE_BYTES, &count) == SQLITE_OK
  }

  /// Makes closing neither move the log into the file nor remove it.
  func leavesLog() {
    var isKept: Int32 = 1
    _ = unsafe sqlite3_file_control(handle, "main", SQLITE_FCNTL_PERSIST_WAL, &isKept)
    _ = unsafe larder_sqlite3_db_config_int(handle, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
  }
}
