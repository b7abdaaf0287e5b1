import Foundation
import LarderObjects
import LarderTestSupport
import Testing

// Without an import of Storage: the store's own module names the key.
@Suite("Objects: encryption", .timeLimit(.minutes(2)))
struct ObjectEncryptionTests {
  private let folder: TemporaryFolder
  private let key: StorageKey
  private var path: String { folder.file("objects") }

  init() throws {
    folder = try TemporaryFolder()
    key = try StorageKey(bytes: (0..<32).map { $0 })
  }

  private func rejection(_ key: StorageKey?) async throws -> StorageError.Category? {
    do throws(ObjectStoreError) {
      try await ObjectStore(path: path, encryptionKey: key).close()
      return nil
    } catch {
      guard case .storage(let below) = error.category else { throw error }
      return below.category
    }
  }

  @Test("values, keys and labels can be read with the key, and are not readable in the files")
  func keeps() async throws {
    let store = try await ObjectStore(path: path, encryptionKey: key)
    for number in 0..<200 {
      try await store.put("secret value \(number)", forKey: "secret key \(number)", labels: ["secret label"])
    }
    for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
      let data = try Data(contentsOf: URL(filePath: folder.file(name)))
      for text in ["secret", "CREATE TABLE", "SQLite format"] {
        #expect(data.range(of: Data(text.utf8)) == nil, "\(text) in \(name)")
      }
    }
    try await store.close()
    let again = try await ObjectStore(path: path, encryptionKey: key)
    #expect(try await again.value(String.self, forKey: "secret key 7") == "secret value 7")
    try await again.close()
  }

  @Test("a file whose first page is zeros after a crash is created again")
  func zeros() async throws {
    try folder.write([UInt8](repeating: 0, count: 4096), to: "objects")
    let store = try await ObjectStore(path: path, encryptionKey: key)
    try await store.put("kept", forKey: "k")
    try await store.close()
    #expect(try await rejection(nil) == .encrypted)
    #expect(try await rejection(key) == nil)
  }

  private struct OtherTable: SchemaStep {
    func run(on connection: Connection) throws(StorageError) { try connection.run("CREATE TABLE other(a)") }
  }

  @Test("a database of another program is rejected and not encrypted")
  func foreign() async throws {
    let other = try await Database.open(path, schema: Schema(applicationID: 99, steps: [OtherTable()]))
    try await other.close()
    try folder.write(try Data(contentsOf: URL(filePath: path)).map { $0 }, to: "copy")
    let error = await #expect(throws: ObjectStoreError.self) {
      try await ObjectStore.changeEncryptionKey(path: path, from: nil, to: key)
    }
    guard case .storage(let below)? = error?.category else {
      Issue.record("\(error.debugDescription)")
      return
    }
    #expect(below.category == .foreignFile)
    #expect(FileManager.default.contentsEqual(atPath: path, andPath: folder.file("copy")))
  }

  @Test("a wrong key, no key and a key for a plain file are different errors; a key can be changed, added and removed")
  func keys() async throws {
    let store = try await ObjectStore(path: path, encryptionKey: key)
    try await store.put("kept", forKey: "k")
    try await store.close()
    let other = try StorageKey(passphrase: "another one".utf8)
    #expect(try await rejection(nil) == .encrypted)
    #expect(try await rejection(other) == .wrongKey)
    try await ObjectStore.changeEncryptionKey(path: path, from: key, to: other)
    #expect(try await rejection(key) == .wrongKey)
    #expect(try await rejection(other) == nil)
    try await ObjectStore.changeEncryptionKey(path: path, from: other, to: nil)
    #expect(try await rejection(other) == .notEncrypted)
    #expect(try await rejection(nil) == nil)
    try await ObjectStore.changeEncryptionKey(path: path, from: nil, to: key)
    let last = try await ObjectStore(path: path, encryptionKey: key)
    #expect(try await last.value(String.self, forKey: "k") == "kept")
    try await last.close()
  }
}
