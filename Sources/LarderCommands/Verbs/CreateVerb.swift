extension CommandSyntax {
  /// `larder create SET JSON`.
  static let create: CommandSyntax = .init(
    "create", summary: "create an entity in a clone, without a network",
    discussion: [
      "The entity is in the clone immediately, and the next 'larder upload' sends it to the service. Its path is "
        + "printed. If the service assigns the key, the entity has a local key until then, and the path stays valid "
        + "after the upload.",
      ChangeOption.json,
      "To link other entities use NAME@odata.bind, before V4 {\"NAME\": {\"__metadata\": {\"uri\": PATH}}}; nested "
        + "entities are created with this one. SET may be a navigation property, such as Orders(5)/Items.",
      "A property that the metadata mark as the service's own (Core.Computed, sap:creatable), as they often mark "
        + "keys, is rejected; --allow NAME queues it for services that accept it anyway.",
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
      "Only the properties in the JSON are changed; with --replace, all others get their defaults (PUT). PATH may "
        + "also be a property, such as Products(1)/Name, and the JSON its value.",
      ChangeOption.json,
      "The upload sends the ETag that the change is based on: if another client has changed the entity since, that "
        + "is a conflict. --if-match '*' changes the entity regardless of its version.",
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
      "The entity is deleted from the clone immediately, and from the service by the next 'larder upload'; until "
        + "then 'larder undo PATH' restores it. PATH may be a property, which becomes null, or a stream.",
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
    "JSON is an argument, @FILE for a file, or - for standard input, in the format of the service's version, as "
    + "'larder query' prints it."
  static let checked =
    "A change that the service's metadata do not allow is rejected with status 2, an existing key and a stale "
    + "--if-match with status 1; nothing is changed then."
}

extension OptionSyntax {
  static let customTag = OptionSyntax(
    "--tag", valueName: "TEXT", .text, "a tag of your own for the change; the error archive shows it")
  static let uploadCategory = OptionSyntax(
    "--category", valueName: "NAME", .text, "the group of changes that 'larder upload --category NAME' sends")
  static let queuedHeader = OptionSyntax(
    "--header", short: "-H", valueName: "FIELD", .text, isRepeatable: true,
    "send 'Name: value' with the change; {key:PATH} is that entity's key")
  static let unmodifiable = OptionSyntax(
    flag: "--unmodifiable", "never merge this change with another change of the entity")
  static let replace = OptionSyntax(
    flag: "--replace", "set properties that are not in the JSON to their defaults (PUT)")
  static let media = OptionSyntax(
    "--media", valueName: "FILE", .file, "the bytes of a media entity or stream, instead of JSON")
  static let mediaType = OptionSyntax(
    "--content-type", valueName: "TYPE", .text, "the media type of --media (default: by the file's name)")
}

extension OperandSyntax {
  static let collection = OperandSyntax(
    "SET", count: .one, value: .text, summary: "the entity set or navigation property to create the entity in")
  static let changedPath = OperandSyntax(
    "PATH", count: .one, value: .text, summary: "the entity, such as 'Products(1)'")
  static let entityJSON = OperandSyntax(
    "JSON", count: .optional, value: .text, summary: "the properties; @FILE, or - for standard input")
}
