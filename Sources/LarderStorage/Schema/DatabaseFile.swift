#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A database file looked at from outside, before any connection opens it.
package struct DatabaseFile: Sendable {
  /// What the first bytes say.
  package enum Content: Sendable, Hashable {
    /// No file, or an empty one: a database can be made here.
    case absent
    /// A database with this application id.
    case database(applicationID: Int32)
    /// An encrypted database: whose it is, only its key tells.
    case encrypted
    /// Damaged beyond telling, but with the size of a database: a whole number of pages, or cut inside its header.
    case damaged
    /// Something else: another program's file.
    case other
  }

  /// The file's path.
  package let path: String

  /// Names a file; it need not exist.
  package init(_ path: String) { self.path = path }

  /// The path from the root on.
  package var absolutePath: String { path == ":memory:" ? path : absolute(path) }

  private func absolute(_ path: String) -> String {
    path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
  }

  /// Looks at the file's header (SQLite file format §1.3); throws `cannotOpen` where it cannot be read.
  ///
  /// Connections to the file, of this process too, keep their locks.
  package func content() throws(StorageError) -> Content {
    let found: FilesInUse.Look
    switch FilesInUse.look(path, 100) {
    case .success(let look): found = look
    case .failure(let failure) where failure.isAbsence: return .absent
    case .failure(let failure):
      throw StorageError(errno: failure.number, "The file cannot be read", file: path)
    }
    guard found.isRegular else { return .other }
    let header = found.start
    guard !header.isEmpty else { return .absent }
    let magic = Array("SQLite format 3\0".utf8)
    // After a crash of the machine a new file may have its length and not its bytes: they are read as zeros.
    let isZeros = header.allSatisfy { $0 == 0 }
    guard header.count >= 100 else { return isZeros || magic.starts(with: header.prefix(16)) ? .damaged : .other }
    if EncryptedHeader.read(header) != .other { return .encrypted }
    guard header.starts(with: magic) else { return isZeros || found.byteCount % 512 == 0 ? .damaged : .other }
    let id = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return .database(applicationID: Int32(bitPattern: id))
  }

  /// Whether the file is there and holds nothing: no bytes, or a page of zeros.
  package var isBlank: Bool {
    guard let found = try? FilesInUse.look(path, FileContent.pageLength).get(), found.isRegular else { return false }
    return found.byteCount <= FileContent.pageLength && found.start.allSatisfy { $0 == 0 }
  }

  /// Whether the file holds nothing, though the file of changes beside it, which is made after it, shows that it did.
  package var hasLostContent: Bool { isBlank && DatabaseFile(path + "-changes").byteCount > 0 }

  /// The file's length in bytes; 0 where there is none.
  package var byteCount: Int { (try? FilesInUse.look(path, 0).get()).map { Int(clamping: $0.byteCount) } ?? 0 }

  /// True where the file, or its folder, may not be written to: a log is made beside the file.
  package var isReadOnly: Bool {
    let path = absolutePath
    let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ""
    let manager = FileManager.default
    return [path, folder.isEmpty ? "/" : folder].contains { place in
      manager.fileExists(atPath: place) && !manager.isWritableFile(atPath: place)
    }
  }

  /// SQLite's name for a database in memory names no file: one of this name would be made, and never found again.
  private func checkIsFile() throws(StorageError) {
    guard path != ":memory:" else { throw .notSupported(path, "It must be a file, not a database in memory") }
  }

  /// Makes the file's folder where it is missing, for its owner alone.
  package func makeFolder() throws(StorageError) {
    try checkIsFile()
    guard let slash = path.lastIndex(of: "/"), slash > path.startIndex else { return }
    let folder = String(path[..<slash])
    guard !FileManager.default.fileExists(atPath: folder) else { return }
    // The nearest folder that is there, and those below that are made.
    var parents: [String] = []
    var place = absolute(folder)[...]
    while let slash = place.lastIndex(of: "/") {
      place = place[..<slash]
      parents.append(place.isEmpty ? "/" : String(place))
      if place.isEmpty || FileManager.default.fileExists(atPath: String(place)) { break }
    }
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw StorageError(.cannotOpen, message: "The folder cannot be made", file: folder) }
    // A file whose folder is lost with the power is lost with it.
    for parent in parents.reversed() {
      guard FilesInUse.syncFolder(parent) else {
        throw StorageError(.inputOutput, message: "The folder cannot be written to the disk", file: parent)
      }
    }
  }

  /// Makes an empty file where there is none: it, and so its log, can be read by its owner alone.
  package func make() throws(StorageError) {
    try checkIsFile()
    let reason = FilesInUse.make(path)
    if reason != 0 { throw StorageError(errno: reason, "The file cannot be made", file: path) }
  }

  /// Moves the file and its log aside under a new name ending in `.damaged`, replacing an earlier one; answers its path.
  package func setAside() throws(StorageError) -> String {
    let aside = path + ".damaged"
    let manager = FileManager.default
    do {
      for suffix in ["", "-wal"] { try? manager.removeItem(atPath: aside + suffix) }
      try manager.moveItem(atPath: path, toPath: aside)
      // The log belongs to the damaged pages; over a new file it would be read as that file's.
      if manager.fileExists(atPath: path + "-wal") {
        try manager.moveItem(atPath: path + "-wal", toPath: aside + "-wal")
      }
      if manager.fileExists(atPath: path + "-shm") { try manager.removeItem(atPath: path + "-shm") }
    } catch {
      throw StorageError(.cannotOpen, message: "The damaged file cannot be moved: \(error)", file: path)
    }
    return aside
  }
}
