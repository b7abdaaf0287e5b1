public import LarderCore

/// Why a text is no URL, option or expression of OData, and where.
public struct ODataSyntaxError: Error, Sendable, Hashable {
  /// What is wrong.
  public enum Problem: Sendable, Hashable {
    /// Something else should stand here: what could, in words or as it is spelt.
    case unexpected(expected: [String])
    /// Nested, or joined by operators of one kind, deeper than is read: the levels that are read. Those of
    /// ``ODataParserOptions/maxDepth``, or as many as the stack held where each took much of it.
    case tooDeep(limit: Int)
    /// A `%` without two hexadecimal digits.
    case invalidPercentEncoding
    /// Bytes that are not UTF-8 once percent-encoding is undone.
    case invalidUTF8
    /// A literal whose form is right and whose value is not; what is wrong with it.
    case invalidLiteral(String)
    /// A system query option that stands twice.
    case duplicateOption(String)
    /// An option or parameter in a place where it has no meaning; the names that are allowed there.
    case misplacedOption(String, allowed: [String])
    /// A name behind which an argument list stands and that no canonical function has; the nearest ones.
    case unknownFunction(String, nearest: String?)
    /// A canonical function with too many or too few arguments.
    case wrongArgumentCount(String, expected: String, found: Int)
    /// A number that is larger than is read here.
    case numberTooLarge
    /// The dialect or version has it not; what.
    case notInDialect(String)
  }

  /// What an error says. It lies behind a reference: readers throw from many places, each of which would keep room for all of it
  /// on the stack, and recursion is as deep as the stack allows.
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

  /// What is wrong.
  public var problem: Problem { content.problem }
  /// Bytes before the place, in the text as it was given.
  public var offset: Int { content.offset }
  /// The text's part around the place, at most 160 bytes, in one line; empty where it is not known.
  public var excerpt: String { content.excerpt }
  /// Characters (scalars) of ``excerpt`` before the place.
  public var column: Int { content.column }

  /// Makes an error; keeps the text around the place.
  public init(_ problem: Problem, offset: Int, in text: some StringProtocol) {
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

  /// Whether both say the same of the same place.
  public static func == (left: ODataSyntaxError, right: ODataSyntaxError) -> Bool {
    left.content === right.content
      || left.problem == right.problem && left.offset == right.offset && left.excerpt == right.excerpt
        && left.column == right.column
  }

  /// Adds the problem and the place.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(problem)
    hasher.combine(offset)
  }
}

extension ODataSyntaxError.Problem: CustomStringConvertible {
  /// What is wrong, in words.
  public var description: String {
    switch self {
    case .unexpected(let expected):
      expected.isEmpty ? "nothing more can stand here" : "expected \(ODataSyntaxError.choice(expected))"
    case .tooDeep(let limit): "nested too deep: no more than \(limit) levels are read here; take the expression apart"
    case .invalidPercentEncoding: "'%' must be followed by two hexadecimal digits; write '%25' for the character"
    case .invalidUTF8: "the bytes are not UTF-8"
    case .invalidLiteral(let reason): reason
    case .duplicateOption(let name): "\(name) stands twice; give it once"
    case .misplacedOption(let name, let allowed):
      "\(name) has no meaning here; expected \(ODataSyntaxError.choice(allowed))"
    case .unknownFunction(let name, let nearest):
      "there is no canonical function '\(name)'" + (nearest.map { "; did you mean '\($0)'?" } ?? "")
        + " (functions of a service take named arguments: \(name)(name=value))"
    case .wrongArgumentCount(let name, let expected, let found):
      "\(name) takes \(expected), not \(found)"
    case .numberTooLarge: "the number is too large"
    case .notInDialect(let what): "\(what) does not exist in this version of OData"
    }
  }
}

extension ODataSyntaxError: CustomStringConvertible {
  /// The problem, the place, and the line with a caret under it.
  public var description: String {
    var text = "\(problem) (at character \(offset + 1))"
    if !excerpt.isEmpty || column == 0 {
      text += "\n  \(excerpt)\n  \(String(repeating: " ", count: column))^"
    }
    return text
  }

  static func choice(_ words: [String]) -> String {
    var seen: Set<String> = []
    let words = words.filter { seen.insert($0).inserted }
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

  /// The problem and the place, in sentences.
  public var explanation: ErrorExplanation {
    ErrorExplanation("The text is not valid OData: \(problem)", cure: "Correct it at character \(offset + 1).")
  }
}
