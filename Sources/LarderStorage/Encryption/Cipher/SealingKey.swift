import LarderCore

/// A key that bytes in memory are sealed with where they lie (AES-256-GCM), by any number of threads at once.
package final class SealingKey: Sendable {
  /// The bytes of what opening needs beside the sealed ones: a nonce, new for each sealing, and the tag.
  package static let markLength = PageCipher.nonceLength + PageCipher.tagLength

  private let secret: SecretBytes
  private let start: Int
  /// Ciphers that no thread uses at this moment.
  private let idle = Locked<[Turn]>([])
  private static let idleLimit = 16

  /// A cipher that waits for the next thread.
  //
  // @unchecked Sendable: it is in the list or in the hands of the one thread that took it out, never both.
  private struct Turn: @unchecked Sendable { let cipher: PageCipher }

  /// Takes 32 bytes from `start` on.
  init(_ secret: SecretBytes, from start: Int) {
    self.secret = secret
    self.start = start
  }

  /// A random key, which is stored nowhere: what it seals nobody opens after this process.
  package convenience init() throws(StorageError) {
    let secret = try unsafe SecretBytes(count: StorageKey.byteCount) { (bytes) throws(StorageError) in
      unsafe Digest.fillRandomly(bytes)
    }
    self.init(secret, from: 0)
  }

  /// Encrypts bytes in place and writes their mark; false where the platform's library fails.
  ///
  /// `data` is authenticated with them: where they belong.
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

  /// Decrypts in place what was sealed as one, in two buffers of which the second may be empty; false where it is not
  /// what was sealed with this key, mark and data. Nothing in the buffers is to be used then.
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
