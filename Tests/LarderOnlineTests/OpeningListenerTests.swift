import Foundation
import LarderOnline
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("Opening with a listener", .timeLimit(.minutes(5)))
struct OpeningListenerTests {
  final class Listener: OnlineODataStoreListener {
    let calls: AsyncStream<String>
    private let continuation: AsyncStream<String>.Continuation

    init() { (calls, continuation) = AsyncStream.makeStream() }

    func onlineStoreOpenFinished(_ store: OnlineODataStore) {
      continuation.yield("finished \(store.isOpen)")
      continuation.finish()
    }

    func onlineStoreOpenFailed(_ store: OnlineODataStore, error: any Error) {
      continuation.yield("failed \(store.isOpen) \(type(of: error))")
      continuation.finish()
    }

    func end() { continuation.finish() }
    var all: [String] { get async { await calls.reduce(into: []) { $0.append($1) } } }
  }

  @Test("finished when it is open")
  func finished() async throws {
    let rig = try StoreRig()
    let store = try rig.store()
    let listener = Listener()
    store.open(listener: listener)
    #expect(await listener.all == ["finished true"])
    let again = Listener()
    store.open(listener: again)
    again.end()
    #expect(await again.all == [])
    try await store.close()
  }

  @Test("failed with the error when it is not")
  func failed() async throws {
    let rig = try StoreRig()
    rig.service.isAway = true
    let store = try rig.store()
    let listener = Listener()
    store.open(listener: listener)
    #expect(await listener.all == ["failed false ODataServiceError"])
  }

  @Test("opened by many at once it opens once")
  func once() async throws {
    let rig = try StoreRig()
    let store = try rig.store()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<20 { group.addTask { try await store.open() } }
      try await group.waitForAll()
    }
    #expect(store.isOpen)
    #expect(rig.service.metadataRequests == 1)
    try await store.close()
    try await store.close()
    #expect(!store.isOpen)
  }

  @Test("kept metadata is compared once, beside the first request that is sent")
  func refresh() async throws {
    let rig = try StoreRig()
    try await rig.openStore().close()
    let store = try await rig.openStore()
    #expect(rig.service.metadataRequests == 1)
    _ = try await store.read("P")
    _ = try await store.read("P")
    try await store.close()
    #expect(rig.service.metadataRequests <= 2)
  }
}
