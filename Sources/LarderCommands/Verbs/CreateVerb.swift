extension CommandSyntax {
  /// `larder create SET JSON`.
  static let create: CommandSyntax = .init(
    "create", summary: "make an entity in a clone, without a network",
    discussion: [
      "The entity is in the clone at once and goes to the service with the next 'larder upload'. Its path is printed: a key "
        + "that the service gives has a value of the clone's own until then, and the path stays valid for ever.",
      ChangeOption.json,
      "Links to other entities are made by NAME@odata.bind, before V4 by {\"NAME\": {\"__metadata\": {\"uri\": PATH}}}; "
        + "entities in line are made with this one. SET may be a navigation property, such as Orders(5)/Items.",
      "A property that the metadata mark as the service's own (Core.Computed, sap:creatable), as they often do with keys, is "
        + "refused; --allow NAME queues it for services that take it all the same.",
      ChangeOption.checked,
    ],
    examples: [
      #"larder -C shop create Products '{"Name": "Flour", "Price": 1.20}'"#,
      "larder -C shop create 'Orders(5)/Items' @item.json --tag stocktaking",
      "larder -C shop create Photos --media cat.png",
    ],
    options: [.allowedProperty, .media, .mediaType] + ChangeOption.all, operands: [.collection, .entityJSON],
    body: ChangeCommand.create)

  /// `larder update PATH JSON`.
  static let update: CommandSyntax = .init(
    "update", summary: "change an entity in a clone, without a network",
    discussion: [
      "What the JSON says is changed, what it leaves out stays; with --replace that goes back to its default (PUT). PATH may "
        + "be a property too, such as Products(1)/Name, and the JSON its value.",
      ChangeOption.json,
      "The upload sends the ETag that the change was based on: where another has changed the entity since, that is a conflict. "
        + "--if-match '*' changes whatever is there then.",
      ChangeOption.checked,
    ],
    examples: [
      #"larder -C shop update 'Products(1)' '{"Price": 1.25}'"#,
      #"larder -C shop update 'Products(1)/Name' '"Rye flour"'"#,
      "larder -C shop update 'Photos(1)/$value' --media cat.png",
    ],
    options: [.replace, .ifMatch, .media, .mediaType] + ChangeOption.all, operands: [.changedPath, .entityJSON],
    body: ChangeCommand.update)

  /// `larder delete PATH`.
  static let delete: CommandSyntax = .init(
    "delete", summary: "delete an entity in a clone, without a network",
    discussion: [
      "It is gone from the clone at once, and from the service with the next 'larder upload'; 'larder undo PATH' brings it "
        + "back until then. PATH may be a property, which becomes null, or a stream.",
      ChangeOption.checked,
    ],
    examples: ["larder -C shop delete 'Products(1)'"],
    options: [.ifMatch] + ChangeOption.all, operands: [.changedPath], body: ChangeCommand.delete)
}

/// The common options of the verbs that change entities.
enum ChangeOption {
  static let all: [OptionSyntax] =
    [.customTag, .uploadCategory, .queuedHeader, .unmodifiable, .json] + OfflineAccess.options

  static let json =
    "JSON is an argument, @FILE for a file, or - for standard input, in the spelling of the service's version: as "
    + "'larder query' prints it."
  static let checked =
    "What the service's metadata do not allow is refused with 2, a key that there is already and a stale --if-match with 1; "
    + "then nothing is changed."
}

extension OptionSyntax {
  static let customTag = OptionSyntax(
    "--tag", valueName: "TEXT", .text, "a mark of your own on the change; the error archive shows it")
  static let uploadCategory = OptionSyntax(
    "--category", valueName: "NAME", .text, "the group of changes that 'larder upload --category NAME' sends")
  static let queuedHeader = OptionSyntax(
    "--header", short: "-H", valueName: "FIELD", .text, isRepeatable: true,
    "send 'Name: value' with the change; {key:PATH} is that entity's key")
  static let unmodifiable = OptionSyntax(
    flag: "--unmodifiable", "never merge it with another change of the entity")
  static let replace = OptionSyntax(flag: "--replace", "what the JSON leaves out goes back to its default (PUT)")
  static let media = OptionSyntax(
    "--media", valueName: "FILE", .file, "the bytes of a media entity or stream, in place of JSON")
  static let mediaType = OptionSyntax(
    "--content-type", valueName: "TYPE", .text, "the media type of --media (default: by the file's name)")
}

extension OperandSyntax {
  static let collection = OperandSyntax("SET", .one, .text, "where the entity is made: a set or navigation property")
  static let changedPath = OperandSyntax("PATH", .one, .text, "the entity, such as 'Products(1)'")
  static let entityJSON = OperandSyntax("JSON", .optional, .text, "the properties; @FILE, or - for standard input")
}
