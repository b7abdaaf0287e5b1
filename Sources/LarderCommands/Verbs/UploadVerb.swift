extension CommandSyntax {
  /// `larder upload`.
  static let upload: CommandSyntax = .init(
    "upload", summary: "send the changes of a clone to its service",
    discussion: [
      "What waits is sent in the order of its causes, in batches where the service takes them; the service's keys and ETags "
        + "come back into the clone. Every request is written down before it leaves, so that after a lost answer none is sent "
        + "twice and none is lost: run it again.",
      "What the service refuses goes to the error archive with its transaction and the changes that depend on it, and the "
        + "others go on; 'larder errors list' tells why. The exit status is 0 where nothing of what the upload was about "
        + "remains, 1 where something is queued still or in the error archive, of earlier uploads too. Without a connection, or "
        + "without credentials, the rest stays queued, and 3 is the exit status.",
      "--conflicts says what becomes of a change whose entity another has changed since: archive keeps it with the three "
        + "versions for 'larder errors diff', client sends it all the same, server gives it up, merge sends it where the two "
        + "changed different properties and else archives it.",
      "--plan prints the requests that would be sent and sends nothing.",
    ],
    examples: [
      "larder -C shop upload", "larder -C shop upload --plan", "larder -C shop upload --conflicts merge",
    ],
    options: [.plan] + UploadOption.all + [.json] + OfflineAccess.options + ServiceAccess.storeOptions,
    body: UploadCommand.run)

  /// `larder sync`.
  static let sync: CommandSyntax = .init(
    "sync", summary: "send the changes of a clone, then bring it up to date",
    discussion: [
      "'larder upload' and 'larder download' in one: where the upload is cut by the network nothing is downloaded; what the "
        + "service refuses does not hinder the download, and makes 1 the exit status."
    ],
    examples: ["larder -C shop sync"],
    options: UploadOption.all + [.pageSize, .json] + OfflineAccess.options + ServiceAccess.storeOptions,
    body: SyncCommand.run)
}

/// The options for how an upload sends changes.
enum UploadOption {
  static let all: [OptionSyntax] = [.conflicts, .sentCategory, .batchSize, .lanes, .splitTransactions]
}

extension OptionSyntax {
  static let plan = OptionSyntax(flag: "--plan", "print what would be sent, and send nothing")
  static let conflicts = OptionSyntax(
    "--conflicts", valueName: "POLICY", .words(["archive", "client", "server", "merge"]),
    "what becomes of conflicts (default: archive)")
  static let sentCategory = OptionSyntax(
    "--category", valueName: "NAME", .text, isRepeatable: true, "send the changes of this group only")
  static let batchSize = OptionSyntax(
    "--batch-size", valueName: "N", .text, "at most N changes in a batch, 0 for no batches (default 100)")
  static let lanes = OptionSyntax(
    "--lanes", valueName: "N", .text, "at most N single requests at once, where there are no batches (default 4)")
  static let splitTransactions = OptionSyntax(
    flag: "--split-transactions", "without batches, send the changes of a transaction one by one")
}
