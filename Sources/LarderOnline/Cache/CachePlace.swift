@_spi(Stores) import LarderCore
import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The location of one service's cache: a file of its own in the cache folder.
struct CachePlace: Sendable, Hashable {
  /// The folder.
  let folder: String
  /// The database.
  let file: String
  /// The file whose lock shows that a store has the database in use.
  var lockFile: String { file + ".lock" }
  /// The store's name as it appears in the file's name.
  let storeName: String
  /// The service, for messages and listings.
  let root: String

  static let fileExtension = "larder-cache"

  /// The file's name consists of the store's name and a digest of the service's root.
  init(folder: String, storeName: String, root: ODataServiceRoot) {
    var folder = folder
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    self.folder = folder
    self.root = root.url.absoluteString + (root.query.map { "?" + $0 } ?? "")
    let digest = Hexadecimal.text(Digest.sha256(Array(self.root.utf8)).prefix(8))
    self.storeName = FileName.distinct(storeName)
    file = "\(folder)/\(self.storeName)-\(digest).\(CachePlace.fileExtension)"
  }
}

extension CachePlace {
  /// Creates the folder if it is missing, readable for its owner only.
  func makeFolder() throws(StorageError) {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw FolderFailure.error(folder, "The cache's folder cannot be created", error) }
  }

  /// Deletes a database and its log. This works for an encrypted database whose key is lost, too.
  ///
  /// A file that belongs to another program stays, and `foreignFile` is thrown. If nothing in the file says whose it is
  /// (it is encrypted, damaged or has no application id), its name decides. An encrypted file that any program has open
  /// throws `inUse`.
  static func removeDatabase(_ file: String) throws(StorageError) {
    let content = try DatabaseFile(file).content()
    switch content {
    case .absent, .database(CacheSchema.applicationID): break
    case .damaged, .encrypted, .database(0):
      guard file.hasSuffix("." + fileExtension) else { throw StorageError.foreign(file) }
    case .database, .other: throw StorageError.foreign(file)
    }
    if content == .encrypted { try DatabaseFile(file).checkUnused() }
    do {
      // The log is deleted first: SQLite would read it as the log of a new file with this name.
      for path in [file + "-wal", file + "-shm", file] where FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    } catch { throw FolderFailure.error(file, "The cache cannot be removed", error) }
  }
}
