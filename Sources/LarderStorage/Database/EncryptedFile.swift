import CLarderSQLite

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// An encrypted file before a connection opens it: recognizes it, unlocks it with its key, or creates it.
struct EncryptedFile {
  let path: String

  /// Returns the file's keys; creates the file if there is none.
  ///
  /// - Parameter known: keys derived before. If they belong to the file, the work for a passphrase is saved.
  /// - Throws: `wrongKey`, `notEncrypted`, `corrupt`, `notADatabase`, `notSupported`, `busy`, `cannotOpen`.
  func unlock(_ key: StorageKey, known: FileKeys? = nil) throws(StorageError) -> FileKeys {
    if let keys = try find(key, known) { return keys }
    try make(try FileKeys.new(key))
    if let keys = try find(key, known) { return keys }
    throw StorageError(.cannotOpen, message: "Another process emptied the file while it was being opened", path: path)
  }

  /// Returns nil if there is no file, or an empty one.
  func find(_ key: StorageKey, _ lastKeys: FileKeys?) throws(StorageError) -> FileKeys? {
    switch try DatabaseFile(path).encryption() {
    case .absent: return nil
    case .encrypted(let header):
      if let lastKeys, lastKeys.header == header { return lastKeys }
      guard let keys = try FileKeys.of(header, key) else {
        throw .wrongKey(path)
      }
      return keys
    case .plain: throw .notEncrypted(path)
    case .unknown:
      throw StorageError(
        .notSupported, message: "The file is encrypted in a format that this version does not support", path: path)
    case .damaged: throw StorageError(.corrupt, message: "The file's header is damaged", path: path)
    case .other: throw StorageError(.notADatabase, message: "The file is not a database", path: path)
    }
  }

  /// Writes a database without tables, as one page, unless another process has already done so.
  private func make(_ keys: FileKeys) throws(StorageError) {
    try alone(.readWriteCreate) { (real) throws(StorageError) in try make(keys, real) }
  }

  /// Throws `inUse` if any process has the file open. It needs no key, reads nothing and changes nothing.
  func checkUnused() throws(StorageError) {
    do throws(StorageError) { try alone(.readWrite) { (_) throws(StorageError) in } } catch {
      throw error.category == .busy ? .inUse(path) : error
    }
  }

  /// Runs `body` while no connection has the file, encrypted or plain, open: every connection to a file with a log holds
  /// a shared lock until it closes. Throws `busy` otherwise.
  func alone(
    _ access: Connection.Access, _ work: (RealFile) throws(StorageError) -> Void
  ) throws(StorageError) {
    // A connection of SQLite's own takes the file's locks, which exclude other processes and this one.
    let connection = try Connection(path, access: access, options: DatabaseOptions(), cipher: nil)
    defer { try? connection.close() }
    guard let file = unsafe connection.mainFile else {
      throw StorageError(.cannotOpen, message: "The file cannot be opened", path: path)
    }
    let real = unsafe RealFile(file)
    for level in [SQLITE_LOCK_SHARED, SQLITE_LOCK_EXCLUSIVE] {
      let code = real.lock(level)
      guard code == SQLITE_OK else {
        _ = real.unlock(SQLITE_LOCK_NONE)
        throw StorageError(code: code, message: "The file is in use by another connection", path: path)
      }
    }
    defer { _ = real.unlock(SQLITE_LOCK_NONE) }
    try work(real)
  }

  private func make(_ keys: FileKeys, _ real: RealFile) throws(StorageError) {
    guard case .absent = try DatabaseFile(path).encryption() else { return }
    // These files belong to a removed database and mean nothing to this one.
    for suffix in ["-wal", "-journal"] { _ = unsafe unlink(path + suffix) }
    guard let codec = PageCodec(keys) else {
      throw StorageError(code: SQLITE_NOMEM, message: "There is not enough memory", path: path)
    }
    var sealed = [UInt8](repeating: 0, count: FileContent.pageLength)
    let code = unsafe sealed.withUnsafeMutableBytes { buffer -> Int32 in
      guard let base = buffer.baseAddress, unsafe codec.seal(EncryptedFile.firstPage, number: 1, to: base) else {
        return IOError.write
      }
      let written = unsafe real.write(base, FileContent.pageLength, at: 0)
      return written == SQLITE_OK ? real.sync(SQLITE_SYNC_NORMAL) : written
    }
    guard code == SQLITE_OK else {
      // If the disk is full, a partly written page would look like a damaged file later.
      _ = real.truncate(0)
      throw StorageError(code: code, message: "The file cannot be created", path: path)
    }
  }

  /// A database without tables, with a write-ahead log and reserved bytes in its pages (SQLite file format §1.3, §1.6).
  private static let firstPage: [UInt8] = {
    var page = [UInt8](repeating: 0, count: FileContent.pageLength)
    func put(_ bytes: [UInt8], at offset: Int) { page.replaceSubrange(offset..<(offset + bytes.count), with: bytes) }
    put(Array("SQLite format 3\0".utf8), at: 0)
    // The page's length, version 2 twice for the log, the reserved bytes at the end, the payload fractions.
    put([UInt8(FileContent.pageLength >> 8), 0, 2, 2, UInt8(FileContent.reservedLength), 64, 32, 32], at: 16)
    // The change counter and the number of pages.
    put([0, 0, 0, 1, 0, 0, 0, 1], at: 24)
    // The schema's format, then the encoding, which is UTF-8.
    put([0, 0, 0, 4], at: 44)
    put([0, 0, 0, 1], at: 56)
    // The change counter for which the version number behind it is valid.
    put([0, 0, 0, 1], at: 92)
    let version = UInt32(bitPattern: sqlite3_libversion_number())
    put(
      [UInt8(version >> 24 & 255), UInt8(version >> 16 & 255), UInt8(version >> 8 & 255), UInt8(version & 255)], at: 96)
    // A leaf page without cells, whose content begins at its end.
    put([13, 0, 0, 0, 0, UInt8(FileContent.sealedLength >> 8), UInt8(FileContent.sealedLength & 255), 0], at: 100)
    return page
  }()
}
