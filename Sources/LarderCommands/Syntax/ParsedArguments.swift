/// The arguments of a command line, checked against the tables.
package struct ParsedArguments: Sendable {
  /// The command's words, `["larder", "cache", "list"]`.
  package let path: [String]
  private let options: [String: [String]]
  private let operands: [String: [String]]

  init(path: [String], options: [String: [String]], operands: [String: [String]]) {
    self.path = path
    self.options = options
    self.operands = operands
  }

  /// Whether an option was given.
  package func has(_ option: OptionSyntax) -> Bool { options[option.name] != nil }

  /// The option's value; nil if it was not given.
  package subscript(option: OptionSyntax) -> String? { options[option.name]?.last }

  /// All values of a repeatable option, in their order.
  package func values(_ option: OptionSyntax) -> [String] { options[option.name] ?? [] }

  /// An operand; nil if an optional one was not given.
  package subscript(operand: OperandSyntax) -> String? { operands[operand.name]?.first }

  /// All operands of one name, in their order.
  package func values(_ operand: OperandSyntax) -> [String] { operands[operand.name] ?? [] }

  /// A required operand; throws if it is missing.
  package func required(_ operand: OperandSyntax) throws(UsageError) -> String {
    guard let value = self[operand] else { throw usage("\(operand.name) is missing") }
    return value
  }

  /// A required option; throws if it is missing.
  package func required(_ option: OptionSyntax) throws(UsageError) -> String {
    guard let value = self[option] else {
      throw usage("\(option.name) \(option.valueName ?? "") is missing")
    }
    return value
  }

  /// Creates an error about this command line.
  package func usage(_ message: String, hint: String? = nil) -> UsageError {
    UsageError(message, hint: hint, path: path)
  }
}

/// An error in the command line.
package struct UsageError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What is wrong, one line.
  package let message: String
  /// What to do about it.
  package let hint: String

  /// Creates an error; without a hint of its own it refers to the command's help.
  package init(_ message: String, hint: String? = nil, path: [String]) {
    self.message = message
    self.hint = hint ?? "Try '\(path.joined(separator: " ")) --help'."
  }

  /// Message and hint.
  package var description: String { "\(message)\n\(hint)" }
}
