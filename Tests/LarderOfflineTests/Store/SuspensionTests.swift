import Dispatch
import Foundation
import LarderHTTP
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig
@testable import LarderOffline

@Suite("A suspended offline store", .timeLimit(.minutes(5)))
struct OfflineSuspensionTests {
  private struct Row: Codable, Sendable, Equatable {
    let text: String
    enum CodingKeys: String, CodingKey { case text = "Text" }
  }

  private static func name(_ body: () async throws -> Void) async -> OfflineODataErrorName? {
    do {
      try await body()
      return nil
    } catch { return OfflineODataError(below: error).name }
  }

  private static func provider(
    _ folder: TemporaryFolder, _ server: ScriptedServer, isEncrypted: Bool = false
  ) throws -> OfflineODataProvider {
    let rig = try StoreRig(server.url("/s/").absoluteString)
    var parameters = OfflineODataParameters(
      storeName: "store", path: folder.path, encryptionKey: isEncrypted ? try RigKey.make() : nil)
    parameters.conversation.retry = .never
    return try OfflineODataProvider(
      serviceRoot: server.url("/s/"), transport: rig.transport, parameters: parameters)
  }

  private static func open(
    _ folder: TemporaryFolder, _ server: ScriptedServer, isEncrypted: Bool = false
  ) async throws -> OfflineODataProvider {
    let store = try provider(folder, server, isEncrypted: isEncrypted)
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await store.open()
    return store
  }

  /// Holds the response to a request until the semaphore is signalled. The stream ends when the request is there.
  private static func hold(_ request: Int, of rows: ScriptedRows) -> (begun: AsyncStream<Void>, DispatchSemaphore) {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let isHeld = DispatchSemaphore(value: 0)
    rows.change { state in
      state.before = { number, _ in
        guard number == request else { return }
        begin.finish()
        isHeld.wait()
      }
    }
    return (begun, isHeld)
  }

  @Test("holds no lock, rejects every call by name, and works again without a network", arguments: [false, true])
  func life(isEncrypted: Bool) async throws {
    let server = try ScriptedRows(5).serve()
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server, isEncrypted: isEncrypted)
    #expect(try await store.size("Rows") == 5)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path).contains("POSIX store.larder"))
    #endif
    try await store.suspend()
    #expect(!store.isOpen)
    server.stop()
    let query = OfflineODataDefiningQuery("more", "Rows?$top=1")
    let calls: [@Sendable () async throws -> Void] = [
      { try await store.open() }, { _ = try await store.readJSON("Rows") },
      { _ = try await store.readEntity("Rows(1)") },
      { try await store.download() }, { try await store.upload() }, { try await store.add(query) },
      { try await store.removeDefiningQuery("rows") }, { _ = try await store.definingQueries() },
      { _ = try await store.hasPendingChanges() }, { try await store.undoAllPendingChanges() },
      { try await store.clear() }, { let _: OfflineODataLiveResults<[Row]> = try store.live([Row].self, "Rows") },
      { _ = try await store.execute(.single(.read("Rows"))) },
      { try await onDedicatedThread { _ = try store.executeBlocking(.single(.read("Rows"))) } },
    ]
    for (number, call) in calls.enumerated() { #expect(await Self.name(call) == .storeSuspended, "call \(number)") }
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    let open = openDescriptors().values.filter { $0.hasPrefix(folder.path) && !$0.contains("-changes") }
    #expect(open == [])
    #expect(!FileManager.default.fileExists(atPath: folder.file("store.larder-wal")))
    try await store.resume()
    #expect(try await store.size("Rows") == 5)
    try await store.close()
    #expect(await Self.name { _ = try await store.readJSON("Rows") } == .storeNotOpen)
  }

  @Test(
    "a whole download that is interrupted fails by name; the next one resumes it, a whole one begins anew",
    arguments: [false, true])
  func download(isWhole: Bool) async throws {
    let rows = ScriptedRows(45) { $0.pageSize = 10 }
    let server = try rows.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server)
    let first = rows.requested.count
    let (begun, isHeld) = Self.hold(first + 3, of: rows)
    let downloading = Task { await Self.name { try await store.download(whole: true) } }
    for await _ in begun {}
    try await store.suspend()
    isHeld.signal()
    #expect(await downloading.value == .storeSuspended)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    rows.change { $0.before = nil }
    try await store.resume()
    #expect(try await store.hasPendingDownload())
    let before = rows.requested.count
    try await store.download(whole: isWhole)
    #expect((rows.requested.count - before < 5) == !isWhole)
    #expect(try await store.hasPendingDownload() == false)
    #expect(try await store.size("Rows") == 45)
    try await store.close()
  }

  @Test("suspended during its first opening: that fails by name, and resuming continues it")
  func firstOpening() async throws {
    let rows = ScriptedRows(45) { $0.pageSize = 10 }
    let server = try rows.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try Self.provider(folder, server)
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    let (begun, isHeld) = Self.hold(2, of: rows)
    let opening = Task { await Self.name { try await store.open() } }
    for await _ in begun {}
    try await store.suspend()
    isHeld.signal()
    #expect(await opening.value == .storeSuspended)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    rows.change { $0.before = nil }
    let before = rows.requested.count
    try await store.resume()
    #expect(rows.requested.count - before < 5)
    #expect(try await store.size("Rows") == 45)
    try await store.close()
  }

  @Test("suspended again while it is resumed: that fails by name at once, although the service does not respond")
  func resuming() async throws {
    let rows = ScriptedRows(45) { $0.pageSize = 10 }
    let server = try rows.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try Self.provider(folder, server)
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    let arrivals = Tally("requests that are held")
    let isHeld = DispatchSemaphore(value: 0)
    rows.change { state in
      state.before = { number, _ in
        guard number >= 2 else { return }
        arrivals.add()
        isHeld.wait()
      }
    }
    let opening = Task { await Self.name { try await store.open() } }
    try await arrivals.wait(for: 1)
    try await store.suspend()
    isHeld.signal()
    #expect(await opening.value == .storeSuspended)
    let resuming = Task { await Self.name { try await store.resume() } }
    try await arrivals.wait(for: 2)
    try await store.suspend()
    #expect(await resuming.value == .storeSuspended)
    // This one has begun by then, or not.
    let next = immediately { await Self.name { try await store.resume() } }
    try await store.suspend()
    #expect(try await next.value == .storeSuspended)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    for _ in 0..<5 { isHeld.signal() }
    rows.change { $0.before = nil }
    try await store.resume()
    #expect(try await store.size("Rows") == 45)
    try await store.close()
  }

  @Test("suspended while it opens, at any point: it is suspended in the end, not closed")
  func atAnyPoint() async throws {
    let server = try ScriptedRows(5).serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server)
    for _ in 0..<30 {
      try await store.close()
      let opening = immediately { await Self.name { try await store.open() } }
      try await store.suspend()
      let name = try await opening.value
      #expect([nil, .storeSuspended].contains(name))
      #expect(await Self.name { _ = try await store.readJSON("Rows") } == .storeSuspended)
      try await store.resume()
      #expect(try await store.size("Rows") == 5)
    }
    try await store.close()
  }

  /// Suspends its store when it is open, and notes whether that ends while the opening still reports so.
  private final class Hasty: OfflineODataListener {
    let ends = Tally("suspensions")
    let heard = Mutex<(states: [OfflineODataState], isEarly: Bool)>(([], false))

    func offlineODataProvider(_ provider: OfflineODataProvider, stateDidChange state: OfflineODataState) {
      heard.withLock { $0.states.append(state) }
      guard state == .open else { return }
      Task {
        try? await provider.suspend()
        ends.add()
      }
      for _ in 0..<100_000 where ends.value == 0 { sched_yield() }
      let isEarly = ends.value > 0
      heard.withLock { $0.isEarly = isEarly }
    }
  }

  @Test("suspended as soon as it is open: the opening ends first, and the last event is that of the closing")
  func lastEvent() async throws {
    let server = try ScriptedRows(5).serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try Self.provider(folder, server)
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    let listener = Hasty()
    store.listener = listener
    try await store.open()
    try await listener.ends.wait(for: 1)
    let heard = listener.heard.withLock { $0 }
    #expect(heard.states == [.opening, .open, .closing, .closed])
    #expect(!heard.isEarly)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    store.listener = nil
    try await store.resume()
    #expect(try await store.size("Rows") == 5)
    try await store.close()
  }

  @Test("live results wait, continue with what others have changed, and end with the store")
  func live() async throws {
    let rows = ScriptedRows(3)
    let server = try rows.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server)
    let results: OfflineODataLiveResults<[Row]> = try store.live([Row].self, "Rows?$orderby=ID")
    let (responses, response) = AsyncStream.makeStream(of: [String].self)
    let watching = Task {
      for try await rows in results { response.yield(rows.map(\.text)) }
      response.finish()
    }
    var texts = responses.makeAsyncIterator()
    #expect(await texts.next() == ["row 1", "row 2", "row 3"])
    try await store.suspend()
    let other = try await Self.open(folder, server)
    rows.change { $0.put(2, "changed") }
    try await other.download()
    try await other.close()
    try await store.resume()
    #expect(await texts.next() == ["row 1", "changed", "row 3"])
    rows.change { $0.put(4, "row 4") }
    try await store.download()
    #expect(await texts.next()?.count == 4)
    try await store.suspend()
    try await store.close()
    try await watching.value
    #expect(await texts.next() == nil)
  }

  @Test("live results of a store that was resumed continue without it; those of a suspended one end with it")
  func released() async throws {
    let rows = ScriptedRows(3)
    let server = try rows.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    var store: OfflineODataProvider? = try await Self.open(folder, server)
    let results: OfflineODataLiveResults<[Row]> = try #require(store).live([Row].self, "Rows?$orderby=ID")
    var known = results.makeAsyncIterator()
    #expect(try await known.next()?.count == 3)
    try await store?.suspend()
    try await store?.resume()
    store = nil
    var new = results.makeAsyncIterator()
    #expect(try await new.next()?.count == 3)
    var other: OfflineODataProvider? = try await Self.open(folder, server)
    rows.change { $0.put(2, "changed") }
    try await other?.download()
    #expect(try await known.next()?[1].text == "changed")
    #expect(try await new.next()?[1].text == "changed")
    var ended: OfflineODataLiveResults<[Row]>.AsyncIterator = try #require(other).live([Row].self, "Rows")
      .makeAsyncIterator()
    try await other?.suspend()
    other = nil
    #expect(try await ended.next() == nil)
  }

  @Test("a file that was removed meanwhile is not created again; the error says what to do")
  func removed() async throws {
    let server = try ScriptedRows(5).serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server)
    try await store.suspend()
    try FileManager.default.removeItem(atPath: folder.file("store.larder"))
    try FileManager.default.removeItem(atPath: folder.file("store.larder-changes"))
    let error = await #expect(throws: OfflineODataError.self) { try await store.resume() }
    #expect(error?.name == .resourceNotFound && error?.errorMessage.contains("close() and open()") == true)
    #expect(!FileManager.default.fileExists(atPath: folder.file("store.larder")))
    #expect(await Self.name { _ = try await store.readJSON("Rows") } == .storeSuspended)
    try await store.close()
    try await store.add(OfflineODataDefiningQuery("rows", "Rows"))
    try await store.open()
    #expect(try await store.size("Rows") == 5)
    try await store.close()
  }

  @Test("stays suspended where the file has another key by now, and is closed while it is suspended")
  func otherKey() async throws {
    let server = try ScriptedRows(5).serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server)
    try await store.suspend()
    try await OfflineODataProvider.changeEncryptionKey(of: store.parameters, to: try RigKey.make())
    #expect(await Self.name { try await store.resume() } == .encryptionKeyMissing)
    #expect(await Self.name { _ = try await store.readJSON("Rows") } == .storeSuspended)
    try await store.close()
    try await store.resume()
    #expect(await Self.name { _ = try await store.readJSON("Rows") } == .storeNotOpen)
    #expect(await Self.name { try await store.open() } == .encryptionKeyMissing)
    try await store.suspend()
    try await store.clear()
    try await store.open()
    try await store.close()
  }

  @Test("suspended and resumed in any order beside reads: each returns a result or is rejected by name")
  func mixture() async throws {
    let server = try ScriptedRows(5).serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let store = try await Self.open(folder, server)
    await withTaskGroup(of: Void.self) { group in
      for number in 0..<200 {
        group.addTask { @concurrent in
          switch number % 10 {
          case 0: _ = await Self.name { try await store.suspend() }
          case 5: _ = await Self.name { try await store.resume() }
          default:
            let name = await Self.name {
              let size = try await store.size("Rows")
              #expect(size == 5)
            }
            // One in progress is cancelled.
            #expect([nil, .storeSuspended, .cancelled].contains(name), "\(String(describing: name))")
          }
        }
      }
    }
    try await store.resume()
    #expect(try await store.size("Rows") == 5)
    async let first: Void = store.suspend()
    async let second: Void = store.suspend()
    _ = try await (first, second)
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    try await store.close()
  }
}
