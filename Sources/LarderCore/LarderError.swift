#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// An error of this package: properties that are the same for every store, transport and parser.
///
/// ```swift
/// } catch let error as any LarderError {
///   if error.isCancelled { return }
///   if error.isOffline { showOffline() } else { show(error.explanation.message, error.explanation.cure) }
///   if error.isTransient { tryAgainLater() }
/// }
/// ```
///
/// As an `NSError` it has the type's full name as its domain, such as `LarderHTTP.HTTPTransportError`, and
/// ``errorCode`` as its code. `localizedDescription` is the message of ``explanation``, `recoverySuggestion` its cure.
/// On Apple platforms it is also a `CustomNSError`, whose `userInfo` contains both texts.
public protocol LarderError: BridgedError, Sendable {
  /// The number, the name and the category of the error.
  var errorIdentity: ErrorIdentity { get }
  /// What happened and what to do about it, in whole sentences.
  var explanation: ErrorExplanation { get }
  /// Whether the same call may succeed later without any change by the caller.
  var isTransient: Bool { get }
  /// The HTTP exchange that failed; nil if there was none, or if the error does not name it.
  var exchange: ErrorExchange? { get }
}

extension LarderError {
  /// The stable number within the type: no number changes its meaning, and none is used twice.
  public var errorCode: Int { errorIdentity.code }

  /// The stable name within the type, such as `timeout`.
  public var errorName: String { errorIdentity.name }

  /// The kind of failure, the same for all types.
  public var errorCategory: ErrorIdentity.Category { errorIdentity.category }

  /// Whether the caller or its task cancelled the call, or the store was closed or suspended during it. A change that
  /// was sent may have taken effect.
  public var isCancelled: Bool { errorCategory == .cancelled }

  /// Whether there is no connection to the server.
  public var isOffline: Bool { errorCategory == .offline }

  /// Whether there is no connection, or the time ran out.
  public var isTransient: Bool { errorCategory == .offline || errorCategory == .timeout }

  /// Nil.
  public var exchange: ErrorExchange? { nil }

  /// The message: what happened.
  public var errorDescription: String? { explanation.message }

  /// The cure: what to do about it.
  public var recoverySuggestion: String? { explanation.cure }

  /// Nil: the message says why.
  public var failureReason: String? { nil }

  /// Nil: there is no help book.
  public var helpAnchor: String? { nil }

  #if canImport(Darwin)
    /// The full name of the type.
    public static var errorDomain: String { String(reflecting: self) }

    /// The message and the cure under Foundation's keys, so that they survive where only an `NSError` is passed on.
    public var errorUserInfo: [String: Any] {
      [NSLocalizedDescriptionKey: explanation.message, NSLocalizedRecoverySuggestionErrorKey: explanation.cure]
    }
  #else
    /// The code of `NSError`, as `CustomNSError` gives it on Apple platforms. The domain is the full name of the type.
    public var _code: Int { errorCode }
  #endif
}

#if canImport(Darwin)
  /// What Foundation reads from an error: its texts, and the code and user information of its `NSError`.
  public typealias BridgedError = LocalizedError & CustomNSError

  extension CancellationError: @retroactive CustomNSError {}
#else
  /// What Foundation reads from an error: its texts. FoundationEssentials has no `CustomNSError`.
  public typealias BridgedError = LocalizedError
#endif

/// What identifies an error: a number for programs, a name for logs, a category for decisions.
public struct ErrorIdentity: Sendable, Hashable {
  /// The kind of failure.
  public enum Category: String, Sendable, Hashable, CaseIterable {
    /// The caller, or its task, cancelled the call.
    case cancelled
    /// There is no connection to the server: its name is not known, it cannot be reached, or the connection was lost.
    case offline
    /// The time allowed ran out.
    case timeout
    /// The server rejected the request, or its response cannot be used.
    case server
    /// The caller is not known, its credentials were rejected, or it may not do this.
    case authentication
    /// There is no such resource, entity, value or file.
    case notFound
    /// The resource was changed or deleted by somebody else.
    case conflict
    /// What the caller gave cannot be right: a URL, a name, a value, an option.
    case invalidInput
    /// Data that was received or stored cannot be read.
    case invalidData
    /// This version, the service or the platform does not do it.
    case notSupported
    /// The store is in a state in which it cannot do it: closed, suspended, in use by another store.
    case state
    /// The disk or the file system failed, or has no room.
    case storage
    /// The file is encrypted with another key, or a key is missing.
    case encryption
    /// Something is larger, deeper or more than a limit allows.
    case limit
    /// Anything else.
    case other
  }

  /// The number within the type.
  public let code: Int
  /// The name within the type.
  public let name: String
  /// The kind of failure.
  public let category: Category

  /// Joins the three.
  public init(_ code: Int, _ name: String, _ category: Category) {
    (self.code, self.name, self.category) = (code, name, category)
  }

  /// A response of HTTP: its status is the number.
  package init(status: Int) {
    let category: Category =
      switch status {
      case 401, 403, 407: .authentication
      case 404, 410: .notFound
      case 409, 412, 428: .conflict
      case 408, 504: .timeout
      default: .server
      }
    self.init(status, "http\(status)", category)
  }
}

/// The HTTP exchange that an error is about.
public struct ErrorExchange: Sendable, Hashable {
  /// The method, such as `GET`; nil if it is not known.
  public let method: String?
  /// The URL, without credentials and with secret values of its query hidden; nil if it is not known.
  public let url: String?
  /// The status of the response; nil if none was received.
  public let status: Int?

  /// Describes an exchange.
  package init(method: String?, url: String?, status: Int?) {
    (self.method, self.url, self.status) = (method, url, status)
  }
}

extension CancellationError: @retroactive LocalizedError, LarderError {
  /// The number 1, `cancelled`.
  public var errorIdentity: ErrorIdentity { ErrorIdentity(1, "cancelled", .cancelled) }

  /// What happened and what to do about it.
  public var explanation: ErrorExplanation {
    ErrorExplanation(
      "The call was cancelled.",
      cure: "Repeat the call if you still need its result. Read what it changes first: a change may have taken effect.")
  }

  /// Returns `CancellationError` in place of a store's error of a cancelled call, for functions that throw any error.
  /// Other errors are returned unchanged.
  package static func replacing(_ error: any Error) -> any Error {
    (error as? any LarderError)?.isCancelled == true ? CancellationError() : error
  }
}

/// What happened and what to do about it: two texts of whole sentences.
public struct ErrorExplanation: Sendable, Hashable, CustomStringConvertible {
  /// The message: what happened.
  public let message: String
  /// The cure: what to do about it.
  public let cure: String

  /// Creates an explanation from two texts. A full stop is added to a text without one.
  public init(_ message: String, cure: String) {
    self.message = Self.sentence(message)
    self.cure = Self.sentence(cure)
  }

  /// Message and cure.
  public var description: String { "\(message) \(cure)" }

  /// A text with one mark at its end.
  package static func sentence(_ text: String) -> String {
    let text = clause(text)
    guard let last = text.unicodeScalars.last, !"?!…".unicodeScalars.contains(last) else { return text }
    return text + "."
  }

  /// Returns a text without the full stop at its end, so that more text can follow.
  package static func clause(_ text: String) -> String {
    var scalars = Substring(text).unicodeScalars
    while let last = scalars.last, last.properties.isWhitespace || last == "." { scalars.removeLast() }
    return String(scalars)
  }
}
