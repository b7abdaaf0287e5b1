public import LarderCore

/// The error of a text that is not a URL, option or expression of OData, with its position.
public struct ODataSyntaxError: Error, Sendable, Hashable {
  /// The kinds of problems.
  package enum Problem: Sendable, Hashable {
    /// The text does not continue as expected; the expected parts, in words or as they are spelt.
    case unexpected(expected: [String])
    /// The text nests, or joins operators of one kind, deeper than the limit: ``ODataParserOptions/maxDepth``, or as
    /// many levels as the stack allowed if each needed much of it.
    case tooDeep(limit: Int)
    /// A `%` is not followed by two hexadecimal digits.
    case invalidPercentEncoding
    /// The bytes are not UTF-8 after percent-decoding.
    case invalidUTF8
    /// A literal has the right form but an invalid value; the reason.
    case invalidLiteral(String)
    /// A system query option occurs twice.
    case duplicateOption(String)
    /// An option or parameter in a place where it has no meaning; the names that are allowed there.
    case misplacedOption(String, allowed: [String])
    /// An argument list follows an unknown function name; the nearest canonical function.
    case unknownFunction(String, nearest: String?)
    /// A canonical function has too many or too few arguments.
    case wrongArgumentCount(String, expected: String, found: Int)
    /// A number is larger than supported.
    case numberTooLarge
    /// The dialect or version does not have a construct; the text names it.
    case notInDialect(String)
  }

  /// The content of an error, in a separate object. Readers throw from many places, each of which would reserve stack for
  /// the whole content, and recursion is limited by the stack.
  private final class Content: Sendable {
    let problem: Problem
    let offset: Int
    let excerpt: String
    let column: Int

    init(_ problem: Problem, offset: Int, excerpt: String, column: Int) {
      self.problem = problem
      self.offset = offset
      self.excerpt = excerpt
      self.column = column
    }
  }

  private let content: Content

  /// The problem.
  package var problem: Problem { content.problem }
  /// The position in the original text, in bytes.
  public var offset: Int { content.offset }
  /// The part of the text around the position, at most 160 bytes, in one line; empty if it is not known.
  public var excerpt: String { content.excerpt }
  /// The column in ``excerpt``, in characters (scalars).
  public var column: Int { content.column }

  /// Creates an error; keeps the text around the position.
  package init(_ problem: Problem, offset: Int, in text: some StringProtocol) {
    let bytes = text.utf8
    let place = bytes.index(bytes.startIndex, offsetBy: min(max(offset, 0), bytes.count))
    let before = String(decoding: bytes[..<place].suffix(100), as: UTF8.self)
    let after = String(decoding: bytes[place...].prefix(60), as: UTF8.self)
    func oneLine(_ part: String) -> String {
      String(String.UnicodeScalarView(part.unicodeScalars.map { $0.value < 0x20 || $0.value == 0x7F ? " " : $0 }))
    }
    content = Content(
      problem, offset: offset, excerpt: oneLine(before) + oneLine(after), column: before.unicodeScalars.count)
  }

  /// Whether both are the same problem at the same position.
  public static func == (left: ODataSyntaxError, right: ODataSyntaxError) -> Bool {
    left.content === right.content
      || left.problem == right.problem && left.offset == right.offset && left.excerpt == right.excerpt
        && left.column == right.column
  }

  /// Hashes the problem and the position.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(problem)
    hasher.combine(offset)
  }
}

extension ODataSyntaxError.Problem: CustomStringConvertible {
  /// The problem, in words.
  public var description: String {
    switch self {
    case .unexpected(let expected):
      expected.isEmpty ? "nothing more is allowed here" : "expected \(ODataSyntaxError.choice(expected))"
    case .tooDeep(let limit): "nested too deep: the limit is \(limit) levels; split the expression"
    case .invalidPercentEncoding: "'%' must be followed by two hexadecimal digits; write '%25' for the character"
    case .invalidUTF8: "the bytes are not UTF-8"
    case .invalidLiteral(let reason): reason
    case .duplicateOption(let name): "\(name) occurs twice; give it once"
    case .misplacedOption(let name, let allowed):
      "\(name) is not allowed here; expected \(ODataSyntaxError.choice(allowed))"
    case .unknownFunction(let name, let nearest):
      "there is no canonical function '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
        + " (functions of a service need named arguments: \(name)(name=value))"
    case .wrongArgumentCount(let name, let expected, let found):
      "\(name) expects \(expected), not \(found)"
    case .numberTooLarge: "the number is too large"
    case .notInDialect(let what): "\(what) does not exist in this version of OData"
    }
  }
}

extension ODataSyntaxError: CustomStringConvertible {
  /// The problem, the position, and the line with a caret under it.
  public var description: String {
    var text = "\(problem) (at character \(offset + 1))"
    if !excerpt.isEmpty || column == 0 {
      text += "\n  \(excerpt)\n  \(String(repeating: " ", count: column))^"
    }
    return text
  }

  static func choice(_ words: [String]) -> String {
    var distinctWords: Set<String> = []
    let words = words.filter { distinctWords.insert($0).inserted }
    guard words.count > 1, let last = words.last else { return words.first ?? "the end" }
    return words.dropLast().joined(separator: ", ") + " or " + last
  }
}

extension ODataSyntaxError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  public var errorIdentity: ErrorIdentity {
    switch problem {
    case .unexpected: ErrorIdentity(1, "unexpected", .invalidInput)
    case .tooDeep: ErrorIdentity(2, "tooDeep", .limit)
    case .invalidPercentEncoding: ErrorIdentity(3, "invalidPercentEncoding", .invalidInput)
    case .invalidUTF8: ErrorIdentity(4, "invalidUTF8", .invalidInput)
    case .invalidLiteral: ErrorIdentity(5, "invalidLiteral", .invalidInput)
    case .duplicateOption: ErrorIdentity(6, "duplicateOption", .invalidInput)
    case .misplacedOption: ErrorIdentity(7, "misplacedOption", .invalidInput)
    case .unknownFunction: ErrorIdentity(8, "unknownFunction", .invalidInput)
    case .wrongArgumentCount: ErrorIdentity(9, "wrongArgumentCount", .invalidInput)
    case .numberTooLarge: ErrorIdentity(10, "numberTooLarge", .limit)
    case .notInDialect: ErrorIdentity(11, "notInDialect", .notSupported)
    }
  }

  /// The problem and the position, in sentences.
  public var explanation: ErrorExplanation {
    ErrorExplanation("The text is not valid OData: \(problem)", cure: "Correct it at character \(offset + 1).")
  }
}
