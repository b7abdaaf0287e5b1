extension CommandSyntax {
  /// `larder query URL`.
  static let query: CommandSyntax = .init(
    "query", summary: "ask a clone, without a network",
    discussion: [
      "URL is relative to the service's root, or lies below it: entity sets, keys, navigation, $filter, $orderby, $select, "
        + "$expand, $apply and the rest of OData's questions. The answer is what the service would say of the data that the "
        + "clone has. Where there is no such entity, 1 is the exit status; so it is for what cannot be answered, with its name.",
      "What the clone has not downloaded is an error that names the defining query that would bring it, never an empty answer. "
        + "--local asks for entities that were created here alone: so a set that was not cloned can be read.",
      "On a terminal rows are shown as a table, else the answer is printed as JSON. A table and csv show the properties of "
        + "each row; what is nested is JSON in its cell.",
      "--explain prints the SQL and SQLite's plan instead: what is read through an index, what is scanned.",
    ],
    examples: [
      "larder -C shop query 'Products?$filter=Price gt 100&$top=5'",
      "larder -C shop query 'Products/$count'",
      "larder -C shop query --format csv 'Orders?$select=ID,Customer' > orders.csv",
    ],
    options: [.answerFormat, .explain, .localRows, .answerVersion] + OfflineAccess.options, operands: [.question],
    body: QueryCommand.run)
}

extension OptionSyntax {
  static let answerFormat = OptionSyntax(
    "--format", valueName: "FORMAT", .words(["table", "json", "csv"]),
    "how to print rows (default: table on a terminal, else json)")
  static let explain = OptionSyntax(flag: "--explain", "print how SQLite answers it, not the answer")
  static let localRows = OptionSyntax(flag: "--local", "of entity sets, only entities that were created here")
  static let answerVersion = OptionSyntax(
    "--odata-version", valueName: "VERSION", .words(["2.0", "4.0", "4.01"]),
    "write JSON in the format of this version, not the service's")
}

extension OperandSyntax {
  static let question = OperandSyntax("URL", .one, .text, "what is asked, relative to the service's root")
}
