extension CommandSyntax {
  /// `larder errors`.
  static let errors: CommandSyntax = .init(
    "errors", summary: "list and fix changes that the service rejected",
    discussion: [
      "Rejected changes stay in the clone, and are kept in the error archive with the changes that depend on them. "
        + "To fix one, change the entity: that moves its change back into the queue. retry sends a change again "
        + "unchanged; discard removes it, and the entity gets the service's version."
    ],
    examples: [
      "larder -C shop errors list", "larder -C shop errors diff 7", "larder -C shop errors retry 7",
      "larder -C shop errors discard --all",
    ],
    subcommands: [
      CommandSyntax(
        "list", summary: "list the error archive, without a network",
        discussion: ["--json prints an array of its rows with their property names."],
        options: [.json] + OfflineAccess.options,
        body: ErrorsCommand.list),
      CommandSyntax(
        "show", summary: "show a rejected change, its request and its response",
        options: [.json] + OfflineAccess.options,
        operands: [.requestID], body: ErrorsCommand.show),
      CommandSyntax(
        "diff", summary: "show a conflict's three versions, property by property",
        discussion: [
          "base is the service's version that the change is based on, mine the version of this clone, theirs the "
            + "service's current version. A point means the base value; ! marks properties that both have changed "
            + "differently.",
          "For a change rejected with 404, 409 or 410, theirs is the service's entity with its key. For a change "
            + "that was rejected for another reason, the exit status is 1.",
        ], options: [.allProperties, .json] + OfflineAccess.options, operands: [.requestID], body: ErrorsCommand.diff),
      CommandSyntax(
        "retry", summary: "move rejected changes back into the queue",
        discussion: [
          "The next 'larder upload' sends them, with the changes that were held with them. For a conflict, retry "
            + "keeps mine: it is sent with the ETag of the service's version and overwrites it. The same applies to "
            + "a pending change if a download has detected the conflict.",
          "A creation that was rejected because its key exists (409) is sent as an update of that entity with "
            + "--as-update, or with another key with --key.",
        ], options: [.asUpdate, .newKey, .allRequests, .json] + OfflineAccess.options, operands: [.requestIDs],
        body: ErrorsCommand.retry),
      CommandSyntax(
        "discard", summary: "discard rejected changes, with all that depend on them",
        discussion: ["The entities get the service's version, with other pending changes applied."],
        options: [.allRequests, .json] + OfflineAccess.options, operands: [.requestIDs], body: ErrorsCommand.discard),
    ])

  /// `larder undo`.
  static let undo: CommandSyntax = .init(
    "undo", summary: "discard changes that were not uploaded",
    discussion: [
      "Discards all pending and rejected changes of an entity, with the changes of other entities that depend on "
        + "them: created entities are removed, deleted entities are restored. PATH is the path that 'larder status' "
        + "shows.",
      "A change whose response was lost is looked up at the service first; only that needs a network.",
    ],
    examples: ["larder -C shop undo 'Products(1)'", "larder -C shop undo --all"],
    options: [.allChanges, .json] + OfflineAccess.options + ServiceAccess.storeOptions,
    operands: [.undonePaths], body: UndoCommand.run)
}

extension OptionSyntax {
  static let asUpdate = OptionSyntax(
    flag: "--as-update", "send a creation rejected with 409 as an update of the existing entity")
  static let newKey = OptionSyntax(
    "--key", valueName: "KEY", .text, "send a rejected creation with another key, such as 7 or A=1,B='x'")
  static let allRequests = OptionSyntax(flag: "--all", "all changes in the error archive")
  static let allChanges = OptionSyntax(flag: "--all", "all changes of the clone")
  static let allProperties = OptionSyntax(flag: "--all", "also show properties that do not differ")
}

extension OperandSyntax {
  static let requestID = OperandSyntax(
    "ID", count: .one, value: .text, summary: "the change's number, as errors list shows it")
  static let requestIDs = OperandSyntax(
    "ID", count: .many, value: .text, summary: "the changes' numbers, as errors list shows them")
  static let undonePaths = OperandSyntax(
    "PATH", count: .many, value: .text, summary: "the entities, such as 'Products(1)'")
}
