import LarderService
import LarderStorage

extension ODataServiceError {
  /// Converts the failure of the technical cache's file.
  ///
  /// - Parameter path: the file, if another store or process may have it in use.
  init(_ error: StorageError, path: String? = nil, operation: String) {
    let inUse = error.category == .inUse ? path.map { Category.cacheInUse(path: $0) } : nil
    self.init(inUse ?? .storage(error), operation: operation, cause: error)
  }
}
