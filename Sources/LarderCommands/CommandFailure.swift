internal import LarderContent
internal import LarderHTTP
internal import LarderOData
internal import LarderObjects
internal import LarderOffline
internal import LarderOnline
internal import LarderService
internal import LarderStorage

/// Why a command did not do what it was asked for, with the status that the process ends with.
package struct CommandFailure: Error, Sendable, Hashable {
  /// How the process ends.
  package let status: CommandStatus
  /// What went wrong, one line.
  package let message: String
  /// What to do about it.
  package let hint: String?

  /// Makes a failure.
  package init(_ status: CommandStatus, _ message: String, hint: String? = nil) {
    self.status = status
    self.message = message
    self.hint = hint
  }

  /// Reads any error that reaches a verb's end: the one place where errors become exit statuses.
  package init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case let error as UsageError: self.init(.usage, error.message, hint: error.hint)
    case let error as FileError: self.init(.storage, error.description)
    case is CancellationError: self.init(.interrupted, "interrupted")
    case let error as HTTPTransportError: self.init(Self.status(of: error), error.description)
    case let error as ContentError: self = ContentFailure.failure(error)
    case let error as CacheError: self.init(.storage, error.description, hint: error.isOfKey ? KeyAccess.hint : nil)
    case let error as ObjectStoreError: self = ObjectFailure.failure(error)
    case let error as OutputError: self.init(error == .closed ? .done : .storage, error.description)
    case let error as ODataServiceError: self = ServiceFailure.failure(error)
    case let error as OfflineODataError: self = OfflineFailure.failure(error)
    case OnlineStoreError.storage(let error): self.init(.storage, error)
    case let error as OnlineStoreError: self.init(.storage, error.description)
    case let error as StorageError: self.init(.storage, error)
    case let error as AuthenticationFailure: self.init(.network, error.description)
    case let error as MetadataError: self.init(.storage, error.description)
    case let error as JSONError: self.init(.storage, error.description)
    default: self.init(.negative, "\(error)")
    }
  }

  /// A failure of a file, with where its key comes from where that is at fault.
  init(_ status: CommandStatus, _ error: StorageError) {
    self.init(status, error.description, hint: error.isOfKey ? KeyAccess.hint : nil)
  }

  /// The status for a transport's error.
  static func status(of error: HTTPTransportError) -> CommandStatus {
    switch error {
    case .cancelled: .interrupted
    case .invalidRequest: .usage
    default: .network
    }
  }

  /// The status for an HTTP status that is not a success: what the server refuses is a no; what it cannot do, or does
  /// not let this caller do without logging on or waiting, is a failure of the server. So is a redirect that led nowhere,
  /// or a 304 to a condition in `--header`.
  static func status(ofHTTP status: Int) -> CommandStatus {
    switch status {
    case 200..<300: .done
    case 401, 407, 408, 429: .network
    case 400..<500: .negative
    default: .network
    }
  }
}
