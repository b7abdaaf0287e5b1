#if canImport(CryptoKit)
  import CryptoKit
  #if canImport(FoundationEssentials)
    import FoundationEssentials
  #else
    import Foundation
  #endif
#else
  import CLarderCrypto
#endif

/// AES-256-GCM (NIST SP 800-38D) with one key, in place or between buffers. Only one thread at a time may use it.
///
/// A nonce is 12 random bytes, new for each sealing: after 2³² sealings with one key, two of them are equal with a
/// probability of 2⁻³³.
@safe final class PageCipher {
  static let nonceLength = 12
  static let tagLength = 16

  #if canImport(CryptoKit)
    private let key: SymmetricKey
  #else
    private let sealing: OpaquePointer
    private let opening: OpaquePointer
  #endif
  private var nonces: NonceSource

  /// Returns nil if the platform's library has no memory, or if the key does not have 32 bytes.
  init?(_ key: SecretBytes, from start: Int = 0) {
    guard let nonces = NonceSource() else { return nil }
    self.nonces = nonces
    #if canImport(CryptoKit)
      guard let key = unsafe key.withKey(from: start, { unsafe SymmetricKey(data: $0) }) else { return nil }
      self.key = key
    #else
      guard let (sealing, opening) = unsafe LibraryContext.two(EVP_CIPHER_CTX_new, EVP_CIPHER_CTX_free) else {
        return nil
      }
      unsafe (self.sealing, self.opening) = (sealing, opening)
      let isInitialized = unsafe key.withKey(from: start) { (bytes: UnsafeRawBufferPointer) -> Bool in
        let secret = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe EVP_EncryptInit_ex(sealing, EVP_aes_256_gcm(), nil, secret, nil) == 1
          && EVP_DecryptInit_ex(opening, EVP_aes_256_gcm(), nil, secret, nil) == 1
      }
      guard isInitialized == true else { return nil }
    #endif
  }

  #if !canImport(CryptoKit)
    // The library zeroes the key's schedule.
    deinit {
      unsafe EVP_CIPHER_CTX_free(sealing)
      unsafe EVP_CIPHER_CTX_free(opening)
    }
  #endif

  /// Encrypts `count` bytes into another buffer, which may be the same one, and writes the nonce and the tag.
  func seal(
    _ plain: UnsafeRawPointer, _ count: Int, to sealed: UnsafeMutableRawPointer,
    nonce: UnsafeMutableRawPointer, tag: UnsafeMutableRawPointer, with data: UnsafeRawBufferPointer
  ) -> Bool {
    guard unsafe nonces.next(into: nonce) else { return false }
    #if canImport(CryptoKit)
      let bytes = unsafe UnsafeRawBufferPointer(start: plain, count: count)
      guard
        let number = try? unsafe AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: Self.nonceLength)),
        let box = try? unsafe AES.GCM.seal(bytes, using: key, nonce: number, authenticating: data)
      else { return false }
      unsafe box.ciphertext.withUnsafeBytes {
        unsafe sealed.copyMemory(from: $0.baseAddress ?? plain, byteCount: count)
      }
      unsafe box.tag.withUnsafeBytes { unsafe tag.copyMemory(from: $0.baseAddress ?? plain, byteCount: Self.tagLength) }
      return true
    #else
      // Every pointer leads to as many bytes as the call receives as its length, and outlives the call.
      var length: Int32 = 0
      let out = unsafe sealed.assumingMemoryBound(to: UInt8.self)
      return unsafe EVP_EncryptInit_ex(sealing, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
        && EVP_EncryptUpdate(
          sealing, nil, &length, data.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: data.count))
          == 1
        && EVP_EncryptUpdate(sealing, out, &length, plain.assumingMemoryBound(to: UInt8.self), Int32(clamping: count))
          == 1
        && EVP_EncryptFinal_ex(sealing, out + Int(length), &length) == 1
        && EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_GCM_GET_TAG, Int32(Self.tagLength), tag) == 1
    #endif
  }

  /// Decrypts `count` bytes into another buffer, which may be the same one. Returns false, and writes zeros there, if
  /// the bytes were not sealed with this key, nonce and data.
  func open(
    _ sealed: UnsafeRawPointer, _ count: Int, to plain: UnsafeMutableRawPointer,
    nonce: UnsafeRawPointer, tag: UnsafeRawPointer, with data: UnsafeRawBufferPointer
  ) -> Bool {
    let isWhole: Bool
    #if canImport(CryptoKit)
      let sealedBox = try? unsafe AES.GCM.SealedBox(
        nonce: AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: Self.nonceLength)),
        ciphertext: UnsafeRawBufferPointer(start: sealed, count: count),
        tag: UnsafeRawBufferPointer(start: tag, count: Self.tagLength))
      if let box = sealedBox, let opened = try? unsafe AES.GCM.open(box, using: key, authenticating: data) {
        unsafe opened.withUnsafeBytes { unsafe plain.copyMemory(from: $0.baseAddress ?? sealed, byteCount: count) }
        isWhole = true
      } else {
        isWhole = false
      }
    #else
      // As in `seal`. The library only reads the tag, though its parameter is not marked so.
      var length: Int32 = 0
      let out = unsafe plain.assumingMemoryBound(to: UInt8.self)
      isWhole =
        unsafe EVP_DecryptInit_ex(opening, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
        && EVP_DecryptUpdate(
          opening, nil, &length, data.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: data.count))
          == 1
        && EVP_DecryptUpdate(opening, out, &length, sealed.assumingMemoryBound(to: UInt8.self), Int32(clamping: count))
          == 1
        && EVP_CIPHER_CTX_ctrl(
          opening, EVP_CTRL_GCM_SET_TAG, Int32(Self.tagLength), UnsafeMutableRawPointer(mutating: tag)) == 1
        && EVP_DecryptFinal_ex(opening, out + Int(length), &length) == 1
    #endif
    if !isWhole { unsafe plain.initializeMemory(as: UInt8.self, repeating: 0, count: count) }
    return isWhole
  }

  /// Decrypts in place bytes that were sealed as one and lie in two buffers, of which the second may be empty. Returns
  /// false, and writes zeros to both, if they were not sealed with this key, nonce and data.
  func open(
    _ first: UnsafeMutableRawBufferPointer, _ second: UnsafeMutableRawBufferPointer?,
    nonce: UnsafeRawPointer, tag: UnsafeRawPointer, with data: UnsafeRawBufferPointer
  ) -> Bool {
    guard let start = first.baseAddress else { return false }
    guard let second = unsafe second, let rest = second.baseAddress, unsafe !second.isEmpty else {
      return unsafe open(UnsafeRawPointer(start), first.count, to: start, nonce: nonce, tag: tag, with: data)
    }
    let isWhole: Bool
    #if canImport(CryptoKit)
      let joined = unsafe Data(first) + Data(second)
      let sealedBox = try? unsafe AES.GCM.SealedBox(
        nonce: AES.GCM.Nonce(data: UnsafeRawBufferPointer(start: nonce, count: Self.nonceLength)), ciphertext: joined,
        tag: UnsafeRawBufferPointer(start: tag, count: Self.tagLength))
      if let box = sealedBox, let opened = try? unsafe AES.GCM.open(box, using: key, authenticating: data) {
        unsafe first.copyBytes(from: opened.prefix(first.count))
        unsafe second.copyBytes(from: opened.dropFirst(first.count))
        isWhole = true
      } else {
        isWhole = false
      }
    #else
      // As above.
      var length: Int32 = 0
      let begin = unsafe start.assumingMemoryBound(to: UInt8.self)
      let end = unsafe rest.assumingMemoryBound(to: UInt8.self)
      isWhole =
        unsafe EVP_DecryptInit_ex(opening, nil, nil, nil, nonce.assumingMemoryBound(to: UInt8.self)) == 1
        && EVP_DecryptUpdate(
          opening, nil, &length, data.baseAddress?.assumingMemoryBound(to: UInt8.self), Int32(clamping: data.count))
          == 1
        && EVP_DecryptUpdate(opening, begin, &length, begin, Int32(clamping: first.count)) == 1
        && EVP_DecryptUpdate(opening, end, &length, end, Int32(clamping: second.count)) == 1
        && EVP_CIPHER_CTX_ctrl(
          opening, EVP_CTRL_GCM_SET_TAG, Int32(Self.tagLength), UnsafeMutableRawPointer(mutating: tag)) == 1
        && EVP_DecryptFinal_ex(opening, end + Int(length), &length) == 1
    #endif
    if !isWhole {
      unsafe start.initializeMemory(as: UInt8.self, repeating: 0, count: first.count)
      unsafe rest.initializeMemory(as: UInt8.self, repeating: 0, count: second.count)
    }
    return isWhole
  }
}

/// A source of random nonces, which fetches several at once.
@safe struct NonceSource {
  private static let count = 85
  private let pool: PoolStorage
  private var used = NonceSource.count

  /// Freed together with the cipher that owns it.
  @safe private final class PoolStorage {
    let start: UnsafeMutableRawPointer

    init() { unsafe start = .allocate(byteCount: NonceSource.count * PageCipher.nonceLength, alignment: 16) }

    deinit { unsafe start.deallocate() }
  }

  init?() { pool = PoolStorage() }

  /// Writes 12 bytes that have not been used before.
  mutating func next(into nonce: UnsafeMutableRawPointer) -> Bool {
    if used == Self.count {
      let length = Self.count * PageCipher.nonceLength
      #if canImport(CryptoKit)
        let fresh = Digest.randomBytes(length)
        unsafe pool.start.copyMemory(from: fresh, byteCount: length)
      #else
        guard unsafe RAND_bytes(pool.start.assumingMemoryBound(to: UInt8.self), Int32(length)) == 1 else {
          return false
        }
      #endif
      used = 0
    }
    unsafe nonce.copyMemory(from: pool.start + used * PageCipher.nonceLength, byteCount: PageCipher.nonceLength)
    used += 1
    return true
  }
}
