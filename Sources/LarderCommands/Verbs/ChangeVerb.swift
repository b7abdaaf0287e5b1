extension CommandSyntax {
  /// `larder change FILE`.
  static let change: CommandSyntax = .init(
    "change", summary: "make several changes of a clone in one transaction",
    discussion: [
      "Either all changes are applied, or none. 'larder upload' sends them as one change set, which the service "
        + "executes completely or not at all.",
      "FILE has one JSON object on each line, a change under the name of its verb: {\"create\": SET}, {\"update\": "
        + "PATH}, {\"delete\": PATH}, {\"link\": PATH, \"to\": TARGET}, {\"unlink\": PATH, \"to\": TARGET}, "
        + "{\"action\": PATH}, with \"content\" for the properties or parameters, \"replace\": true for an update by "
        + "PUT, \"ifMatch\" and \"tag\".",
      "\"as\": NAME names the created entity: in later lines, a path, TARGET or binding can begin with $NAME.",
      ChangeOption.checked,
    ],
    examples: [
      "larder -C shop change order.jsonl",
      #"printf '{"create":"Orders","as":"o","content":{"Customer":"Ada"}}\n{"create":"$o/Items","content":{"Quantity":2}}\n' | larder -C shop change -"#,
    ],
    options: [.allowedProperty] + ChangeOption.all, operands: [.changesFile], body: ChangeSetCommand.run)
}

extension OperandSyntax {
  static let changesFile = OperandSyntax(
    "FILE", count: .one, value: .file, summary: "the changes, - for standard input")
}
