extension CommandSyntax {
  /// `larder key`.
  static let key: CommandSyntax = .init(
    "key", summary: "encrypt a clone, change its key, or remove the key",
    discussion: [
      KeyChange.help, KeyChange.guarantees, "Works in the folder of a clone, or with -C DIR, without a network.",
    ],
    examples: [
      "larder -C shop key --new-key-file new", "larder -C shop key --key-file old --new-key-file new",
      "larder -C shop key --key-file old --remove",
    ],
    options: KeyChange.options + [.storeUser], body: KeyCommand.clone)

  /// `larder object key`.
  static let objectKey: CommandSyntax = .init(
    "key", summary: "encrypt a store, change its key, or remove the key",
    discussion: [KeyChange.help, KeyChange.guarantees],
    examples: ["larder object key --store app.store --key-file old --new-key-file new"],
    options: [.objectStore] + KeyChange.options, body: KeyCommand.objects)
}

extension OptionSyntax {
  static let newKeyFile = OptionSyntax(
    "--new-key-file", valueName: "FILE", .file, "the new key, in the format of --key-file; - for standard input")
  static let removedKey = OptionSyntax(flag: "--remove", "decrypt the files")
}
