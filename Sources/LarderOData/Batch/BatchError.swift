public import LarderCore

/// Why a `$batch` cannot be written or its answer not be read, and at which part.
public struct BatchError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong.
  public enum Problem: Error, Sendable, Hashable {
    /// The content is no batch: its media type; what answered is not the service, or it refused the whole.
    case notABatch(contentType: String)
    /// The media type names no boundary, or one that RFC 2046 §5.1.1 forbids.
    case badBoundary(String)
    /// The content ends inside a part.
    case truncated
    /// A part's MIME header, HTTP start line or header field that is none; the beginning of the line.
    case malformedLine(String)
    /// A part that is neither `application/http` nor a change set.
    case unexpectedPart(contentType: String)
    /// More of something than the limit.
    case tooLarge(what: String, limit: Int)
    /// A request that cannot be written; what to change.
    case invalidRequest(String)
    /// The JSON is none, or has not a batch's members.
    case malformedJSON(String)
    /// A request without an answer, or an answer without a request.
    case countMismatch(expected: Int, found: Int)
    /// An answer with an id that no request has, or has twice.
    case unknownID(String)
  }

  /// What is wrong.
  public let problem: Problem
  /// Which part of the batch, from 1, as `3` or, inside a change set, `3.2`; nil where no part is concerned.
  public let part: String?
  /// Bytes of the content before the place, where content was read.
  public let offset: Int?

  /// Joins a problem and its place.
  public init(_ problem: Problem, part: String? = nil, offset: Int? = nil) {
    self.problem = problem
    self.part = part
    self.offset = offset
  }

  /// The problem and its place.
  public var description: String {
    let place = (part.map { " (part \($0)" } ?? (offset == nil ? "" : " ("))
    let byte = offset.map { (part == nil ? "" : ", ") + "byte \($0)" } ?? ""
    return problem.description + (place.isEmpty ? "" : place + byte + ")")
  }
}

extension BatchError.Problem: CustomStringConvertible {
  /// What is wrong, in words.
  public var description: String {
    switch self {
    case .notABatch(let type): "The content is no batch but '\(type)'; read it as one answer"
    case .badBoundary(let text): "The boundary '\(text)' is missing or not allowed; it takes 1 to 70 letters and digits"
    case .truncated: "The batch ends inside a part; what it changes may be done: look before sending it again"
    case .malformedLine(let line): "No header field or start line: '\(line)'"
    case .unexpectedPart(let type): "A part is '\(type)'; expected application/http or multipart/mixed"
    case .tooLarge(let what, let limit): "More \(what) than the \(limit) allowed"
    case .invalidRequest(let what): "The request cannot be written: \(what)"
    case .malformedJSON(let what): "The JSON is no batch: \(what)"
    case .countMismatch(let expected, let found): "The batch has \(expected) answers to come, \(found) came"
    case .unknownID(let id): "An answer's id '\(id)' is not that of exactly one request"
    }
  }
}

/// How much of a batch is read before it counts as hostile.
public struct BatchLimits: Sendable, Hashable {
  /// The most requests or answers, change sets counted by their members.
  public var parts = 100_000
  /// The most bytes of one part's headers, MIME and HTTP together.
  public var headerBytes = 65_536
  /// How deep multiparts may nest: 2 is a batch with change sets.
  public var depth = 2
  /// The most bytes of one part's content, where contents are collected.
  public var bodyBytes = 256 << 20

  /// The default limits.
  public init() {}
}

extension BatchError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity { problem.errorIdentity }

  /// The problem and its place, and what to do about it.
  public var explanation: ErrorExplanation { ErrorExplanation(description, cure: problem.explanation.cure) }
}

extension BatchError.Problem: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity {
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
  public var explanation: ErrorExplanation {
    let cure =
      switch self {
      case .notABatch: "Check the address: it must be the service's $batch."
      case .truncated: "Read what was changed before you send it again."
      case .tooLarge: "Send smaller batches, or raise the limit."
      case .invalidRequest: "Correct the request."
      case .badBoundary, .malformedLine, .unexpectedPart, .malformedJSON, .countMismatch, .unknownID:
        "Report it to the service."
      }
    return ErrorExplanation(description, cure: cure)
  }
}
