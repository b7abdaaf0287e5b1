import Foundation
import LarderCurl
import LarderOData
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

/// The table of the technical cache, every cell of it, on a real server.
@Suite("Technical cache: the table of modes and states", .mockSAP(), .timeLimit(.minutes(5)))
struct TechnicalCacheTableTests {
  /// A column of the table.
  enum Cache: String, CaseIterable { case enabledAndOpen, enabledAndClosed, disabled }

  /// What a cell says.
  enum Outcome { case cacheThenServer, server, cache, failure, cannotHappen }

  /// Rows by mode and store, for the requests that the cache takes part in and for the others.
  struct Row: CustomStringConvertible, Sendable {
    var takesPart: Bool
    var isPassive: Bool
    var isOpen: Bool
    var cells: [Outcome]

    var description: String {
      "\(takesPart ? "cached read" : "change or uncached"), \(isPassive ? "passive" : "active"), "
        + "\(isOpen ? "open" : "closed")"
    }
  }

  static let table: [Row] = [
    Row(takesPart: true, isPassive: false, isOpen: true, cells: [.cacheThenServer, .server, .server]),
    Row(takesPart: true, isPassive: false, isOpen: false, cells: [.failure, .failure, .failure]),
    Row(takesPart: true, isPassive: true, isOpen: true, cells: [.cache, .failure, .cannotHappen]),
    Row(takesPart: true, isPassive: true, isOpen: false, cells: [.failure, .failure, .cannotHappen]),
    Row(takesPart: false, isPassive: false, isOpen: true, cells: [.server, .server, .server]),
    Row(takesPart: false, isPassive: false, isOpen: false, cells: [.failure, .failure, .failure]),
    Row(takesPart: false, isPassive: true, isOpen: true, cells: [.failure, .failure, .cannotHappen]),
    Row(takesPart: false, isPassive: true, isOpen: false, cells: [.failure, .failure, .cannotHappen]),
  ]

  static let order = "A_SalesOrder('0000004712')"

  /// The requests of a row's group.
  static func requests(takesPart: Bool) -> [(name: String, request: ODataRequest)] {
    let read = ODataSingleRequest.read("\(order)?$select=SalesOrder,PurchaseOrderByCustomer")
    let uncached = ODataSingleRequest.read("A_SalesOrder?$top=2", useCache: false)
    let entity = ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string("PO-1"))])
    let change = ODataSingleRequest.update(order, to: entity, ifMatch: "*")
    if takesPart {
      return [
        ("a read", .single(read)),
        ("a batch with one cached read", .batch(ODataBatchRequest([.single(read), .single(uncached)]))),
        ("a batch with a change", .batch(ODataBatchRequest([.single(read), .changeSet([change])]))),
      ]
    }
    return [
      ("a change", .single(change)), ("a read without the cache", .single(uncached)),
      ("a batch of only those", .batch(ODataBatchRequest([.single(uncached), .changeSet([change])]))),
    ]
  }

  @Test("Every cell", arguments: table.indices, Cache.allCases)
  func cell(_ index: Int, _ cache: Cache) async throws {
    let row = Self.table[index]
    let column = try #require(Cache.allCases.firstIndex(of: cache))
    for (name, request) in Self.requests(takesPart: row.takesPart) {
      let folder = try TemporaryFolder()
      let store = try await store(folder, cache: cache)
      if row.cells[column] == .cannotHappen {
        #expect(throws: ODataServiceError.self, "\(row)") { try store.setPassive(true) }
        #expect(!store.isPassive)
        if store.isOpen { try await store.close() }
        continue
      }
      // The cache knows the read before the cell is looked at, so that its response is no accident.
      if row.takesPart, cache == .enabledAndOpen { _ = try await store.execute(request) }
      if cache == .enabledAndClosed { try await store.closeCache() }
      try store.setPassive(row.isPassive)
      if !row.isOpen { try await store.close() }
      let recorder = RequestRecorder()
      let execution = store.schedule(request, listener: recorder)
      let calls = await recorder.calls
      expect(calls, row.cells[column], "\(name): \(row), \(cache)", execution)
      if store.isOpen { try await store.close() }
    }
  }

  private func store(_ folder: TemporaryFolder, cache: Cache) async throws -> OnlineODataStore {
    let root = try #require(URL(string: try MockSAP.ofSuite.salesOrdersV2))
    let store = try OnlineODataStore(
      serviceRoot: root, transport: CurlTransport(),
      options: OnlineStoreOptions(useCache: cache != .disabled, path: folder.path, storeName: UUID().uuidString))
    // One store with a cache a service at a time: the cells of the table take turns.
    while true {
      do {
        try await store.open()
        return store
      } catch let error as ODataServiceError {
        guard case .cacheInUse = error.category else { throw error }
        await Task.yield()
      }
    }
  }

  private func expect(
    _ calls: [RequestRecorder.Call], _ outcome: Outcome, _ what: String, _ execution: ODataRequestExecution
  ) {
    let names = calls.map { "\($0.name) \($0.status.rawValue)" }
    let started = "requestStarted initialized"
    switch outcome {
    case .cacheThenServer:
      #expect(
        names == [
          started, "requestCacheResponse inProgress", "requestServerResponse inProgress", "requestFinished completed",
        ], "\(what)")
      #expect(calls.count == 4 && calls[1].response?.payloads.first??.isEmpty == false, "\(what)")
      #expect(calls.last?.response == calls.dropLast().last?.response, "\(what): finished holds the server's response")
    case .server:
      #expect(
        names == [started, "requestServerResponse inProgress", "requestFinished completed"], "\(what)")
      #expect(calls.last?.response != nil && calls.last?.response == calls.dropLast().last?.response, "\(what)")
    case .cache:
      #expect(
        names == [started, "requestCacheResponse inProgress", "requestFinished completed"], "\(what)")
      #expect(calls.last?.response == calls.dropLast().last?.response, "\(what): finished holds the cache's response")
      #expect(calls.last?.response?.payloads.first??.isEmpty == false, "\(what)")
    case .failure:
      #expect(names == [started, "requestFailed failed", "requestFinished failed"], "\(what)")
      #expect(calls.last?.response == nil && execution.error != nil, "\(what)")
    case .cannotHappen: break
    }
    #expect(calls.first?.response == nil, "\(what): nothing is known when a request starts")
  }
}

@Suite("Technical cache: sequences of calls with a real server", .mockSAP(), .timeLimit(.minutes(5)), .serialized)
struct TechnicalCacheRunTests {
  @Test("Four reads of two URLs: first a miss each, then a hit each")
  func fourReads() async throws {
    try await withStore { store, _ in
      var hits: [Bool] = []
      for path in ["A_SalesOrder?$top=3", "A_SalesOrder?$top=4", "A_SalesOrder?$top=3", "A_SalesOrder?$top=4"] {
        let calls = await run(store, .read(path))
        #expect(calls.map(\.name) == activeSuccess)
        hits.append(calls[1].response != nil)
        #expect(calls[1].response == nil || calls[1].response?.payloads == calls[3].response?.payloads)
      }
      #expect(hits == [false, false, true, true])
    }
  }

  @Test(
    "Server unreachable: active mode returns the cached response and then fails, passive mode works, the entry stays")
  func serverGone() async throws {
    let service = try await onDedicatedThread { try MockSAP() }
    defer { service.stop() }
    try await withStore(service) { store, _ in
      let first = await run(store, .read("A_SalesOrder?$top=3"))
      service.stop()
      let active = await run(store, .read("A_SalesOrder?$top=3"))
      #expect(
        active.map { "\($0.name) \($0.status.rawValue)" } == [
          "requestStarted initialized", "requestCacheResponse inProgress", "requestFailed failed",
          "requestFinished failed",
        ])
      #expect(active[1].response?.payloads == first.last?.response?.payloads)
      #expect(active[3].response == active[2].response)
      try store.setPassive(true)
      let passive = await run(store, .read("A_SalesOrder?$top=3"))
      #expect(passive.map(\.name) == ["requestStarted", "requestCacheResponse", "requestFinished"])
      #expect(passive.last?.response?.payloads == first.last?.response?.payloads)
      let miss = await run(store, .read("A_SalesOrder?$top=99"))
      #expect(miss.map { "\($0.name) \($0.status.rawValue)" }.last == "requestFinished completed")
      #expect(miss.last?.response == nil)
    }
  }

  @Test("An unchanged entity returns 304 and the cached content; after a change, the new content")
  func notModified() async throws {
    try await withStore { store, service in
      let path = TechnicalCacheTableTests.order
      let first = await run(store, .read(path))
      let second = await run(store, .read(path))
      #expect(second.last?.response?.isNotModified == true)
      #expect(second.last?.response?.payloads == first.last?.response?.payloads)
      #expect(try service.requests().contains { $0.status == 304 && $0.path.hasSuffix("('0000004712')") })
      let entity = ODataEntity(properties: [ODataProperty("PurchaseOrderByCustomer", .string("PO-of-another-day"))])
      _ = try await store.execute(.update(path, to: entity, ifMatch: "*"))
      try service.advanceClock(days: 1)
      let third = await run(store, .read(path))
      #expect(third[1].response?.payloads == first.last?.response?.payloads, "the cache holds the last response")
      #expect(third.last?.response?.payloads != first.last?.response?.payloads)
    }
  }

  @Test("404 removes the entry; 500 keeps it")
  func removal() async throws {
    try await withStore { store, service in
      let path = "A_SalesOrder('0000004712')?$select=SalesOrder"
      let whole = await run(store, .read(path)).last?.response
      try service.addFault(.init(match: "4712", status: 500, count: 3))
      let failed = await run(store, .read(path))
      #expect(failed.last?.status == .failed)
      #expect(await run(store, .read(path))[1].response?.payloads == whole?.payloads)
      try service.addFault(.init(match: "4712", status: 404, count: 1))
      #expect(await run(store, .read(path)).last?.status == .failed)
      #expect(await run(store, .read(path))[1].response == nil)
      try service.clearFaults()
    }
  }

  @Test("A response that one process has read is available to another without a server")
  func persistence() async throws {
    let folder = try TemporaryFolder()
    let service = try await onDedicatedThread { try MockSAP() }
    defer { service.stop() }
    let root = try #require(URL(string: service.productsV4))
    let options = OnlineStoreOptions(useCache: true, path: folder.path)
    let first = try OnlineODataStore(serviceRoot: root, transport: CurlTransport(), options: options)
    try await first.open()
    let known = try await first.execute(single: .read("Product?$top=5"))
    try await first.close()
    service.stop()
    let second = try OnlineODataStore(serviceRoot: root, transport: CurlTransport(), options: options)
    try await second.open()
    try second.setPassive(true)
    let stored = try await second.execute(single: .read("Product?$top=5"))
    #expect(stored.payloadBytes == known.payloadBytes)
    let other = try OnlineODataStore(serviceRoot: root, transport: CurlTransport(), options: options)
    await #expect(throws: ODataServiceError.self) { try await other.open() }
    try await second.close()
  }

  private let activeSuccess = ["requestStarted", "requestCacheResponse", "requestServerResponse", "requestFinished"]

  private func run(_ store: OnlineODataStore, _ request: ODataRequest) async -> [RequestRecorder.Call] {
    let recorder = RequestRecorder()
    store.schedule(request, listener: recorder)
    return await recorder.calls
  }

  private func withStore(
    _ service: MockSAP? = nil, _ body: (OnlineODataStore, MockSAP) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let service = try service ?? MockSAP.ofSuite
    let root = try #require(URL(string: service.salesOrdersV2))
    let store = try OnlineODataStore(
      serviceRoot: root, transport: CurlTransport(), options: OnlineStoreOptions(useCache: true, path: folder.path)
    )
    try await store.open()
    try await body(store, service)
    try await store.close()
  }
}
