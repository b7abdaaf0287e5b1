/// The key that files are encrypted with: 32 random bytes, or a passphrase from which scrypt derives such bytes (RFC
/// 7914).
///
/// Its bytes appear in no description, error or log, and are zeroed when the last copy of the key is released. The
/// array or text that it is created from belongs to the caller, who should release it.
public struct StorageKey: Sendable, CustomStringConvertible, CustomReflectable {
  /// The number of bytes in a key that is not a passphrase.
  public static let byteCount = 32

  enum Kind: Sendable { case raw, passphrase }

  let kind: Kind
  let secret: SecretBytes

  /// Creates a key from exactly 32 bytes, which must not be guessable; throws `misuse` for another number.
  public init(bytes: [UInt8]) throws(StorageError) {
    guard bytes.count == StorageKey.byteCount else {
      throw StorageError(
        .misuse, message: "A key must have \(StorageKey.byteCount) bytes, but this one has \(bytes.count)", path: nil)
    }
    try self.init(.raw, bytes)
  }

  /// Creates a key from the bytes of a passphrase as they are, without normalization; throws `misuse` if there are
  /// none.
  public init(passphrase: some Sequence<UInt8>) throws(StorageError) {
    let bytes = Array(passphrase)
    guard !bytes.isEmpty else { throw StorageError(.misuse, message: "The passphrase is empty", path: nil) }
    try self.init(.passphrase, bytes)
  }

  private init(_ kind: Kind, _ bytes: [UInt8]) throws(StorageError) {
    self.kind = kind
    secret = try unsafe SecretBytes(count: bytes.count) { (buffer) throws(StorageError) in
      unsafe buffer.copyBytes(from: bytes)
    }
  }

  /// A fixed text, never the key.
  public var description: String { "StorageKey" }

  /// An empty mirror, never the key.
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension StorageKey: Equatable {
  /// True for equal bytes of the same kind of key; takes the same time wherever they differ.
  public static func == (left: StorageKey, right: StorageKey) -> Bool {
    guard left.kind == right.kind else { return false }
    return unsafe left.secret.withBytes { one in unsafe right.secret.withBytes { unsafe SecretBytes.same(one, $0) } }
  }
}
