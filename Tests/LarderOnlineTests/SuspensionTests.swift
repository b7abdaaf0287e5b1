import Foundation
import LarderHTTP
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOnline

@Suite("A suspended online store", .timeLimit(.minutes(5)))
struct OnlineSuspensionTests {
  private static let rows = #"{"value":[{"ID":1,"Name":"A"}]}"#

  /// A service whose requests wait until their task is cancelled.
  private final class BlockedTransport: HTTPTransport {
    let arrivals = Tally("requests")
    /// False lets requests through.
    let isHolding = Atomic(true)
    private let service: StubService

    init(_ service: StubService) { self.service = service }

    @concurrent
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      arrivals.add()
      if isHolding.load(ordering: .relaxed) {
        for await _ in AsyncStream(Void.self, { _ in }) {}
        throw .cancelled
      }
      return try await service.send(request)
    }
  }

  /// What a call fails with: its category, or the error.
  private static func failure(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "none"
    } catch let error as ODataServiceError { return "\(error.category)" } catch { return "\(error)" }
  }

  @Test("holds no lock, rejects every call by name, and works again without a network", arguments: [false, true])
  func life(isEncrypted: Bool) async throws {
    let rig = try StoreRig(isPlain: true) { _ in .ok(Self.rows) }
    let key = isEncrypted ? try RigKey.make() : nil
    let store = try await rig.openStore { $0.encryptionKey = key }
    #expect(try await store.read("Products").last != nil)
    #if os(Linux)
      #expect(try !heldLocks(below: rig.folder.path).isEmpty)
    #endif
    try await store.suspend()
    #expect(!store.isOpen && !store.isCacheOpen)
    let calls: [@Sendable () async throws -> Void] = [
      { try await store.open() }, { _ = try await store.read("Products") },
      { _ = try await store.stream(.read("Products")) },
      { try await store.reopenCache(encryptionKey: key) }, { try await store.closeCache() },
      { try await store.clearCache() },
      { try await onDedicatedThread { _ = try store.executeBlocking(.read("Products")) } },
    ]
    for (number, call) in calls.enumerated() { #expect(await Self.failure(call) == "suspended", "call \(number)") }
    #expect(throws: ODataServiceError.self) { try store.initialize(rig.options()) }
    #if os(Linux)
      #expect(try heldLocks(below: rig.folder.path) == [])
    #endif
    #expect(openDescriptors().values.filter { $0.hasPrefix(rig.folder.path) } == [])
    rig.service.isAway = true
    try await store.resume()
    try store.setPassive(true)
    #expect(
      String(decoding: try #require(try await store.read("Products").cached).payloadBytes, as: UTF8.self) == Self.rows)
    try await store.close()
  }

  @Test("a request in progress is cancelled, and can be sent again")
  func inProgress() async throws {
    let arrivals = Tally("requests")
    let rig = try StoreRig { _ in
      arrivals.add()
      // Ends when its task is cancelled.
      for await _ in AsyncStream(Void.self, { _ in }) {}
      return .ok("{}")
    }
    let store = try await rig.openStore()
    let log = CallLog()
    store.schedule(.single(.read("Products")), listener: log)
    try await arrivals.wait(for: 1)
    try await store.suspend()
    try await log.finished()
    #expect(log.calls.last?.status == .cancelled)
    try await store.resume()
    rig.service.respond { _ in .ok(Self.rows) }
    #expect(try await store.read("Products").last != nil)
    try await store.close()
  }

  @Test("a store without a cache sends nothing when it is resumed; a cache that was closed apart stays closed")
  func withoutCache() async throws {
    let rig = try StoreRig { _ in .ok(Self.rows) }
    let plain = try await rig.openStore { $0.useCache = false }
    try await plain.suspend()
    rig.service.isAway = true
    try await plain.resume()
    #expect(plain.isOpen && plain.model != nil)
    try await plain.close()
    rig.service.isAway = false
    let store = try await rig.openStore()
    try await store.closeCache()
    try await store.suspend()
    try await store.resume()
    #expect(store.isOpen && !store.isCacheOpen)
    try await store.reopenCache(encryptionKey: rig.key)
    #expect(store.isCacheOpen)
    try await store.close()
  }

  @Test("resumed without a network it has the model of before, whatever became of its cache")
  func withoutMetadata() async throws {
    let rig = try StoreRig(isPlain: true) { _ in .ok(Self.rows) }
    let store = try await rig.openStore()
    let names = try FileManager.default.contentsOfDirectory(atPath: rig.folder.path)
    let file = try #require(names.first { $0.hasSuffix(CachePlace.fileExtension) })
    try await store.closeCache()
    try await store.clearCache()
    rig.service.isAway = true
    // No file; a new one without metadata; one that is damaged.
    try await store.suspend()
    try await store.resume()
    #expect(store.isOpen && !store.isCacheOpen && store.model != nil)
    try await store.reopenCache()
    try await store.suspend()
    try await store.resume()
    #expect(store.isOpen && store.isCacheOpen && store.model != nil)
    try await store.closeCache()
    try Data("no database".utf8).write(to: URL(filePath: rig.folder.file(file)))
    try await store.suspend()
    try await store.resume()
    #expect(store.isOpen && !store.isCacheOpen && store.model != nil)
    try await store.close()
  }

  @Test("suspended while it opens or is resumed: that fails by name at once, and resuming opens the store")
  func opening() async throws {
    let rig = try StoreRig { _ in .ok(Self.rows) }
    let transport = BlockedTransport(rig.service)
    let store = try OnlineODataStore(serviceRoot: rig.root, transport: transport, options: rig.options())
    let opening = immediately { try await store.open() }
    try await transport.arrivals.wait(for: 1)
    try await store.suspend()
    #expect(await Self.failure { try await opening.value } == "suspended")
    #expect(await Self.failure { try await store.open() } == "suspended")
    // Suspended again while it is resumed, which waits for the service, and perhaps before it is.
    let resuming = immediately { await Self.failure { try await store.resume() } }
    try await transport.arrivals.wait(for: 2)
    try await store.suspend()
    #expect(try await resuming.value == "suspended")
    let next = immediately { await Self.failure { try await store.resume() } }
    try await store.suspend()
    #expect(try await next.value == "suspended")
    #if os(Linux)
      #expect(try heldLocks(below: rig.folder.path) == [])
    #endif
    transport.isHolding.store(false, ordering: .relaxed)
    try await store.resume()
    #expect(store.isOpen && store.isCacheOpen)
    try await store.suspend()
    try await store.close()
    try await store.resume()
    #expect(!store.isOpen)
    #expect(await Self.failure { _ = try await store.read("Products") } == "notOpen")
    // A closed store opens as ever.
    try await store.suspend()
    try await store.open()
    try await store.close()
  }

  @Test("opened, suspended, resumed and closed in any order: the last call decides")
  func mixture() async throws {
    let rig = try StoreRig { _ in .ok(Self.rows) }
    let store = try rig.store()
    for _ in 0..<20 {
      await withTaskGroup(of: Void.self) { group in
        for number in 0..<12 {
          group.addTask { @concurrent in
            switch number % 4 {
            case 0: try? await store.open()
            case 1: try? await store.suspend()
            case 2: try? await store.resume()
            default: if number == 3 { try? await store.close() } else { _ = try? await store.read("Products") }
            }
          }
        }
      }
      try await store.suspend()
      #expect(!store.isOpen)
      #if os(Linux)
        #expect(try heldLocks(below: rig.folder.path) == [])
      #endif
      try await store.resume()
      try await store.open()
      #expect(try await store.read("Products").last != nil)
    }
    try await store.close()
  }
}
