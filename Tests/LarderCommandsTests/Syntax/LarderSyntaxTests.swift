import Testing

@testable import LarderCommands

@Suite("The larder command", .timeLimit(.minutes(5)))
struct LarderSyntaxTests {
  static let all = PlacedCommand.all(below: CommandLineTool.syntax)

  @Test("The help of every command fits 80 columns and lists its options", arguments: all.map(\.path))
  func help(path: [String]) async throws {
    let outcome = await Rig().run(Array(path.dropFirst()) + ["--help"])
    #expect(outcome.status == .done)
    #expect(outcome.diagnostics.isEmpty)
    #expect(outcome.output.hasPrefix(path.joined(separator: " ") + " - "))
    let placed = try #require(Self.all.first { $0.path == path })
    for option in placed.command.allOptions { #expect(outcome.output.contains(option.name)) }
    let examples = Set(placed.command.examples.map { "  " + $0 })
    for line in outcome.output.split(separator: "\n") where !examples.contains(String(line)) {
      #expect(line.count <= 80, "\(line)")
    }
  }

  @Test("No option occurs twice in a command, and every summary is a clause", arguments: all.map(\.path))
  func tables(path: [String]) throws {
    let command = try #require(Self.all.first { $0.path == path }).command
    let names = command.allOptions.flatMap { [$0.name] + ($0.short.map { [$0] } ?? []) }
    #expect(Set(names).count == names.count)
    for option in command.allOptions {
      #expect(option.name.hasPrefix("--"))
      #expect(!option.summary.hasSuffix("."))
    }
    // Parsing takes operands in order, so only the last may vary in number.
    for operand in command.operands.dropLast() { #expect(operand.count == .one) }
    #expect(command.subcommands.isEmpty || command.operands.isEmpty)
    #expect(command.body != nil || !command.subcommands.isEmpty)
  }

  @Test("--version prints name and version")
  func version() async {
    let outcome = await Rig().run("--version")
    #expect(outcome.status == .done)
    #expect(outcome.output == "larder \(CommandLineTool.version)\n")
  }

  @Test("help COMMAND is COMMAND --help")
  func helpCommand() async {
    let one = await Rig().run("help", "metadata")
    let other = await Rig().run("metadata", "--help")
    #expect(one.output == other.output)
    #expect(await Rig().run("help", "metdata").status == .usage)
  }

  @Test("A wrong command line exits with 2, one line and a hint, and prints nothing on standard output")
  func usage() async {
    let outcome = await Rig().run("metadata", "--fil", "x")
    #expect(outcome.status.code == 2)
    #expect(outcome.output.isEmpty)
    #expect(outcome.diagnostics == "larder: there is no option --fil\nOptions cannot be abbreviated: write --file.\n")
  }

  @Test("-C with a missing folder exits with 2")
  func noDirectory() async {
    let outcome = await Rig().run("-C", "/no/such/folder", "metadata", "--file", "x")
    #expect(outcome.status == .usage)
    #expect(outcome.diagnostics.hasPrefix("larder: -C /no/such/folder: no such folder\n"))
  }

  @Test("Every shell's script names every command and long option", arguments: CompletionShell.allCases)
  func completion(shell: CompletionShell) async {
    let outcome = await Rig().run("completion", shell.rawValue)
    #expect(outcome.status == .done)
    for placed in Self.all {
      #expect(outcome.output.contains(placed.command.name))
      for option in placed.command.allOptions {
        #expect(outcome.output.contains(shell == .fish ? "-l \(option.name.dropFirst(2))" : option.name))
      }
    }
  }
}
