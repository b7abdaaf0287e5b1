extension CommandSyntax {
  /// `larder log`.
  static let log: CommandSyntax = .init(
    "log", summary: "show the last operations of a clone, without a network",
    discussion: [
      "The newest operation is first: downloads with the method, rows and bytes of each defining query, notes, and "
        + "errors. The last 100 are kept. Works in the folder of a clone, or with -C DIR."
    ],
    examples: ["larder -C shop log --limit 5"], options: [.logLimit, .json] + OfflineAccess.options,
    body: LogCommand.run)
}

extension OptionSyntax {
  static let logLimit = OptionSyntax("--limit", valueName: "N", .text, "show at most N operations (default 20)")
}
