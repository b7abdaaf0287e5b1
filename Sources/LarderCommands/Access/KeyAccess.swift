@_spi(Stores) internal import LarderCore
internal import LarderStorage

/// The key of an encrypted file: from `--key-file` or the environment, never from an argument.
enum KeyAccess {
  /// The hint for a file that needs a key, or another key.
  static let hint = "The key comes from --key-file FILE or LARDER_KEY."

  /// Returns the key of `--key-file`, else that of the environment, else nil.
  ///
  /// 64 hexadecimal digits are a key of 32 bytes; any other text is a passphrase. A line break at the end is ignored.
  static func key(_ arguments: ParsedArguments, _ context: CommandContext) throws -> StorageKey? {
    if let file = arguments[.keyFile] { return try key(inFile: file, context) }
    guard let text = context.environment["LARDER_KEY"] else { return nil }
    // An empty variable is an error: a user who sets it does not want a plain file.
    guard let key = try key(Array(text.utf8)) else {
      throw arguments.usage("LARDER_KEY is empty", hint: "Unset it to work without a key.")
    }
    return key
  }

  /// Whether a key is given, without reading it.
  static func isGiven(_ arguments: ParsedArguments, _ context: CommandContext) -> Bool {
    arguments.has(.keyFile) || context.environment["LARDER_KEY"] != nil
  }

  /// The key in a file, or in standard input for `-`.
  static func key(inFile file: String, _ context: CommandContext) throws -> StorageKey {
    let bytes = try context.read(file, limit: InputFile.settingsLimit)
    context.warnIfOthersCanRead(file)
    guard let key = try key(bytes) else {
      throw FileError(path: context.displayName(of: file), reason: "it is empty, but a key is required")
    }
    return key
  }

  /// Converts the given bytes to a key; nil if nothing is left of them.
  static func key(_ given: [UInt8]) throws(StorageError) -> StorageKey? {
    var bytes = given[...]
    if bytes.last == 0x0A { bytes.removeLast() }
    if bytes.last == 0x0D { bytes.removeLast() }
    guard !bytes.isEmpty else { return nil }
    if let raw = hexadecimalKey(bytes) { return try StorageKey(bytes: raw) }
    return try StorageKey(passphrase: bytes)
  }

  private static func hexadecimalKey(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count == 2 * StorageKey.byteCount else { return nil }
    return Hexadecimal.bytes(text)
  }
}

extension StorageError {
  /// Whether another key, or no key, would help.
  var isKeyError: Bool {
    switch category {
    case .wrongKey, .encrypted, .notEncrypted: true
    default: false
    }
  }
}

extension OptionSyntax {
  static let keyFile = OptionSyntax(
    "--key-file", valueName: "FILE", .file,
    "the key of encrypted files: 64 hexadecimal digits, or a passphrase (else LARDER_KEY)")
}
