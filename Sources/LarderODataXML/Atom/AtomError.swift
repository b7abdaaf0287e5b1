package import LarderCore

/// The error of an Atom or XML payload that could not be read, with its position.
package struct AtomError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Problem: Sendable, Hashable {
    /// The document has no content.
    case empty
    /// The bytes are not well-formed XML; the text is the parser's.
    case malformed(String)
    /// The document ends too early.
    case truncated
    /// The document has a document type declaration, which is not allowed.
    case documentTypeRejected
    /// Elements are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// The document, or one of its tags, is longer than the limit in bytes.
    case tooLarge(limit: Int)
    /// The document's encoding is not known.
    case unsupportedEncoding
    /// The document is XML, but none of OData's documents; `root` is its root element.
    case notOData(root: String)
    /// A value does not match its type; the text is the reason.
    case invalidValue(String)
  }

  /// The problem.
  package var problem: Problem
  /// The line, from 1.
  package var line: Int
  /// The column, from 1.
  package var column: Int
  /// The open elements, from the root.
  package var path: String

  /// Creates an error from a problem and its position.
  package init(_ problem: Problem, line: Int, column: Int, path: String) {
    self.problem = problem
    self.line = line
    self.column = column
    self.path = path
  }

  /// The problem, its position and what can be done.
  package var description: String { explanation.description }
}

extension AtomError.Problem {
  fileprivate var words: String {
    switch self {
    case .empty: "There is no content"
    case .malformed(let text): "The response is not well-formed XML: \(text)"
    case .truncated: "The response ends too early"
    case .documentTypeRejected: "The response has a document type declaration"
    case .tooDeep(let limit): "Elements are nested more than \(limit) deep"
    case .tooLarge(let limit): "The response or one of its tags is longer than \(limit) bytes"
    case .unsupportedEncoding: "The encoding of the response is not known"
    case .notOData(let root): "The response is not an OData document; its root is \(root)"
    case .invalidValue(let reason): "A value cannot be read: \(reason)"
    }
  }

  fileprivate var cure: String {
    switch self {
    case .empty, .truncated: "Send the request again."
    case .malformed, .invalidValue: "Report it to the service."
    case .documentTypeRejected: "Check the URL and the credentials: the response may be a log-in page."
    case .tooDeep, .tooLarge: "Raise the limit if you trust the service."
    case .unsupportedEncoding: "Ask the service for UTF-8."
    case .notOData: "Check the URL and the Accept header field of the request."
    }
  }
}

/// A value that cannot be read. The reader adds the position.
struct AtomValueFailure: Error {
  let reason: String
}

extension AtomError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity {
    switch problem {
    case .empty: ErrorIdentity(1, "empty", .invalidData)
    case .malformed: ErrorIdentity(2, "malformed", .invalidData)
    case .truncated: ErrorIdentity(3, "truncated", .invalidData)
    case .documentTypeRejected: ErrorIdentity(4, "documentTypeRejected", .invalidData)
    case .tooDeep: ErrorIdentity(5, "tooDeep", .limit)
    case .tooLarge: ErrorIdentity(6, "tooLarge", .limit)
    case .unsupportedEncoding: ErrorIdentity(7, "unsupportedEncoding", .invalidData)
    case .notOData: ErrorIdentity(8, "notOData", .invalidData)
    case .invalidValue: ErrorIdentity(9, "invalidValue", .invalidData)
    }
  }

  /// The problem, its position and what can be done.
  package var explanation: ErrorExplanation {
    ErrorExplanation(
      "\(ErrorExplanation.clause(problem.words)) (line \(line), column \(column)\(path.isEmpty ? "" : ", in \(path)"))",
      cure: problem.cure)
  }
}
