public import LarderCore

/// Why a tree does not fit the model, and where.
public struct ODataBindingError: Error, Sendable, Hashable {
  /// What is wrong.
  public enum Problem: Sendable, Hashable {
    /// A name that the model does not have in its place: what kind of name was looked up, in which type or under what,
    /// and the nearest name that is allowed.
    case unknownName(String, what: String, place: String, nearest: String?)
    /// A value of another type than its place needs.
    case wrongType(expected: String, found: String)
    /// An operator between operands that it does not take.
    case wrongOperands(String, left: String, right: String)
    /// A canonical function with arguments that it does not take; what it takes.
    case wrongArguments(String, found: [String], expected: [String])
    /// A literal that is no value of the type that it has to be of.
    case invalidLiteral(String)
    /// A key predicate that is not the type's key.
    case wrongKey(type: String, expected: [String], found: [String])
    /// No overload of an operation has these parameters.
    case noOverload(String, found: [String], expected: [String])
    /// A step that cannot stand behind what is before it.
    case misplacedStep(String, behind: String, reason: String)
    /// An option that has no meaning on what it stands on; why.
    case misplacedOption(String, on: String, reason: String)
    /// A part that may occur once occurs twice.
    case duplicate(String)
    /// An alias whose value contains the alias.
    case circularAlias(String)
    /// Deeper than the limit.
    case tooDeep(limit: Int)
    /// More nodes than the limit, aliases replaced by their values.
    case tooLarge(limit: Int)
    /// What cannot be bound.
    case notSupported(String)
  }

  /// What is wrong.
  public let problem: Problem
  /// Bytes before the place, in the text that the tree was read from; nil where the tree was built.
  public let offset: Int?
  /// The text's part around the place, in one line; empty where the text was not given.
  public let excerpt: String
  /// Characters (scalars) of ``excerpt`` before the place.
  public let column: Int

  init(_ problem: Problem, at position: SourcePosition, in text: String?) {
    self.problem = problem
    offset = position.offset
    if let offset = position.offset, let text {
      let place = ODataSyntaxError(.unexpected(expected: []), offset: offset, in: text)
      excerpt = place.excerpt
      column = place.column
    } else {
      excerpt = ""
      column = 0
    }
  }
}

extension ODataBindingError: CustomStringConvertible {
  /// The problem; the place and the line with a caret under it where they are known.
  public var description: String {
    guard let offset else { return "\(problem)" }
    let text = "\(problem) (at character \(offset + 1))"
    return excerpt.isEmpty ? text : text + "\n  \(excerpt)\n  \(String(repeating: " ", count: column))^"
  }
}

extension ODataBindingError.Problem: CustomStringConvertible {
  /// What is wrong, and the cure.
  public var description: String {
    switch self {
    case .unknownName(let name, let what, let place, let nearest):
      "there is no \(what) '\(name)' \(place)" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    case .wrongType(let expected, let found): "expected \(expected), found \(found)"
    case .wrongOperands(let name, let left, let right):
      "'\(name)' cannot stand between \(left) and \(right)"
        + ([left, right].contains("null") && [left, right].contains { $0.hasPrefix("Collection(") }
          ? " (a collection is never null; ask for its '/$count' or '/any()')" : "")
    case .wrongArguments(let name, let found, let expected):
      "\(name) does not take (\(found.joined(separator: ","))); expected \(ODataSyntaxError.choice(expected))"
    case .invalidLiteral(let reason): reason
    case .wrongKey(let type, let expected, let found):
      "the key of \(type) is (\(expected.joined(separator: ",")))"
        + (found.isEmpty ? "" : ", not (\(found.joined(separator: ",")))")
    case .noOverload(let name, let found, let expected):
      "\(name) cannot be called with (\(found.joined(separator: ",")))"
        + (expected.isEmpty ? "" : "; expected \(ODataSyntaxError.choice(expected))")
    case .misplacedStep(let step, let behind, let reason):
      "\(step) cannot stand behind \(behind)" + (reason.isEmpty ? "" : ": \(reason)")
    case .misplacedOption(let option, let place, let reason): "\(option) has no meaning on \(place): \(reason)"
    case .duplicate(let what): "\(what) stands twice; give it once"
    case .circularAlias(let name): "the value of @\(name) contains @\(name)"
    case .tooDeep(let limit): "nested deeper than \(limit) levels; take the expression apart"
    case .tooLarge(let limit): "more than \(limit) nodes, aliases replaced by their values"
    case .notSupported(let what): what
    }
  }
}

extension ODataBindingError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity {
    switch problem {
    case .unknownName: ErrorIdentity(1, "unknownName", .invalidInput)
    case .wrongType: ErrorIdentity(2, "wrongType", .invalidInput)
    case .wrongOperands: ErrorIdentity(3, "wrongOperands", .invalidInput)
    case .wrongArguments: ErrorIdentity(4, "wrongArguments", .invalidInput)
    case .invalidLiteral: ErrorIdentity(5, "invalidLiteral", .invalidInput)
    case .wrongKey: ErrorIdentity(6, "wrongKey", .invalidInput)
    case .noOverload: ErrorIdentity(7, "noOverload", .invalidInput)
    case .misplacedStep: ErrorIdentity(8, "misplacedStep", .invalidInput)
    case .misplacedOption: ErrorIdentity(9, "misplacedOption", .invalidInput)
    case .duplicate: ErrorIdentity(10, "duplicate", .invalidInput)
    case .circularAlias: ErrorIdentity(11, "circularAlias", .invalidInput)
    case .tooDeep: ErrorIdentity(12, "tooDeep", .limit)
    case .tooLarge: ErrorIdentity(13, "tooLarge", .limit)
    case .notSupported: ErrorIdentity(14, "notSupported", .notSupported)
    }
  }

  /// The problem and the place, in sentences.
  public var explanation: ErrorExplanation {
    ErrorExplanation(
      "The URL does not fit the service's model: \(problem)",
      cure: offset.map { "Correct it at character \($0 + 1)." } ?? "Correct it.")
  }
}
