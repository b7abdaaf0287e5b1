package import LarderCore

/// The error of bytes that are not JSON (RFC 8259), or JSON that is not accepted here, with its position.
package struct JSONError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The kinds of problems.
  package enum Problem: Sendable, Hashable {
    /// The text ends inside a value; more bytes were needed.
    case unexpectedEnd
    /// A byte that is not allowed in its position, and what is expected.
    case unexpectedByte(UInt8, expected: String)
    /// More text follows the one value.
    case trailingContent
    /// Brackets are nested deeper than the limit.
    case tooDeep(limit: Int)
    /// A string or number is longer than the limit, in bytes.
    case tokenTooLong(limit: Int)
    /// Bytes inside a string are not UTF-8.
    case invalidUTF8
    /// The text is in UTF-16 or UTF-32: RFC 8259 §8.1 demands UTF-8.
    case notUTF8
    /// A control character inside a string, where it must be escaped.
    case controlCharacter(UInt8)
    /// A backslash that begins no valid escape.
    case invalidEscape
    /// Half of a surrogate pair, which encodes no character.
    case loneSurrogate
    /// A number that breaks the grammar: leading zero, plus sign, missing digits.
    case invalidNumber
    /// A word other than `true`, `false` and `null`.
    case invalidLiteral
    /// A name occurs twice in one object.
    case duplicateName(String)
  }

  /// The problem.
  package let problem: Problem
  /// The position in bytes, from the start of the text.
  package let offset: Int
  /// The line, from 1; lines end with LF.
  package let line: Int
  /// The column, from 1, in bytes.
  package let column: Int

  /// Creates an error from a problem and its position.
  package init(_ problem: Problem, offset: Int, line: Int, column: Int) {
    self.problem = problem
    self.offset = offset
    self.line = line
    self.column = column
  }

  /// The problem and its position.
  package var description: String { "\(problem) at line \(line), column \(column) (byte \(offset))" }
}

extension JSONError.Problem: CustomStringConvertible {
  /// The problem, in words.
  package var description: String {
    switch self {
    case .unexpectedEnd: "the JSON text ends too early"
    case .unexpectedByte(let byte, let expected): "\(JSONError.spell(byte)) instead of \(expected)"
    case .trailingContent: "unexpected text after the JSON value"
    case .tooDeep(let limit): "brackets are nested deeper than \(limit)"
    case .tokenTooLong(let limit): "a string or number is longer than \(limit) bytes"
    case .invalidUTF8: "a string contains bytes that are not UTF-8"
    case .notUTF8: "the text is not in UTF-8"
    case .controlCharacter(let byte): "\(JSONError.spell(byte)) must be escaped in a string"
    case .invalidEscape: "invalid escape in a JSON string"
    case .loneSurrogate: "an unpaired surrogate"
    case .invalidNumber: "not a JSON number"
    case .invalidLiteral: "a word other than true, false and null"
    case .duplicateName(let name): "the name '\(name)' occurs twice in one object"
    }
  }
}

extension JSONError {
  static func spell(_ byte: UInt8) -> String {
    if byte > 0x20, byte < 0x7F { return "'\(Character(UnicodeScalar(byte)))'" }
    let hex = String(byte, radix: 16, uppercase: true)
    return "byte 0x" + (hex.count < 2 ? "0" : "") + hex
  }
}

/// Limits on what is read of a JSON text, as protection against hostile content.
package struct JSONLimits: Sendable, Hashable {
  /// The depth of nested brackets. 512 by default: deeper than any OData payload, shallow enough for recursion.
  package var depth = 512
  /// The longest string, in bytes between its quotes: 64 MiB by default.
  package var stringBytes = 64 << 20
  /// The longest number, in bytes: 4,096 by default.
  package var numberBytes = 4096

  /// Creates the default limits.
  package init() {}

  /// Creates limits with the given depth and, for strings, length.
  package init(depth: Int, stringBytes: Int = 64 << 20) {
    self.depth = depth
    self.stringBytes = stringBytes
  }
}

extension JSONError: LarderError {
  /// The stable number, from 1 in the order of the problems.
  package var errorIdentity: ErrorIdentity { problem.errorIdentity }

  /// The problem and its position, in sentences.
  package var explanation: ErrorExplanation {
    ErrorExplanation("The text cannot be read as JSON: \(self)", cure: "Correct it at line \(line), column \(column).")
  }
}

extension JSONError.Problem {
  /// The stable number, from 1 in the order of the cases.
  var errorIdentity: ErrorIdentity {
    switch self {
    case .unexpectedEnd: ErrorIdentity(1, "unexpectedEnd", .invalidData)
    case .unexpectedByte: ErrorIdentity(2, "unexpectedByte", .invalidData)
    case .trailingContent: ErrorIdentity(3, "trailingContent", .invalidData)
    case .tooDeep: ErrorIdentity(4, "tooDeep", .limit)
    case .tokenTooLong: ErrorIdentity(5, "tokenTooLong", .limit)
    case .invalidUTF8: ErrorIdentity(6, "invalidUTF8", .invalidData)
    case .notUTF8: ErrorIdentity(7, "notUTF8", .invalidData)
    case .controlCharacter: ErrorIdentity(8, "controlCharacter", .invalidData)
    case .invalidEscape: ErrorIdentity(9, "invalidEscape", .invalidData)
    case .loneSurrogate: ErrorIdentity(10, "loneSurrogate", .invalidData)
    case .invalidNumber: ErrorIdentity(11, "invalidNumber", .invalidData)
    case .invalidLiteral: ErrorIdentity(12, "invalidLiteral", .invalidData)
    case .duplicateName: ErrorIdentity(13, "duplicateName", .invalidData)
    }
  }
}
