import ODataService
import Storage

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
    file = "\(folder)/\(CachePlace.safe(storeName))-\(digest).\(CachePlace.fileExtension)"
  }

  /// Letters, digits, dots, hyphens and underscores stay; each other byte becomes `%` and its two digits.
  private static func safe(_ name: String) -> String {
    var text = ""
    for byte in name.utf8.prefix(64) {
      switch byte {
      case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: text.unicodeScalars.append(UnicodeScalar(byte))
      default: text += "%" + Digest.hexadecimal([byte])
      }
    }
    return text.isEmpty ? "store" : text
  }

  /// The platform's folder for what can be fetched again: `$XDG_CACHE_HOME/larder`, `~/.cache/larder`, on Apple
  /// platforms `Library/Caches/larder`.
  static var defaultFolder: String {
    #if canImport(Darwin)
      return URL.cachesDirectory.appending(path: "larder").path
    #else
      let environment = ProcessInfo.processInfo.environment
      if let folder = environment["XDG_CACHE_HOME"], folder.hasPrefix("/") { return folder + "/larder" }
      let home = environment["HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil } ?? "/tmp"
      return home + "/.cache/larder"
    #endif
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
