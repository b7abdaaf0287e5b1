import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOnline

@Suite("The cache's file", .timeLimit(.minutes(5)))
struct CacheFileTests {
  @Test("responses outlive the store, and a store opens while its server is unreachable")
  func persistence() async throws {
    let rig = try StoreRig { _ in .ok(#"{"v":1}"#) }
    let first = try await rig.openStore()
    _ = try await first.read("P")
    try await first.close()
    #expect(rig.service.metadataRequests == 1)
    rig.service.isAway = true
    let second = try rig.store()
    try second.setPassive(true)
    try await second.open()
    #expect(text(try await second.read("P").last) == #"{"v":1}"#)
    try second.setPassive(false)
    await #expect(throws: ODataServiceError.self) { _ = try await second.read("P") }
    try await second.close()
  }

  @Test("a server that is away keeps a store without kept metadata from opening, unless it is passive")
  func opensAway() async throws {
    let rig = try StoreRig()
    rig.service.isAway = true
    let store = try rig.store()
    await #expect(throws: ODataServiceError.self) { try await store.open() }
    #expect(!store.isOpen)
    try store.setPassive(true)
    try await store.open()
    #expect(store.isOpen)
    try await store.close()
  }

  @Test(
    "a second store of one name on one service root is rejected, whatever its cache's folder; after closing it may open"
  )
  func secondStore() async throws {
    let rig = try StoreRig()
    let other = try TemporaryFolder()
    let first = try await rig.openStore()
    let changes: [@Sendable (inout OnlineStoreOptions) -> Void] = [
      { _ in }, { $0.path = other.path },
    ]
    for change in changes {
      let second = try rig.store(nil, change)
      await #expect(throws: ODataServiceError.self) { try await second.open() }
    }
    let without = try await rig.openStore { $0.useCache = false }
    try await without.close()
    try await first.close()
    let third = try await rig.openStore()
    try await third.close()
  }

  @Test("another process's lock on the file is respected")
  func lockedFile() async throws {
    let rig = try StoreRig()
    let place = try rig.options().place(try ODataServiceRoot(rig.root))
    let lock = try FileLock(place.lockFile)
    let store = try rig.store()
    await #expect { try await store.open() } throws: { error in
      if case .cacheInUse? = (error as? ODataServiceError)?.category { true } else { false }
    }
    lock.release()
    try await store.open()
    try await store.close()
  }

  @Test("stores of one service root have a cache each where their names differ, be it by a letter's case alone")
  func names() async throws {
    let rig = try StoreRig { _ in .ok(#"{"v":1}"#) }
    let long = String(repeating: "a", count: 64)
    let names = ["store", "Store", "", "\u{E9}", "e\u{301}", "a b", "a_b", "a.", "a..b", "..", long + "1", long + "2"]
    var stores: [OnlineODataStore] = []
    for name in names {
      let store = try rig.store(nil) { $0.storeName = name }
      try await store.open()
      #expect(try await store.read("P").cached == nil, "'\(name)' has another's cache")
      #expect(try await store.read("P").cached != nil)
      stores.append(store)
    }
    let files = try FileManager.default.contentsOfDirectory(atPath: rig.folder.path).filter {
      $0.hasSuffix(CachePlace.fileExtension)
    }
    #expect(files.allSatisfy { name in name.utf8.allSatisfy { $0 < 0x80 } })
    #expect(Set(files.map { $0.lowercased() }).count == names.count)
    for store in stores { try await store.close() }
  }

  @Test("without a path the cache is in the platform's folder for data, under the names of application and service")
  func defaultLocation() async throws {
    let home = try TemporaryFolder()
    let rig = try StoreRig()
    let store = try await rig.openStore {
      $0.path = nil
      $0.conversation.environment.folders = ApplicationFolders(
        application: "app", variables: ["XDG_DATA_HOME": home.path])
    }
    try await store.close()
    let services = try FileManager.default.contentsOfDirectory(atPath: home.file("app/online"))
    let host = try #require(rig.root.host())
    #expect(services.count == 1 && services[0].hasPrefix(host + "-"), "\(services)")
    let files = try FileManager.default.contentsOfDirectory(atPath: home.file("app/online/\(services[0])"))
    #expect(files.contains { $0.hasSuffix("." + CachePlace.fileExtension) }, "\(files)")
  }

  @Test("without a path and a home folder a store does not open, and its cache cannot be cleared")
  func noDefaultLocation() async throws {
    let store = try StoreRig().store {
      $0.path = nil
      $0.conversation.environment.folders = ApplicationFolders(application: "app", variables: [:])
    }
    for call in [{ try await store.open() }, { try await store.clearCache() }] as [() async throws -> Void] {
      let error = await #expect(throws: ODataServiceError.self) { try await call() }
      #expect(error?.explanation.cure == "Set HOME to the user's home folder, or give the store a path.")
    }
    #expect(!store.isOpen)
  }

  @Test("an open store cannot be initialised again, a closed one can")
  func initialize() async throws {
    let rig = try StoreRig()
    let store = try await rig.openStore()
    #expect(throws: ODataServiceError.self) { try store.initialize(rig.options()) }
    try await store.open()
    try await store.close()
    try store.initialize(rig.options { $0.storeName = "renamed" })
    try await store.open()
    #expect(store.options.storeName == "renamed")
    try await store.close()
  }

  @Test("entries of different credentials never meet, and no credential is in the file")
  func credentials() async throws {
    let rig = try StoreRig { request in .ok(#"{"for":"\#(request.fields[.authorization] ?? "nobody")"}"#) }
    let anna = try BasicAuthentication(user: "anna-secret", password: "password-secret")
    let store = try await rig.openStore(anna)
    _ = try await store.read("P")
    var request = ODataSingleRequest.read("P")
    request.fields[.authorization] = "Bearer token-secret"
    #expect(await store.calls(.single(request))[1] == "cacheResponse(inProgress)")
    request.fields[.authorization] = nil
    request.fields[.cookie] = "session=cookie-secret"
    #expect(await store.calls(.single(request))[1] == "cacheResponse(inProgress)")
    #expect(try await store.read("P").cached != nil)
    try await store.close()
    let other = try await rig.openStore(try BasicAuthentication(user: "berta", password: "x"))
    #expect(try await other.read("P").cached == nil)
    try await other.close()
    #expect(try await rig.cacheFile.entries().count == 4)
    let file = try Data(contentsOf: URL(filePath: rig.cacheFile.path))
    for secret in ["token-secret", "cookie-secret"] {
      // The stub repeats the Authorization in its payload; fields and keys must not.
      let text = String(decoding: file, as: UTF8.self).replacing(#"{"for":"Bearer token-secret"}"#, with: "")
      #expect(!text.contains(secret))
    }
  }

  @Test("another representation is a miss", arguments: ["Accept", "Accept-Language", "Prefer", "X-Tenant"])
  func variants(_ name: String) async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    var request = ODataSingleRequest.read("P")
    request.fields[HTTPFieldName(name)] = "something"
    #expect(await store.calls(.single(request))[1] == "cacheResponse(inProgress)")
    #expect(await store.calls(.single(request))[1] == "cacheResponse(inProgress)={}")
    request.fields["X-Request-ID"] = "17"
    #expect(await store.calls(.single(request))[1] == "cacheResponse(inProgress)={}")
    try await store.close()
  }

  @Test("sessions and credentials in a response's fields are not stored")
  func filteredFields() async throws {
    let rig = try StoreRig { _ in
      .ok("{}", ["Set-Cookie": "id=secret", "X-CSRF-Token": "secret", "X-Kept": "yes", "Connection": "close"])
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    let fields = try #require(try await rig.cacheFile.entries().first).fields
    #expect(fields["X-Kept"] == "yes")
    for name in ["Set-Cookie", "X-CSRF-Token", "Connection"] { #expect(!fields.contains(HTTPFieldName(name))) }
    try await store.close()
  }

  @Test(
    "responses that are not whole representations are delivered and not stored",
    arguments: [
      (200, "text/html", "<html></html>"), (202, "application/json", "{}"),
      (200, "application/json", #"{"value":[1,2"#), (200, "application/atom+xml", "<feed><entry>"),
      (200, "application/json", #"{"a":1}garbage"#),
    ])
  func notStored(_ status: Int, _ type: String, _ body: String) async throws {
    let rig = try StoreRig { _ in .status(status, body, ["Content-Type": type]) }
    let store = try await rig.openStore()
    #expect(text(try await store.read("P").last) == body)
    #expect(try await rig.cacheFile.entries().isEmpty)
    try await store.close()
  }

  @Test(
    "equal spellings of scheme, host and an empty path are one resource; everything else is literal (RFC 9110 §4.2.3)")
  func spellings() async throws {
    let rig = try StoreRig { .ok(#"{"url":"\#($0.url.absoluteString)"}"#) }
    let store = try await rig.openStore()
    let host = try #require(rig.root.host())
    let first = "HTTP://\(host.uppercased())/service/P?a=%7e"
    #expect(text(try await store.read(first).last) == #"{"url":"\#(first)"}"#)
    #expect(try await store.read("http://\(host)/service/P?a=%7e").cached != nil)
    #expect(try await store.read("http://\(host)/service/P?a=%7E").cached == nil)
    #expect(try await rig.cacheFile.responses(to: first).count == 1)
    try await store.close()
  }

  @Test(
    "the form of a URL as a key",
    arguments: [
      ("HTTP://H.Test:80/A?b=C", "http://h.test:80/A?b=C"), ("https://h", "https://h/"),
      ("https://h?A", "https://h/?A"),
      ("https://h/%7e", "https://h/%7e"), ("x", "x"),
    ])
  func keyForms(url: String, key: String) {
    #expect(CacheKey.normalised(url) == key)
  }

  @Test("a part that was not requested is an error, also beside a cached response, which stays (RFC 9110 §15.3.7)")
  func unrequestedPart() async throws {
    let isPart = Locked(false)
    let rig = try StoreRig { _ in
      isPart.withLock { $0 }
        ? .status(206, #"{"v"#, ["Content-Type": "application/json", "Content-Range": "bytes 0-2/11"])
        : .ok(#"{"value":1}"#)
    }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    isPart.withLock { $0 = true }
    for path in ["P", "Q"] {
      let error = await #expect(throws: ODataServiceError.self) { try await store.read(path) }
      #expect(error?.response?.httpStatus == 206)
    }
    #expect(try await rig.cacheFile.entries().count == 1)
    try await store.close()
  }

  @Test("the cache is closed, reopened and cleared apart from the store")
  func closeReopenReset() async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore()
    _ = try await store.read("P")
    await #expect(throws: ODataServiceError.self) { try await store.clearCache() }
    await #expect(throws: ODataServiceError.self) { try await store.reopenCache() }
    try await store.closeCache()
    #expect(!store.isCacheOpen)
    try await store.reopenCache(encryptionKey: rig.key)
    #expect(try await store.read("P").cached != nil)
    try await store.closeCache()
    try await store.clearCache()
    try await store.reopenCache(encryptionKey: rig.key)
    #expect(try await store.read("P").cached == nil)
    try await store.close()
    try await store.clearCache()
    #expect(try TechnicalCacheFile.files(in: rig.folder.path).isEmpty)
    try await store.open()
    try await store.close()
  }

  @Test("above the size limit the least recently used responses are evicted, down to the threshold")
  func cleanup() async throws {
    let body = #"{"value":""# + String(repeating: "x", count: 7000) + #""}"#
    let rig = try StoreRig { _ in .ok(body) }
    // Each entry costs 8 kB: 100 kB hold twelve of them, 50 % six.
    let store = try await rig.openStore {
      $0.byteLimit = 100 << 10
      $0.cacheCleanupThreshold = 50
    }
    for index in 0..<12 { _ = try await store.read("P(\(index))") }
    #expect(try await rig.cacheFile.entries().count == 12)
    try store.setPassive(true)
    _ = try await store.read("P(0)")
    try store.setPassive(false)
    _ = try await store.read("P(12)")
    let start = rig.root.absoluteString
    let left: [String] = try await rig.cacheFile.entries().map { $0.url.replacing(start, with: "") }
    let expected: [String] = ["P(0)", "P(10)", "P(11)", "P(12)", "P(8)", "P(9)"]
    #expect(left == expected)
    let cleanUp = try #require(rig.diagnostics.first("cacheCleanedUp"))
    #expect(cleanUp.level == .debug && cleanUp.fields["entries"] == "7", "\(cleanUp.fields)")
    try await store.close()
  }

  @Test("a response larger than the cache is delivered, not stored, and the outdated one is removed")
  func tooLarge() async throws {
    let rig = try StoreRig { _ in .ok("{}") }
    let store = try await rig.openStore { $0.byteLimit = 10 << 10 }
    _ = try await store.read("P?$search=secret")
    rig.service.respond { _ in .ok(#"{"value":""# + String(repeating: "x", count: 20_000) + #""}"#) }
    #expect(try await store.read("P?$search=secret").last?.payloadBytes.count == 20_012)
    #expect(try await rig.cacheFile.entries().isEmpty)
    let tooLarge = try #require(rig.diagnostics.first("entryTooLarge"))
    #expect(tooLarge.module == "LarderOnline" && tooLarge.level == .warning)
    #expect(tooLarge.fields == ["url": rig.root.absoluteString + "P", "bytes": "20012"])
    try await store.close()
  }

  @Test("a full disk keeps no response from its reader, and is reported")
  func diskFull() async throws {
    let rig = try StoreRig { _ in .ok(#"{"value":""# + String(repeating: "x", count: 400_000) + #""}"#) }
    let store = try await rig.openStore { $0.maximumPageCount = 40 }
    #expect(try await store.read("P").last?.payloadBytes.count == 400_012)
    #expect(try await store.read("P").cached == nil)
    let failure = try #require(rig.diagnostics.first("cacheWriteFailed"))
    #expect((failure.error as? StorageError)?.category == .full)
    #expect(failure.fields == ["urls": rig.root.absoluteString + "P"])
    try await store.close()
  }

  enum Damage: CaseIterable { case middle, truncated, header, everything }

  @Test("a damaged cache is moved aside, created again, and reported", arguments: Damage.allCases)
  func damaged(_ damage: Damage) async throws {
    let rig = try StoreRig { _ in .ok(#"{"value":""# + String(repeating: "x", count: 50_000) + #""}"#) }
    let first = try await rig.openStore()
    for index in 0..<5 { _ = try await first.read("P(\(index))") }
    try await first.close()
    let file = URL(filePath: try rig.cacheFile.path)
    var bytes = try Data(contentsOf: file)
    switch damage {
    case .middle: for index in 4096..<20_480 { bytes[index] = 0xAA }
    case .truncated: bytes = bytes.prefix(bytes.count / 2)
    case .header: for index in 0..<100 { bytes[index] = 0xAA }
    case .everything: bytes = Data(repeating: 0xAA, count: bytes.count)
    }
    try bytes.write(to: file)
    let second = try await rig.openStore()
    let replacement = try #require(rig.diagnostics.first("cacheReplaced"))
    #expect(replacement.level == .error && replacement.fields["movedTo"]?.hasSuffix(".damaged") == true)
    #expect(try await second.read("P(1)").cached == nil)
    #expect(try await second.read("P(1)").cached != nil)
    try await second.close()
    #expect(try Data(contentsOf: URL(filePath: file.path + ".damaged")) == bytes)
  }

  private struct ServerVersion: SchemaStep {
    func run(on connection: Connection) throws(StorageError) { try connection.run("CREATE TABLE theirs(a)") }
  }

  @Test("a damaged file in its place that another program has open is not moved from under it")
  func damagedInUse() async throws {
    let rig = try StoreRig(isPlain: true)
    let path = try rig.options().place(try ODataServiceRoot(rig.root)).file
    let schema = Schema(applicationID: 77, steps: [ServerVersion()])
    try await Database.open(path, key: nil, schema: schema).close()
    let theirs = try await Database.open(path, key: nil, schema: schema)
    try await theirs.write { (connection) throws(StorageError) in
      try connection.run("INSERT INTO theirs VALUES(1)")
    }
    var bytes = try Data(contentsOf: URL(filePath: path))
    for index in 0..<100 { bytes[index] = 0xAA }
    try bytes.write(to: URL(filePath: path))
    await #expect(throws: ODataServiceError.self) { try await rig.store().open() }
    #expect(try Data(contentsOf: URL(filePath: path)) == bytes)
    #expect(!FileManager.default.fileExists(atPath: path + ".damaged"))
    try? await theirs.close()
    let store = try await rig.openStore()
    #expect(FileManager.default.fileExists(atPath: path + ".damaged"))
    try await store.close()
  }

  @Test("damage inside a payload is a miss, never a wrong response")
  func damagedPayload() async throws {
    let body = #"{"value":""# + String(repeating: "x", count: 9000) + #""}"#
    // Of an encrypted file every byte of a page is authenticated.
    let rig = try StoreRig(isPlain: true) { _ in .ok(body) }
    let first = try await rig.openStore()
    _ = try await first.read("P")
    try await first.close()
    let file = URL(filePath: try rig.cacheFile.path)
    var bytes = try Data(contentsOf: file)
    let place = try #require(bytes.firstRange(of: Data(repeating: 0x78, count: 3000)))
    bytes[place.lowerBound + 100] = 0x79
    try bytes.write(to: file)
    let second = try await rig.openStore()
    #expect(try await second.read("P").cached == nil)
    #expect(rig.diagnostics.first("entryDamaged") != nil)
    #expect(text(try await second.read("P").cached) == body)
    try await second.close()
  }

  @Test("a file that is not ours is rejected and unchanged")
  func foreignFile() async throws {
    let rig = try StoreRig()
    let place = try rig.options().place(try ODataServiceRoot(rig.root))
    let bytes = Data("my diary, not a cache".utf8)
    try bytes.write(to: URL(filePath: place.file))
    let store = try rig.store()
    await #expect { try await store.open() } throws: { error in
      ((error as? ODataServiceError)?.cause as? StorageError)?.category == .foreignFile
    }
    #expect(try Data(contentsOf: URL(filePath: place.file)) == bytes)
    await #expect(throws: ODataServiceError.self) { try await store.clearCache() }
    #expect(try Data(contentsOf: URL(filePath: place.file)) == bytes)
  }

  @Test("a cache file can be listed and shown while its store is open, and cleared when it is closed")
  func inspection() async throws {
    let rig = try StoreRig { _ in .ok(#"{"v":1}"#, ["ETag": "\"1\""]) }
    let store = try await rig.openStore()
    _ = try await store.read("P?$top=1")
    let file = try rig.cacheFile
    #expect(try await file.serviceRoot() == rig.root.absoluteString)
    let entry = try #require(try await file.entries().first)
    #expect(entry.url == rig.root.absoluteString + "P?$top=1")
    #expect(entry.payloadBytes == 7)
    #expect(entry.fields[.etag] == "\"1\"")
    #expect(text(try await file.responses(to: entry.url).first) == #"{"v":1}"#)
    await #expect(throws: ODataServiceError.self) { try await file.clear() }
    try await store.close()
    try await file.clear()
    #expect(try TechnicalCacheFile.files(in: rig.folder.path).isEmpty)
    await #expect(throws: ODataServiceError.self) { _ = try await file.entries() }
  }
}
