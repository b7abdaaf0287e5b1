extension CommandSyntax {
  /// `larder download [NAME]...`.
  static let download: CommandSyntax = .init(
    "download", summary: "update a clone from its service, or resume a download",
    discussion: [
      "Works in the folder of a clone, or with -C DIR. Without NAME, all defining queries are downloaded. Changes "
        + "are downloaded by the best method that the service supports: a delta link, a response that nothing has "
        + "changed, or a whole download. Readers see the previous state until the new one is complete.",
      "--query and --remove change the clone's defining queries first: the result of a new query is downloaded, and "
        + "the rows that only a removed query returned are deleted.",
    ],
    examples: [
      "larder -C shop download",
      "larder -C shop download products",
      "larder -C shop download --query 'late=Orders?$filter=Late'",
    ],
    options: [.definingQuery, .streamQuery, .rawValues, .removeQuery, .wholeDownload, .followLinks, .pageSize, .json]
      + OfflineAccess.options
      + ServiceAccess.storeOptions,
    operands: [.queryNames], body: DownloadCommand.run)
}

extension OptionSyntax {
  static let removeQuery = OptionSyntax(
    "--remove", valueName: "NAME", .text, isRepeatable: true, "remove the query, and the rows that only it returned")
  static let wholeDownload = OptionSyntax(
    flag: "--whole", "download everything, regardless of delta links and ETags; pending changes are kept")
}

extension OperandSyntax {
  static let queryNames = OperandSyntax("NAME", count: .many, value: .text, summary: "the defining queries to download")
}
