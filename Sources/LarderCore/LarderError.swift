#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The protocol of this package's public errors: a number for programs, and a message and a cure for users.
///
/// `localizedDescription` is what happened, `recoverySuggestion` what to do about it. As an `NSError` it has the type's
/// full name as its domain, such as `LarderHTTP.HTTPTransportError`, and ``errorCode`` as its code.
public protocol LarderError: LocalizedError, Sendable {
  /// The stable number within the type. The meaning of a number never changes, and no number is used twice.
  var errorCode: Int { get }
  /// What happened and what to do about it, in whole sentences.
  var explanation: ErrorExplanation { get }
}

extension LarderError {
  /// What happened.
  public var errorDescription: String? { explanation.message }

  /// What to do about it.
  public var recoverySuggestion: String? { explanation.cure }

  /// Nil: the message contains the reason.
  public var failureReason: String? { nil }

  /// Nil: there is no help book.
  public var helpAnchor: String? { nil }

  /// The code of `NSError`. `CustomNSError` provides it in the same way, but FoundationEssentials does not have that
  /// protocol. By default, the domain is the full name of the type.
  public var _code: Int { errorCode }
}

/// What happened and what to do about it: two texts of whole sentences.
public struct ErrorExplanation: Sendable, Hashable, CustomStringConvertible {
  /// What happened.
  public let message: String
  /// What to do about it.
  public let cure: String

  /// Creates an explanation; adds a full stop to a text that has none.
  public init(_ message: String, cure: String) {
    self.message = Self.sentence(message)
    self.cure = Self.sentence(cure)
  }

  /// Message and cure.
  public var description: String { "\(message) \(cure)" }

  /// Returns a text with one punctuation mark at its end.
  public static func sentence(_ text: String) -> String {
    let text = clause(text)
    guard let last = text.unicodeScalars.last, !"?!…".unicodeScalars.contains(last) else { return text }
    return text + "."
  }

  /// Returns a text without the full stop at its end, so that more text can follow.
  public static func clause(_ text: String) -> String {
    var scalars = Substring(text).unicodeScalars
    while let last = scalars.last, last.properties.isWhitespace || last == "." { scalars.removeLast() }
    return String(scalars)
  }
}
