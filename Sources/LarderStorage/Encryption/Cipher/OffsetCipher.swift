#if canImport(CommonCrypto)
  import CommonCrypto
#else
  import CLarderCrypto
#endif

/// AES-256-XTS (IEEE 1619-2018) on 24 or 32 bytes, tweaked by their offset in the file. Only one thread at a time may
/// use it.
///
/// Encryption keeps the length, so there is no room for a nonce or tag: it is for headers, beside which a file's format
/// leaves no room.
@safe final class OffsetCipher {
  /// The length of its two keys together, in bytes.
  static let keyLength = 64

  private let encrypting: AESBlocks
  private let decrypting: AESBlocks
  private let tweaking: AESBlocks

  /// Uses 64 bytes from `start` on; nil if the platform's library has no memory.
  init?(_ key: SecretBytes, from start: Int = 0) {
    guard let encrypting = AESBlocks(key, from: start, decrypts: false),
      let decrypting = AESBlocks(key, from: start, decrypts: true),
      let tweaking = AESBlocks(key, from: start + 32, decrypts: false)
    else { return nil }
    (self.encrypting, self.decrypting, self.tweaking) = (encrypting, decrypting, tweaking)
  }

  /// Encrypts in place; returns false for fewer than 16 bytes.
  func encrypt(_ bytes: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Bool {
    guard bytes.count >= 16, var tweak = tweak(offset) else { return false }
    let whole = bytes.count / 16, rest = bytes.count % 16
    for block in 0..<whole {
      guard unsafe apply(encrypting, bytes: bytes, start: block * 16, tweak: tweak) else { return false }
      tweak.double()
    }
    guard rest > 0 else { return true }
    // Ciphertext stealing (§5.3.2): the last complete block lends its end to the part behind it.
    unsafe swap(bytes, last: (whole - 1) * 16, rest)
    return unsafe apply(encrypting, bytes: bytes, start: (whole - 1) * 16, tweak: tweak)
  }

  /// Decrypts in place; returns false for fewer than 16 bytes.
  func decrypt(_ bytes: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Bool {
    guard bytes.count >= 16, var tweak = tweak(offset) else { return false }
    let whole = bytes.count / 16, rest = bytes.count % 16
    for block in 0..<(rest > 0 ? whole - 1 : whole) {
      guard unsafe apply(decrypting, bytes: bytes, start: block * 16, tweak: tweak) else { return false }
      tweak.double()
    }
    guard rest > 0 else { return true }
    let before = tweak
    tweak.double()
    guard unsafe apply(decrypting, bytes: bytes, start: (whole - 1) * 16, tweak: tweak) else { return false }
    unsafe swap(bytes, last: (whole - 1) * 16, rest)
    return unsafe apply(decrypting, bytes: bytes, start: (whole - 1) * 16, tweak: before)
  }

  private func tweak(_ offset: UInt64) -> Tweak? {
    var tweak = Tweak(low: offset.littleEndian, high: 0)
    let isDone = unsafe withUnsafeMutableBytes(of: &tweak) { unsafe tweaking.run($0.baseAddress) }
    return isDone ? tweak : nil
  }

  /// Exchanges the start of the block at `last` with the `count` bytes behind it.
  private func swap(_ bytes: UnsafeMutableRawBufferPointer, last: Int, _ count: Int) {
    for index in 0..<count { unsafe bytes.swapAt(last + index, last + 16 + index) }
  }

  private func apply(
    _ blocks: AESBlocks, bytes: UnsafeMutableRawBufferPointer, start: Int, tweak: Tweak
  ) -> Bool {
    guard let base = bytes.baseAddress else { return false }
    let block = unsafe base + start
    unsafe tweak.mask(block)
    guard unsafe blocks.run(block) else { return false }
    unsafe tweak.mask(block)
    return true
  }

  /// An element of GF(2¹²⁸), least significant byte first.
  private struct Tweak {
    var low: UInt64
    var high: UInt64

    /// Multiplies by α (§5.2).
    mutating func double() {
      let (low, high) = (UInt64(littleEndian: low), UInt64(littleEndian: high))
      self.high = (high << 1 | low >> 63).littleEndian
      self.low = (low << 1 ^ (high >> 63 == 1 ? 0x87 : 0)).littleEndian
    }

    func mask(_ block: UnsafeMutableRawPointer) {
      let first = unsafe block.loadUnaligned(as: UInt64.self) ^ low
      let second = unsafe block.loadUnaligned(fromByteOffset: 8, as: UInt64.self) ^ high
      unsafe block.storeBytes(of: first, as: UInt64.self)
      unsafe block.storeBytes(of: second, toByteOffset: 8, as: UInt64.self)
    }
  }
}

/// AES-256 on single blocks (FIPS 197), in one direction.
@safe private final class AESBlocks {
  #if canImport(CommonCrypto)
    private let context: CCCryptorRef
  #else
    private let context: OpaquePointer
  #endif

  init?(_ key: SecretBytes, from start: Int, decrypts: Bool) {
    #if canImport(CommonCrypto)
      var newContext: CCCryptorRef?
      let status = unsafe key.withKey(from: start) { (bytes: UnsafeRawBufferPointer) -> CCCryptorStatus in
        unsafe CCCryptorCreate(
          CCOperation(decrypts ? kCCDecrypt : kCCEncrypt), CCAlgorithm(kCCAlgorithmAES), CCOptions(kCCOptionECBMode),
          bytes.baseAddress, bytes.count, nil, &newContext)
      }
      guard status == CCCryptorStatus(kCCSuccess), let newContext = unsafe newContext else { return nil }
      unsafe context = newContext
    #else
      guard let newContext = unsafe EVP_CIPHER_CTX_new() else { return nil }
      unsafe context = newContext
      let isInitialized = unsafe key.withKey(from: start) { (bytes: UnsafeRawBufferPointer) -> Bool in
        let secret = unsafe bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return unsafe EVP_CipherInit_ex(newContext, EVP_aes_256_ecb(), nil, secret, nil, decrypts ? 0 : 1) == 1
          && EVP_CIPHER_CTX_set_padding(newContext, 0) == 1
      }
      guard isInitialized == true else { return nil }
    #endif
  }

  // The library zeroes the key's schedule.
  deinit {
    #if canImport(CommonCrypto)
      _ = unsafe CCCryptorRelease(context)
    #else
      unsafe EVP_CIPHER_CTX_free(context)
    #endif
  }

  /// Encrypts or decrypts 16 bytes in place.
  func run(_ block: UnsafeMutableRawPointer?) -> Bool {
    guard let block = unsafe block else { return false }
    #if canImport(CommonCrypto)
      var length = 0
      return unsafe CCCryptorUpdate(context, block, 16, block, 16, &length) == kCCSuccess && length == 16
    #else
      var length: Int32 = 0
      let bytes = unsafe block.assumingMemoryBound(to: UInt8.self)
      return unsafe EVP_CipherUpdate(context, bytes, &length, bytes, 16) == 1 && length == 16
    #endif
  }
}
