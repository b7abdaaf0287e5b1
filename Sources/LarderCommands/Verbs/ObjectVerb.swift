internal import LarderObjects

extension CommandSyntax {
  /// `larder object put|get|list|delete|key`.
  static let object: CommandSyntax = .init(
    "object", summary: "put, get, list and delete values in the file of an object store",
    discussion: [
      "FILE is the store of an application, or one of your own: 'put' makes it where it is missing. The application may run "
        + "meanwhile; it sees what is changed here. FILE-wal, FILE-shm and FILE-changes belong to it.",
      "TIME is a number of seconds, or of minutes, hours or days with m, h or d, or a moment such as 2026-12-31 or "
        + "2026-12-31T18:00Z.",
    ],
    examples: [
      "larder object put --store app.store avatar/7 photo.png --label friends",
      "larder object get --store app.store avatar/7 -o photo.png",
      "larder object list --store app.store --label friends",
    ],
    subcommands: [.objectPut, .objectGet, .objectList, .objectDelete, .objectKey])

  private static let objectPut = CommandSyntax(
    "put", summary: "put bytes under a key, in place of what is there",
    discussion: [
      "The bytes are kept as they are; an application reads them as Data. When the command ends with 0 they are on the disk. "
        + "The value has the labels and the expiry that are given, and none of those it had before.",
      "A value has at most 512 MiB, a key or a label at most 1024 bytes of UTF-8.",
    ],
    examples: ["date | larder object put --store my.store now --expires 1h"],
    options: [.objectStore, .keyFile, .addedLabel, .expires], operands: [.objectKey, .objectFile],
    body: ObjectCommand.put)

  private static let objectGet = CommandSyntax(
    "get", summary: "print the bytes under a key",
    discussion: [
      "Into a pipe or a file they go as they lie in the store: a value that an application has encoded is JSON, or what its "
        + "own coding makes. Where there is no value, 1 is the exit status. It does not count as a request."
    ],
    options: [.objectStore, .keyFile, .output, .aboutObject, .aboutObjectJSON], operands: [.objectKey],
    body: ObjectCommand.get)

  private static let objectList = CommandSyntax(
    "list", summary: "list keys and what is known of their values, in order",
    discussion: [
      "All comparisons are by UTF-8 bytes. The order is that of keys; with --label-prefix that of labels, then of keys, and a "
        + "value with several such labels comes once.",
      "Where --limit cut the list off, the last object of --json has a member next, and a line on standard error tells the "
        + "same: given to --after with the same options otherwise, it goes on from there.",
    ],
    options: [
      .objectStore, .keyFile, .listedLabel, .labelPrefix, .keyPrefix, .fromKey, .toKey, .reverse, .objectLimit,
      .afterCursor,
      .json,
    ], body: ObjectCommand.list)

  private static let objectDelete = CommandSyntax(
    "delete", summary: "delete values by key, label or age",
    discussion: [
      "Exactly one of them is given: keys, --label, --not-updated-since or --all. Keys are deleted together; where some have "
        + "no value, the others are deleted all the same, and 1 is the exit status."
    ],
    options: [.objectStore, .keyFile, .deletedLabel, .notUpdatedSince, .allObjects, .json], operands: [.objectKeys],
    body: ObjectCommand.delete)
}

// The options of the four subcommands.
extension OptionSyntax {
  static let objectStore = OptionSyntax("--store", valueName: "FILE", .file, "the store's file")

  static let addedLabel = OptionSyntax(
    "--label", valueName: "LABEL", .text, isRepeatable: true, "give the value a label")
  static let expires = OptionSyntax(
    "--expires", valueName: "TIME", .text, "from so long after now on, or from that moment on, there is no value")

  static let aboutObject = OptionSyntax(
    flag: "--metadata", "print what is known of the value, and no bytes but into --output FILE")
  static let aboutObjectJSON = OptionSyntax(flag: "--json", "the same as JSON")

  static let listedLabel = OptionSyntax("--label", valueName: "LABEL", .text, "values that have the label")
  static let labelPrefix = OptionSyntax(
    "--label-prefix", valueName: "TEXT", .text, "values with a label that begins so")
  static let keyPrefix = OptionSyntax("--prefix", valueName: "TEXT", .text, "keys that begin so")
  static let fromKey = OptionSyntax("--from", valueName: "KEY", .text, "keys from this one on")
  static let toKey = OptionSyntax("--to", valueName: "KEY", .text, "keys up to this one, which is meant too")
  static let reverse = OptionSyntax(flag: "--reverse", "in the opposite order")
  static let objectLimit = OptionSyntax("--limit", valueName: "N", .text, "list at most so many values")
  static let afterCursor = OptionSyntax(
    "--after", valueName: "CURSOR", .text, "go on where a list that --limit cut off has ended")

  static let deletedLabel = OptionSyntax("--label", valueName: "LABEL", .text, "delete the values that have the label")
  static let notUpdatedSince = OptionSyntax(
    "--not-updated-since", valueName: "TIME", .text, "delete the values last put longer ago, or before that moment")
  static let allObjects = OptionSyntax(flag: "--all", "delete every value")
}

extension OperandSyntax {
  static let objectKey = OperandSyntax("KEY", .one, .text, "the value's key")
  static let objectFile = OperandSyntax("FILE", .optional, .file, "the bytes; - or nothing for standard input")
  static let objectKeys = OperandSyntax("KEY", .many, .text, "the values' keys")
}
