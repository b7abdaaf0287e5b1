extension CommandSyntax {
  /// `larder status`.
  static let status: CommandSyntax = .init(
    "status", summary: "show the contents and pending changes of a clone",
    discussion: [
      "One line for each defining query: its rows, the time and method of its last download, and whether a download "
        + "is incomplete. Works in the folder of a clone, or with -C DIR.",
      "The method is changes (a delta link), notModified (the service reported no change) or whole (all rows, compared by key).",
    ],
    examples: ["larder -C shop status"], options: [.json] + OfflineAccess.options, body: StatusCommand.run)
}
