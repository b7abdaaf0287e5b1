import LarderCore
import LarderStorage

extension CacheError {
  /// Converts an error of the keys or the default location of a cache's folder.
  init(_ error: StorageError, path: String) {
    switch error.category {
    case .full: self = .full(path: path)
    case .readOnly: self = .readOnly(path: path)
    case .corrupt, .notADatabase, .unexpectedValue: self = .corrupt(path: path, reason: error.message)
    case .foreignFile, .newerSchema: self = .foreign(path: path)
    case .wrongKey: self = .wrongKey(path: path)
    case .encrypted: self = .encrypted(path: path)
    case .notEncrypted: self = .notEncrypted(path: path)
    case .closed: self = .closed
    case .suspended: self = .suspended
    case .notSupported: self = .notSupported(error.message)
    case .noDefaultLocation: self = .noDefaultLocation(reason: error.message)
    case .busy, .changed, .inUse, .cannotOpen, .inputOutput, .constraint, .tooLarge, .misuse, .interrupted, .other:
      self = .failed(path: path, reason: error.description)
    }
  }

  /// The path of a cache: the given one, or the default location.
  static func path(
    _ path: String?, or location: DefaultLocation, in folders: ApplicationFolders = .current
  ) throws(CacheError) -> String {
    if let path { return path }
    do throws(StorageError) { return try location.path(in: folders) } catch {
      throw .noDefaultLocation(reason: error.message)
    }
  }
}
