extension DatabaseFile {
  /// Whether and how a file is encrypted.
  enum Encryption: Sendable, Hashable {
    /// No file, or one that nothing has been written to.
    case absent
    case encrypted(EncryptedHeader)
    /// Encrypted in a form of a later version.
    case unknown
    /// A database that is not encrypted.
    case plain
    /// Damaged beyond telling, but with the size of a database.
    case damaged
    /// Another program's file.
    case other
  }

  /// Looks at the file's first page; throws `cannotOpen` where it cannot be read.
  func encryption() throws(StorageError) -> Encryption {
    let found: FilesInUse.Look
    switch FilesInUse.look(path, FileContent.pageLength) {
    case .success(let look): found = look
    case .failure(let failure) where failure.isAbsence: return .absent
    case .failure(let failure):
      throw StorageError(errno: failure.number, "The file cannot be read", file: path)
    }
    guard found.isRegular else { return .other }
    // A new file's first page may have got its place on the disk and not its bytes, where the machine crashed.
    if found.byteCount <= FileContent.pageLength, found.start.allSatisfy({ $0 == 0 }) { return .absent }
    return DatabaseFile.encryption(found.start, found.byteCount)
  }

  private static func encryption(_ start: [UInt8], _ byteCount: Int64) -> Encryption {
    let magic = Array("SQLite format 3\0".utf8)
    if start.starts(with: magic) { return start.count >= 100 ? .plain : .damaged }
    switch EncryptedHeader.read(start) {
    case .header(let header): return .encrypted(header)
    case .unknown: return .unknown
    case .other: return byteCount % 512 == 0 || start.allSatisfy { $0 == 0 } ? .damaged : .other
    }
  }

  /// Throws `inUse` where any process has a database with a log open, as each encrypted one is; it needs no key, nor that the
  /// file is whole, and changes nothing.
  package func checkUnused() throws(StorageError) { try EncryptedFile(path: path).checkUnused() }
}
