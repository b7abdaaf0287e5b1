import LarderHTTP
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

@Suite("Online store: calls that are cancelled", .timeLimit(.minutes(2)))
struct CancelledCallTests {
  /// A service that never responds.
  private struct SilentService: HTTPTransport {
    let arrivals = Tally("requests")

    @concurrent
    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      arrivals.add()
      await untilCancelled()
      throw .cancelled
    }
  }

  enum Call: String, CaseIterable, Sendable { case execute, batch, read, readEntity, create, live }

  private static func run(_ call: Call, _ store: OnlineODataStore) async throws {
    switch call {
    case .execute: _ = try await store.execute(.single(.read("Products")))
    case .batch: _ = try await store.execute(batch: ODataBatchRequest([.single(.read("Products"))]))
    case .read: _ = try await store.read([[String: Int]].self, "Products")
    case .readEntity: _ = try await store.readEntity("Products(1)")
    case .create: _ = try await store.create(ODataEntity(), in: "Products")
    case .live: for try await _ in try store.liveResults([[String: Int]].self, "Products") {}
    }
  }

  /// An open store whose service responds to no request but that for the metadata.
  private func store(_ arrivals: Tally) async throws -> (rig: StoreRig, store: OnlineODataStore) {
    let rig = try StoreRig { _ in
      arrivals.add()
      await untilCancelled()
      return .failure(.cancelled)
    }
    return (rig, try await rig.openStore())
  }

  @Test("A call throws CancellationError if its task is cancelled", arguments: Call.allCases)
  func cancelledTask(call: Call) async throws {
    let arrivals = Tally("requests")
    let (rig, store) = try await store(arrivals)
    let task = Task { try await Self.run(call, store) }
    try await arrivals.wait(for: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    try await store.close()
    withExtendedLifetime(rig) {}
  }

  @Test("A call throws CancellationError if the store is closed during it", arguments: Call.allCases)
  func closedStore(call: Call) async throws {
    let arrivals = Tally("requests")
    let (rig, store) = try await store(arrivals)
    let task = Task { try await Self.run(call, store) }
    try await arrivals.wait(for: 1)
    try await store.close()
    await #expect(throws: CancellationError.self) { try await task.value }
    withExtendedLifetime(rig) {}
  }

  @Test("Opening throws CancellationError if its task is cancelled")
  func opening() async throws {
    let rig = try StoreRig()
    let service = SilentService()
    let store = try OnlineODataStore(serviceRoot: rig.root, transport: service, options: rig.options())
    let task = Task { try await store.open() }
    try await service.arrivals.wait(for: 1)
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(!store.isOpen)
  }
}
