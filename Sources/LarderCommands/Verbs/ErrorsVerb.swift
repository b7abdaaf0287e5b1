extension CommandSyntax {
  /// `larder errors`.
  static let errors: CommandSyntax = .init(
    "errors", summary: "look into the changes that the service refused",
    discussion: [
      "They are in the clone still, and wait here with those that depend on them. To mend one, change the entity: "
        + "that puts it back into the queue. retry sends it again as it was; discard gives it up, and the entity is what the "
        + "service has."
    ],
    examples: [
      "larder -C shop errors list", "larder -C shop errors diff 7", "larder -C shop errors retry 7",
      "larder -C shop errors discard --all",
    ],
    subcommands: [
      CommandSyntax(
        "list", summary: "list the error archive, without a network",
        discussion: ["With --json an array of its rows, under their property names."],
        options: [.json] + OfflineAccess.options,
        body: ErrorsCommand.list),
      CommandSyntax(
        "show", summary: "show a refused change: what was sent, what the service said",
        options: [.json] + OfflineAccess.options,
        operands: [.requestID], body: ErrorsCommand.show),
      CommandSyntax(
        "diff", summary: "show a conflict's three versions, property by property",
        discussion: [
          "base is the service's version that the change was based on, mine what this clone made of it, theirs what the "
            + "service has now. A point stands where a version is as base; ! marks what both have changed differently.",
          "Of a change refused with 404, 409 or 410 it shows what the service has under its key. One that was refused for "
            + "another reason ends with 1.",
        ], options: [.allProperties, .json] + OfflineAccess.options, operands: [.requestID], body: ErrorsCommand.diff),
      CommandSyntax(
        "retry", summary: "put refused changes back into the queue",
        discussion: [
          "The next 'larder upload' sends them, with those that were held for them. Of a conflict that means mine: it goes "
            + "under the ETag of the service's version, and wins; so does a change that waits still, where a download has "
            + "noticed the conflict.",
          "A creation that was refused because the service has an entity of its key (409) goes as an update of that with "
            + "--as-update, or under another key with --key.",
        ], options: [.asUpdate, .newKey, .allRequests, .json] + OfflineAccess.options, operands: [.requestIDs],
        body: ErrorsCommand.retry),
      CommandSyntax(
        "discard", summary: "give refused changes up, with all that depend on them",
        discussion: ["The entities are what the service has, as far as no other changes wait."],
        options: [.allRequests, .json] + OfflineAccess.options, operands: [.requestIDs], body: ErrorsCommand.discard),
    ])

  /// `larder undo`.
  static let undo: CommandSyntax = .init(
    "undo", summary: "take back changes of a clone that were not sent yet",
    discussion: [
      "Of an entity all of them, with those of others that depend on them: what was made here is gone, what was deleted is "
        + "back. Refused changes go too. PATH is the one that 'larder status' shows.",
      "A change whose response was lost is looked up at the service first; nothing else needs a network.",
    ],
    examples: ["larder -C shop undo 'Products(1)'", "larder -C shop undo --all"],
    options: [.allChanges, .json] + OfflineAccess.options + ServiceAccess.storeOptions,
    operands: [.undonePaths], body: UndoCommand.run)
}

extension OptionSyntax {
  static let asUpdate = OptionSyntax(
    flag: "--as-update", "send a creation refused with 409 as an update of the entity that is there")
  static let newKey = OptionSyntax(
    "--key", valueName: "KEY", .text, "send a refused creation under another key, such as 7 or A=1,B='x'")
  static let allRequests = OptionSyntax(flag: "--all", "all of the error archive")
  static let allChanges = OptionSyntax(flag: "--all", "all changes of the clone")
  static let allProperties = OptionSyntax(flag: "--all", "show properties that do not differ too")
}

extension OperandSyntax {
  static let requestID = OperandSyntax("ID", .one, .text, "the change's number, as errors list shows it")
  static let requestIDs = OperandSyntax("ID", .many, .text, "the changes' numbers, as errors list shows them")
  static let undonePaths = OperandSyntax("PATH", .many, .text, "the entities, such as 'Products(1)'")
}
