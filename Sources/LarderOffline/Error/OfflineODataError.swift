public import LarderCore
import LarderService
import LarderStorage

/// An error of an offline store: one of seven categories, with a stable number and a message.
///
/// ```swift
/// do { … } catch OfflineODataError.invalidInput(let errorCode, let errorMessage) {
///   switch OfflineODataErrorName(rawValue: errorCode) {
///   case .notPositiveTop: …
///   default: show(errorMessage)
///   }
/// }
/// ```
///
/// The number is that of an ``OfflineODataErrorName``; no number is used twice, and none changes its meaning. The
/// message contains what happened, where, why (the words of the underlying error, or the service's), and the remedy. If
/// a URL is the cause, lines follow that show the position in it.
public enum OfflineODataError: Error, Sendable, Hashable {
  /// The input cannot be valid, whatever the store contains: a URL, a name, a value.
  case invalidInput(errorCode: Int, errorMessage: String)
  /// Something is not, or no longer, in the state that the caller expects: a store that is not open, an ETag that is
  /// stale.
  case preconditionFailed(errorCode: Int, errorMessage: String)
  /// The entity, file or defining query does not exist.
  case notFound(errorCode: Int, errorMessage: String)
  /// This version, the service or the platform does not support it; the message names what.
  case notSupported(errorCode: Int, errorMessage: String)
  /// No complete response came from the service. The same call may succeed later.
  case communicationError(errorCode: Int, errorMessage: String)
  /// The service responded with an error, or with something that cannot be read.
  case serverSideError(errorCode: Int, errorMessage: String)
  /// This machine failed: its disk, the store's file, the library itself. Also used if the caller cancelled.
  case clientInternalError(errorCode: Int, errorMessage: String)

  /// The categories of errors, one for each case.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    case invalidInput, preconditionFailed, notFound, notSupported, communicationError, serverSideError
    case clientInternalError
  }

  /// The category of the error.
  public var category: Category {
    switch self {
    case .invalidInput: .invalidInput
    case .preconditionFailed: .preconditionFailed
    case .notFound: .notFound
    case .notSupported: .notSupported
    case .communicationError: .communicationError
    case .serverSideError: .serverSideError
    case .clientInternalError: .clientInternalError
    }
  }

  /// The stable number: the raw value of an ``OfflineODataErrorName``.
  public var errorCode: Int { content.code }

  /// What happened, where, why, and the remedy. It contains no credentials, and only the service's error message from a
  /// response. The words of the service may contain personal data.
  public var errorMessage: String { content.message }

  /// The name of the error number; nil for a number that this version does not know.
  public var name: OfflineODataErrorName? { OfflineODataErrorName(rawValue: errorCode) }

  private var content: (code: Int, message: String) {
    switch self {
    case .invalidInput(let code, let message), .preconditionFailed(let code, let message),
      .notFound(let code, let message), .notSupported(let code, let message),
      .communicationError(let code, let message), .serverSideError(let code, let message),
      .clientInternalError(let code, let message):
      (code, message)
    }
  }

  /// Creates the error with a name.
  ///
  /// - Parameters:
  ///   - detail: what is concerned, in a few words or in the words of the underlying error; nil leaves the name's own
  ///     message.
  ///   - cause: the underlying error; its description is included in the message.
  package init(_ name: OfflineODataErrorName, _ detail: String? = nil, cause: (any Error)? = nil) {
    let entry = name.entry
    var message = entry.message
    let details = [detail, cause.map { String(describing: $0) }].compactMap(\.self).joined(separator: ": ")
    // The first line of the underlying error is followed by lines that show the position in a text.
    let lines = details.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
    if let first = lines.first, !first.isEmpty {
      message = ErrorExplanation.sentence("\(ErrorExplanation.clause(message)): \(first)")
    }
    // The underlying error may already contain the remedy.
    if let cure = Self.cure(of: cause) ?? entry.cure, !message.hasSuffix(cure), !Self.containsCure(cause) {
      message += " " + cure
    }
    if lines.count > 1 { message += "\n" + lines[1] }
    self.init(entry.category, code: name.rawValue, message: message)
  }

  /// The remedy if the cause requires another one than its name has.
  private static func cure(of cause: (any Error)?) -> String? {
    switch cause {
    case let error as any ErrorWithCure: return error.cure
    case let error as PayloadError:
      // Outside the properties of rows, the content may be that of anything.
      let isOfRow = error.path.contains("].") || error.path.contains("]['")
      return isOfRow && error.problem.isOfOneValue ? valueCure : nil
    default: return nil
    }
  }

  /// The remedy for a value that does not fit its declared type.
  static let valueCure = """
    To download the other properties, list them in the $select of the query; to keep such values as texts, use \
    keepsRawValues (--raw-values).
    """

  private static func containsCure(_ cause: (any Error)?) -> Bool {
    switch cause {
    case let error as StorageError: error.tellsCure
    case let error as ODataServiceError: if case .authentication(.rejected) = error.category { true } else { false }
    default: false
    }
  }

  private init(_ category: Category, code: Int, message: String) {
    switch category {
    case .invalidInput: self = .invalidInput(errorCode: code, errorMessage: message)
    case .preconditionFailed: self = .preconditionFailed(errorCode: code, errorMessage: message)
    case .notFound: self = .notFound(errorCode: code, errorMessage: message)
    case .notSupported: self = .notSupported(errorCode: code, errorMessage: message)
    case .communicationError: self = .communicationError(errorCode: code, errorMessage: message)
    case .serverSideError: self = .serverSideError(errorCode: code, errorMessage: message)
    case .clientInternalError: self = .clientInternalError(errorCode: code, errorMessage: message)
    }
  }
}

/// An underlying error with a remedy of its own, in place of the one that the name of the error has.
protocol ErrorWithCure: Error {
  var cure: String { get }
}

extension OfflineODataError: CustomStringConvertible, CustomDebugStringConvertible {
  /// The message.
  public var description: String { errorMessage }

  /// Category, name, number and message.
  public var debugDescription: String {
    "\(category.rawValue) \(name.map { "\($0) " } ?? "")(\(errorCode)): \(errorMessage)"
  }
}

extension OfflineODataError: LarderError {
  /// The number and the name of an ``OfflineODataErrorName``; the category of all errors of the package.
  public var errorIdentity: ErrorIdentity {
    ErrorIdentity(errorCode, name.map { "\($0)" } ?? "unknown", sharedCategory)
  }

  /// What happened, and what to do about it; the lines that show a place in a URL are in ``errorMessage`` alone.
  public var explanation: ErrorExplanation {
    let line = String(errorMessage.prefix { $0 != "\n" })
    let cure = name?.cure ?? category.cure
    return ErrorExplanation(line.hasSuffix(" " + cure) ? String(line.dropLast(cure.count + 1)) : line, cure: cure)
  }
}

extension OfflineODataError {
  /// Whether there is no connection, the time ran out, or the service says that it is not available.
  public var isTransient: Bool {
    sharedCategory == .offline || sharedCategory == .timeout || name == .serviceUnavailable
  }

  /// The request to the service that failed; nil if there was none.
  ///
  /// The URL contains neither credentials nor values of query options that may be data. The status is nil if no
  /// response was received.
  public var exchange: ErrorExchange? {
    // No request causes the others. Their messages may quote a text of the caller's that looks like a request.
    guard category == .communicationError || category == .serverSideError || name == .unsupportedByService else {
      return nil
    }
    // A case has room for a number and a message only, so the exchange is a part of the message.
    return ErrorExchange(in: errorMessage)
  }

  /// The category of all errors of the package.
  private var sharedCategory: ErrorIdentity.Category {
    switch name {
    case .cancelled: .cancelled
    case .hostNotFound, .cannotConnect, .connectionLost: .offline
    case .timeout: .timeout
    case .authenticationFailed: .authentication
    case .wrongEncryptionKey, .encryptionKeyMissing, .storeNotEncrypted, .setAsideNeedsKey: .encryption
    case .entityChanged, .entityExists, .outcomeUncertain, .changeTookEffect: .conflict
    case .diskFull, .fileFailed, .fileMoved, .storeReadOnly: .storage
    case .storeDamaged, .foreignFile, .undecodableType, .malformedMetadata: .invalidData
    default:
      switch category {
      case .invalidInput: .invalidInput
      case .preconditionFailed: .state
      case .notFound: .notFound
      case .notSupported: .notSupported
      case .communicationError, .serverSideError: .server
      case .clientInternalError: .other
      }
    }
  }
}

extension OfflineODataError.Category {
  /// The general remedy of the category, for messages that name the details.
  fileprivate var cure: String {
    switch self {
    case .invalidInput: "Correct what the message names."
    case .preconditionFailed: "First meet the condition that the message names."
    case .notFound: "Check the name or the key, or download the data."
    case .notSupported: "Use a supported feature instead, or leave it out."
    case .communicationError: "Try again later."
    case .serverSideError: "Report it to the operator of the service."
    case .clientInternalError: "Start it again if you still need it."
    }
  }
}
