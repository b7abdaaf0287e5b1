/// The shells for which there is completion.
enum CompletionShell: String, CaseIterable {
  case bash, zsh, fish

  /// The script that makes the shell complete the command.
  func script(for root: CommandSyntax) -> String {
    switch self {
    case .bash: BashCompletion.script(for: root)
    case .zsh: ZshCompletion.script(for: root)
    case .fish: FishCompletion.script(for: root)
    }
  }
}

/// A command with its path in the tree.
struct PlacedCommand {
  let path: [String]
  let command: CommandSyntax
  var visible: [CommandSyntax] { command.subcommands.filter { !$0.isHidden } }

  /// The command and all below it that help shows, parents first.
  static func all(below root: CommandSyntax, path: [String] = []) -> [PlacedCommand] {
    let path = path + [root.name]
    let here = PlacedCommand(path: path, command: root)
    return [here] + here.visible.flatMap { all(below: $0, path: path) }
  }

  /// Words that are valid as operands.
  var operandWords: [String] {
    command.operands.flatMap { if case .words(let words) = $0.value { words } else { [String]() } }
  }
}
