extension CommandSyntax {
  /// `larder log`.
  static let log: CommandSyntax = .init(
    "log", summary: "show the last operations of a clone, without a network",
    discussion: [
      "The newest comes first: downloads with the way that each defining query took, rows and bytes, what was found on the "
        + "way, and errors. The last 100 are kept. Works in the folder of a clone, or with -C DIR."
    ],
    examples: ["larder -C shop log --limit 5"], options: [.logLimit, .json] + OfflineAccess.options,
    body: LogCommand.run)
}

extension OptionSyntax {
  static let logLimit = OptionSyntax("--limit", valueName: "N", .text, "show at most N operations (default 20)")
}
