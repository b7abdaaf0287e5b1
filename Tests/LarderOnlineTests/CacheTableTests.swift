import Foundation
import LarderHTTP
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOnline

/// The two tables of the technical cache: what a request calls by mode, store and cache.
@Suite("The technical cache's table", .timeLimit(.minutes(5)))
struct CacheTableTests {
  enum Outcome: String, Sendable { case cacheAndServer, server, cache, failure, cannotHappen }
  enum Kind: String, Sendable, CaseIterable { case read, batchWithRead, change, uncachedRead, batchWithoutRead }

  struct Row: Sendable, CustomStringConvertible {
    var usesCache: Bool
    var isPassive: Bool
    var isOpen: Bool
    /// With the cache open, closed, disabled.
    var outcomes: [Outcome]
    var description: String {
      "\(usesCache ? "uses" : "avoids") the cache, \(isPassive ? "passive" : "active"), \(isOpen ? "open" : "closed")"
    }
  }

  static let rows = [
    Row(usesCache: true, isPassive: false, isOpen: true, outcomes: [.cacheAndServer, .server, .server]),
    Row(usesCache: true, isPassive: false, isOpen: false, outcomes: [.failure, .failure, .failure]),
    Row(usesCache: true, isPassive: true, isOpen: true, outcomes: [.cache, .failure, .cannotHappen]),
    Row(usesCache: true, isPassive: true, isOpen: false, outcomes: [.failure, .failure, .cannotHappen]),
    Row(usesCache: false, isPassive: false, isOpen: true, outcomes: [.server, .server, .server]),
    Row(usesCache: false, isPassive: false, isOpen: false, outcomes: [.failure, .failure, .failure]),
    Row(usesCache: false, isPassive: true, isOpen: true, outcomes: [.failure, .failure, .cannotHappen]),
    Row(usesCache: false, isPassive: true, isOpen: false, outcomes: [.failure, .failure, .cannotHappen]),
  ]

  static let calls: [Outcome: [String]] = [
    .cacheAndServer: [
      "started(initialized)", "cacheResponse(inProgress)", "serverResponse(inProgress)", "finished(completed)",
    ],
    .server: ["started(initialized)", "serverResponse(inProgress)", "finished(completed)"],
    .cache: ["started(initialized)", "cacheResponse(inProgress)", "finished(completed)"],
    .failure: ["started(initialized)", "failed(failed)", "finished(failed)"],
  ]

  static func kinds(_ usesCache: Bool) -> [Kind] {
    usesCache ? [.read, .batchWithRead] : [.change, .uncachedRead, .batchWithoutRead]
  }

  static func request(_ kind: Kind) -> ODataRequest {
    switch kind {
    case .read: .read("Products")
    case .batchWithRead: .batch(.init([.read("Products"), .single(.delete("Products(1)"))]))
    case .change: .delete("Products(1)")
    case .uncachedRead: .read("Products", useCache: false)
    case .batchWithoutRead: .batch(.init([.read("Products", useCache: false), .single(.delete("Products(1)"))]))
    }
  }

  @Test("the pure machine gives each cell's calls in order", arguments: rows)
  func machine(_ row: Row) throws {
    for (cache, outcome) in zip([RequestMachine.CacheState.open, .closed, .disabled], row.outcomes) {
      // Switching to passive throws without a cache.
      guard outcome != .cannotHappen else { continue }
      for kind in CacheTableTests.kinds(row.usesCache) {
        let calls = try run(CacheTableTests.request(kind), row, cache)
        #expect(calls == CacheTableTests.calls[outcome], "\(kind.rawValue), cache \(cache)")
      }
    }
  }

  /// Runs the machine on an empty cache and a server that responds, and writes down what it reports.
  private func run(
    _ request: ODataRequest, _ row: Row, _ cache: RequestMachine.CacheState
  ) throws -> [String] {
    let root = try ODataServiceRoot(#require(URL(string: "http://host/service/")))
    let key = CacheKey(url: "http://host/service/Products", scope: [], variant: [])
    var keys: [CacheKey?] = []
    if cache == .open {
      keys = [key]
      if case .batch = request { keys.append(nil) }
    }
    var machine = RequestMachine(
      request, root: root,
      conditions: .init(isOpen: row.isOpen, isPassive: row.isPassive, cache: cache), keys: keys)
    var calls: [String] = []
    var input: RequestMachine.Input? = .start
    while let next = input {
      input = nil
      for action in machine.take(next) {
        switch action {
        case .report(.started): calls.append("started(initialized)")
        case .report(.cacheResponse): calls.append("cacheResponse(inProgress)")
        case .report(.serverResponse): calls.append("serverResponse(inProgress)")
        case .report(.finished): calls.append("finished(completed)")
        case .report(.failed): calls += ["failed(failed)", "finished(failed)"]
        case .report(.diagnostic): break
        case .perform(.lookUp(let keys)): input = .entries(keys.map { _ in nil })
        case .perform(.send):
          if case .batch = request {
            input = .response(.batch(.init(httpStatus: 200, slots: [nil, nil])))
          } else {
            input = .response(.single(.init(httpStatus: 200, payloadBytes: [0x7B, 0x7D], url: key.url)))
          }
        case .perform(.write): input = .written(nil)
        }
      }
    }
    return calls
  }

  @Test("a real store gives each cell's calls in order", arguments: rows)
  func store(_ row: Row) async throws {
    for (cache, outcome) in zip([RequestMachine.CacheState.open, .closed, .disabled], row.outcomes) {
      let rig = try StoreRig { request in
        request.method == .delete ? .status(204) : .ok(#"{"value":[]}"#)
      }
      let store = try await rig.openStore { $0.useCache = cache != .disabled }
      if cache == .closed { try await store.closeCache() }
      if row.isPassive {
        guard outcome != .cannotHappen else {
          #expect(throws: ODataServiceError.self) { try store.setPassive(true) }
          try await store.close()
          continue
        }
        try store.setPassive(true)
      }
      if !row.isOpen { try await store.close() }
      for kind in CacheTableTests.kinds(row.usesCache) where kind == .read || kind == .change || kind == .uncachedRead {
        let calls = await store.calls(CacheTableTests.request(kind)).map { String($0.prefix { $0 != "=" }) }
        #expect(calls == CacheTableTests.calls[outcome], "\(kind.rawValue), cache \(cache)")
      }
      if row.isPassive || !row.isOpen { #expect(rig.service.requests.isEmpty) }
      try await store.close()
    }
  }
}
