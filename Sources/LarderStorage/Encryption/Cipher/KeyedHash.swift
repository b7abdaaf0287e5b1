#if canImport(CryptoKit)
  import CryptoKit
#else
  import CLarderCrypto
#endif

/// HMAC-SHA-256 (RFC 2104) with one key, for many short texts and any number of threads. The work that depends only on
/// the key is done once.
//
// @unchecked Sendable: after the initializer the contexts are only copied from, which does not change them.
@safe final class KeyedHash: @unchecked Sendable {
  #if canImport(CryptoKit)
    private let key: SymmetricKey
  #else
    private let inner: OpaquePointer
    private let outer: OpaquePointer
  #endif

  /// Uses 32 bytes from `start` on; nil if the platform's library has no memory.
  init?(_ key: SecretBytes, from start: Int) {
    #if canImport(CryptoKit)
      guard let key = unsafe key.withKey(from: start, { unsafe SymmetricKey(data: $0) }) else { return nil }
      self.key = key
    #else
      guard let (inner, outer) = unsafe LibraryContext.two(EVP_MD_CTX_new, EVP_MD_CTX_free) else { return nil }
      unsafe (self.inner, self.outer) = (inner, outer)
      let isInitialized = unsafe key.withKey(from: start) { secret in
        unsafe Self.begin(inner, secret, 0x36) && Self.begin(outer, secret, 0x5C)
      }
      guard isInitialized == true else { return nil }
    #endif
  }

  #if !canImport(CryptoKit)
    // The library zeroes them.
    deinit {
      unsafe EVP_MD_CTX_free(inner)
      unsafe EVP_MD_CTX_free(outer)
    }

    /// Hashes the first block: the key, padded and masked.
    private static func begin(_ context: OpaquePointer, _ key: UnsafeRawBufferPointer, _ mask: UInt8) -> Bool {
      unsafe withUnsafeTemporaryAllocation(byteCount: 64, alignment: 8) { block in
        guard let base = block.baseAddress else { return false }
        defer { unsafe SecretBytes.zero(base, 64) }
        for index in 0..<64 { unsafe block[index] = (index < key.count ? key[index] : 0) ^ mask }
        return unsafe EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 && EVP_DigestUpdate(context, base, 64) == 1
      }
    }
  #endif

  /// Writes the 32-byte code of bytes under the key; returns false if the platform's library fails.
  func hash(_ bytes: UnsafeRawBufferPointer, into code: UnsafeMutableRawBufferPointer) -> Bool {
    guard let output = code.baseAddress, code.count == 32 else { return false }
    #if canImport(CryptoKit)
      let authenticationCode = unsafe HMAC<SHA256>.authenticationCode(for: bytes, using: key)
      unsafe authenticationCode.withUnsafeBytes { unsafe code.copyMemory(from: $0) }
      return true
    #else
      guard let work = unsafe EVP_MD_CTX_new() else { return false }
      defer { unsafe EVP_MD_CTX_free(work) }
      // The output has the 32 bytes that the library writes.
      let out = unsafe output.assumingMemoryBound(to: UInt8.self)
      return unsafe EVP_MD_CTX_copy_ex(work, inner) == 1
        && EVP_DigestUpdate(work, bytes.baseAddress, bytes.count) == 1 && EVP_DigestFinal_ex(work, out, nil) == 1
        && EVP_MD_CTX_copy_ex(work, outer) == 1 && EVP_DigestUpdate(work, output, 32) == 1
        && EVP_DigestFinal_ex(work, out, nil) == 1
    #endif
  }
}
