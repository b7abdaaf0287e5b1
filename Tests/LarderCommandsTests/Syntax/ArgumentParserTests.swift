import Testing

@testable import LarderCommands

/// A small tree to parse by.
private enum Sample {
  static let output = OptionSyntax("--output", short: "-o", valueName: "FILE", .file, "write to FILE")
  static let header = OptionSyntax("--header", valueName: "N:V", isRepeatable: true, "send a field")
  static let passive = OptionSyntax(flag: "--passive", "send nothing")
  static let color = OptionSyntax("--when", valueName: "WHEN", .words(["always", "never"]), "when")
  static let url = OperandSyntax("URL", count: .one, value: .text, summary: "what to read")
  static let rest = OperandSyntax("REST", count: .many, value: .text, summary: "more")
  static let method = OperandSyntax("METHOD", count: .one, value: .words(["POST", "PUT"]), summary: "the method")
  static let root = CommandSyntax(
    "tool", summary: "a tool",
    subcommands: [
      CommandSyntax("get", summary: "reads", options: [output, header, passive, color], operands: [url, rest]) { _, _ in
        .done
      },
      CommandSyntax("send", summary: "sends", operands: [method]) { _, _ in .done },
      CommandSyntax(
        "cache", summary: "the cache",
        subcommands: [CommandSyntax("list", summary: "lists", options: [passive]) { _, _ in .done }]),
    ])

  static func parse(_ line: [String]) throws(UsageError) -> ParsedArguments {
    guard case .run(_, let arguments) = try ArgumentParser.parse(line, root: root) else {
      throw UsageError("not a command to run", path: [])
    }
    return arguments
  }

  static func error(_ line: [String]) -> UsageError? {
    do throws(UsageError) {
      _ = try ArgumentParser.parse(line, root: root)
      return nil
    } catch { return error }
  }
}

@Suite("Argument parsing", .timeLimit(.minutes(5)))
struct ArgumentParserTests {
  @Test(
    "A value follows its option or an equals sign, before or after operands",
    arguments: [
      ["get", "--output", "f", "u"], ["get", "--output=f", "u"], ["get", "-o", "f", "u"],
      ["get", "u", "--output", "f"],
      ["get", "u", "-o", "f"], ["get", "--output=f", "--", "u"],
    ])
  func valueForms(line: [String]) throws {
    let arguments = try Sample.parse(line)
    #expect(arguments[Sample.output] == "f")
    #expect(arguments[Sample.url] == "u")
    #expect(arguments.path == ["tool", "get"])
    #expect(!arguments.has(Sample.passive))
  }

  @Test("A repeatable option keeps all values in order, also with equals signs")
  func repeated() throws {
    let arguments = try Sample.parse(["get", "--header", "A: 1=2", "u", "--header=B: x", "v", "w"])
    #expect(arguments.values(Sample.header) == ["A: 1=2", "B: x"])
    #expect(arguments.values(Sample.rest) == ["v", "w"])
  }

  @Test("After -- everything is an operand; a lone dash is one anywhere")
  func operandsOnly() throws {
    #expect(try Sample.parse(["get", "--", "--passive"])[Sample.url] == "--passive")
    #expect(try Sample.parse(["get", "-"])[Sample.url] == "-")
    #expect(try Sample.parse(["get", "-o", "-", "u"])[Sample.output] == "-")
  }

  @Test("The path of a subcommand has all its names")
  func subcommand() throws {
    let arguments = try Sample.parse(["cache", "list", "--passive"])
    #expect(arguments.path == ["tool", "cache", "list"])
    #expect(arguments.has(Sample.passive))
  }

  @Test(
    "A wrong command line causes one clear line and a hint",
    arguments: [
      ([], "a command is missing", "Commands: get, send, cache. Try 'tool --help'."),
      (["gte"], "there is no command 'gte'", "Did you mean 'get'?"),
      (["zzzzzz"], "there is no command 'zzzzzz'", "Try 'tool --help'."),
      (["cache"], "tool cache needs one of: list", "Try 'tool cache --help'."),
      (["cache", "lst"], "tool cache has no command 'lst'", "Did you mean 'list'?"),
      (["get"], "URL is missing: what to read", "Try 'tool get --help'."),
      (["get", ""], "URL is empty", "Try 'tool get --help'."),
      (["get", "u", "--pasive"], "there is no option --pasive", "Did you mean '--passive'?"),
      (["get", "u", "--pass"], "there is no option --pass", "Options cannot be abbreviated: write --passive."),
      (["get", "u", "--output"], "--output needs FILE", "Try 'tool get --help'."),
      (["get", "u", "--output="], "--output needs a non-empty value", "Try 'tool get --help'."),
      (
        ["get", "--output", "--passive", "u"], "--output needs FILE, and '--passive' looks like an option",
        "Write a value that begins with a dash as --output=--passive."
      ),
      (["get", "u", "--passive=1"], "--passive does not accept a value", "Try 'tool get --help'."),
      (["get", "u", "--passive", "--passive"], "--passive is given twice", "Try 'tool get --help'."),
      (["get", "u", "-o", "a", "--output", "b"], "--output is given twice", "Try 'tool get --help'."),
      (["get", "u", "--when=alway"], "--when must be one of always, never, not 'alway'", "Did you mean 'always'?"),
      (["get", "u", "-x"], "there is no option -x", "Try 'tool get --help'."),
      (["get", "u", "-ofile"], "there is no option -ofile", "Try 'tool get --help'."),
      (["send", "post"], "METHOD must be one of POST, PUT, not 'post'", "Did you mean 'POST'?"),
      (["send", "POST", "x"], "unexpected argument 'x'", "Quote a value that contains spaces, & or $."),
    ] as [([String], String, String)])
  func wrong(line: [String], message: String, hint: String) throws {
    let error = try #require(Sample.error(line))
    #expect(error.message == message)
    #expect(error.hint == hint)
  }

  @Test("An option before its command is explained")
  func optionTooEarly() throws {
    let error = try #require(Sample.error(["--output", "f", "get"]))
    #expect(error.message == "--output must follow its command")
    #expect(error.hint == "Write 'tool get --output'.")
  }

  @Test(
    "--help at any position shows the help of the command before it",
    arguments: [
      (["--help"], ["tool"]), (["-h"], ["tool"]), (["get", "--help"], ["tool", "get"]),
      (["get", "u", "--passive", "-h"], ["tool", "get"]), (["cache", "--help"], ["tool", "cache"]),
      (["cache", "list", "--help"], ["tool", "cache", "list"]),
    ] as [([String], [String])])
  func help(line: [String], path: [String]) throws {
    guard case .help(_, let command) = try ArgumentParser.parse(line, root: Sample.root) else {
      Issue.record("no help for \(line)")
      return
    }
    #expect(command == path)
  }

  @Test("A very long or strange word is rejected like any other")
  func oddWords() throws {
    for word in [
      String(repeating: "x", count: 1_000_000), "\u{1B}[31m", "--" + String(repeating: "y", count: 100_000), "---",
    ] {
      #expect(Sample.error([word]) != nil)
    }
  }

  @Test(
    "Edits count insertions, deletions, replacements and swaps",
    arguments: [("get", "get", 0), ("gte", "get", 1), ("", "abc", 3), ("metdata", "metadata", 1), ("abc", "xyz", 3)])
  func distance(left: String, right: String, edits: Int) {
    #expect(Suggestion.distance(Array(left.utf8), Array(right.utf8)) == edits)
    #expect(Suggestion.distance(Array(right.utf8), Array(left.utf8)) == edits)
  }
}
