import Foundation
import Testing

@testable import LarderCommands

/// Commands in messages and help exist.
@Suite("Commands that texts mention", .timeLimit(.minutes(5)))
struct NamedCommandTests {
  /// A command in a text of ours, such as `'larder errors diff ID'`, and where it stands.
  struct Named: CustomStringConvertible {
    let words: [String]
    let place: String
    var description: String { "\(place): \(words.joined(separator: " "))" }
  }

  /// Why a command cannot be typed; nil where it can.
  static func problem(_ words: [String]) -> String? {
    var command = CommandLineTool.syntax
    var rest = words[...]
    if rest.first == command.name { rest.removeFirst() }
    if rest.first == "-C" { rest = rest.dropFirst(rest.dropFirst().first.map(verbs.contains) == true ? 1 : 2) }
    while let word = rest.first, let next = command.subcommands.first(where: { $0.name == word }) {
      command = next
      rest.removeFirst()
    }
    if command.name == CommandLineTool.syntax.name { return "there is no verb \(rest.first ?? "")" }
    if !command.subcommands.isEmpty, let word = rest.first, word.first?.isLowercase == true {
      return "\(command.name) has no \(word)"
    }
    let options = Set(command.allOptions.map(\.name) + ["--help"])
    let unknown = rest.first { $0.hasPrefix("--") && !options.contains($0) }
    return unknown.map { "\(command.name) has no \($0)" }
  }

  private static let verbs = Set(CommandLineTool.syntax.subcommands.map(\.name))

  /// The commands that a line of source puts in quotes.
  static func named(_ line: String, place: String) -> [Named] {
    guard line.contains("'"), !isComment(line) else { return [] }
    // Interpolations are values that the reader knows.
    return line.replacing(#/\\\((?:[^()]|\([^()]*\))*\)/#, with: "").split(separator: "'").compactMap { quoted in
      // A text that continues in the next line ends with a quotation mark.
      let words = quoted.split(separator: " ").map(String.init).filter { $0 != "\"" }
      guard quoted.first != " ", words.count > 1, words[0] == "larder" || verbs.contains(words[0]) else { return nil }
      return Named(words: words, place: place)
    }
  }

  private static func isComment(_ line: String) -> Bool { line.drop(while: \.isWhitespace).hasPrefix("//") }

  private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().appending(path: "Sources")

  private static func lines() throws -> [(text: String, place: String)] {
    let files = FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil)?.compactMap { $0 as? URL }
    return try (files ?? []).filter { $0.pathExtension == "swift" }.flatMap { file in
      try String(contentsOf: file, encoding: .utf8).split(separator: "\n", omittingEmptySubsequences: false)
        .enumerated()
        .map { (String($1), "\(file.lastPathComponent):\($0 + 1)") }
    }
  }

  @Test("each command in quotes has an existing verb and existing options")
  func commands() throws {
    let named = try Self.lines().flatMap { Self.named($0.text, place: $0.place) }
    #expect(named.count > 40)
    for command in named { #expect(Self.problem(command.words) == nil, "\(command)") }
  }

  @Test("each option in a text of the command line is one of some verb")
  func options() throws {
    let options = Set(
      PlacedCommand.all(below: CommandLineTool.syntax).flatMap(\.command.allOptions).map(\.name) + ["--help"])
    for (text, place) in try Self.lines() where text.contains("--") && !Self.isComment(text) && !place.hasPrefix("Demo")
    {
      for quoted in text.matches(of: #/"(?:[^"\\]|\\.)*"/#) {
        for option in quoted.output.matches(of: #/(?:^|[\s'"(\[])(--[a-z][a-z-]*[a-z])/#) {
          #expect(options.contains(String(option.output.1)), "\(place): \(option.output.1)")
        }
      }
    }
  }

  @Test("the search finds missing commands")
  func sample() {
    let line =
      #"throw CommandFailure(.negative, "x", hint: "'larder \(folder.option)errors requeue 7' or 'errors list --al'")"#
    let problem = Self.named(line, place: "here").map { Self.problem($0.words) }
    #expect(problem == ["errors has no requeue", "list has no --al"])
    #expect(Self.named("// 'larder nothing'", place: "here").isEmpty)
    #expect(Self.problem(["larder", "nothing"]) == "there is no verb nothing")
    #expect(Self.problem(["larder", "-C", "DIR", "errors", "retry", "--all"]) == nil)
  }
}
