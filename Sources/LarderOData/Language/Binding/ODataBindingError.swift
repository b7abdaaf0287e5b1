package import LarderCore

/// The error of a tree that does not fit the model, with its position.
package struct ODataBindingError: Error, Sendable, Hashable {
  /// The kinds of problems.
  package enum Problem: Sendable, Hashable {
    /// A name that the model does not have in its place: what kind of name was looked up, in which type or under what,
    /// and the nearest name that is allowed.
    case unknownName(String, what: String, place: String, nearest: String?)
    /// A value has another type than its place requires.
    case wrongType(expected: String, found: String)
    /// An operator has operands that it does not accept.
    case wrongOperands(String, left: String, right: String)
    /// A canonical function has arguments that it does not accept; the signatures that it has.
    case wrongArguments(String, found: [String], expected: [String])
    /// A literal is not a value of the required type.
    case invalidLiteral(String)
    /// A key predicate does not match the type's key.
    case wrongKey(type: String, expected: [String], found: [String])
    /// No overload of an operation has these parameters.
    case noOverload(String, found: [String], expected: [String])
    /// A step is not allowed after the step before it.
    case misplacedStep(String, behind: String, reason: String)
    /// An option is not allowed on its resource; the reason.
    case misplacedOption(String, on: String, reason: String)
    /// A part that may occur once occurs twice.
    case duplicate(String)
    /// An alias has a value that contains the alias.
    case circularAlias(String)
    /// The tree is deeper than the limit.
    case tooDeep(limit: Int)
    /// The tree has more nodes than the limit, counted after aliases are replaced by their values.
    case tooLarge(limit: Int)
    /// A construct that cannot be bound.
    case notSupported(String)
  }

  /// The problem.
  package let problem: Problem
  /// The position in bytes in the text that the tree was parsed from; nil if the tree was built.
  package let offset: Int?
  /// The part of the text around the position, in one line; empty if the text was not passed.
  package let excerpt: String
  /// The column in ``excerpt``, in characters (scalars).
  package let column: Int

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
  /// The problem, and if known, the position and the line with a caret under it.
  package var description: String {
    guard let offset else { return "\(problem)" }
    let text = "\(problem) (at character \(offset + 1))"
    return excerpt.isEmpty ? text : text + "\n  \(excerpt)\n  \(String(repeating: " ", count: column))^"
  }
}

extension ODataBindingError.Problem: CustomStringConvertible {
  /// The problem and the cure.
  package var description: String {
    switch self {
    case .unknownName(let name, let what, let place, let nearest):
      "there is no \(what) '\(name)' \(place)" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
    case .wrongType(let expected, let found): "expected \(expected), found \(found)"
    case .wrongOperands(let name, let left, let right):
      "'\(name)' cannot be applied to \(left) and \(right)"
        + ([left, right].contains("null") && [left, right].contains { $0.hasPrefix("Collection(") }
          ? " (a collection is never null; use its '/$count' or '/any()')" : "")
    case .wrongArguments(let name, let found, let expected):
      "\(name) does not accept (\(found.joined(separator: ","))); expected \(ODataSyntaxError.choice(expected))"
    case .invalidLiteral(let reason): reason
    case .wrongKey(let type, let expected, let found):
      "the key of \(type) is (\(expected.joined(separator: ",")))"
        + (found.isEmpty ? "" : ", not (\(found.joined(separator: ",")))")
    case .noOverload(let name, let found, let expected):
      "\(name) cannot be called with (\(found.joined(separator: ",")))"
        + (expected.isEmpty ? "" : "; expected \(ODataSyntaxError.choice(expected))")
    case .misplacedStep(let step, let behind, let reason):
      "\(step) cannot follow \(behind)" + (reason.isEmpty ? "" : ": \(reason)")
    case .misplacedOption(let option, let place, let reason): "\(option) is not allowed on \(place): \(reason)"
    case .duplicate(let what): "\(what) occurs twice; give it once"
    case .circularAlias(let name): "the value of @\(name) contains @\(name)"
    case .tooDeep(let limit): "nested deeper than \(limit) levels; split the expression"
    case .tooLarge(let limit): "more than \(limit) nodes after aliases are replaced by their values"
    case .notSupported(let what): what
    }
  }
}

extension ODataBindingError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity {
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

  /// The problem and the position, in sentences.
  package var explanation: ErrorExplanation {
    ErrorExplanation(
      "The URL does not fit the service's model: \(problem)",
      cure: offset.map { "Correct it at character \($0 + 1)." } ?? "Correct it.")
  }
}
