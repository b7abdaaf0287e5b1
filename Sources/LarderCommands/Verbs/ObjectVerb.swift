internal import LarderObjects

extension CommandSyntax {
  /// `larder object put|get|list|remove|key`.
  static let object: CommandSyntax = .init(
    "object", summary: "put, get, list and remove values in the file of an object store",
    discussion: [
      "FILE is the store of an application, or one of your own, which 'put' creates. The application may be running; "
        + "it sees the changes. FILE-wal, FILE-shm and FILE-changes belong to it.",
      "TIME is a number of seconds, or of minutes, hours or days with m, h or d, or a date such as 2026-12-31 or "
        + "2026-12-31T18:00Z.",
    ],
    examples: [
      "larder object put --store app.store avatar/7 photo.png --label friends",
      "larder object get --store app.store avatar/7 -o photo.png",
      "larder object list --store app.store --label friends",
    ],
    subcommands: [.objectPut, .objectGet, .objectList, .objectRemove, .objectKey])

  private static let objectPut = CommandSyntax(
    "put", summary: "store bytes under a key, and replace its old value",
    discussion: [
      "The bytes are stored unchanged; an application reads them as Data. When the command exits with 0, they are on "
        + "the disk. The value has only the given labels and expiry, not those of the old value.",
      "A value can have up to 512 MiB, a key or a label up to 1024 bytes of UTF-8.",
    ],
    examples: ["date | larder object put --store my.store now --expires 1h"],
    options: [.objectStore, .keyFile, .addedLabel, .expires], operands: [.objectKey, .objectFile],
    body: ObjectCommand.put)

  private static let objectGet = CommandSyntax(
    "get", summary: "print the bytes under a key",
    discussion: [
      "A pipe or a file gets the bytes as they are stored: a value that an application has encoded is JSON, or in "
        + "the application's own coding. If the key has no value, the exit status is 1. This does not count as a "
        + "request of the value."
    ],
    options: [.objectStore, .keyFile, .output, .objectMetadata, .objectMetadataJSON], operands: [.objectKey],
    body: ObjectCommand.get)

  private static let objectList = CommandSyntax(
    "list", summary: "list keys and the details of their values, in order",
    discussion: [
      "All texts are compared by their UTF-8 bytes. The list is ordered by key, with --label-prefix by label, then "
        + "by key; a value with several such labels is listed once.",
      "If --limit ends the list, the last object of --json has a member next, and standard error prints the same "
        + "CURSOR: pass it to --after with otherwise the same options to continue.",
    ],
    options: [
      .objectStore, .keyFile, .listedLabel, .labelPrefix, .keyPrefix, .fromKey, .toKey, .reverse, .objectLimit,
      .afterCursor,
      .json,
    ], body: ObjectCommand.list)

  private static let objectRemove = CommandSyntax(
    "remove", summary: "remove values by key, label or age",
    discussion: [
      "Pass exactly one of keys, --label, --not-updated-since and --all. Keys are removed in one transaction; if "
        + "some have no value, the others are removed anyway, and the exit status is 1."
    ],
    options: [.objectStore, .keyFile, .removedLabel, .notUpdatedSince, .allObjects, .json], operands: [.objectKeys],
    body: ObjectCommand.remove)
}

// The options of the subcommands.
extension OptionSyntax {
  static let objectStore = OptionSyntax("--store", valueName: "FILE", .file, "the store's file")

  static let addedLabel = OptionSyntax(
    "--label", valueName: "LABEL", .text, isRepeatable: true, "give the value a label")
  static let expires = OptionSyntax(
    "--expires", valueName: "TIME", .text, "remove the value after this duration, or at this date")

  static let objectMetadata = OptionSyntax(
    flag: "--metadata", "print the details of the value; bytes are only written to --output FILE")
  static let objectMetadataJSON = OptionSyntax(flag: "--json", "print the details of the value as JSON")

  static let listedLabel = OptionSyntax("--label", valueName: "LABEL", .text, "values that have the label")
  static let labelPrefix = OptionSyntax(
    "--label-prefix", valueName: "TEXT", .text, "values with a label that begins with TEXT")
  static let keyPrefix = OptionSyntax("--prefix", valueName: "TEXT", .text, "keys that begin with TEXT")
  static let fromKey = OptionSyntax("--from", valueName: "KEY", .text, "keys from KEY, including KEY")
  static let toKey = OptionSyntax("--to", valueName: "KEY", .text, "keys up to KEY, including KEY")
  static let reverse = OptionSyntax(flag: "--reverse", "in reverse order")
  static let objectLimit = OptionSyntax("--limit", valueName: "N", .text, "list at most N values")
  static let afterCursor = OptionSyntax(
    "--after", valueName: "CURSOR", .text, "continue where a list with --limit ended")

  static let removedLabel = OptionSyntax("--label", valueName: "LABEL", .text, "remove the values that have the label")
  static let notUpdatedSince = OptionSyntax(
    "--not-updated-since", valueName: "TIME", .text,
    "remove values stored longer ago than this duration, or before this date")
  static let allObjects = OptionSyntax(flag: "--all", "remove every value")
}

extension OperandSyntax {
  static let objectKey = OperandSyntax("KEY", count: .one, value: .text, summary: "the value's key")
  static let objectFile = OperandSyntax(
    "FILE", count: .optional, value: .file, summary: "the bytes; - or no FILE for standard input")
  static let objectKeys = OperandSyntax("KEY", count: .many, value: .text, summary: "the values' keys")
}
