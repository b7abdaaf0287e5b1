import LarderService
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Where the cache of one service is: a file of its own in the cache folder.
struct CachePlace: Sendable, Hashable {
  /// The folder.
  let folder: String
  /// The database.
  let file: String
  /// The file whose lock says that a store has the database in use.
  var lockFile: String { file + ".lock" }
  /// What the store's name became in the file's.
  let storeName: String
  /// The service, for messages and listings.
  let root: String

  static let fileExtension = "larder-cache"

  /// The file's name holds the store's name, and the service by a digest of its root.
  init(folder: String, storeName: String, root: ODataServiceRoot) {
    var folder = folder
    while folder.count > 1, folder.hasSuffix("/") { folder.removeLast() }
    self.folder = folder
    self.root = root.url.absoluteString + (root.query.map { "?" + $0 } ?? "")
    let digest = Digest.hexadecimal(Digest.sha256(Array(self.root.utf8)).prefix(8))
    self.storeName = FileName.distinct(storeName)
    file = "\(folder)/\(self.storeName)-\(digest).\(CachePlace.fileExtension)"
  }
}

extension CachePlace {
  /// Makes the folder where it is missing, readable for its owner alone.
  func makeFolder() throws(StorageError) {
    do {
      try FileManager.default.createDirectory(
        atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    } catch { throw FolderFailure.error(folder, "The cache's folder cannot be made", error) }
  }

  /// Deletes a database and its log, an encrypted one also where its key is lost.
  ///
  /// A file that is another's stays and throws `foreignFile`. Where nothing in it says whose it is (encrypted, damaged, or
  /// without a number of its own) its name does. An encrypted one that any program has open throws `inUse`.
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
      // The log goes first: over a new file it would be read as that file's.
      for path in [file + "-wal", file + "-shm", file] where FileManager.default.fileExists(atPath: path) {
        try FileManager.default.removeItem(atPath: path)
      }
    } catch { throw FolderFailure.error(file, "The cache cannot be removed", error) }
  }
}
