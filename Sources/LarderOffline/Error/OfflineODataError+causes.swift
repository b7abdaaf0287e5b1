import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// Conversion of errors of lower layers to the store's errors.
extension OfflineODataError {
  /// Converts any error to an error of the store. An error of the store stays unchanged.
  package init(below error: any Error) {
    switch error {
    case let error as OfflineODataError: self = error
    case is CancellationError: self.init(.cancelled)
    case let error as ODataServiceError: self.init(error)
    case let error as HTTPTransportError: self.init(error)
    case let error as StorageError: self.init(error)
    case let error as ODataSyntaxError: self.init(error)
    case let error as ODataBindingError: self.init(error)
    case let error as PayloadError:
      if case .inStreamError = error.problem {
        self.init(.serviceFailed, error.problem.description)
        return
      }
      self.init(error.problem == .json(.invalidUTF8) ? .unreadableEncoding : .malformedResponse, cause: error)
    case let error as MetadataError: self.init(.malformedMetadata, cause: error)
    case let error as DecodingError: self.init(.undecodableType, error.problem)
    default: self.init(.internalFailure, cause: error)
    }
  }

  /// Converts an error of the conversation with the service.
  init(_ error: ODataServiceError) {
    if error.isForeign {
      self.init(.serviceUnavailable, error.descriptionWithOptions)
      return
    }
    switch error.category {
    case .communication(let below):
      self.init(Self.name(below), error.url == nil ? below.description : error.description)
    case .http(let status, _):
      self.init(Self.name(status: status), error.descriptionWithOptions)
    case .authentication(.unreachable(let below)): self.init(Self.name(below), error.description)
    case .authentication(.unavailable): self.init(.serviceUnavailable, error.description)
    case .authentication, .csrf: self.init(.authenticationFailed, cause: error)
    case .invalidRequest: self.init(.invalidRequest, cause: error)
    case .malformedResponse:
      self.init(error.operation == "metadata" ? .malformedMetadata : .malformedResponse, cause: error)
    case .undecodableType(let problem): self.init(.undecodableType, problem)
    case .notSupported: self.init(.unsupportedByService, cause: error)
    case .cancelled: self.init(.cancelled)
    case .notProcessed: self.init(.requestRejected, cause: error)
    case .notOpen: self.init(.storeNotOpen)
    case .suspended: self.init(.storeSuspended)
    case .passive: self.init(.neverPassive)
    case .notCached: self.init(.resourceNotFound)
    // An online store's own: no conversation throws them.
    case .alreadyOpen, .cacheNotEnabled, .cacheClosed, .cacheNotClosed, .cacheInUse, .metadataUnreadable, .storage:
      self.init(.internalFailure, cause: error)
    }
  }

  private init(_ error: HTTPTransportError) { self.init(Self.name(error), error.description) }

  private static func name(_ error: HTTPTransportError) -> OfflineODataErrorName {
    switch error {
    case .hostNotFound: .hostNotFound
    case .cannotConnect: .cannotConnect
    case .tls: .insecureConnection
    case .timeout: .timeout
    case .connectionLost: .connectionLost
    case .cancelled: .cancelled
    case .notSupported: .unsupportedByService
    case .protocolViolation, .bodyTooLarge: .malformedResponse
    case .invalidRequest: .invalidRequest
    case .suspended: .storeSuspended
    case .bodyConsumed: .internalFailure
    case .tooManyRedirects, .redirectRejected, .other: .transportFailed
    }
  }

  private static func name(status: Int) -> OfflineODataErrorName {
    switch status {
    // Redirects. 304 has no place among them: it is about the caller's condition.
    case 300...303, 305..<400: .transportFailed
    case 401, 407: .authenticationFailed
    case 408: .timeout
    case 425, 429, 502, 503, 504: .serviceUnavailable
    case 500...: .serviceFailed
    default: .requestRejected
    }
  }

  /// Converts an error of the storage layer.
  init(_ error: StorageError) {
    // The message of the name already says what the underlying error says.
    if let name = Self.nameOfKey(error.category) {
      self.init(name, error.path)
      return
    }
    if error.isOfFunction {
      // The arguments are those of the query; the file is not at fault.
      self.init(.invalidQuery, error.message)
      return
    }
    if error.isOfLimits {
      self.init(.unsupportedQuery, error.message)
      return
    }
    let name: OfflineODataErrorName =
      switch error.category {
      case .busy, .inUse: .storeInUse
      case .unexpectedValue, .corrupt: .storeDamaged
      case .notADatabase, .foreignFile, .newerSchema, .wrongKey, .encrypted, .notEncrypted: .foreignFile
      case .full: .diskFull
      case .readOnly: .storeReadOnly
      case .cannotOpen, .inputOutput: .fileFailed
      case .changed: .fileMoved
      case .closed: .storeNotOpen
      case .suspended: .storeSuspended
      case .notSupported: .unsupportedStorage
      case .interrupted: .cancelled
      case .noDefaultLocation: .noDefaultLocation
      case .constraint, .tooLarge, .misuse, .other: .internalFailure
      }
    self.init(name, cause: error)
  }

  private static func nameOfKey(_ category: StorageError.Category) -> OfflineODataErrorName? {
    switch category {
    case .wrongKey: .wrongEncryptionKey
    case .encrypted: .encryptionKeyMissing
    case .notEncrypted: .storeNotEncrypted
    default: nil
    }
  }

  private init(_ error: ODataSyntaxError) {
    // The text before the position shows which query option contains it.
    let before = String(String.UnicodeScalarView(error.excerpt.unicodeScalars.prefix(error.column)))
    let option = before.lowercased().split(whereSeparator: { "?&;(".contains($0) }).last.map(String.init) ?? ""
    let name = option.prefix { $0 != "=" }.drop { "$%24".contains($0) }
    switch name {
    case "top": self.init(.notPositiveTop, cause: error)
    case "skip": self.init(.notPositiveSkip, cause: error)
    default: self.init(.malformedURL, cause: error)
    }
  }

  private init(_ error: ODataBindingError) {
    switch error.problem {
    case .notSupported: self.init(.unsupportedQuery, cause: error)
    case .wrongKey(_, _, let found) where Set(found).count < found.count:
      self.init(.duplicateKeyProperty, cause: error)
    case .wrongKey: self.init(.missingKeyProperty, cause: error)
    default: self.init(.unfittingURL, cause: error)
    }
  }
}

extension OfflineODataError {
  /// An error for a name that a type, or an operation, does not have. It suggests the nearest existing name.
  static func unknown(_ name: String, of owner: String, among names: some Sequence<String>) -> OfflineODataError {
    let nearest = NearestName.find(name, among: names)
    return OfflineODataError(.unknownProperty, "\(owner)/\(name)" + (nearest.map { "; did you mean '\($0)'?" } ?? ""))
  }

  /// An error for a name that a type does not have.
  static func unknown(_ name: String, of type: EdmStructure) -> OfflineODataError {
    unknown(name, of: type.name, among: type.properties.map(\.name) + type.navigationProperties.map(\.name))
  }
}
