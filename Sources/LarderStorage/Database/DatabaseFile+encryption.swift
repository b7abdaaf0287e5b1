extension DatabaseFile {
  /// Whether and how a file is encrypted.
  enum Encryption: Sendable, Hashable {
    /// There is no file, or nothing has been written to it.
    case absent
    case encrypted(EncryptedHeader)
    /// Encrypted in the format of a later version.
    case unknown
    /// A database that is not encrypted.
    case plain
    /// Too damaged to recognize, but with the size of a database.
    case damaged
    /// Another program's file.
    case other
  }

  /// Reads the file's first page to find out; throws `cannotOpen` if it cannot be read.
  func encryption() throws(StorageError) -> Encryption {
    guard let info = try info(FileContent.pageLength) else { return .absent }
    guard info.isRegular else { return .other }
    // After a crash of the machine, the first page of a new file may be allocated on the disk but not written.
    if info.byteCount <= FileContent.pageLength, info.start.allSatisfy({ $0 == 0 }) { return .absent }
    return DatabaseFile.encryption(info.start, info.byteCount)
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

  /// Throws `inUse` if any process has the file open with a log, as every open encrypted file has. It needs no key,
  /// works for a damaged file, and changes nothing.
  package func checkUnused() throws(StorageError) { try EncryptedFile(path: path).checkUnused() }
}
