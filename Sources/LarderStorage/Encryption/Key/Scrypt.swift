#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CLarderCrypto
#endif

/// scrypt (RFC 7914) for libraries that only have PBKDF2, such as Apple's: ROMix in Swift.
enum Scrypt {
  /// Fills `output` with the key that scrypt derives from a passphrase and a salt; false if the library or the memory
  /// fails.
  static func derive(
    _ passphrase: UnsafeRawBufferPointer, salt: [UInt8], cost: StretchingCost,
    into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let blockLength = 128 * Int(cost.r)
    let mixed = SecretMemory(count: blockLength * Int(cost.p))
    let memory = SecretMemory(count: blockLength * Int(clamping: cost.blocks))
    let scratch = SecretMemory(count: blockLength + Salsa.byteCount)
    let isExpanded = unsafe salt.withUnsafeBytes { unsafe pbkdf2(passphrase, salt: $0, into: mixed.bytes) }
    guard isExpanded else { return false }
    for lane in 0..<Int(cost.p) {
      let block = unsafe UnsafeMutableRawBufferPointer(
        rebasing: mixed.bytes[lane * blockLength..<(lane + 1) * blockLength])
      unsafe mix(
        block.bindMemory(to: UInt32.self), memory: memory.words, scratch: scratch.words,
        count: Int(clamping: cost.blocks))
    }
    return unsafe pbkdf2(passphrase, salt: UnsafeRawBufferPointer(mixed.bytes), into: output)
  }

  /// Computes PBKDF2 with HMAC-SHA-256 and one round (RFC 7914 §6, steps 1 and 3).
  private static func pbkdf2(
    _ passphrase: UnsafeRawBufferPointer, salt: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let text = unsafe passphrase.baseAddress?.assumingMemoryBound(to: CChar.self)
    let saltBytes = unsafe salt.baseAddress?.assumingMemoryBound(to: UInt8.self)
    let out = unsafe output.baseAddress?.assumingMemoryBound(to: UInt8.self)
    // The buffers outlive the call.
    #if canImport(CommonCrypto)
      let status = unsafe CCKeyDerivationPBKDF(
        CCPBKDFAlgorithm(kCCPBKDF2), text, passphrase.count, saltBytes, salt.count,
        CCPseudoRandomAlgorithm(kCCPRFHmacAlgSHA256), 1, out, output.count)
      return status == Int32(kCCSuccess)
    #else
      return unsafe PKCS5_PBKDF2_HMAC(
        text, Int32(clamping: passphrase.count), saltBytes, Int32(clamping: salt.count), 1, EVP_sha256(),
        Int32(clamping: output.count), out) == 1
    #endif
  }

  /// Computes scryptROMix (RFC 7914 §5) of one block in place. `memory` has room for `count` such blocks, where `count`
  /// is a power of two; `scratch` has room for one block and 64 bytes.
  private static func mix(
    _ block: UnsafeMutableBufferPointer<UInt32>, memory: UnsafeMutableBufferPointer<UInt32>,
    scratch: UnsafeMutableBufferPointer<UInt32>, count: Int
  ) {
    // The buffers hold as many words as the caller says, and no index below exceeds that.
    guard let x = block.baseAddress, let v = memory.baseAddress, let y = scratch.baseAddress else { return }
    let words = block.count
    for index in 0..<words { unsafe x[index] = UInt32(littleEndian: x[index]) }
    for index in 0..<count {
      unsafe (v + index * words).update(from: x, count: words)
      unsafe mixBlock(x, y, words)
    }
    for _ in 0..<count {
      // Integerify: the low bits of the last 64 bytes.
      let place = unsafe Int(x[words - 16]) & (count - 1)
      let other = unsafe v + place * words
      for index in 0..<words { unsafe x[index] ^= other[index] }
      unsafe mixBlock(x, y, words)
    }
    for index in 0..<words { unsafe x[index] = x[index].littleEndian }
  }

  /// Computes scryptBlockMix (RFC 7914 §4) in place.
  private static func mixBlock(
    _ block: UnsafeMutablePointer<UInt32>, _ scratch: UnsafeMutablePointer<UInt32>, _ words: Int
  ) {
    let state = unsafe scratch + words
    unsafe state.update(from: block + words - Salsa.wordCount, count: Salsa.wordCount)
    let half = words / 2
    var start = 0
    while start < words {
      for index in 0..<Salsa.wordCount { unsafe state[index] ^= block[start + index] }
      unsafe Salsa.permute(state)
      // Even blocks come first, odd ones after them.
      let number = start / Salsa.wordCount
      let place = number / 2 * Salsa.wordCount + (number & 1) * half
      unsafe (scratch + place).update(from: state, count: Salsa.wordCount)
      start += Salsa.wordCount
    }
    unsafe block.update(from: scratch, count: words)
  }
}

/// Salsa20/8 (RFC 7914 §3) with the diagonals of its four by four words in vectors.
private enum Salsa {
  static let wordCount = 16
  static let byteCount = 64

  static func permute(_ words: UnsafeMutablePointer<UInt32>) {
    // The pointer leads to sixteen words.
    let before = unsafe (
      SIMD4(words[0], words[5], words[10], words[15]), SIMD4(words[4], words[9], words[14], words[3]),
      SIMD4(words[8], words[13], words[2], words[7]), SIMD4(words[12], words[1], words[6], words[11])
    )
    var (a, b, c, d) = before
    for _ in 0..<4 {
      b ^= rotated(a &+ d, 7)
      c ^= rotated(b &+ a, 9)
      d ^= rotated(c &+ b, 13)
      a ^= rotated(d &+ c, 18)
      (b, c, d) = (turned(turned(turned(b))), turned(turned(c)), turned(d))
      d ^= rotated(a &+ b, 7)
      c ^= rotated(d &+ a, 9)
      b ^= rotated(c &+ d, 13)
      a ^= rotated(b &+ c, 18)
      (b, c, d) = (turned(b), turned(turned(c)), turned(turned(turned(d))))
    }
    (a, b, c, d) = (a &+ before.0, b &+ before.1, c &+ before.2, d &+ before.3)
    unsafe (words[0], words[5], words[10], words[15]) = (a[0], a[1], a[2], a[3])
    unsafe (words[4], words[9], words[14], words[3]) = (b[0], b[1], b[2], b[3])
    unsafe (words[8], words[13], words[2], words[7]) = (c[0], c[1], c[2], c[3])
    unsafe (words[12], words[1], words[6], words[11]) = (d[0], d[1], d[2], d[3])
  }

  /// Each word with its bits rotated to the left.
  private static func rotated(_ words: SIMD4<UInt32>, _ count: UInt32) -> SIMD4<UInt32> {
    words &<< count | words &>> (32 - count)
  }

  /// The words rotated by one place.
  private static func turned(_ words: SIMD4<UInt32>) -> SIMD4<UInt32> {
    SIMD4(words[1], words[2], words[3], words[0])
  }
}

/// Memory for values derived from a passphrase; zeroed at its end.
@safe private final class SecretMemory {
  let bytes: UnsafeMutableRawBufferPointer
  var words: UnsafeMutableBufferPointer<UInt32> { unsafe bytes.bindMemory(to: UInt32.self) }

  init(count: Int) { unsafe bytes = .allocate(byteCount: count, alignment: 64) }

  deinit {
    if let start = unsafe bytes.baseAddress { unsafe SecretBytes.zero(start, bytes.count) }
    unsafe bytes.deallocate()
  }
}
