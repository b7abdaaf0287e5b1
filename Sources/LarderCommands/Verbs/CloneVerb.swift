extension CommandSyntax {
  /// `larder clone SERVICE [DIR]`.
  static let clone: CommandSyntax = .init(
    "clone", summary: "copy a service's data into a folder",
    discussion: [
      "Specify what to copy with --query or --all. Without either, the service's entity sets are listed: on a "
        + "terminal with the number of their entities, and you choose; in a pipe the exit status is 2.",
      "Each --query is a defining query. Its rows, and those that it expands, are downloaded now, and 'larder "
        + "download' updates them later. NAME is the name of the query for 'larder download NAME' and 'larder "
        + "status'; the default is the name of the set. Links between entities are downloaded if the model has a "
        + "foreign key for them, or if the query expands them.",
      "--all copies every entity set and singleton with the links between them. Sets that cannot be read are "
        + "reported with the reason and left out, and the exit status is 1.",
      "DIR must not exist, or be empty. Without DIR, the folder is named after the service, by the last part of the "
        + "URL's path that is not a version. It appears when the first download has ended; until then the copy is in "
        + "DIR.cloning. If the clone is interrupted, the same command resumes it, and 'larder -C DIR status' "
        + "describes it. If the service cannot be reached or rejects the request, DIR.cloning is removed.",
      "A --query that fails does not stop the others: the missing data is reported with the reason, the exit status is not 0, "
        + "and 'larder -C DIR download' tries it again.",
      "DIR contains the store's file, and larder.json with the service's root. Credentials and header fields are not "
        + "stored: pass them to each download, as to larder get. Query options of SERVICE (?sap-client=100) are sent "
        + "with every request.",
    ],
    examples: [
      "larder clone https://host/shop/", "larder clone https://host/shop/ --all",
      "larder clone https://host/shop/ copy --query Products --query 'open=Orders?$filter=Status eq 1&$expand=Items'",
    ],
    options: [.definingQuery, .wholeService, .streamQuery, .rawValues, .followLinks, .pageSize, .json]
      + OfflineAccess.options
      + ServiceAccess.storeOptions,
    operands: [.clonedService, .cloneFolder], body: CloneCommand.run)
}

extension OptionSyntax {
  static let definingQuery = OptionSyntax(
    "--query", valueName: "[NAME=]PATH", .text, isRepeatable: true,
    "copy the result of PATH, a URL relative to the service's root (default NAME: that of the set)")
  static let wholeService = OptionSyntax(
    flag: "--all", "copy every entity set and singleton, with the links between them")
  static let streamQuery = OptionSyntax(
    "--streams", valueName: "NAME", .text, isRepeatable: true,
    "also copy the bytes of the query's media entities and streams")
  static let followLinks = OptionSyntax(
    "--follow-links", valueName: "N", .text,
    "if the service does not expand a link, request it for each row, with at most N requests for each query")
  static let rawValues = OptionSyntax(
    flag: "--raw-values",
    "keep values that do not fit their declared type: results show them as 'NAME@larder.rawValue'")
  static let pageSize = OptionSyntax(
    "--page-size", valueName: "N", .text, "request pages of N rows (default: the service's page size)")
}

extension OperandSyntax {
  static let clonedService = OperandSyntax(
    "SERVICE", count: .one, value: .text, summary: "the service's root, an http or https URL")
  static let cloneFolder = OperandSyntax(
    "DIR", count: .optional, value: .directory, summary: "the folder of the copy (default: the service's name)")
}
