/// Creates the completion script for fish.
enum FishCompletion {
  static func script(for root: CommandSyntax) -> String {
    var lines = [
      "# fish completion for \(root.name). Load it with: \(root.name) completion fish | source",
      "complete -c \(root.name) -e",
    ]
    for placed in PlacedCommand.all(below: root) {
      let condition = condition(placed)
      for child in placed.visible {
        lines.append(line(root, condition, ["-f", "-a", quote(child.name), "-d", quote(child.summary)]))
      }
      for word in placed.operandWords { lines.append(line(root, condition, ["-f", "-a", quote(word)])) }
      for option in placed.command.allOptions { lines.append(line(root, condition, arguments(option))) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  /// True if the command line is at this command: it contains the command's words and none of its subcommands.
  private static func condition(_ placed: PlacedCommand) -> String {
    let words = placed.path.dropFirst().map { "__fish_seen_subcommand_from \($0)" }
    let below = placed.visible.map(\.name).joined(separator: " ")
    let notBelow = below.isEmpty ? [] : ["not __fish_seen_subcommand_from \(below)"]
    return (words + notBelow).joined(separator: "; and ")
  }

  private static func line(_ root: CommandSyntax, _ condition: String, _ arguments: [String]) -> String {
    (["complete", "-c", root.name, "-n", quote(condition)] + arguments).joined(separator: " ")
  }

  private static func arguments(_ option: OptionSyntax) -> [String] {
    var arguments = ["-l", String(option.name.dropFirst(2))]
    if let short = option.short { arguments += ["-s", String(short.dropFirst())] }
    if option.valueName != nil {
      switch option.value {
      case .file: arguments += ["-r", "-F"]
      case .directory: arguments += ["-x", "-a", quote("(__fish_complete_directories)")]
      case .words(let words): arguments += ["-x", "-a", quote(words.joined(separator: " "))]
      case .text: arguments += ["-x"]
      }
    }
    return arguments + ["-d", quote(option.summary)]
  }

  private static func quote(_ text: String) -> String {
    "'" + text.map { $0 == "'" || $0 == "\\" ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
