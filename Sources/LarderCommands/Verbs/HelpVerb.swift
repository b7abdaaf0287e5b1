extension CommandSyntax {
  /// `larder help [COMMAND]...`.
  static let helpCommand: CommandSyntax = .init(
    "help", summary: "show help for a command", examples: ["larder help cache list"], operands: [.helpWords]
  ) { arguments, context in
    let words = arguments.values(OperandSyntax.helpWords)
    guard case .help(let command, let path) = try ArgumentParser.parse(words + ["--help"], root: CommandLineTool.syntax)
    else {
      return .usage
    }
    try context.output.write(HelpText.text(for: command, path: path, style: context.output.style))
    return .done
  }
}

extension OperandSyntax {
  fileprivate static let helpWords = OperandSyntax(
    "COMMAND", count: .many, value: .text, summary: "the name of the command")
}
