/// The keys of a folder whose files are not databases. They are derived from the owner's key and the folder's salt, as
/// a database's keys are from its own salt.
package final class FolderKeys: Sendable {
  /// The length of ``header`` in bytes.
  package static let headerLength = EncryptedHeader.saltLength + EncryptedHeader.end - EncryptedHeader.start

  /// The unencrypted header of the folder: the salt, then what a database's page 1 has from byte 72 on: the format,
  /// scrypt's parameters, the check value and the mark.
  package let header: [UInt8]
  /// The key for the contents of the folder's files.
  package let contents: SealingKey
  /// The key for names; nil if there was no memory for it.
  private let names: KeyedHash?

  private static let purpose = "larder folder"
  private static let contentKey = 0
  private static let nameKey = 32
  private static let length = 64

  private init(_ header: EncryptedHeader, _ secret: SecretBytes) {
    self.header = header.salt + header.bytes
    names = KeyedHash(secret, from: Self.nameKey)
    contents = SealingKey(secret, from: Self.contentKey)
  }

  /// Derives keys for a new folder, with a salt of its own.
  package static func new(_ key: StorageKey) throws(StorageError) -> FolderKeys {
    let salt = Digest.randomBytes(EncryptedHeader.saltLength)
    let cost = key.kind == .passphrase ? StretchingCost.standard : nil
    let (secret, check) = try FileKeys.derive(key, salt, cost, for: purpose, count: length)
    return FolderKeys(EncryptedHeader(salt: salt, cost: cost, check: check), secret)
  }

  /// Derives the keys of a folder from its `header`. This takes about a tenth of a second for a passphrase.
  ///
  /// - Throws: `wrongKey`, `notSupported` for a later format, `corrupt` if the bytes are not a header.
  package static func of(_ header: [UInt8], _ key: StorageKey, folder: String) throws(StorageError) -> FolderKeys {
    guard header.count == headerLength else { throw .damaged(folder, "The folder's header is damaged") }
    let salt = header[..<EncryptedHeader.saltLength], parameters = header[EncryptedHeader.saltLength...]
    let between = [UInt8](repeating: 0, count: EncryptedHeader.start - EncryptedHeader.saltLength)
    switch EncryptedHeader.read(salt + between + parameters) {
    case .other: throw .damaged(folder, "The folder's header is damaged")
    case .unknown:
      throw .notSupported(folder, "The folder is encrypted in a format that this version does not support")
    case .header(let parsed):
      guard (key.kind == .passphrase) == (parsed.cost != nil) else { throw .wrongKey(folder) }
      let (secret, check) = try FileKeys.derive(key, parsed.salt, parsed.cost, for: purpose, count: length)
      let isRight = unsafe check.withUnsafeBytes { derivedCheck in
        unsafe parsed.check.withUnsafeBytes { unsafe SecretBytes.same(derivedCheck, $0) }
      }
      guard isRight else { throw .wrongKey(folder) }
      return FolderKeys(parsed, secret)
    }
  }

  /// A name for some bytes that only these keys can compute: the first 128 bits of the bytes' HMAC-SHA-256, as
  /// little-endian numbers. Nil if the platform's library fails.
  package func name(of bytes: UnsafeRawBufferPointer) -> (high: UInt64, low: UInt64)? {
    unsafe withUnsafeTemporaryAllocation(byteCount: Digest.byteCount, alignment: 8) { code in
      guard let names, unsafe names.hash(bytes, into: code) else { return nil }
      return unsafe (
        UInt64(littleEndian: code.load(as: UInt64.self)),
        UInt64(littleEndian: code.load(fromByteOffset: 8, as: UInt64.self))
      )
    }
  }
}
