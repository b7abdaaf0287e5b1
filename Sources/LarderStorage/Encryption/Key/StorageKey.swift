/// The key that files are encrypted with: 32 random bytes, or a passphrase that scrypt makes such bytes of (RFC 7914).
///
/// Its bytes are in no description, error or log, and are zeroed when nobody has the key any more; the array or text that
/// it is made of belongs to the caller, who should let go of it.
public struct StorageKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// Bytes in a key that is no passphrase.
  public static let byteCount = 32

  enum Kind: Sendable { case raw, passphrase }

  let kind: Kind
  let secret: SecretBytes

  /// Takes exactly 32 bytes, which nobody can guess; throws `misuse` for another number.
  public init(bytes: [UInt8]) throws(StorageError) {
    guard bytes.count == StorageKey.byteCount else {
      throw StorageError(
        .misuse, message: "A key has \(StorageKey.byteCount) bytes, this one \(bytes.count)", file: nil)
    }
    try self.init(.raw, bytes)
  }

  /// Takes the bytes of a passphrase as they are, without normalization; throws `misuse` where there are none.
  public init(passphrase: some Sequence<UInt8>) throws(StorageError) {
    let bytes = Array(passphrase)
    guard !bytes.isEmpty else { throw StorageError(.misuse, message: "The passphrase is empty", file: nil) }
    try self.init(.passphrase, bytes)
  }

  private init(_ kind: Kind, _ bytes: [UInt8]) throws(StorageError) {
    self.kind = kind
    secret = try unsafe SecretBytes(count: bytes.count) { (buffer) throws(StorageError) in
      unsafe buffer.copyBytes(from: bytes)
    }
  }

  /// Never the key.
  public var description: String { "StorageKey" }

  /// Never the key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StorageKey: Equatable {
  /// True for the same bytes, given as the same kind; takes the same time wherever they differ.
  public static func == (left: StorageKey, right: StorageKey) -> Bool {
    guard left.kind == right.kind else { return false }
    return unsafe left.secret.withBytes { one in unsafe right.secret.withBytes { unsafe SecretBytes.same(one, $0) } }
  }
}
