internal import LarderOffline
internal import LarderStorage

/// The options that choose the user of a clone's store, and what happens to another user's store.
enum StoreUserOption {
  static let all: [OptionSyntax] = [.storeUser, .onUserSwitch, .formerKeyFile]

  /// The hint if the present store belongs to another user.
  static let hint =
    "Upload the pending changes with 'larder upload --user NAME' and that user's credentials, then use "
    + "--on-user-switch upload-first; or keep the store for that user with --on-user-switch set-aside."

  /// The hint if the user has no store.
  static let firstHint = "'larder download --user NAME --query NAME=PATH' creates one."

  /// The hint if a plain store must be set aside.
  static let keyHint = "Specify with --former-key-file FILE the key to encrypt it with; its user needs that key later."

  /// The user of `--user`, else the user in the environment, else nil.
  static func user(_ arguments: ParsedArguments, _ context: CommandContext) throws(UsageError) -> String? {
    if let user = arguments[.storeUser] { return user }
    guard let user = context.environment["LARDER_STORE_USER"] else { return nil }
    guard !user.isEmpty else {
      throw arguments.usage("LARDER_STORE_USER is empty", hint: "Unset it to work without a user name.")
    }
    return user
  }

  /// Sets the user of a store in its parameters.
  static func set(
    _ parameters: inout OfflineODataParameters, _ arguments: ParsedArguments, _ context: CommandContext
  ) throws {
    parameters.currentUser = try user(arguments, context)
    let action = arguments[.onUserSwitch]
    if action != nil, parameters.currentUser == nil { throw arguments.usage("--on-user-switch needs --user") }
    if arguments.has(.formerKeyFile), action != "set-aside" {
      throw arguments.usage("--former-key-file needs --on-user-switch set-aside")
    }
    switch action {
    case "upload-first"?: parameters.onUserSwitch = .uploadFirst()
    case "set-aside"?:
      let key = try arguments[.formerKeyFile].map { try KeyAccess.key(inFile: $0, context) }
      parameters.onUserSwitch = .setAside(encryptionKey: key)
    default: parameters.onUserSwitch = .reject
    }
  }
}

extension OptionSyntax {
  static let storeUser = OptionSyntax(
    "--user", valueName: "NAME", .text,
    "the user of the copy: another user's copy is not opened (else LARDER_STORE_USER)")
  static let onUserSwitch = OptionSyntax(
    "--on-user-switch", valueName: "ACTION", .words(["reject", "upload-first", "set-aside"]),
    "if the copy belongs to another user: reject (default), remove it if it has no pending changes, or set it aside "
      + "encrypted")
  static let formerKeyFile = OptionSyntax(
    "--former-key-file", valueName: "FILE", .file, "with set-aside, the key to encrypt another user's plain copy with")
}
