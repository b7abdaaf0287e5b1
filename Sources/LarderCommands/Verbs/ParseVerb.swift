internal import LarderOData

extension CommandSyntax {
  /// `larder parse TEXT`.
  static let parse: CommandSyntax = .init(
    "parse", summary: "show how a URL, option or expression of OData is parsed",
    discussion: [
      "TEXT is a URL, or a path relative to a service; query options if it begins with ? or with an option's $; with "
        + "--rule, a text of that rule of the standard's grammar (filter, commonExpr, orderby, primitiveLiteral, "
        + "...).",
      "With --model every name is looked up and every expression has its type. If the text cannot be parsed or "
        + "bound, the exit status is 1, and the error shows the position.",
      "--lines reads one JSON object per line from standard input, {\"rule\": \"filter\", \"input\": "
        + "\"$filter=...\"}, and prints a line {\"ok\": true, \"failAt\": null, \"message\": null} for each; failAt "
        + "counts characters.",
    ],
    examples: [
      "larder parse 'Products?$filter=Price gt 5 and contains(Name,%27x%27)'",
      "larder parse --rule commonExpr --json 'Price add 2.45 eq 5.00'",
      "larder parse --model metadata.xml --set Products '$filter=Pricee gt 5'",
      "larder parse --v2 \"Products(guid'01234567-89ab-cdef-0123-456789abcdef')\"",
    ],
    options: [.rule, .v2, .odataVersion, .parseModel, .parseType, .parseSet, .json, .lines], operands: [.parsedText]
  ) { arguments, context in
    let request = try ParseRequest(arguments, context)
    if arguments.has(.lines) {
      guard arguments[OperandSyntax.parsedText] == nil else {
        throw arguments.usage("--lines reads its texts from standard input; omit TEXT")
      }
      var lines = ParseLines { rule, input in request.parseFailure(of: input, rule: rule) }
      try await lines.run(context)
      return .done
    }
    let text = try arguments.required(OperandSyntax.parsedText)
    let tree = try request.tree(of: text, arguments)
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.node(tree)
      try json.endLine()
    } else {
      try context.output.write(SyntaxOutline(tree).lines.joined(separator: "\n") + "\n")
    }
    return .done
  }
}

extension OptionSyntax {
  static let rule = OptionSyntax(
    "--rule", valueName: "NAME", .text, "parse a text of this rule of the standard's grammar")
  static let v2 = OptionSyntax(flag: "--v2", "parse the language of V2 and V3")
  static let odataVersion = OptionSyntax(
    "--odata-version", valueName: "VERSION", .words(["2.0", "3.0", "4.0", "4.01"]),
    "the version of the language (default 4.01)")
  static let parseModel = OptionSyntax("--model", valueName: "FILE", .file, "look up names in this $metadata document")
  static let parseType = OptionSyntax(
    "--type", valueName: "NAME", .text, "options and expressions apply to this type of the model")
  static let parseSet = OptionSyntax(
    "--set", valueName: "NAME", .text, "options and expressions apply to this entity set or singleton")
  fileprivate static let lines = OptionSyntax(
    flag: "--lines", "parse many texts from standard input, one JSON object per line")
}

extension OperandSyntax {
  fileprivate static let parsedText = OperandSyntax(
    "TEXT", count: .optional, value: .text, summary: "the text to parse")
}
