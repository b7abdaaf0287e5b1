internal import LarderContent
internal import LarderHTTP
internal import LarderOData
internal import LarderObjects
internal import LarderOffline
internal import LarderService
internal import LarderStorage

extension CommandFailure {
  /// Converts any error that reaches the end of a verb: the only place where errors become exit statuses.
  package init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as UsageError: self.init(.usage, error.message, hint: error.hint)
    case let error as FileError: self.init(.storage, error.description)
    case is CancellationError: self.init(.interrupted, "interrupted")
    case let error as HTTPTransportError: self.init(Self.status(of: error), error.description)
    case let error as ContentError: self = ContentFailure.failure(error)
    case let error as CacheError: self.init(.storage, error.description, hint: error.isKeyError ? KeyAccess.hint : nil)
    case let error as ObjectStoreError: self = ObjectFailure.failure(error)
    case let error as OutputError: self.init(error == .closed ? .done : .storage, error.description)
    case let error as ODataServiceError: self = ServiceFailure.failure(error)
    case let error as OfflineODataError: self = OfflineFailure.failure(error)
    case let error as StorageError: self.init(.storage, error)
    case let error as HTTPAuthenticationError: self.init(.network, error.description)
    case let error as MetadataError: self.init(.storage, error.description)
    case let error as JSONError: self.init(.storage, error.description)
    default: self.init(.negative, "\(error)")
    }
  }

  /// The failure of a file, with a hint about its key if the key is the problem.
  init(_ status: CommandStatus, _ error: StorageError) {
    self.init(status, error.description, hint: error.isKeyError ? KeyAccess.hint : nil)
  }
}
