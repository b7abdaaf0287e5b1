extension CommandSyntax {
  /// `larder query URL`.
  static let query: CommandSyntax = .init(
    "query", summary: "read from a clone, without a network",
    discussion: [
      "URL is relative to the service's root, or below it, with entity sets, keys, navigation, $filter, $orderby, "
        + "$select, $expand, $apply and the rest of OData's query language. The result is the same as the service "
        + "would return for the data of the clone. If the entity does not exist, or the query uses a feature that is "
        + "not supported, the exit status is 1, and the error names the feature.",
      "A query for data that were not downloaded is an error that names the missing defining query, never an empty "
        + "result. --local reads only entities that were created in this clone, also from sets that were not cloned.",
      "On a terminal, rows are printed as a table, else the result is printed as JSON. table and csv show the "
        + "properties of each row; nested values are JSON in their cell.",
      "--explain prints the SQL and SQLite's query plan instead: which tables are searched with an index, and which are scanned.",
    ],
    examples: [
      "larder -C shop query 'Products?$filter=Price gt 100&$top=5'",
      "larder -C shop query 'Products/$count'",
      "larder -C shop query --format csv 'Orders?$select=ID,Customer' > orders.csv",
    ],
    options: [.resultFormat, .explain, .localRows, .resultVersion] + OfflineAccess.options, operands: [.queryURL],
    body: QueryCommand.run)
}

extension OptionSyntax {
  static let resultFormat = OptionSyntax(
    "--format", valueName: "FORMAT", .words(["table", "json", "csv"]),
    "how to print rows (default: table on a terminal, else json)")
  static let explain = OptionSyntax(flag: "--explain", "print SQLite's query plan instead of the result")
  static let localRows = OptionSyntax(
    flag: "--local", "read, of entity sets, only entities that were created in this clone")
  static let resultVersion = OptionSyntax(
    "--odata-version", valueName: "VERSION", .words(["2.0", "4.0", "4.01"]),
    "print JSON of this version instead of the service's")
}

extension OperandSyntax {
  static let queryURL = OperandSyntax(
    "URL", count: .one, value: .text, summary: "the query, relative to the service's root")
}
