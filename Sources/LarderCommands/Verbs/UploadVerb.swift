extension CommandSyntax {
  /// `larder upload`.
  static let upload: CommandSyntax = .init(
    "upload", summary: "send the changes of a clone to its service",
    discussion: [
      "Pending changes are sent in causal order, in batches if the service supports them; the clone gets the "
        + "service's keys and ETags. Every request is recorded before it is sent, so that after a lost response no "
        + "change is sent twice and none is lost: run the command again.",
      "Changes that the service rejects are moved to the error archive with their transactions and dependents, and "
        + "the others are sent; 'larder errors list' shows the reasons. The exit status is 0 if no change that the "
        + "upload covers remains, 1 if changes are still queued or in the error archive, also from earlier uploads. "
        + "Without a connection or credentials, the rest stays queued, and the exit status is 3.",
      "--conflicts specifies what to do with a change whose entity another client has changed since: archive keeps "
        + "it with the three versions for 'larder errors diff', client sends it anyway, server discards it, merge "
        + "sends it if the two changed different properties, else archives it.",
      "--plan prints the requests that would be sent and sends nothing.",
    ],
    examples: [
      "larder -C shop upload", "larder -C shop upload --plan", "larder -C shop upload --conflicts merge",
    ],
    options: [.plan] + UploadOption.all + [.json] + OfflineAccess.options + ServiceAccess.storeOptions,
    body: UploadCommand.run)

  /// `larder sync`.
  static let sync: CommandSyntax = .init(
    "sync", summary: "send the changes of a clone, then update it from its service",
    discussion: [
      "Runs 'larder upload', then 'larder download'. If the network interrupts the upload, nothing is downloaded. If "
        + "the service rejects changes, the download runs anyway, and the exit status is 1."
    ],
    examples: ["larder -C shop sync"],
    options: UploadOption.all + [.followLinks, .pageSize, .json] + OfflineAccess.options + ServiceAccess.storeOptions,
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
    "how to resolve conflicts (default: archive)")
  static let sentCategory = OptionSyntax(
    "--category", valueName: "NAME", .text, isRepeatable: true, "send the changes of this group only")
  static let batchSize = OptionSyntax(
    "--batch-size", valueName: "N", .text, "at most N changes in a batch, 0 for no batches (default 100)")
  static let lanes = OptionSyntax(
    "--lanes", valueName: "N", .text, "without batches, at most N concurrent requests (default 4)")
  static let splitTransactions = OptionSyntax(
    flag: "--split-transactions", "without batches, send the changes of a transaction one by one")
}
