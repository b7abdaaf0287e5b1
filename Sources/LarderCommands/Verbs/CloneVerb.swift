extension CommandSyntax {
  /// `larder clone SERVICE [DIR]`.
  static let clone: CommandSyntax = .init(
    "clone", summary: "take a copy of a service's data into a folder",
    discussion: [
      "What to copy is said by --query, or by --all. Without either, on a terminal, the service's entity sets are listed with the "
        + "number of their entities, and you choose; in a pipe they are listed, and the exit status is 2.",
      "Each --query is a defining query: what it answers is copied, with what it expands, and brought up to date by "
        + "'larder download'. NAME is the query's own name, for 'larder download NAME' and 'larder status'; without one it is "
        + "that of the set. Links between entities that no foreign key tells come with $expand only.",
      "--all copies every entity set and singleton with the links between them. What cannot be read is reported with the "
        + "reason and left out, and the exit status is 1.",
      "DIR must not be there yet, or be empty. Without one the folder is named after the service, by the last part of the URL's "
        + "path that is no version. It appears when the first download has ended; until then the copy is in DIR.cloning. If the "
        + "clone is interrupted, the same command resumes it, and 'larder -C DIR status' tells how. If the service cannot be "
        + "reached or refuses, nothing stays behind.",
      "A --query that fails does not stop the others: the missing data is reported with the reason, the exit status is not 0, "
        + "and 'larder -C DIR download' tries it again.",
      "DIR holds the store's file and larder.json with the service's root. Credentials and header fields are not kept: give "
        + "them to each download, as to larder get. Query options behind SERVICE (?sap-client=100) go with every request.",
    ],
    examples: [
      "larder clone https://host/shop/", "larder clone https://host/shop/ --all",
      "larder clone https://host/shop/ copy --query Products --query 'open=Orders?$filter=Status eq 1&$expand=Items'",
    ],
    options: [.definingQuery, .wholeService, .streamQuery, .pageSize, .json] + OfflineAccess.options
      + ServiceAccess.storeOptions,
    operands: [.clonedService, .cloneFolder], body: CloneCommand.run)
}

extension OptionSyntax {
  static let definingQuery = OptionSyntax(
    "--query", valueName: "[NAME=]PATH", .text, isRepeatable: true,
    "copy what PATH answers, a URL relative to the service's root (default NAME: that of the set)")
  static let wholeService = OptionSyntax(
    flag: "--all", "copy every entity set and singleton, with the links between them")
  static let streamQuery = OptionSyntax(
    "--streams", valueName: "NAME", .text, isRepeatable: true, "copy the bytes of the query's media and streams too")
  static let pageSize = OptionSyntax(
    "--page-size", valueName: "N", .text, "ask for pages of N rows (default: as the service likes)")
}

extension OperandSyntax {
  static let clonedService = OperandSyntax("SERVICE", .one, .text, "the service's root, an http or https URL")
  static let cloneFolder = OperandSyntax(
    "DIR", .optional, .directory, "the folder of the copy (default: the service's name)")
}
