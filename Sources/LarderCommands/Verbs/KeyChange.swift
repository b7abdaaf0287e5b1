internal import LarderObjects
internal import LarderOffline
internal import LarderStorage

/// The present key and the new key of a closed store.
struct KeyChange: Sendable {
  /// The present key; nil for plain files.
  let old: StorageKey?
  /// The new key; nil for plain files.
  let new: StorageKey?

  /// The options of a verb that changes a key.
  static let options: [OptionSyntax] = [.keyFile, .newKeyFile, .removedKey, .json]

  static let help =
    "The current key comes from --key-file or LARDER_KEY; without one, the files are plain, and they are encrypted "
    + "for the first time. The new key comes from --new-key-file; --remove decrypts the files."
  static let guarantees =
    "No data is lost: if the command is interrupted at any time, either the old key or the new key opens the store. "
    + "The command needs free disk space of the size of the store, and no other process may have the store open. "
    + "The old bytes are not overwritten, so they may remain on the disk."

  init(_ arguments: ParsedArguments, _ context: CommandContext) throws {
    guard arguments.has(.newKeyFile) != arguments.has(.removedKey) else {
      throw arguments.usage(
        arguments.has(.removedKey)
          ? "--new-key-file and --remove cannot be combined" : "the new key is missing",
        hint: "Use --new-key-file FILE, or --remove to decrypt the files.")
    }
    old = try KeyAccess.key(arguments, context)
    guard let file = arguments[.newKeyFile] else {
      guard old != nil else { throw arguments.usage("--remove needs the current key", hint: KeyAccess.hint) }
      new = nil
      return
    }
    new = try KeyAccess.key(inFile: file, context)
  }

  /// Prints the result.
  func report(_ arguments: ParsedArguments, _ context: CommandContext) throws -> CommandStatus {
    if arguments.has(.json) {
      var json = JSONOutput(context.output)
      json.beginObject()
      json.member("encrypted", new != nil)
      json.endObject()
      try json.endLine()
    } else if new == nil {
      try context.output.line("not encrypted anymore")
    } else {
      try context.output.line(old == nil ? "encrypted" : "encrypted with another key")
    }
    return .done
  }
}

/// Runs `larder key` and `larder object key`.
enum KeyCommand {
  @Sendable static func clone(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let folder = try CloneFolder.existing(arguments, context)
    let change = try KeyChange(arguments, context)
    var parameters = OfflineODataParameters(encryptionKey: change.old)
    folder.setLocation(&parameters)
    parameters.currentUser = try StoreUserOption.user(arguments, context)
    try await OfflineODataProvider.changeEncryptionKey(of: parameters, to: change.new)
    return try change.report(arguments, context)
  }

  @Sendable static func objects(_ arguments: ParsedArguments, _ context: CommandContext) async throws -> CommandStatus {
    let path = try ObjectAccess.file(arguments, context)
    let change = try KeyChange(arguments, context)
    try await ObjectStore.changeEncryptionKey(path: path, from: change.old, to: change.new)
    return try change.report(arguments, context)
  }
}
