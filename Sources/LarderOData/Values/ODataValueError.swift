public import LarderCore

/// The error of a text, a JSON value or a literal that is no value of a type, with the cure.
public struct ODataValueError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Problem: Error, Sendable, Hashable {
    /// The text does not have the form of the type's values.
    case malformed
    /// The form is right, but the value is out of the type's range.
    case outOfRange
    /// A number with a fraction, although the type holds only whole numbers.
    case fractional
    /// JSON of a kind that the type does not allow; the text names it.
    case wrongKind(String)
    /// A collection in place of a single value, or the other way round.
    case collectionMismatch(expectsCollection: Bool)
    /// A duration with years or months, which have no fixed length.
    case calendarDuration
    /// The value has more digits or bytes than the limit.
    case tooLong(limit: Int)
    /// Geo collections are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The value or type has no such form; the text says what is missing.
    case notSupported(String)
  }

  /// The problem.
  package let problem: Problem
  /// The requested type; nil if none was known.
  public let type: EdmPrimitiveType?
  /// The beginning of the text, at most 48 characters.
  public let excerpt: String

  /// Creates an error from a problem, the type and the text; keeps the text's beginning.
  package init(_ problem: Problem, type: EdmPrimitiveType?, text: String) {
    self.problem = problem
    self.type = type
    let shortened = text.unicodeScalars.prefix(48)
    excerpt = shortened.endIndex == text.unicodeScalars.endIndex ? text : String(shortened) + "…"
  }

  init(_ problem: Problem, type: EdmPrimitiveType?, bytes: UnsafeBufferPointer<UInt8>) {
    self.init(problem, type: type, text: String(decoding: bytes.prefix(256), as: UTF8.self))
  }

  /// The text, the type, the problem and the cure.
  public var description: String {
    let name = type?.qualifiedName ?? "OData"
    return switch problem {
    case .malformed: "'\(excerpt)' is not a valid \(name) value; expected \(type?.lexicalForm ?? "a primitive value")"
    case .outOfRange: "'\(excerpt)' is out of the range of \(name); expected \(type?.lexicalForm ?? "a smaller value")"
    case .fractional: "'\(excerpt)' has a fraction, which \(name) does not allow; use Edm.Decimal or Edm.Double"
    case .wrongKind(let found):
      "\(found) is not a valid \(name) value; expected \(type?.lexicalForm ?? "a primitive value")"
    case .collectionMismatch(let expectsCollection):
      expectsCollection ? "a single value; expected a collection" : "a collection; expected a single \(name) value"
    case .calendarDuration:
      "'\(excerpt)' has years or months, which have no fixed length; \(name) accepts days, hours, minutes and seconds"
    case .tooLong(let limit): "'\(excerpt)' is longer than the limit of \(limit) digits or bytes"
    case .tooDeep(let limit): "'\(excerpt)' nests collections deeper than \(limit)"
    case .notSupported(let what): "\(what) ('\(excerpt)')"
    }
  }
}

extension EdmPrimitiveType {
  /// The form of the type's values, for messages.
  var lexicalForm: String {
    switch self {
    case .binary: "base64"
    case .boolean: "true or false"
    case .byte: "a whole number from 0 to 255"
    case .sbyte: "a whole number from -128 to 127"
    case .int16: "a whole number from -32768 to 32767"
    case .int32: "a whole number from -2147483648 to 2147483647"
    case .int64: "a 64-bit integer"
    case .date: "YYYY-MM-DD"
    case .dateTime: "YYYY-MM-DDThh:mm:ss without a zone; in V2 also /Date(milliseconds)/"
    case .dateTimeOffset: "YYYY-MM-DDThh:mm:ss with Z or ±hh:mm; in V2 also /Date(milliseconds+minutes)/"
    case .timeOfDay: "hh:mm:ss with at most 12 fractional digits"
    case .decimal: "a decimal number, INF, -INF or NaN"
    case .double, .single: "a number, INF, -INF or NaN"
    case .duration, .time: "a duration such as P1DT2H3M4.5S"
    case .guid: "32 hexadecimal digits in groups of 8-4-4-4-12"
    case .string, .stream: "a string"
    default: "GeoJSON, or SRID=n;Shape(…)"
    }
  }
}

extension ODataValueError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity { problem.errorIdentity }

  /// The text, the type, the problem and what to do about it.
  public var explanation: ErrorExplanation {
    ErrorExplanation("The value cannot be used: \(self)", cure: problem.explanation.cure)
  }
}

extension ODataValueError.Problem: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity {
    switch self {
    case .malformed: ErrorIdentity(1, "malformed", .invalidInput)
    case .outOfRange: ErrorIdentity(2, "outOfRange", .invalidInput)
    case .fractional: ErrorIdentity(3, "fractional", .invalidInput)
    case .wrongKind, .collectionMismatch: ErrorIdentity(4, "wrongKind", .invalidInput)
    case .calendarDuration: ErrorIdentity(5, "calendarDuration", .invalidInput)
    case .tooLong: ErrorIdentity(6, "tooLong", .limit)
    case .tooDeep: ErrorIdentity(7, "tooDeep", .limit)
    case .notSupported: ErrorIdentity(8, "notSupported", .notSupported)
    }
  }

  /// The problem, without the value, and what to do about it.
  public var explanation: ErrorExplanation {
    switch self {
    case .malformed:
      ErrorExplanation("The text does not have the form of the type's values.", cure: "Correct the value.")
    case .outOfRange:
      ErrorExplanation("The value is out of the type's range.", cure: "Use a value in the range.")
    case .fractional: ErrorExplanation("The value has a fraction.", cure: "Use a whole number, or another type.")
    case .wrongKind(let found):
      ErrorExplanation("The type has no values of this kind: \(found)", cure: "Correct the value.")
    case .collectionMismatch(let expectsCollection):
      ErrorExplanation(
        expectsCollection ? "The type is a collection." : "The type is not a collection.", cure: "Correct the value.")
    case .calendarDuration:
      ErrorExplanation("Years and months have no fixed length.", cure: "Use days, hours, minutes and seconds.")
    case .tooLong(let limit):
      ErrorExplanation("The value is longer than \(limit) digits or bytes.", cure: "Shorten it.")
    case .tooDeep(let limit):
      ErrorExplanation("Collections are nested deeper than \(limit) levels.", cure: "Nest fewer.")
    case .notSupported(let what): ErrorExplanation("Not supported: \(what)", cure: "Use another value or type.")
    }
  }
}
