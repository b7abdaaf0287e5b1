@_spi(Stores) import LarderCore

/// The keys of one file, derived from the owner's key and the file's salt: what is encrypted for one file is
/// meaningless in another.
final class FileKeys: Sendable {
  let header: EncryptedHeader
  /// The keys for pages, for frames of the log, and the two for the log's headers, in this order.
  let secret: SecretBytes

  static let pageKey = 0
  static let frameKey = 32
  static let headerKey = 64
  private static let length = 128
  private static let purpose = "larder file"

  /// Plaintext pages and frames of the log, so that a commit does not force all of them to be decrypted again: 2 MiB,
  /// and as much as the log's length before SQLite moves it into the file.
  let pages = RecentPages(slots: 512)
  let frames = RecentPages(slots: LogFile.cachedFrames)

  /// Discards the plaintext pages, so that everything is decrypted again and damage on the disk is noticed.
  func forgetPages() {
    pages.forget()
    frames.forget()
  }

  /// The last problem that was found, for the error that follows.
  private let finding = Locked<String?>(nil)

  /// Records a problem that no error code can express.
  func note(_ finding: String) { self.finding.withLock { $0 = finding } }

  /// Returns the recorded problem and removes it.
  func takeFinding() -> String? {
    finding.withLock { finding in
      defer { finding = nil }
      return finding
    }
  }

  private init(_ header: EncryptedHeader, _ secret: SecretBytes) {
    self.header = header
    self.secret = secret
  }

  /// Derives keys for a new file, with a salt of its own.
  static func new(_ key: StorageKey) throws(StorageError) -> FileKeys {
    let salt = Digest.randomBytes(EncryptedHeader.saltLength)
    let cost = key.kind == .passphrase ? StretchingCost.standard : nil
    let (secret, check) = try derive(key, salt, cost, for: purpose, count: length)
    return FileKeys(EncryptedHeader(salt: salt, cost: cost, check: check), secret)
  }

  /// Derives the keys of a file; nil if the key is not the file's.
  static func of(_ header: EncryptedHeader, _ key: StorageKey) throws(StorageError) -> FileKeys? {
    guard (key.kind == .passphrase) == (header.cost != nil) else { return nil }
    let (secret, check) = try derive(key, header.salt, header.cost, for: purpose, count: length)
    let isRight = unsafe check.withUnsafeBytes { derivedCheck in
      unsafe header.check.withUnsafeBytes { unsafe SecretBytes.same(derivedCheck, $0) }
    }
    return isRight ? FileKeys(header, secret) : nil
  }

  /// Derives `count` bytes of keys for a purpose, and the check value that identifies the right key.
  static func derive(
    _ key: StorageKey, _ salt: [UInt8], _ cost: StretchingCost?, for purpose: String, count: Int
  ) throws(StorageError) -> (SecretBytes, check: [UInt8]) {
    var master = key.secret
    if let cost {
      master = try unsafe SecretBytes(count: StorageKey.byteCount) { (output) throws(StorageError) in
        try unsafe KeyDerivation.stretch(key.secret, salt: salt, cost: cost, into: output)
      }
    }
    let purpose = Array(purpose.utf8) + EncryptedHeader.parameters(cost)
    let secret = try unsafe SecretBytes(count: count) { (output) throws(StorageError) in
      try unsafe KeyDerivation.expand(master, salt: salt, info: purpose + Array(" keys".utf8), into: output)
    }
    var check = [UInt8](repeating: 0, count: EncryptedHeader.checkLength)
    var failure: StorageError?
    unsafe check.withUnsafeMutableBytes { output in
      do throws(StorageError) {
        try unsafe KeyDerivation.expand(master, salt: salt, info: purpose + Array(" check".utf8), into: output)
      } catch { failure = error }
    }
    if let failure { throw failure }
    return (secret, check)
  }
}
