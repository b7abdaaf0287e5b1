import CLarderSQLite

/// A file of the system's VFS below one of this VFS; SQLite allocates the memory of both, this file's bytes after the
/// other's.
@safe struct RealFile {
  let file: UnsafeMutablePointer<sqlite3_file>

  init(_ file: UnsafeMutablePointer<sqlite3_file>) { unsafe self.file = file }

  private var methods: sqlite3_io_methods? {
    guard let methods = unsafe file.pointee.pMethods else { return nil }
    return unsafe methods.pointee
  }

  @inline(__always)
  func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    guard let methods = unsafe file.pointee.pMethods, let read = unsafe methods.pointee.xRead else {
      return IOError.read
    }
    return unsafe read(file, bytes, Int32(truncatingIfNeeded: count), offset)
  }

  @inline(__always)
  func write(_ bytes: UnsafeRawPointer, _ count: Int, at offset: Int64) -> Int32 {
    guard let methods = unsafe file.pointee.pMethods, let write = unsafe methods.pointee.xWrite else {
      return IOError.write
    }
    return unsafe write(file, bytes, Int32(truncatingIfNeeded: count), offset)
  }

  func close() -> Int32 { unsafe methods?.xClose?(file) ?? IOError.close }
  func truncate(_ size: Int64) -> Int32 { unsafe methods?.xTruncate?(file, size) ?? IOError.truncate }
  func sync(_ flags: Int32) -> Int32 { unsafe methods?.xSync?(file, flags) ?? IOError.sync }
  func lock(_ level: Int32) -> Int32 { unsafe methods?.xLock?(file, level) ?? IOError.lock }
  func unlock(_ level: Int32) -> Int32 { unsafe methods?.xUnlock?(file, level) ?? IOError.unlock }

  /// The length in bytes.
  func size(_ size: inout Int64) -> Int32 { unsafe methods?.xFileSize?(file, &size) ?? IOError.size }

  func control(_ operation: Int32, _ argument: UnsafeMutableRawPointer?) -> Int32 {
    unsafe methods?.xFileControl?(file, operation, argument) ?? SQLITE_NOTFOUND
  }

  var characteristics: Int32 { unsafe methods?.xDeviceCharacteristics?(file) ?? 0 }
  var sectorSize: Int32 { unsafe methods?.xSectorSize?(file) ?? 4096 }

  /// Reads exactly `count` bytes; returns whether that succeeded.
  func readWhole(_ bytes: UnsafeMutableRawPointer, _ count: Int, at offset: Int64) -> Bool {
    unsafe read(bytes, count, at: offset) == SQLITE_OK
  }
}
