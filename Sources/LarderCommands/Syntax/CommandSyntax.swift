/// One command of the tree: what it is called, what it takes and what it does.
///
/// Parsing, `--help` and the completion scripts all read the same tables, so they cannot disagree.
package struct CommandSyntax: Sendable {
  /// Does a verb's work with what was given, and says how it ended.
  package typealias Body = @Sendable (ParsedArguments, CommandContext) async throws -> CommandStatus

  /// The word that calls it.
  package var name: String
  /// What it does, in one clause.
  package var summary: String
  /// More about it, one text a paragraph.
  package var discussion: [String]
  /// Command lines that show it at work.
  package var examples: [String]
  /// Options, beside those that every command takes.
  package var options: [OptionSyntax]
  /// What stands without a dash, in this order.
  package var operands: [OperandSyntax]
  /// Commands below it; a command with any has no operands.
  package var subcommands: [CommandSyntax]
  /// True for what help and completion leave out.
  package var isHidden: Bool
  /// The work; nil where a subcommand must be named.
  package var body: Body?

  /// Makes a command.
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

  /// The subcommand of a name, hidden ones too.
  package func subcommand(_ name: String) -> CommandSyntax? { subcommands.first { $0.name == name } }

  /// The options it takes, those of every command last.
  package var allOptions: [OptionSyntax] { options + OptionSyntax.everywhere }
}

/// An option: a name that begins with a dash, with or without a value.
package struct OptionSyntax: Sendable, Hashable {
  /// What the value is, for completion and checks.
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
  /// What the value is.
  package var value: Value
  /// True where it may be given several times.
  package var isRepeatable: Bool
  /// What it does, in one clause.
  package var summary: String

  /// An option with a value.
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

  /// A switch.
  package init(flag name: String, short: String? = nil, _ summary: String) {
    self.name = name
    self.short = short
    valueName = nil
    value = .text
    isRepeatable = false
    self.summary = summary
  }

  /// Options that every command takes.
  package static let everywhere: [OptionSyntax] = [.changeDirectory, .help, .version]
  /// Takes relative paths from another folder.
  package static let changeDirectory = OptionSyntax(
    "--directory", short: "-C", valueName: "DIR", .directory, "take relative paths from DIR")
  /// Shows help.
  package static let help = OptionSyntax(flag: "--help", short: "-h", "show this help")
  /// Shows the version.
  package static let version = OptionSyntax(flag: "--version", "show the version of larder")
}

/// What stands without a dash.
package struct OperandSyntax: Sendable, Hashable {
  /// How many there may be.
  package enum Count: Sendable, Hashable {
    case one, optional, many
  }

  /// The name in help, `URL`.
  package var name: String
  /// How many there may be; `many` only for the last.
  package var count: Count
  /// What it is, for completion and checks.
  package var value: OptionSyntax.Value
  /// What it means, in one clause.
  package var summary: String

  /// Makes an operand.
  package init(_ name: String, _ count: Count = .one, _ value: OptionSyntax.Value = .text, _ summary: String) {
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
