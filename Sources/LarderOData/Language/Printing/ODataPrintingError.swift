public import LarderCore

/// The error of a tree that cannot be written as text, with the cure. Trees from a parser can always be written in the
/// version they were read in.
public struct ODataPrintingError: Error, Sendable, Hashable {
  /// The kinds of problems of a tree.
  package indirect enum Problem: Sendable, Hashable {
    /// The version has no spelling for a construct; its name, and what to write instead if there is something.
    case notInDialect(String, ODataVersion, cure: String?)
    /// A text is not a name of the required kind.
    case invalidName(String, expected: String)
    /// A name would be read as something else in its position; as what, and the cure.
    case ambiguousName(String, readsAs: String, cure: String)
    /// A construct has fewer parts than it must have.
    case tooFew(String, least: Int, found: Int)
    /// A canonical function has too many or too few arguments.
    case wrongArgumentCount(String, expected: ClosedRange<Int>, found: Int)
    /// A part in a position where the grammar does not allow it; what it allows there.
    case misplaced(String, expected: String)
    /// A lambda's variable is used outside of its lambda.
    case variableNotInScope(String)
    /// A value has no literal, or a URL cannot contain it in its place; the reason.
    case invalidValue(String)
    /// The steps are in an order that the grammar does not allow; the parser's message.
    case unreadable(String)
    /// A text needs percent-encoding, which is turned off.
    case needsPercentEncoding(String)
    /// The tree is deeper than the limit.
    case tooDeep(limit: Int)
  }

  /// The problem.
  package let problem: Problem
  /// The option, or the part of the URL, from the outside in: `["$expand", "$filter"]`.
  public let place: [String]

  /// Creates an error.
  package init(_ problem: Problem, in place: [String] = []) {
    self.problem = problem
    self.place = place
  }
}

extension ODataPrintingError: CustomStringConvertible {
  /// The problem with its cure, and the place.
  public var description: String {
    place.isEmpty ? problem.description : "\(problem) (in \(place.joined(separator: ", ")))"
  }
}

extension ODataPrintingError.Problem: CustomStringConvertible {
  /// The problem and the cure.
  public var description: String {
    switch self {
    case .notInDialect(let what, let version, let cure):
      "\(what) does not exist in OData \(version.text)" + (cure.map { "; \($0)" } ?? "")
    case .invalidName(let name, let expected): "'\(Self.short(name))' is not a valid \(expected)"
    case .ambiguousName(let name, let other, let cure): "'\(Self.short(name))' is read as \(other) here; \(cure)"
    case .tooFew(let what, let least, let found): "\(what) needs at least \(least), not \(found)"
    case .wrongArgumentCount(let name, let expected, let found):
      "\(name) expects \(Self.words(expected)), not \(found)"
    case .misplaced(let what, let expected): "\(what) cannot be used here; expected \(expected)"
    case .variableNotInScope(let name): "the variable '\(Self.short(name))' is used outside of its any or all"
    case .invalidValue(let reason): reason
    case .unreadable(let reason): "the steps are not valid in this order: \(reason)"
    case .needsPercentEncoding(let text):
      "'\(Self.short(text))' contains a character that separates the parts of a URL; print it percent-encoded"
    case .tooDeep(let limit): "nested deeper than \(limit) levels; split the expression"
    }
  }

  private static func short(_ text: String) -> String {
    let start = text.unicodeScalars.prefix(48)
    return start.endIndex == text.unicodeScalars.endIndex ? text : String(start) + "…"
  }

  private static func words(_ range: ClosedRange<Int>) -> String {
    if range.lowerBound == range.upperBound { return "\(range.lowerBound) arguments" }
    if range.upperBound == .max { return "at least \(range.lowerBound) arguments" }
    return "\(range.lowerBound) to \(range.upperBound) arguments"
  }
}

extension ODataPrintingError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity {
    switch problem {
    case .notInDialect: ErrorIdentity(1, "notInDialect", .notSupported)
    case .invalidName: ErrorIdentity(2, "invalidName", .invalidInput)
    case .ambiguousName: ErrorIdentity(3, "ambiguousName", .invalidInput)
    case .tooFew: ErrorIdentity(4, "tooFew", .invalidInput)
    case .wrongArgumentCount: ErrorIdentity(5, "wrongArgumentCount", .invalidInput)
    case .misplaced: ErrorIdentity(6, "misplaced", .invalidInput)
    case .variableNotInScope: ErrorIdentity(7, "variableNotInScope", .invalidInput)
    case .invalidValue: ErrorIdentity(8, "invalidValue", .invalidInput)
    case .unreadable: ErrorIdentity(9, "unreadable", .invalidInput)
    case .needsPercentEncoding: ErrorIdentity(10, "needsPercentEncoding", .invalidInput)
    case .tooDeep: ErrorIdentity(11, "tooDeep", .limit)
    }
  }

  /// The problem and the place, in sentences.
  public var explanation: ErrorExplanation {
    ErrorExplanation(
      "The query cannot be written as text: \(problem)",
      cure: place.isEmpty ? "Correct the query." : "Correct it in \(place.joined(separator: ", ")).")
  }
}
