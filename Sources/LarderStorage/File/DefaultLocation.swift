@_spi(Stores) package import LarderCore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Where a store keeps its files if the application gives no path: never in the current folder.
///
/// | store | location |
/// | --- | --- |
/// | online store | `DATA/APPLICATION/online/SERVICE`, a folder |
/// | offline store | `DATA/APPLICATION/offline/SERVICE`, a folder |
/// | object store | `DATA/APPLICATION/objects/store.larder-objects` |
/// | file cache | `CACHES/APPLICATION/content`, a folder |
///
/// DATA and CACHES are those of ``ApplicationFolders``. SERVICE is the service's host with a digest of its whole root:
/// two services never share a folder.
package enum DefaultLocation: Sendable {
  /// The technical cache of the service with this root. It is not among the caches, which the system may delete: in
  /// passive mode its content is all that the application has.
  case onlineStore(URL)
  /// The offline stores of the service with this root.
  case offlineStore(URL)
  case objectStore
  case fileCache

  /// The path of the folder or file. Throws `noDefaultLocation` if the home folder is unknown.
  package func path(in folders: ApplicationFolders = .current) throws(StorageError) -> String {
    let (base, variable) = isCache ? (folders.caches, "XDG_CACHE_HOME") : (folders.data, "XDG_DATA_HOME")
    guard let base else {
      throw StorageError(
        .noDefaultLocation,
        message: "The default location of the store is unknown: neither HOME nor \(variable) is an absolute path",
        path: nil)
    }
    return "\(base)/\(FileName.distinct(folders.application))/\(relativePath)"
  }

  private var isCache: Bool {
    switch self {
    case .onlineStore, .offlineStore, .objectStore: false
    case .fileCache: true
    }
  }

  private var relativePath: String {
    switch self {
    case .onlineStore(let service): "online/\(Self.name(of: service))"
    case .offlineStore(let service): "offline/\(Self.name(of: service))"
    case .objectStore: "objects/store.larder-objects"
    case .fileCache: "content"
    }
  }

  private static func name(of service: URL) -> String {
    let digest = Hexadecimal.text(Digest.sha256(Array(service.absoluteString.utf8)).prefix(8))
    return "\(FileName.distinct(service.host() ?? "service"))-\(digest)"
  }
}
