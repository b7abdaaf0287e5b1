#if canImport(CryptoKit)
  import CryptoKit
#else
  import CLarderCrypto
#endif

/// SHA-256, HMAC and random bytes: the one interface to the platform's cryptography.
package enum Digest {
  /// The number of bytes in a digest or key created here.
  package static let byteCount = 32

  /// The SHA-256 of bytes (FIPS 180-4).
  package static func sha256(_ bytes: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(SHA256.hash(data: bytes))
    #else
      var digest = [UInt8](repeating: 0, count: byteCount)
      unsafe bytes.withUnsafeBufferPointer { input in
        unsafe digest.withUnsafeMutableBufferPointer { output in
          // The output has the 32 bytes that the function writes; it fails for no input.
          _ = unsafe SHA256(input.baseAddress, input.count, output.baseAddress)
        }
      }
      return digest
    #endif
  }

  /// HMAC-SHA-256 of bytes under a key (RFC 2104).
  package static func hmac(_ bytes: [UInt8], key: [UInt8]) -> [UInt8] {
    #if canImport(CryptoKit)
      return Array(HMAC<SHA256>.authenticationCode(for: bytes, using: SymmetricKey(data: key)))
    #else
      // Computed by the definition of HMAC, which avoids a call that can fail and variadic or deprecated functions.
      var block = key.count > 64 ? sha256(key) : key
      block += [UInt8](repeating: 0, count: 64 - block.count)
      let inner = sha256(block.map { $0 ^ 0x36 } + bytes)
      return sha256(block.map { $0 ^ 0x5C } + inner)
    #endif
  }

  /// Fills a buffer with random bytes that are suitable for keys, without another copy of them.
  static func fillRandomly(_ bytes: UnsafeMutableRawBufferPointer) {
    var generator = SystemRandomNumberGenerator()
    for start in stride(from: 0, to: bytes.count, by: 8) {
      unsafe withUnsafeBytes(of: generator.next()) { word in
        for index in 0..<min(8, bytes.count - start) { unsafe bytes[start + index] = word[index] }
      }
    }
  }

  /// Random bytes that are suitable for salts, nonces and names.
  package static func randomBytes(_ count: Int) -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    bytes.reserveCapacity(max(0, count) + 7)
    // Each call of the system's generator gives eight bytes.
    while bytes.count < count {
      let word = generator.next()
      for shift in stride(from: 0, to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: word >> shift)) }
    }
    bytes.removeLast(bytes.count - max(0, count))
    return bytes
  }
}
