extension CommandSyntax {
  /// `larder link PATH TARGET`.
  static let link: CommandSyntax = .init(
    "link", summary: "link an entity to another, without a network",
    discussion: [
      "If the property leads to one entity, TARGET replaces it; if it leads to many, TARGET is added. Both may be "
        + "entities that have not been uploaded.",
      ChangeOption.checked,
    ],
    examples: ["larder -C shop link 'Products(1)/Category' 'Categories(2)'"],
    options: [.ifMatch] + ChangeOption.all, operands: [.linkPath, .linkTarget], body: ChangeCommand.link)

  /// `larder unlink PATH TARGET`.
  static let unlink: CommandSyntax = .init(
    "unlink", summary: "remove a link between two entities, without a network",
    discussion: ["Only the link is removed, not the entities.", ChangeOption.checked],
    examples: ["larder -C shop unlink 'Products(1)/Category' 'Categories(2)'"],
    options: [.ifMatch] + ChangeOption.all, operands: [.linkPath, .linkTarget], body: ChangeCommand.unlink)

  /// `larder action PATH [JSON]`.
  static let action: CommandSyntax = .init(
    "action", summary: "queue the call of an action, without a network",
    discussion: [
      "The clone does not know what an action does: the next 'larder upload' calls it, in order with the other "
        + "changes, and never twice. PATH is the path of a bound action, with its qualified name, or the name of an "
        + "action import.",
      "JSON is an object of parameters: an argument, @FILE for a file, or - for standard input. Before V4 they are "
        + "sent in the URL.",
    ],
    examples: [
      "larder -C shop action 'Orders(5)/Shop.Release'",
      #"larder -C shop action Reset '{"keepUsers": true}'"#,
    ],
    options: [.ifMatch] + ChangeOption.all, operands: [.actionPath, .parametersJSON], body: ChangeCommand.action)
}

extension OperandSyntax {
  static let linkPath = OperandSyntax(
    "PATH", count: .one, value: .text, summary: "the navigation property, such as 'Products(1)/Category'")
  static let linkTarget = OperandSyntax(
    "TARGET", count: .one, value: .text, summary: "the other entity, such as 'Categories(2)'")
  static let actionPath = OperandSyntax(
    "PATH", count: .one, value: .text, summary: "the action, such as 'Orders(5)/Shop.Release'")
  static let parametersJSON = OperandSyntax(
    "JSON", count: .optional, value: .text, summary: "the parameters; @FILE, or - for standard input")
}
