extension CommandSyntax {
  /// `larder completion SHELL`.
  static let completion: CommandSyntax = .init(
    "completion", summary: "print the completion script of a shell",
    examples: ["source <(larder completion bash)", "larder completion fish | source"],
    operands: [.shell]
  ) { arguments, context in
    guard let shell = CompletionShell(rawValue: try arguments.required(OperandSyntax.shell)) else { return .usage }
    try context.output.write(shell.script(for: CommandLineTool.syntax))
    return .done
  }
}

extension OperandSyntax {
  fileprivate static let shell = OperandSyntax(
    "SHELL", count: .one, value: .words(CompletionShell.allCases.map(\.rawValue)), summary: "the shell")
}
