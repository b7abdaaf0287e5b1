#if canImport(CryptoKit)
  import CryptoKit
#else
  import CLarderCrypto
#endif

/// Derives keys from keys: HKDF (RFC 5869) with SHA-256, and scrypt (RFC 7914).
enum KeyDerivation {
  private static let hashLength = 32

  /// Fills `output` with the bytes that HKDF derives from a key, a salt and a purpose, at most 255 × 32.
  static func expand(
    _ key: SecretBytes, salt: [UInt8], info: [UInt8], into output: UnsafeMutableRawBufferPointer
  ) throws(StorageError) {
    guard output.count <= 255 * hashLength else { throw failure }
    // The buffer holds the pseudorandom key, then a block, the purpose and the counter, then the next block. It is
    // zeroed on release.
    _ = try unsafe SecretBytes(count: 2 * hashLength + info.count + 1 + hashLength) { (work) throws(StorageError) in
      let extracted = unsafe UnsafeMutableRawBufferPointer(rebasing: work[..<hashLength])
      let isExtracted = unsafe salt.withUnsafeBytes { salt in
        unsafe key.withBytes { unsafe hmac(key: salt, of: $0, into: extracted) }
      }
      guard isExtracted else { throw failure }
      try unsafe expand(UnsafeMutableRawBufferPointer(rebasing: work[hashLength...]), extracted, info, into: output)
    }
  }

  private static var failure: StorageError {
    StorageError(.other, message: "The platform's cryptography failed to derive a key", path: nil)
  }

  /// Computes T(n) = HMAC(PRK, T(n-1) ‖ info ‖ n), each block in turn in `work`.
  private static func expand(
    _ work: UnsafeMutableRawBufferPointer, _ key: UnsafeMutableRawBufferPointer, _ info: [UInt8],
    into output: UnsafeMutableRawBufferPointer
  ) throws(StorageError) {
    let block = unsafe UnsafeMutableRawBufferPointer(rebasing: work[(work.count - hashLength)...])
    var done = 0
    var counter: UInt8 = 1
    while done < output.count {
      let before = done == 0 ? 0 : hashLength
      if before > 0 { unsafe work.copyMemory(from: UnsafeRawBufferPointer(block)) }
      unsafe UnsafeMutableRawBufferPointer(rebasing: work[before...]).copyBytes(from: info + [counter])
      let message = unsafe UnsafeRawBufferPointer(rebasing: work[..<(before + info.count + 1)])
      guard unsafe hmac(key: UnsafeRawBufferPointer(key), of: message, into: block) else {
        throw failure
      }
      let length = min(hashLength, output.count - done)
      unsafe UnsafeMutableRawBufferPointer(rebasing: output[done...]).copyMemory(
        from: UnsafeRawBufferPointer(rebasing: block[..<length]))
      done += length
      counter &+= 1
    }
  }

  /// Writes HMAC-SHA-256 (RFC 2104) into 32 bytes; no part of the key is left behind.
  private static func hmac(
    key: UnsafeRawBufferPointer, of message: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    #if canImport(CryptoKit)
      let code = unsafe HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: key))
      unsafe code.withUnsafeBytes { unsafe output.copyMemory(from: $0) }
      return true
    #else
      var length: UInt32 = 0
      let out = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
      let bytes = unsafe message.baseAddress?.assumingMemoryBound(to: UInt8.self)
      // The buffers outlive the call, which writes 32 bytes.
      let done = unsafe HMAC(
        EVP_sha256(), key.baseAddress, Int32(clamping: key.count), bytes, message.count, out, &length)
      return unsafe done != nil && Int(length) == hashLength
    #endif
  }

  /// Derives 32 bytes from a passphrase with scrypt.
  static func stretch(
    _ passphrase: SecretBytes, salt: [UInt8], cost: StretchingCost, into output: UnsafeMutableRawBufferPointer
  ) throws(StorageError) {
    #if canImport(CommonCrypto)
      let isDone = unsafe passphrase.withBytes { (secret: UnsafeRawBufferPointer) -> Bool in
        unsafe Scrypt.derive(secret, salt: salt, cost: cost, into: output)
      }
      guard isDone else { throw failure }
    #else
      let limit = UInt64(cost.memory) + (1 << 20)
      let isDone = unsafe passphrase.withBytes { (secret: UnsafeRawBufferPointer) -> Bool in
        let text = unsafe secret.baseAddress?.assumingMemoryBound(to: CChar.self)
        let out = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
        // The buffers outlive the call.
        return unsafe EVP_PBE_scrypt(
          text, secret.count, salt, salt.count, cost.blocks, UInt64(cost.r), UInt64(cost.p), limit, out, output.count)
          == 1
      }
      guard isDone else { throw failure }
    #endif
  }
}

/// The cost parameters of scrypt (RFC 7914 §2).
struct StretchingCost: Sendable, Hashable {
  /// The binary logarithm of N.
  let log2N: UInt8
  let r: UInt8
  let p: UInt8

  /// The cost for new files: about a tenth of a second and 32 MiB.
  static let standard = StretchingCost(log2N: 15, r: 8, p: 1)

  var blocks: UInt64 { 1 << UInt64(log2N & 63) }

  /// The memory that scrypt needs, in bytes.
  var memory: Int { 128 * Int(r) * (Int(clamping: blocks) + Int(p) + 2) }

  /// Whether the cost is within limits: a file's cost is read before the file can be trusted.
  var isBounded: Bool {
    (1...22).contains(log2N) && r > 0 && p > 0 && p <= 16 && memory <= 1 << 28
  }
}
