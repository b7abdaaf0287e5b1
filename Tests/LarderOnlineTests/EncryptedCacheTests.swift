import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

// Without an import of Storage: the store's own module names the key.

/// The technical cache under a key.
@Suite("An encrypted technical cache", .timeLimit(.minutes(1)))
struct EncryptedCacheTests {
  private let rig: StoreRig
  private let right: StorageKey
  private let wrong: StorageKey

  init() throws {
    rig = try StoreRig(isPlain: true) { _ in .ok(#"{"v":1}"#, ["ETag": "\"1\""]) }
    right = try StorageKey(passphrase: "right".utf8)
    wrong = try StorageKey(passphrase: "wrong".utf8)
  }

  private func store(_ key: StorageKey?) throws -> OnlineODataStore {
    try rig.store(nil) { $0.encryptionKey = key }
  }

  /// The category of a file's error; nil where nothing failed, or something else.
  private func category(_ body: () async throws -> Void) async -> StorageError.Category? {
    do {
      try await body()
      return nil
    } catch {
      guard let error = error as? ODataServiceError, case .storage = error.category else { return nil }
      return (error.cause as? StorageError)?.category
    }
  }

  /// A closed cache with a response.
  private func fill(_ key: StorageKey?) async throws {
    let store = try store(key)
    try await store.open()
    _ = try await store.read("P")
    try await store.close()
  }

  private func bytes() throws -> Data { try Data(contentsOf: URL(filePath: try rig.cacheFile.path)) }

  @Test("what is kept under a key is there under it, and metadata too: the store opens while its service is away")
  func again() async throws {
    try await fill(right)
    rig.service.isAway = true
    let store = try store(right)
    try store.setPassive(true)
    try await store.open()
    #expect(text(try await store.read("P").last) == #"{"v":1}"#)
    try await store.close()
  }

  @Test(
    "another key, none, or one too many: the store stays closed, and the file as it is",
    arguments: [
      (true, true, StorageError.Category.wrongKey), (true, false, .encrypted), (false, true, .notEncrypted),
    ])
  func rejected(_ isEncrypted: Bool, _ givesKey: Bool, _ expected: StorageError.Category) async throws {
    try await fill(isEncrypted ? right : nil)
    let before = try bytes()
    let store = try store(givesKey ? wrong : nil)
    #expect(await category { try await store.open() } == expected)
    #expect(!store.isOpen)
    #expect(try bytes() == before)
    #expect(rig.diagnostics.all.isEmpty)
    // A key that is lost is no reason to be without a cache.
    try await store.clearCache()
    try await store.open()
    #expect(try await store.read("P").cached == nil)
    #expect(try await store.read("P").cached != nil)
    try await store.close()
  }

  @Test("a closed cache opens again with the key of the options and no other, cleared or not")
  func reopening() async throws {
    let store = try store(right)
    try await store.open()
    _ = try await store.read("P")
    for isReset in [false, true] {
      try await store.closeCache()
      if isReset { try await store.clearCache() }
      #expect(await category { try await store.reopenCache() } == .encrypted)
      #expect(await category { try await store.reopenCache(encryptionKey: wrong) } == .wrongKey)
      #expect(!store.isCacheOpen)
      // Without a cache the store works.
      #expect(try await store.read("P").last != nil)
      try await store.reopenCache(encryptionKey: try StorageKey(passphrase: "right".utf8))
      let cached = try await store.read("P").cached
      #expect((cached == nil) == isReset)
    }
    try await store.close()
    #expect(await category { _ = try await rig.cacheFile.entries() } == .encrypted)
  }

  @Test("who has a store has not its key: neither its options nor a store made with them open its cache")
  func hiddenKey() async throws {
    let store = try store(right)
    try await store.open()
    _ = try await store.read("P")
    #expect(store.options.encryptionKey == nil)
    var shown = ""
    dump(store.options, to: &shown)
    #expect(!shown.contains("StorageKey"), "\(shown)")
    try await store.closeCache()
    #expect(await category { try await store.reopenCache(encryptionKey: store.options.encryptionKey) } == .encrypted)
    try await store.close()
    let other = try rig.store(nil) { $0 = store.options }
    #expect(await category { try await other.open() } == .encrypted)
    // Under another name, they create no plain cache.
    let renamed = try rig.store(nil) {
      $0 = store.options
      $0.storeName = "other"
    }
    #expect(await category { try await renamed.open() } == .encrypted)
    // Options that are given back leave the key as it is.
    try store.initialize(store.options)
    try await store.open()
    #expect(try await store.read("P").cached != nil)
    try await store.close()
  }

  @Test("a plain cache opens again without a key and with none")
  func reopeningPlain() async throws {
    let store = try store(nil)
    try await store.open()
    try await store.closeCache()
    #expect(await category { try await store.reopenCache(encryptionKey: right) } == .notEncrypted)
    try await store.clearCache()
    #expect(await category { try await store.reopenCache(encryptionKey: right) } == .notEncrypted)
    try await store.reopenCache()
    try await store.close()
  }

  @Test("tools list and show it with the key, and clear it without")
  func tools() async throws {
    try await fill(right)
    let path = try rig.cacheFile.path
    let file = TechnicalCacheFile(path: path, key: right)
    #expect(try await file.serviceRoot() == rig.root.absoluteString)
    #expect(try await file.entries().map(\.url) == [rig.root.absoluteString + "P"])
    for key in [wrong, nil] {
      let other = TechnicalCacheFile(path: path, key: key)
      #expect(await category { _ = try await other.entries() } == (key == nil ? .encrypted : .wrongKey))
    }
    try await TechnicalCacheFile(path: path).clear()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  private struct ServerVersion: SchemaStep {
    func run(on connection: Connection) throws(StorageError) { try connection.run("CREATE TABLE theirs(a)") }
  }

  @Test(
    "an encrypted file that a program has open is not cleared, whatever its name and key", arguments: [true, false])
  func clearingOpen(givesKey: Bool) async throws {
    for name in ["store.db", "store.larder-cache"] {
      let path = rig.folder.file(name)
      let database = try await Database.open(
        path, key: right, schema: Schema(applicationID: 77, steps: [ServerVersion()]))
      // It is in the log alone.
      try await database.write { (connection) throws(StorageError) in
        try connection.run("INSERT INTO theirs VALUES(1)")
      }
      await #expect(throws: ODataServiceError.self) {
        try await TechnicalCacheFile(path: path, key: givesKey ? right : nil).clear()
      }
      #expect(FileManager.default.fileExists(atPath: path))
      #expect(FileManager.default.fileExists(atPath: path + "-wal"))
      try await database.close()
    }
  }

  @Test("what nothing in it says to be a cache's is cleared where its name says so, and else stays")
  func clearingUnknown() async throws {
    for name in ["store.db", "store.larder-cache"] {
      for kind in ["encrypted", "plain", "damaged"] {
        let path = rig.folder.file(name)
        switch kind {
        case "damaged": try Data(repeating: 7, count: 4096).write(to: URL(filePath: path))
        default:
          let schema = Schema(applicationID: 77, steps: [ServerVersion()])
          try await Database.open(path, key: kind == "plain" ? nil : right, schema: schema).close()
        }
        if kind == "plain" {
          // Most programs give their files no number (SQLite file format §1.3).
          var bytes = try Data(contentsOf: URL(filePath: path))
          bytes.replaceSubrange(68..<72, with: [0, 0, 0, 0])
          try bytes.write(to: URL(filePath: path))
        }
        let before = try Data(contentsOf: URL(filePath: path))
        let isCache = name.hasSuffix(".larder-cache")
        let failure = await category { try await TechnicalCacheFile(path: path, key: right).clear() }
        #expect(failure == (isCache ? nil : .foreignFile), "\(kind) \(name)")
        #expect((try? Data(contentsOf: URL(filePath: path))) == (isCache ? nil : before), "\(kind) \(name)")
        try? FileManager.default.removeItem(atPath: path)
      }
    }
  }

  @Test("a damaged cache is moved aside and created again with its key")
  func damaged() async throws {
    try await fill(right)
    let path = try rig.cacheFile.path
    var bytes = try bytes()
    bytes[bytes.count - 2000] ^= 1
    try bytes.write(to: URL(filePath: path))
    let store = try store(right)
    try await store.open()
    #expect(rig.diagnostics.first("cacheReplaced") != nil)
    #expect(try await store.read("P").cached == nil)
    try await store.close()
    #expect(await category { _ = try await TechnicalCacheFile(path: path).entries() } == .encrypted)
  }

  @Test(
    "no URL, response, field or link is in any byte of its files; a plain one shows them", arguments: [true, false])
  func markers(isEncrypted: Bool) async throws {
    let markers = ["url", "answer", "etag", "delta"].map { "Merkwort-\($0)-51c0" }
    let words = ["SQLite format 3", "CREATE TABLE", "EntityContainer"]
    let secrets = ["Merkwort-cookie-51c0", "Merkwort-password-51c0"]
    let rig = try StoreRig(isPlain: true) { _ in
      .ok(
        ##"{"v":"\##(markers[1])","@odata.deltaLink":"P?$deltatoken=\##(markers[3])"}"##,
        ["ETag": "\"\(markers[2])\"", "Set-Cookie": "id=\(secrets[0])"])
    }
    let login = try BasicAuthentication(user: "me", password: secrets[1])
    let store = try rig.store(login) { $0.encryptionKey = isEncrypted ? right : nil }
    var search = MarkerSearch(for: markers + words + secrets)
    try await store.open()
    for number in 0..<20 { _ = try await store.read("P(\(number))?$filter=Name eq '\(markers[0])'") }
    search.look(in: rig.folder.path)
    try await store.closeCache()
    search.look(in: rig.folder.path)
    try await store.clearCache()
    try await store.reopenCache(encryptionKey: isEncrypted ? right : nil)
    _ = try await store.read("P")
    search.look(in: rig.folder.path)
    try await store.close()
    search.look(in: rig.folder.path)
    let matches = Set(search.matches.map { String($0.split(separator: ": ", maxSplits: 1).last ?? "") })
    #expect(matches == (isEncrypted ? [] : Set(markers + words)))
    #expect(search.names.contains { $0.hasSuffix(".larder-cache-wal") })
  }
}
