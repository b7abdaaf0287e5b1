import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@Suite("Openings and closings that overlap", .timeLimit(.minutes(5)))
struct OpeningOrderTests {
  /// A service whose requests wait at a gate before they are sent.
  private final class GatedTransport: HTTPTransport {
    let service: StubService
    let gate = AsyncGate()
    let arrivals = Tally("requests")

    init(_ service: StubService) { self.service = service }

    @concurrent
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      arrivals.add()
      await gate.wait()
      return try await service.send(request)
    }
  }

  @Test("open, close, open in quick succession ends open")
  func inQuickSuccession() async throws {
    for _ in 0..<50 {
      let rig = try StoreRig()
      let transport = GatedTransport(rig.service)
      let store = try OnlineODataStore(serviceRoot: rig.root, transport: transport, options: rig.options())
      // Each runs until it waits, so that the three come in this order and the first is still in progress.
      let first = immediately { try await store.open() }
      try await transport.arrivals.wait(for: 1)
      let closing = immediately { try await store.close() }
      let second = immediately { try await store.open() }
      transport.gate.open()
      _ = await first.result
      try await closing.value
      try await second.value
      #expect(store.isOpen)
      try await store.close()
      #expect(!store.isOpen)
    }
  }

  @Test("one of two who wait for an opening is cancelled: the other one's store opens")
  func oneLeaves() async throws {
    let rig = try StoreRig()
    let transport = GatedTransport(rig.service)
    let store = try OnlineODataStore(serviceRoot: rig.root, transport: transport, options: rig.options())
    let leaver = immediately { try await store.open() }
    let stayer = immediately { try await store.open() }
    try await transport.arrivals.wait(for: 1)
    leaver.cancel()
    transport.gate.open()
    try await stayer.value
    _ = await leaver.result
    #expect(store.isOpen)
    try await store.close()
  }

  @Test("both who wait for an opening are cancelled: it ends, and the next one opens the store")
  func bothLeave() async throws {
    let rig = try StoreRig()
    let transport = GatedTransport(rig.service)
    let store = try OnlineODataStore(serviceRoot: rig.root, transport: transport, options: rig.options())
    let callers = [immediately { try await store.open() }, immediately { try await store.open() }]
    try await transport.arrivals.wait(for: 1)
    for caller in callers { caller.cancel() }
    transport.gate.open()
    for caller in callers { await #expect(throws: (any Error).self) { try await caller.value } }
    #expect(!store.isOpen)
    try await store.open()
    #expect(store.isOpen)
    try await store.close()
  }

  /// Blocks every caller of the identity, once armed, until it is released.
  private final class BlockedIdentity: HTTPAuthentication {
    let isArmed = Atomic(false)
    let stopped = Tally("askers stopped")
    let release = DispatchSemaphore(value: 0)

    var identity: String {
      if isArmed.exchange(false, ordering: .acquiringAndReleasing) {
        stopped.add()
        release.wait()
      }
      return "ann"
    }

    func authorization() async throws(HTTPAuthenticationError) -> String? { nil }
  }

  @Test("a request that is scheduled while the store closes sends nothing after the closing has ended")
  func scheduledWhileClosing() async throws {
    let rig = try StoreRig()
    let authentication = BlockedIdentity()
    let store = try await rig.openStore(authentication)
    let log = CallLog()
    authentication.isArmed.store(true, ordering: .releasing)
    // The request knows that the store is open, and has not begun.
    Thread.detachNewThread { store.schedule(.read("P"), listener: log) }
    try await authentication.stopped.wait(for: 1)
    let isClosed = Atomic(false)
    async let closing: Void = {
      try await store.close()
      isClosed.store(true, ordering: .releasing)
    }()
    // A closing that does not know of the request has time to end here.
    for _ in 0..<5_000 where !isClosed.load(ordering: .acquiring) { await Task.yield() }
    authentication.release.signal()
    try await closing
    let sent = rig.service.requests.count
    try await log.finished()
    #expect(rig.service.requests.count == sent)
    #expect([.cancelled, .failed, .completed].contains(log.calls.last?.status))
  }
}
