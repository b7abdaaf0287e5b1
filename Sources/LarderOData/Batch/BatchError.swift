package import LarderCore

/// The error of a `$batch` that cannot be written, or of a response that cannot be read, with the part concerned.
package struct BatchError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Problem: Error, Sendable, Hashable {
    /// The media type of the content is not a batch: the response is not from the service, or the service rejected the
    /// whole batch.
    case notABatch(contentType: String)
    /// The media type names no boundary, or one that RFC 2046 §5.1.1 forbids.
    case badBoundary(String)
    /// The content ends inside a part.
    case truncated
    /// A line is not a valid MIME header, HTTP start line or header field; the text is its beginning.
    case malformedLine(String)
    /// A part is neither `application/http` nor a change set.
    case unexpectedPart(contentType: String)
    /// The content exceeds a limit.
    case tooLarge(what: String, limit: Int)
    /// A request cannot be written; the text says what to change.
    case invalidRequest(String)
    /// The text is not JSON, or lacks the members of a batch.
    case malformedJSON(String)
    /// A request has no response, or a response no request.
    case countMismatch(expected: Int, found: Int)
    /// A response has an id that no request has, or that two responses have.
    case unknownID(String)
  }

  /// The problem.
  package let problem: Problem
  /// The part of the batch, from 1, as `3` or, inside a change set, `3.2`; nil if the problem is not in a part.
  package let part: String?
  /// The position in the content in bytes, if content was read.
  package let offset: Int?

  /// Creates an error from a problem and its position.
  package init(_ problem: Problem, part: String? = nil, offset: Int? = nil) {
    self.problem = problem
    self.part = part
    self.offset = offset
  }

  /// The problem and its position.
  package var description: String {
    let place = (part.map { " (part \($0)" } ?? (offset == nil ? "" : " ("))
    let byte = offset.map { (part == nil ? "" : ", ") + "byte \($0)" } ?? ""
    return problem.description + (place.isEmpty ? "" : place + byte + ")")
  }
}

extension BatchError.Problem: CustomStringConvertible {
  /// The problem, in words.
  package var description: String {
    switch self {
    case .notABatch(let type): "The content is '\(type)', not a batch; read it as a single response"
    case .badBoundary(let text): "The boundary '\(text)' is missing or invalid; use 1 to 70 letters and digits"
    case .truncated: "The batch ends inside a part; its changes may have been applied: check before you send it again"
    case .malformedLine(let line): "Not a header field or start line: '\(line)'"
    case .unexpectedPart(let type): "A part has the type '\(type)'; expected application/http or multipart/mixed"
    case .tooLarge(let what, let limit): "More than \(limit) \(what)"
    case .invalidRequest(let what): "The request cannot be written: \(what)"
    case .malformedJSON(let what): "The JSON is not a batch: \(what)"
    case .countMismatch(let expected, let found): "Expected \(expected) responses, found \(found)"
    case .unknownID(let id): "The id '\(id)' of a response does not match exactly one request"
    }
  }
}

/// Limits on what is read of a batch, as protection against hostile content.
package struct BatchLimits: Sendable, Hashable {
  /// The most requests or responses; the members of a change set count individually.
  package var parts = 100_000
  /// The most bytes of one part's headers, MIME and HTTP together.
  package var headerBytes = 65_536
  /// The depth of nested multiparts: 2 is a batch with change sets.
  package var depth = 2
  /// The most bytes of one part's content, if contents are collected.
  package var bodyBytes = 256 << 20

  /// Creates the default limits.
  package init() {}
}

extension BatchError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity { problem.errorIdentity }

  /// The problem and its position, and what to do about it.
  package var explanation: ErrorExplanation { ErrorExplanation(description, cure: problem.explanation.cure) }
}

extension BatchError.Problem: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity {
    switch self {
    case .notABatch: ErrorIdentity(1, "notABatch", .invalidData)
    case .badBoundary: ErrorIdentity(2, "badBoundary", .invalidData)
    case .truncated: ErrorIdentity(3, "truncated", .invalidData)
    case .malformedLine: ErrorIdentity(4, "malformedLine", .invalidData)
    case .unexpectedPart: ErrorIdentity(5, "unexpectedPart", .invalidData)
    case .tooLarge: ErrorIdentity(6, "tooLarge", .limit)
    case .invalidRequest: ErrorIdentity(7, "invalidRequest", .invalidInput)
    case .malformedJSON: ErrorIdentity(8, "malformedJSON", .invalidData)
    case .countMismatch: ErrorIdentity(9, "countMismatch", .invalidData)
    case .unknownID: ErrorIdentity(10, "unknownID", .invalidData)
    }
  }

  /// The problem and what to do about it.
  package var explanation: ErrorExplanation {
    let cure =
      switch self {
      case .notABatch: "Check the address: it must be the service's $batch."
      case .truncated: "Check what was changed before you send it again."
      case .tooLarge: "Send smaller batches, or raise the limit."
      case .invalidRequest: "Correct the request."
      case .badBoundary, .malformedLine, .unexpectedPart, .malformedJSON, .countMismatch, .unknownID:
        "Report it to the service."
      }
    return ErrorExplanation(description, cure: cure)
  }
}
