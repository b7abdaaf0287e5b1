import Foundation
import LarderTestSupport
import Testing

@testable import LarderStorage

@Suite("Encryption: folders of other files", .timeLimit(.minutes(1)))
struct FolderKeysTests {
  private let key: StorageKey

  init() throws { key = try StorageKey(bytes: (0..<32).map { UInt8($0) ^ 0x5A }) }

  private func name(_ keys: FolderKeys, _ text: String) -> [UInt64]? {
    Array(text.utf8).withUnsafeBytes { keys.name(of: $0).map { [$0.high, $0.low] } }
  }

  /// Seals, and opens with other keys; nil if that is rejected.
  private func carry(_ text: String, from: SealingKey, to: SealingKey, data: (String, String) = ("d", "d")) -> String? {
    var bytes = Array(text.utf8)
    var mark = [UInt8](repeating: 0, count: SealingKey.markLength)
    let (here, there) = (Array(data.0.utf8), Array(data.1.utf8))
    let isOpen = bytes.withUnsafeMutableBytes { bytes in
      mark.withUnsafeMutableBytes { mark in
        here.withUnsafeBytes { from.seal(bytes, mark: mark, with: $0) }
          && there.withUnsafeBytes { to.open(bytes, mark: UnsafeRawBufferPointer(mark), with: $0) }
      }
    }
    return isOpen ? String(decoding: bytes, as: UTF8.self) : nil
  }

  @Test("The same key and header result in the same names, and open sealed data")
  func again() throws {
    for key in [key, try StorageKey(passphrase: "correct horse".utf8)] {
      let created = try FolderKeys.new(key)
      #expect(created.header.count == FolderKeys.headerLength)
      let opened = try FolderKeys.of(created.header, key, folder: "/f")
      #expect(opened.header == created.header)
      #expect(name(opened, "https://host/a") == name(created, "https://host/a"))
      #expect(name(opened, "https://host/a") != name(created, "https://host/b"))
      #expect(name(opened, "") != nil)
      #expect(carry("a content", from: created.contents, to: opened.contents) == "a content")
      #expect(carry("a content", from: created.contents, to: opened.contents, data: ("here", "there")) == nil)
    }
  }

  @Test("Another folder, key or purpose results in other names")
  func others() throws {
    let first = try FolderKeys.new(key), second = try FolderKeys.new(key)
    #expect(name(first, "a") != name(second, "a"))
    #expect(carry("a content", from: first.contents, to: second.contents) == nil)
    #expect(carry("a content", from: first.contents, to: try SealingKey()) == nil)
    // The keys of a database with the same salt and key.
    guard
      case .header(let header) = EncryptedHeader.read(
        first.header[..<16] + [UInt8](repeating: 0, count: 56) + first.header[16...])
    else { return #expect(Bool(false), "no header") }
    #expect(try FileKeys.of(header, key) == nil)
  }

  @Test("A wrong key throws wrongKey; every changed bit of the header is an error or another key")
  func wrong() throws {
    let created = try FolderKeys.new(key)
    for wrong in [
      try StorageKey(bytes: [UInt8](repeating: 1, count: 32)), try StorageKey(passphrase: "wrong".utf8),
      try StorageKey(passphrase: (0..<32).map { UInt8($0) ^ 0x5A }),
    ] {
      #expect(throws: StorageError.self) { try FolderKeys.of(created.header, wrong, folder: "/f") }
      do { _ = try FolderKeys.of(created.header, wrong, folder: "/f") } catch { #expect(error.category == .wrongKey) }
    }
    for bit in 0..<created.header.count * 8 {
      var header = created.header
      header[bit / 8] ^= 1 << UInt8(bit % 8)
      do {
        _ = try FolderKeys.of(header, key, folder: "/f")
        Issue.record("bit \(bit) made no difference")
      } catch { #expect(error.category == .corrupt, "bit \(bit): \(error)") }
    }
    #expect(throws: StorageError.self) { try FolderKeys.of([], key, folder: "/f") }
  }

  @Test("Sealed data is opened from two buffers, divided at any position; if it was changed, both are zeros")
  func divided() throws {
    let key = try SealingKey()
    let plain = (0..<100).map { UInt8($0) }
    var sealed = plain
    var mark = [UInt8](repeating: 0, count: SealingKey.markLength)
    #expect(
      sealed.withUnsafeMutableBytes { bytes in
        mark.withUnsafeMutableBytes { key.seal(bytes, mark: $0, with: UnsafeRawBufferPointer(start: nil, count: 0)) }
      })
    #expect(sealed != plain)
    for divide in 1...100 {
      for change in [false, true] {
        var first = Array(sealed[..<divide]), second = Array(sealed[divide...])
        if change { first[divide / 2] ^= 1 }
        let isOpen = first.withUnsafeMutableBytes { first in
          second.withUnsafeMutableBytes { second in
            mark.withUnsafeBytes {
              key.open(first, second, mark: $0, with: UnsafeRawBufferPointer(start: nil, count: 0))
            }
          }
        }
        #expect(isOpen == !change)
        #expect(first + second == (change ? [UInt8](repeating: 0, count: 100) : plain))
      }
    }
  }

  @Test("The keyed hash is HMAC-SHA-256 by its definition", arguments: [0, 1, 31, 55, 64, 200])
  func keyedHash(length: Int) throws {
    let key = (0..<32).map { UInt8($0) ^ 0x33 }
    let secret = try SecretBytes(count: 40) { (bytes) throws(StorageError) in
      bytes.copyBytes(from: [UInt8](repeating: 9, count: 8) + key)
    }
    let hash = try #require(KeyedHash(secret, from: 8))
    let text = (0..<length).map { UInt8($0) }
    var code = [UInt8](repeating: 0, count: 32)
    for _ in 0..<2 {
      #expect(text.withUnsafeBytes { text in code.withUnsafeMutableBytes { hash.hash(text, into: $0) } })
      #expect(code == Digest.hmac(text, key: key))
    }
  }

  @Test("Many threads seal and open with one key")
  func threads() async throws {
    let key = try SealingKey()
    let carried = await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask { @concurrent in
          (0..<200).allSatisfy { carry("content \(task) \($0)", from: key, to: key) == "content \(task) \($0)" }
        }
      }
      return await group.allSatisfy { $0 }
    }
    #expect(carried)
  }
}
