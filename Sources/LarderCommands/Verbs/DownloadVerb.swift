extension CommandSyntax {
  /// `larder download [NAME]...`.
  static let download: CommandSyntax = .init(
    "download", summary: "bring a clone up to date, or go on with one that was cut",
    discussion: [
      "Works in the folder of a clone, or with -C DIR. Without a NAME all defining queries are downloaded. What has changed "
        + "comes by the best way that the service offers: its delta links, an answer that nothing has changed, or a whole "
        + "read. Readers see the state before until the new one is complete.",
      "With --query and --remove the clone's defining queries are changed first: what a new one answers is downloaded, and the "
        + "rows that only a removed one brought go.",
    ],
    examples: [
      "larder -C shop download",
      "larder -C shop download products",
      "larder -C shop download --query 'late=Orders?$filter=Late'",
    ],
    options: [.definingQuery, .streamQuery, .removeQuery, .wholeDownload, .pageSize, .json] + OfflineAccess.options
      + ServiceAccess.storeOptions,
    operands: [.queryNames], body: DownloadCommand.run)
}

extension OptionSyntax {
  static let removeQuery = OptionSyntax(
    "--remove", valueName: "NAME", .text, isRepeatable: true, "forget the query and the rows that it alone brought")
  static let wholeDownload = OptionSyntax(
    flag: "--whole", "read everything, whatever delta links and ETags say; pending changes stay")
}

extension OperandSyntax {
  static let queryNames = OperandSyntax("NAME", .many, .text, "the defining queries to download")
}
