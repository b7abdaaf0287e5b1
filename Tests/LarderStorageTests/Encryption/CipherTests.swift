import Foundation
@_spi(Stores) import LarderCore
import LarderTestSupport
import Testing

@testable import LarderStorage

private func bytes(_ hexadecimal: String) -> [UInt8] {
  let digits = hexadecimal.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

private func secret(_ bytes: [UInt8]) throws -> SecretBytes {
  try SecretBytes(count: bytes.count) { (room) throws(StorageError) in room.copyBytes(from: bytes) }
}

/// What `make` writes.
private func filled(_ count: Int, _ make: (UnsafeMutableRawBufferPointer) throws -> Void) rethrows -> String {
  var output = [UInt8](repeating: 0, count: count)
  try output.withUnsafeMutableBytes { try make($0) }
  return Hexadecimal.text(output)
}

@Suite("Encryption: ciphers and keys against the examples of the standards", .timeLimit(.minutes(1)))
struct CipherTests {
  @Test(
    "AES-256-GCM opens test cases 14 to 16 of its specification (McGrew and Viega, appendix B)",
    arguments: [
      (
        "0000000000000000000000000000000000000000000000000000000000000000", "000000000000000000000000", "",
        "00000000000000000000000000000000", "cea7403d4d606b6e074ec5d3baf39d18", "d0d1c8a799996bf0265b98b5d48ab919"
      ),
      (
        "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888", "",
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
          + "b16aedf5aa0de657ba637b391aafd255",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
          + "c5f61e6393ba7a0abcc9f662898015ad",
        "b094dac5d93471bdec1a502270e3cc6c"
      ),
      (
        "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308", "cafebabefacedbaddecaf888",
        "feedfacedeadbeeffeedfacedeadbeefabaddad2",
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525"
          + "b16aedf5aa0de657ba637b39",
        "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa8cb08e48590dbb3da7b08b1056828838"
          + "c5f61e6393ba7a0abcc9f662",
        "76fc6ece0f4e1768cddf8853bb2d551b"
      ),
    ])
  func gcm(_ key: String, _ nonce: String, _ data: String, _ plain: String, _ sealed: String, _ tag: String) throws {
    let cipher = try #require(PageCipher(try secret(bytes(key))))
    var isOpen = false
    let data = bytes(data)
    let opened = filled(bytes(sealed).count) { room in
      data.withUnsafeBytes { data in
        guard let base = room.baseAddress else { return }
        isOpen = cipher.open(bytes(sealed), room.count, to: base, nonce: bytes(nonce), tag: bytes(tag), with: data)
      }
    }
    #expect(isOpen)
    #expect(opened == plain)
  }

  @Test("GCM opens what it sealed, repeats no nonce, and detects every changed bit")
  func gcmSeals() throws {
    let cipher = try #require(PageCipher(try secret(Digest.randomBytes(32))))
    let plain = Digest.randomBytes(100), data = Digest.randomBytes(16)
    var nonces: Set<[UInt8]> = []
    for _ in 0..<500 {
      // The bytes, the nonce, the tag.
      var sealed = [UInt8](repeating: 0, count: 128)
      func open(_ sealed: [UInt8], _ data: [UInt8]) -> [UInt8]? {
        var opened = [UInt8](repeating: 1, count: 100)
        let isOpen = sealed.withUnsafeBytes { from in
          opened.withUnsafeMutableBytes { to in
            data.withUnsafeBytes { data in
              guard let from = from.baseAddress, let to = to.baseAddress else { return false }
              return cipher.open(from, 100, to: to, nonce: from + 100, tag: from + 112, with: data)
            }
          }
        }
        #expect(isOpen || opened.allSatisfy { $0 == 0 })
        return isOpen ? opened : nil
      }
      let isSealed = sealed.withUnsafeMutableBytes { to in
        data.withUnsafeBytes { data in
          guard let to = to.baseAddress else { return false }
          return cipher.seal(plain, 100, to: to, nonce: to + 100, tag: to + 112, with: data)
        }
      }
      #expect(isSealed && open(sealed, data) == plain)
      nonces.insert(Array(sealed[100..<112]))
      guard nonces.count == 1 else { continue }
      for bit in 0..<(128 * 8) {
        var changed = sealed
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(open(changed, data) == nil)
      }
      for bit in 0..<(16 * 8) {
        var changed = data
        changed[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(open(sealed, changed) == nil)
      }
    }
    #expect(nonces.count == 500)
  }

  @Test(
    "AES-256-XTS: IEEE 1619 vector 10 (its first blocks), and lengths that need ciphertext stealing",
    arguments: [
      (255, 32, "1c3b3a102f770386e4836c99e370cf9bea00803f5e482357a4ae12d414a3e63b"),
      (32, 24, "e847738db15431c5936c9160f2c034ce147dac40670bc3d9"),
      (4152, 24, "33b6c358024f84bb7788e62ea51a71ebdd6f1f9fe24d8114"),
      (1, 17, "a798c8b0d0e45a6fcfaf9d8b98613cd6cd"),
      (
        0, 47,
        "3a060a8cad115a6f44572e3759e43c8fa18252fd0dc98fedc98473200cb9f693cad8bfcb233ff6ad71b7c1e7ca6515"
      ),
    ])
  func xts(_ offset: UInt64, _ count: Int, _ sealed: String) throws {
    let key = bytes(
      "27182818284590452353602874713526624977572470936999595749669676273141592653589793238462643383279502884197169399375105"
        + "820974944592")
    let cipher = try #require(OffsetCipher(try secret(key)))
    var room = (0..<count).map { UInt8($0) }
    let plain = room
    #expect(room.withUnsafeMutableBytes { cipher.encrypt($0, at: offset) })
    #expect(Hexadecimal.text(room) == sealed)
    #expect(room.withUnsafeMutableBytes { cipher.decrypt($0, at: offset) })
    #expect(room == plain)
    var short = [UInt8](repeating: 0, count: 15)
    #expect(!short.withUnsafeMutableBytes { cipher.encrypt($0, at: offset) || cipher.decrypt($0, at: offset) })
  }

  @Test(
    "HKDF: RFC 5869, appendix A.1 and A.2",
    arguments: [
      (
        String(repeating: "0b", count: 22), "000102030405060708090a0b0c", "f0f1f2f3f4f5f6f7f8f9",
        "3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"
      ),
      (
        Hexadecimal.text(0x00...0x4f), Hexadecimal.text(0x60...0xaf), Hexadecimal.text(0xb0...0xff),
        "b11e398dc80327a1c8e7f78c596a49344f012eda2d4efad8a050cc4c19afa97c59045a99cac7827271cb41c65e590e09"
          + "da3275600c2f09b8367793a9aca3db71cc30c58179ec3e87c14c01d5c1f3434f1d87"
      ),
    ])
  func hkdf(_ key: String, _ salt: String, _ info: String, _ expected: String) throws {
    let output = try filled(expected.count / 2) { room in
      try KeyDerivation.expand(try secret(bytes(key)), salt: bytes(salt), info: bytes(info), into: room)
    }
    #expect(output == expected)
  }

  @Test(
    "scrypt: RFC 7914 §12, by the platform's library and by ROMix in Swift",
    arguments: [
      (
        "", "", StretchingCost(log2N: 4, r: 1, p: 1),
        "77d6576238657b203b19ca42c18a0497f16b4844e3074ae8dfdffa3fede21442fcd0069ded0948f8326a753a0fc81f17e8d3e0fb2e0d3628"
          + "cf35e20c38d18906"
      ),
      (
        "password", "NaCl", StretchingCost(log2N: 10, r: 8, p: 16),
        "fdbabe1c9d3472007856e7190d01e9fe7c6ad7cbc8237830e77376634b3731622eaf30d92e22a3886ff109279d9830dac727afb9"
          + "4a83ee6d8360cbdfa2cc0640"
      ),
    ])
  func scrypt(_ passphrase: String, _ salt: String, _ cost: StretchingCost, _ expected: String) throws {
    let passphrase = try secret(Array(passphrase.utf8))
    let salt = Array(salt.utf8)
    #expect(
      try filled(64) { try KeyDerivation.stretch(passphrase, salt: salt, cost: cost, into: $0) } == expected)
    let output = filled(64) { room in
      #expect(passphrase.withBytes { Scrypt.derive($0, salt: salt, cost: cost, into: room) })
    }
    #expect(output == expected)
  }

  @Test("ROMix in Swift equals the platform's scrypt, for any parameters")
  func scryptBySwift() throws {
    var random = PrintedSeed(for: "scrypt", default: 7914)
    for _ in 0..<40 {
      let passphrase = try secret((0..<random.next() % 90).map { _ in UInt8(truncatingIfNeeded: random.next()) })
      let salt = (0..<random.next() % 40).map { _ in UInt8(truncatingIfNeeded: random.next()) }
      let cost = StretchingCost(
        log2N: UInt8(1 + random.next() % 6), r: UInt8(1 + random.next() % 9), p: UInt8(1 + random.next() % 3))
      let count = Int(1 + random.next() % 80)
      let library = try filled(count) {
        try KeyDerivation.stretch(passphrase, salt: salt, cost: cost, into: $0)
      }
      let output = filled(count) { room in
        #expect(passphrase.withBytes { Scrypt.derive($0, salt: salt, cost: cost, into: room) })
      }
      #expect(output == library, "\(cost)")
    }
  }

  @Test(
    "The scrypt parameters of a file are limited",
    arguments: [(15, 8, 1, true), (17, 8, 1, true), (0, 8, 1, false), (15, 0, 1, false), (15, 8, 0, false)]
      + [(63, 8, 1, false), (22, 255, 1, false), (15, 8, 255, false), (255, 255, 255, false)])
  func costs(_ log2N: UInt8, _ r: UInt8, _ p: UInt8, _ isBounded: Bool) {
    #expect(StretchingCost(log2N: log2N, r: r, p: p).isBounded == isBounded)
  }

  @Test("Keys do not show their bytes, and have the right length")
  func keys() throws {
    let text = "a passphrase of mine"
    for key in [try StorageKey(passphrase: text.utf8), try StorageKey(bytes: Array(repeating: 0x61, count: 32))] {
      var shown = "\(key) \(String(reflecting: key)) "
      dump(key, to: &shown)
      dump(key.secret, to: &shown)
      #expect(!shown.contains("passphrase of") && !shown.contains("aaaa") && !shown.contains("97"))
    }
    for count in [0, 1, 16, 31, 33] {
      let error = #expect(throws: StorageError.self) { try StorageKey(bytes: Array(repeating: 1, count: count)) }
      #expect(error?.category == .misuse)
    }
    #expect(throws: StorageError.self) { try StorageKey(passphrase: "".utf8) }
  }

  @Test("Every changed bit of the plain header is detected")
  func header() throws {
    let header = EncryptedHeader(
      salt: Digest.randomBytes(16), cost: .standard, check: Digest.randomBytes(EncryptedHeader.checkLength))
    let start = header.salt + [UInt8](repeating: 7, count: 56) + header.bytes + [1, 2, 3]
    #expect(EncryptedHeader.read(start) == .header(header))
    #expect(EncryptedHeader.read(start.prefix(91)) == .other)
    for place in Array(0..<16) + Array(72..<92) {
      for bit in 0..<8 {
        var changed = start
        changed[place] ^= 1 << UInt8(bit)
        #expect(EncryptedHeader.read(changed) == .other)
      }
    }
  }
}
