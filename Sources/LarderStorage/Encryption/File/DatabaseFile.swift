#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A database file before any connection opens it.
package struct DatabaseFile: Sendable {
  /// What the file's first bytes show.
  package enum Content: Sendable, Hashable {
    /// There is no file, or an empty one: a database can be created here.
    case absent
    /// A database with this application id.
    case database(applicationID: Int32)
    /// An encrypted database: only its key shows whose it is.
    case encrypted
    /// Too damaged to recognize, but with the size of a database: a whole number of pages, or truncated inside its
    /// header.
    case damaged
    /// Something else: another program's file.
    case other
  }

  /// The file's path.
  package let path: String

  /// Names a file; it need not exist.
  package init(_ path: String) { self.path = path }

  /// The absolute path.
  package var absolutePath: String { path == ":memory:" ? path : absolute(path) }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// Reads the file's header (SQLite file format §1.3); throws `cannotOpen` if it cannot be read.
  ///
  /// Connections to the file, even of this process, keep their locks.
  package func content() throws(StorageError) -> Content {
    guard let info = try info(100) else { return .absent }
    guard info.isRegular else { return .other }
    let header = info.start
    guard !header.isEmpty else { return .absent }
    let magic = Array("SQLite format 3\0".utf8)
    // After a crash of the machine a new file may have its length but not its bytes, which read as zeros.
    let isZeros = header.allSatisfy { $0 == 0 }
    guard header.count >= 100 else { return isZeros || magic.starts(with: header.prefix(16)) ? .damaged : .other }
    if EncryptedHeader.read(header) != .other { return .encrypted }
    guard header.starts(with: magic) else { return isZeros || info.byteCount % 512 == 0 ? .damaged : .other }
    let id = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return .database(applicationID: Int32(bitPattern: id))
  }

  /// The file's length, kind and first bytes; nil if it does not exist. Throws `cannotOpen` if it cannot be read.
  func info(_ startLength: Int) throws(StorageError) -> FilesInUse.FileInfo? {
    switch FilesInUse.readInfo(path, startLength) {
    case .success(let info): return info
    case .failure(let failure) where failure.isAbsence: return nil
    case .failure(let failure): throw StorageError(errno: failure.number, "The file cannot be read", path: path)
    }
  }

  /// Whether the file exists and holds nothing: no bytes, or a page of zeros.
  package var isBlank: Bool {
    guard let info = try? FilesInUse.readInfo(path, FileContent.pageLength).get(), info.isRegular else { return false }
    return info.byteCount <= FileContent.pageLength && info.start.allSatisfy { $0 == 0 }
  }

  /// Whether the file holds nothing although it once did: the file of changes beside it, which is created after it,
  /// exists.
  package var hasLostContent: Bool { isBlank && DatabaseFile(path + "-changes").byteCount > 0 }

  /// The file's length in bytes; 0 if there is none.
  package var byteCount: Int { (try? FilesInUse.readInfo(path, 0).get()).map { Int(clamping: $0.byteCount) } ?? 0 }

  /// True if the file, or its folder, is not writable: a log is created beside the file.
  package var isReadOnly: Bool {
    let path = absolutePath
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    let manager = FileManager.default
    return [path, folder.isEmpty ? "/" : folder].contains { path in
      manager.fileExists(atPath: path) && !manager.isWritableFile(atPath: path)
    }
  }

  /// SQLite's name for a database in memory does not name a file: a file of this name would be created and never found
  /// again.
  private func checkIsFile() throws(StorageError) {
    guard path != ":memory:" else {
      throw .notSupported(path, "The database must be a file; an in-memory database is not supported")
    }
  }

  /// Creates the file's folder if it is missing, for its owner alone.
  package func makeFolder() throws(StorageError) {
    try checkIsFile()
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let folder = String(path[..<slash])
    guard !FileManager.default.fileExists(atPath: folder) else { return }
    // The nearest folder that exists, and those below it that are created.
    var parents: [String] = []
    var parent = absolute(folder)[...]
    while let slash = parent.lastIndex(of: "/") {
      parent = parent[..<slash]
      parents.append(parent.isEmpty ? "/" : String(parent))
      if parent.isEmpty || FileManager.default.fileExists(atPath: String(parent)) { break }
    }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw StorageError(.cannotOpen, message: "The folder cannot be created", path: folder) }
    // If the entry of the folder is lost in a power failure, so is the file in it.
    for parent in parents.reversed() {
      guard FilesInUse.syncFolder(parent) else {
        throw StorageError(.inputOutput, message: "The folder cannot be flushed to the disk", path: parent)
      }
    }
  }

  /// Creates an empty file if there is none. The file, and therefore its log, can be read by its owner only.
  package func make() throws(StorageError) {
    try checkIsFile()
    let reason = FilesInUse.make(path)
    if reason != 0 { throw StorageError(errno: reason, "The file cannot be created", path: path) }
  }

  /// Moves the file and its log aside under a new name ending in `.damaged`, replacing an earlier one; returns its
  /// path.
  package func setAside() throws(StorageError) -> String {
    let aside = path + ".damaged"
    let manager = FileManager.default
    do {
      for suffix in ["", "-wal"] { try? manager.removeItem(atPath: aside + suffix) }
      try manager.moveItem(atPath: path, toPath: aside)
      // The log belongs to the damaged pages; SQLite would read it as the log of a new file with this name.
      if manager.fileExists(atPath: path + "-wal") {
        try manager.moveItem(atPath: path + "-wal", toPath: aside + "-wal")
      }
      if manager.fileExists(atPath: path + "-shm") { try manager.removeItem(atPath: path + "-shm") }
    } catch {
      throw StorageError(.cannotOpen, message: "The damaged file cannot be moved: \(error)", path: path)
    }
    return aside
  }
}
