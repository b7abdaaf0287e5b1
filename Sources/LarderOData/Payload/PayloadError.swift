package import LarderCore

/// The error of a payload that could not be read, with its position.
package struct PayloadError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Problem: Error, Sendable, Hashable {
    /// The bytes are not JSON.
    case json(JSONError.Problem)
    /// JSON that OData does not allow at this position; the text says what was expected.
    case unexpected(expected: String)
    /// A value that does not fit its type, with the reason.
    case invalidValue(String)
    /// A name occurs twice in one object.
    case duplicateName(String)
    /// One object is larger than the limit, in bytes.
    case objectTooLarge(limit: Int)
    /// There are more distinct names than the limit.
    case tooManyNames(limit: Int)
    /// The service aborted a successful response with an error (OData JSON Format 4.01 §21.2).
    case inStreamError(ODataErrorPayload)
  }

  /// The problem.
  package var problem: Problem
  /// The position in bytes, from the start of the payload.
  package var offset: Int
  /// The position as a JSON path: `$.value[3].Price`.
  package var path: String

  /// Creates an error from a problem and its position.
  package init(_ problem: Problem, offset: Int, path: String) {
    self.problem = problem
    self.offset = offset
    self.path = path
  }

  /// The problem and its position.
  package var description: String { "\(problem) at \(path) (byte \(offset))" }
}

extension PayloadError.Problem: CustomStringConvertible {
  /// The problem, in words.
  package var description: String {
    switch self {
    case .json(let problem): problem.description
    case .unexpected(let expected): "expected \(expected)"
    case .invalidValue(let reason): reason
    case .duplicateName(let name): "the name '\(name)' occurs twice in one object"
    case .objectTooLarge(let limit): "one object is larger than \(limit) bytes; raise the limit to read it"
    case .tooManyNames(let limit): "more than \(limit) different names"
    case .inStreamError(let error): "the service ended its response with an error: \(error.fullMessage)"
    }
  }
}

extension PayloadError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity { problem.errorIdentity }

  /// The problem and its position, and what to do about it.
  package var explanation: ErrorExplanation {
    let problem = problem.explanation
    return ErrorExplanation(
      "\(ErrorExplanation.clause(problem.message)) (at \(path), byte \(offset))", cure: problem.cure)
  }
}

extension PayloadError.Problem {
  /// Whether the problem is one value or property; the rest of the payload could be read.
  package var isOfOneValue: Bool {
    switch self {
    case .unexpected, .invalidValue, .duplicateName: true
    case .json, .objectTooLarge, .tooManyNames, .inStreamError: false
    }
  }
}

extension PayloadError.Problem: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity {
    switch self {
    case .json: ErrorIdentity(1, "json", .invalidData)
    case .unexpected: ErrorIdentity(2, "unexpected", .invalidData)
    case .invalidValue: ErrorIdentity(3, "invalidValue", .invalidData)
    case .duplicateName: ErrorIdentity(4, "duplicateName", .invalidData)
    case .objectTooLarge: ErrorIdentity(5, "objectTooLarge", .limit)
    case .tooManyNames: ErrorIdentity(6, "tooManyNames", .limit)
    case .inStreamError: ErrorIdentity(7, "inStreamError", .server)
    }
  }

  /// The problem and what to do about it.
  package var explanation: ErrorExplanation {
    let cure =
      switch self {
      case .json, .unexpected, .invalidValue, .duplicateName: "Report it to the service."
      case .objectTooLarge, .tooManyNames: "Raise the limit if you trust the service, or request less data."
      case .inStreamError: "Send the request again."
      }
    return ErrorExplanation("The response cannot be read: \(self)", cure: cure)
  }
}
