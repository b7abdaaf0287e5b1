/// One command of the tree: its name, its options and operands, and its action.
///
/// Parsing, `--help` and the completion scripts all use the same tables, so they cannot disagree.
package struct CommandSyntax: Sendable {
  /// Runs a verb with the given arguments and returns its exit status.
  package typealias Body = @Sendable (ParsedArguments, CommandContext) async throws -> CommandStatus

  /// The word that calls the command.
  package var name: String
  /// What it does, in one clause.
  package var summary: String
  /// Details, one text for each paragraph.
  package var discussion: [String]
  /// Example command lines.
  package var examples: [String]
  /// The command's own options, in addition to those of every command.
  package var options: [OptionSyntax]
  /// The operands, which have no dash, in this order.
  package var operands: [OperandSyntax]
  /// The commands below it; a command that has some has no operands.
  package var subcommands: [CommandSyntax]
  /// Whether help and completion leave the command out.
  package var isHidden: Bool
  /// The action; nil if a subcommand must be named.
  package var body: Body?

  /// Creates a command.
  package init(
    _ name: String, summary: String, discussion: [String] = [], examples: [String] = [], options: [OptionSyntax] = [],
    operands: [OperandSyntax] = [], subcommands: [CommandSyntax] = [], isHidden: Bool = false, body: Body? = nil
  ) {
    self.name = name
    self.summary = summary
    self.discussion = discussion
    self.examples = examples
    self.options = options
    self.operands = operands
    self.subcommands = subcommands
    self.isHidden = isHidden
    self.body = body
  }

  /// The subcommand with a name, even if it is hidden.
  package func subcommand(_ name: String) -> CommandSyntax? { subcommands.first { $0.name == name } }

  /// The command's options, with those of every command last.
  package var allOptions: [OptionSyntax] { options + OptionSyntax.everywhere }
}

/// An option: a name that begins with a dash, with or without a value.
package struct OptionSyntax: Sendable, Hashable {
  /// The kind of the value, for completion and checks.
  package enum Value: Sendable, Hashable {
    /// A path of a file.
    case file
    /// A path of a folder.
    case directory
    /// One of these words.
    case words([String])
    /// Any text.
    case text
  }

  /// The long name, `--cache`.
  package var name: String
  /// A short name, `-o`.
  package var short: String?
  /// The value's name in help, `DIR`; nil for a switch.
  package var valueName: String?
  /// The kind of the value.
  package var value: Value
  /// True if the option may be given several times.
  package var isRepeatable: Bool
  /// What it does, in one clause.
  package var summary: String

  /// Whether the value may hold bytes that are not UTF-8: names of files that are read or written as a whole, and header
  /// fields.
  var mayHoldBytes: Bool {
    switch value {
    case .file: !["--store", "--cacert", "--cert", "--key", "--update"].contains(name)
    case .text: name == "--header"
    case .directory, .words: false
    }
  }

  /// Creates an option with a value.
  package init(
    _ name: String, short: String? = nil, valueName: String, _ value: Value = .text, isRepeatable: Bool = false,
    _ summary: String
  ) {
    self.name = name
    self.short = short
    self.valueName = valueName
    self.value = value
    self.isRepeatable = isRepeatable
    self.summary = summary
  }

  /// Creates a switch.
  package init(flag name: String, short: String? = nil, _ summary: String) {
    self.name = name
    self.short = short
    valueName = nil
    value = .text
    isRepeatable = false
    self.summary = summary
  }

  /// The options of every command.
  package static let everywhere: [OptionSyntax] = [.changeDirectory, .help, .version]
  /// The option that changes the folder for relative paths.
  package static let changeDirectory = OptionSyntax(
    "--directory", short: "-C", valueName: "DIR", .directory, "resolve relative paths against DIR")
  /// The option that shows help.
  package static let help = OptionSyntax(flag: "--help", short: "-h", "show this help")
  /// The option that shows the version.
  package static let version = OptionSyntax(flag: "--version", "show the version of larder")
}

/// An operand: an argument without a dash.
package struct OperandSyntax: Sendable, Hashable {
  /// How often the operand may be given.
  package enum Count: Sendable, Hashable {
    case one, optional, many
  }

  /// The name in help, `URL`.
  package var name: String
  /// How often the operand may be given; `many` only for the last.
  package var count: Count
  /// The kind of the value, for completion and checks.
  package var value: OptionSyntax.Value
  /// What it means, in one clause.
  package var summary: String

  /// Whether the value may hold bytes that are not UTF-8.
  var mayHoldBytes: Bool { value == .file || name == "URL" }

  /// Creates an operand.
  package init(_ name: String, count: Count = .one, value: OptionSyntax.Value = .text, summary: String) {
    self.name = name
    self.count = count
    self.value = value
    self.summary = summary
  }

  /// The operand as a usage line shows it.
  package var usage: String {
    switch count {
    case .one: name
    case .optional: "[\(name)]"
    case .many: "[\(name)]..."
    }
  }
}
