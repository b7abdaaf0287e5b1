@_spi(Stores) internal import LarderCore

/// Parses a command line according to the tables of commands.
///
/// Long options are `--name value` or `--name=value` and never abbreviated; short ones are `-x value`; options and
/// operands may be mixed; after `--` everything is an operand; a lone `-` is an operand.
package struct ArgumentParser {
  /// What a command line requests.
  package enum Result: Sendable {
    /// Run the command.
    case run(CommandSyntax, ParsedArguments)
    /// Show help for the command.
    case help(CommandSyntax, path: [String])
    /// Show the version.
    case version
  }

  private let root: CommandSyntax
  private var command: CommandSyntax
  private var path: [String]
  private var options: [String: [String]] = [:]
  private var operands: [String] = []
  private var rest: ArraySlice<String>

  private init(_ arguments: [String], root: CommandSyntax) {
    self.root = root
    command = root
    path = [root.name]
    rest = arguments[...]
  }

  /// Parses the arguments, which do not include the program's name.
  package static func parse(_ arguments: [String], root: CommandSyntax) throws(UsageError) -> Result {
    var parser = ArgumentParser(arguments, root: root)
    return try parser.parse()
  }

  private mutating func parse() throws(UsageError) -> Result {
    while let argument = rest.popFirst() {
      if argument == "--" {
        for operand in rest { try addWord(operand) }
        break
      } else if argument.hasPrefix("-"), argument != "-" {
        let option = try takeOption(argument)
        if option == .help { return .help(command, path: path) }
        if option == .version {
          if let extra = rest.first { throw usage("unexpected argument '\(extra)': --version must be used alone") }
          return .version
        }
      } else {
        try addWord(argument)
      }
    }
    guard command.body != nil else {
      guard path.count > 1 else { throw usage("a command is missing", hint: Self.overview(command)) }
      throw usage("\(path.joined(separator: " ")) needs one of: \(Self.names(command).joined(separator: ", "))")
    }
    return .run(command, ParsedArguments(path: path, options: options, operands: try sortOperands()))
  }

  private mutating func addWord(_ word: String) throws(UsageError) {
    guard !command.subcommands.isEmpty else { return operands.append(word) }
    guard let next = command.subcommand(word) else {
      let kind = path.count > 1 ? "\(path.joined(separator: " ")) has no command" : "there is no command"
      throw usage("\(kind) '\(word)'", hint: Suggestion.hint(for: word, among: Self.names(command)))
    }
    command = next
    path.append(next.name)
  }

  private mutating func takeOption(_ argument: String) throws(UsageError) -> OptionSyntax {
    let name: String
    var attached: String?
    if argument.hasPrefix("--"), let equals = argument.firstIndex(of: "=") {
      name = String(argument[..<equals])
      attached = String(argument[argument.index(after: equals)...])
    } else {
      name = argument
    }
    guard let option = command.allOptions.first(where: { $0.name == name || $0.short == name }) else {
      throw unknown(name)
    }
    guard option.valueName != nil else {
      if attached != nil { throw usage("\(option.name) does not accept a value") }
      try store("", for: option)
      return option
    }
    let value: String
    if let attached { value = attached } else { value = try takeValue(of: option, written: name) }
    if value.isEmpty { throw usage("\(option.name) needs a non-empty value") }
    try checkBytes(value, of: option.name, mayHoldBytes: option.mayHoldBytes)
    if case .words(let words) = option.value, !words.contains(value) {
      throw usage(
        "\(option.name) must be one of \(words.joined(separator: ", ")), not '\(value)'",
        hint: Suggestion.hint(for: value, among: words))
    }
    try store(value, for: option)
    return option
  }

  private mutating func takeValue(of option: OptionSyntax, written name: String) throws(UsageError) -> String {
    let valueName = option.valueName ?? "a value"
    guard let value = rest.first else { throw usage("\(name) needs \(valueName)") }
    if value.hasPrefix("-"), value != "-" {
      throw usage(
        "\(name) needs \(valueName), and '\(value)' looks like an option",
        hint: "Write a value that begins with a dash as \(option.name)=\(value).")
    }
    rest.removeFirst()
    return value
  }

  private mutating func store(_ value: String, for option: OptionSyntax) throws(UsageError) {
    if options[option.name] != nil, !option.isRepeatable { throw usage("\(option.name) is given twice") }
    options[option.name, default: []].append(value)
  }

  private func unknown(_ name: String) -> UsageError {
    let optionNames = command.allOptions.map(\.name)
    if let completeName = optionNames.first(where: { $0.hasPrefix(name) }), name.hasPrefix("--"), name.count > 2 {
      return usage("there is no option \(name)", hint: "Options cannot be abbreviated: write \(completeName).")
    }
    let commandsWithOption = command.subcommands.filter { !$0.isHidden && $0.options.contains { $0.name == name } }
    if let owner = commandsWithOption.first {
      return usage(
        "\(name) must follow its command", hint: "Write '\((path + [owner.name, name]).joined(separator: " "))'.")
    }
    return usage("there is no option \(name)", hint: Suggestion.hint(for: name, among: optionNames))
  }

  private func sortOperands() throws(UsageError) -> [String: [String]] {
    var sorted: [String: [String]] = [:]
    var remaining = operands[...]
    for operand in command.operands {
      switch operand.count {
      case .one:
        guard let value = remaining.popFirst() else { throw usage("\(operand.name) is missing: \(operand.summary)") }
        sorted[operand.name] = [value]
      case .optional: if let value = remaining.popFirst() { sorted[operand.name] = [value] }
      case .many:
        sorted[operand.name] = Array(remaining)
        remaining = []
      }
      for value in sorted[operand.name] ?? [] { try check(value, against: operand) }
    }
    if let extra = remaining.first {
      throw usage("unexpected argument '\(extra)'", hint: "Quote a value that contains spaces, & or $.")
    }
    return sorted
  }

  private func check(_ value: String, against operand: OperandSyntax) throws(UsageError) {
    if value.isEmpty { throw usage("\(operand.name) is empty") }
    try checkBytes(value, of: operand.name, mayHoldBytes: operand.mayHoldBytes)
    guard case .words(let words) = operand.value, !words.contains(value) else { return }
    throw usage(
      "\(operand.name) must be one of \(words.joined(separator: ", ")), not '\(value)'",
      hint: Suggestion.hint(for: value, among: words))
  }

  /// Rejects bytes that are not UTF-8 where they would be replaced, so that two values become one.
  private func checkBytes(_ value: String, of name: String, mayHoldBytes: Bool) throws(UsageError) {
    guard !mayHoldBytes, ByteText.hasEscapes(value) else { return }
    throw usage("\(name) is not UTF-8", hint: "Write it in UTF-8.")
  }

  private func usage(_ message: String, hint: String? = nil) -> UsageError {
    UsageError(message, hint: hint, path: path)
  }

  private static func names(_ command: CommandSyntax) -> [String] {
    command.subcommands.filter { !$0.isHidden }.map(\.name)
  }

  private static func overview(_ command: CommandSyntax) -> String {
    "Commands: \(names(command).joined(separator: ", ")). Try '\(command.name) --help'."
  }
}
