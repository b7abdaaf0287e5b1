@_spi(Stores) import LarderCore

/// A key that seals bytes in memory in place (AES-256-GCM). Any number of threads may use it at once.
package final class SealingKey: Sendable {
  /// The number of bytes that opening needs in addition to the sealed ones: a nonce, new for each sealing, and the tag.
  package static let markLength = PageCipher.nonceLength + PageCipher.tagLength

  private let secret: SecretBytes
  private let start: Int
  /// Ciphers that no thread is using.
  private let idle = Locked<[Turn]>([])
  private static let idleLimit = 16

  /// An idle cipher for the next thread that needs one.
  //
  // @unchecked Sendable: it is in the list or used by the one thread that took it out, never both.
  private struct Turn: @unchecked Sendable { let cipher: PageCipher }

  /// Uses 32 bytes from `start` on.
  init(_ secret: SecretBytes, from start: Int) {
    self.secret = secret
    self.start = start
  }

  /// Creates a random key, which is stored nowhere: nobody can open what it seals after this process ends.
  package convenience init() throws(StorageError) {
    let secret = try unsafe SecretBytes(count: StorageKey.byteCount) { (bytes) throws(StorageError) in
      unsafe Digest.fillRandomly(bytes)
    }
    self.init(secret, from: 0)
  }

  /// Encrypts bytes in place and writes their mark; returns false if the platform's library fails.
  ///
  /// `data` is authenticated with the bytes and identifies the place where they belong.
  package func seal(
    _ bytes: UnsafeMutableRawBufferPointer, mark: UnsafeMutableRawBufferPointer, with data: UnsafeRawBufferPointer
  ) -> Bool {
    guard let start = bytes.baseAddress, let nonce = mark.baseAddress, mark.count == Self.markLength else {
      return false
    }
    return withCipher { cipher in
      unsafe cipher.seal(
        UnsafeRawPointer(start), bytes.count, to: start, nonce: nonce, tag: nonce + PageCipher.nonceLength, with: data)
    }
  }

  /// Decrypts in place bytes that were sealed as one and lie in two buffers, of which the second may be empty. Returns
  /// false if they were not sealed with this key, mark and data; the content of the buffers must not be used then.
  package func open(
    _ first: UnsafeMutableRawBufferPointer, _ second: UnsafeMutableRawBufferPointer? = nil,
    mark: UnsafeRawBufferPointer, with data: UnsafeRawBufferPointer
  ) -> Bool {
    guard unsafe !first.isEmpty, let nonce = mark.baseAddress, mark.count == Self.markLength else { return false }
    return withCipher { cipher in
      unsafe cipher.open(first, second, nonce: nonce, tag: nonce + PageCipher.nonceLength, with: data)
    }
  }

  private func withCipher(_ body: (PageCipher) -> Bool) -> Bool {
    guard let turn = idle.withLock({ $0.popLast() }) ?? PageCipher(secret, from: start).map(Turn.init) else {
      return false
    }
    defer { idle.withLock { if $0.count < Self.idleLimit { $0.append(turn) } } }
    return body(turn.cipher)
  }
}
