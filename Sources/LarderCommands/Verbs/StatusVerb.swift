extension CommandSyntax {
  /// `larder status`.
  static let status: CommandSyntax = .init(
    "status", summary: "show what a clone holds, without a network",
    discussion: [
      "One line for each defining query: its rows, when and by which way it was downloaded last, and whether a download has "
        + "to go on. Works in the folder of a clone, or with -C DIR.",
      "The way is changes (by a delta link), notModified (the service said so) or whole (all rows, compared by key).",
    ],
    examples: ["larder -C shop status"], options: [.json] + OfflineAccess.options, body: StatusCommand.run)
}
