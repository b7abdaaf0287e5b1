import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderObjects

/// A server that the test controls: each request waits until the test responds.
final class HandDrivenFetch: Sendable {
  private struct State {
    var requests: [CheckedContinuation<Int, any Error>] = []
    var waiting: [CheckedContinuation<CheckedContinuation<Int, any Error>, Never>] = []
    var count = 0
    var cancelled = 0
  }

  private let state = Mutex(State())

  /// The number of requests.
  var count: Int { state.withLock { $0.count } }
  var cancelled: Int { state.withLock { $0.cancelled } }

  func fetch() async throws -> Int {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { request in
        let waiter = state.withLock { state in
          state.count += 1
          if state.waiting.isEmpty { state.requests.append(request) }
          return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        waiter?.resume(returning: request)
      }
    } onCancel: {
      state.withLock { $0.cancelled += 1 }
    }
  }

  /// Waits for the next request.
  func request() async -> CheckedContinuation<Int, any Error> {
    await withCheckedContinuation { waiter in
      let request = state.withLock { state in
        if state.requests.isEmpty { state.waiting.append(waiter) }
        return state.requests.isEmpty ? nil : state.requests.removeFirst()
      }
      if let request { waiter.resume(returning: request) }
    }
  }
}

struct NoNetwork: Error {}

@Suite("Objects: the stored value, then the server's", .timeLimit(.minutes(5)))
struct ObjectStreamTests {
  private func steps(_ stream: ObjectStream<Int>) async -> [String] {
    var steps: [String] = []
    do {
      for try await step in stream {
        switch step {
        case .cached(let value): steps.append("cached \(value)")
        case .fetched(let value): steps.append("fetched \(value)")
        case .fetchFailed(let error): steps.append("failed \(error)")
        }
      }
    } catch {
      switch error.category {
      case .gone: steps.append("gone \(error.key ?? "")")
      case .absent(let cause): steps.append("absent \(error.key ?? "") \(cause)")
      case .typeMismatch: steps.append("mismatch \(error.key ?? "")")
      case .closed: steps.append("closed")
      case .invalidKey: steps.append("invalid key")
      default: steps.append("\(error)")
      }
    }
    return steps
  }

  @Test(
    "The outcomes: both values, only the stored one, only the server's, none, gone",
    arguments: [
      (1, .success(2), ["cached 1", "fetched 2"], 2),
      (1, .failure(NoNetwork()), ["cached 1", "failed NoNetwork()"], 1),
      (nil, .success(2), ["fetched 2"], 2), (nil, .failure(NoNetwork()), ["absent a NoNetwork()"], nil),
      (1, .failure(ObjectStoreError.gone), ["cached 1", "gone a"], nil),
      (nil, .failure(ObjectStoreError.gone), ["gone a"], nil),
    ] as [(Int?, Result<Int, any Error>, [String], Int?)])
  func outcomes(here: Int?, server: Result<Int, any Error>, expected: [String], after: Int?) async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      if let here { try await store.put(here, forKey: "a") }
      #expect(await steps(store.stream(forKey: "a") { try server.get() }) == expected)
      #expect(try await store.value(Int.self, forKey: "a") == after)
    }
    try await rig.with { (store) async throws in #expect(try await store.value(Int.self, forKey: "a") == after) }
  }

  @Test("A fetch that fails because the value of another key is gone keeps its own value")
  func goneElsewhere() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a")
      let elsewhere = ObjectStoreError(.stream, key: "b", .gone)
      let stream = store.stream(Int.self, forKey: "a") { throw elsewhere }
      #expect(await steps(stream) == ["cached 1", "failed \(elsewhere)"])
      #expect(try await store.value(Int.self, forKey: "a") == 1)
    }
  }

  @Test("The cached value is delivered before the server responds; labels and TTL apply to the fetched value")
  func order() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a")
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a", labels: ["x"], ttl: .seconds(5)) {
        try await server.fetch()
      }
      var iterator = stream.makeAsyncIterator()
      guard case .cached(1) = try await iterator.next() else { throw NoNetwork() }
      await server.request().resume(returning: 2)
      guard case .fetched(2) = try await iterator.next() else { throw NoNetwork() }
      #expect(try await iterator.next() == nil)
      #expect(try await store.values(Int.self, label: "x") == [2])
      rig.clock.advance(5)
      #expect(try await store.value(Int.self, forKey: "a") == nil)
      // An expired value is absent: only the server's is delivered.
      #expect(await steps(store.stream(forKey: "a") { 3 }) == ["fetched 3"])
    }
  }

  @Test(
    "A value that is put and deleted during the fetch stays deleted; one that expires during the fetch is replaced",
    arguments: ["delete", "with others", "all", "many", "expiry", "none"])
  func comeAndGone(_ event: String) async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let server = HandDrivenFetch()
      async let delivered = steps(store.stream(forKey: "a") { try await server.fetch() })
      let request = await server.request()
      // A change of another process in between, reported as `missed`, hides nothing.
      try await rig.with { other in try await other.put(1, forKey: "another's") }
      store.refresh()
      try await store.put(1, forKey: "a", expires: event == "expiry" ? rig.clock.now.addingTimeInterval(1) : nil)
      switch event {
      case "delete": try await store.removeValue(forKey: "a")
      case "with others":
        try await store.transaction { objects in
          try objects.removeValue(forKey: "a")
          try objects.put(2, forKey: "b")
        }
      case "many":
        try await store.transaction { objects in for number in 0..<1100 { try objects.put(1, forKey: "\(number)") } }
        try await store.removeAll()
      case "all": try await store.removeAll()
      case "expiry": rig.clock.advance(2)
      default: break
      }
      request.resume(returning: 7)
      #expect(await delivered == ["fetched 7"])
      let expected = event == "none" ? 1 : event == "expiry" ? 7 : nil
      #expect(try await store.value(Int.self, forKey: "a") == expected)
    }
  }

  @Test("A value that is deleted during the fetch stays deleted, even if it would have expired by then")
  func deletedBeforeExpiry() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a", expires: rig.clock.now.addingTimeInterval(1))
      let server = HandDrivenFetch()
      async let delivered = steps(store.stream(forKey: "a") { try await server.fetch() })
      let request = await server.request()
      #expect(try await store.removeValue(forKey: "a"))
      rig.clock.advance(2)
      request.resume(returning: 7)
      #expect(await delivered == ["cached 1", "fetched 7"])
      #expect(try await store.value(Int.self, forKey: "a") == nil)
    }
  }

  @Test("A put or delete during the fetch is kept, whatever the server returns")
  func newer() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.fetch() }
      try await store.put(1, forKey: "a")
      async let first = steps(stream)
      var request = await server.request()
      try await store.put(2, forKey: "a")
      request.resume(returning: 10)
      #expect(await first == ["cached 1", "fetched 10"])
      #expect(try await store.value(Int.self, forKey: "a") == 2)
      async let second = steps(stream)
      request = await server.request()
      try await store.put(2, forKey: "a")
      request.resume(throwing: ObjectStoreError.gone)
      #expect(await second == ["cached 2", "gone a"])
      #expect(try await store.value(Int.self, forKey: "a") == 2)
      async let third = steps(stream)
      request = await server.request()
      try await store.removeValue(forKey: "a")
      request.resume(returning: 11)
      #expect(await third == ["cached 2", "fetched 11"])
      #expect(try await store.value(Int.self, forKey: "a") == nil)
    }
  }

  @Test("A value that expires during the fetch is replaced by the server's")
  func expiresMeanwhile() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let server = HandDrivenFetch()
      try await store.put(1, forKey: "a", expires: rig.clock.now.addingTimeInterval(1))
      async let steps = steps(store.stream(Int.self, forKey: "a") { try await server.fetch() })
      let request = await server.request()
      rig.clock.advance(2)
      try await store.put(0, forKey: "another")
      request.resume(returning: 2)
      #expect(await steps == ["cached 1", "fetched 2"])
      #expect(try await store.value(Int.self, forKey: "a") == 2)
    }
  }

  @Test("A fetch without callers stores nothing, even if it ignores its cancellation")
  func abandoned() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.fetch() }
      try await store.put(1, forKey: "a")
      do {
        var leaves = stream.makeAsyncIterator()
        _ = try await leaves.next()
      }
      let old = await server.request()
      async let steps = steps(stream)
      let new = await server.request()
      old.resume(returning: 2)
      // Applied after all changes that the old fetch could make.
      for _ in 0..<20 { try await store.put(0, forKey: "another") }
      #expect(try await store.value(Int.self, forKey: "a") == 1)
      new.resume(returning: 3)
      #expect(await steps == ["cached 1", "fetched 3"])
      #expect(try await store.value(Int.self, forKey: "a") == 3)
    }
  }

  @Test("Concurrent callers with one key share one fetch; another key or a later caller starts a new one")
  func sharing() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.fetch() }
      var iterators = (0..<10).map { _ in stream.makeAsyncIterator() }
      try await store.put(1, forKey: "a")
      for index in iterators.indices {
        guard case .cached(1) = try await iterators[index].next() else { throw NoNetwork() }
      }
      await server.request().resume(returning: 2)
      for index in iterators.indices {
        guard case .fetched(2) = try await iterators[index].next() else { throw NoNetwork() }
      }
      #expect(server.count == 1)
      #expect(store.fetches.count == 0)
      async let later = steps(stream)
      await server.request().resume(returning: 3)
      #expect(await later == ["cached 2", "fetched 3"])
      #expect(server.count == 2)
    }
  }

  @Test("The fetch continues while it has a caller, and is cancelled when the last one leaves")
  func leaving() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.fetch() }
      try await store.put(1, forKey: "a")
      var stays: ObjectStream<Int>.Iterator? = stream.makeAsyncIterator()
      _ = try await stays?.next()
      do {
        var leaves = stream.makeAsyncIterator()
        _ = try await leaves.next()
      }
      let request = await server.request()
      #expect(server.cancelled == 0)
      stays = nil
      #expect(server.cancelled == 1)
      // A caller from now on does not join the cancelled fetch.
      async let next = steps(stream)
      await server.request().resume(returning: 4)
      #expect(await next == ["cached 1", "fetched 4"])
      request.resume(throwing: CancellationError())
    }
  }

  @Test("A caller whose task is cancelled ends; the others get the value")
  func cancellation() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.fetch() }
      let stays = Task { await steps(stream) }
      let request = await server.request()
      let leaves = Task { await steps(stream) }
      leaves.cancel()
      #expect(await leaves.value == [])
      request.resume(returning: 1)
      #expect(await stays.value == ["fetched 1"])
      #expect(server.count == 1)
    }
  }

  @Test(
    "A stored value of another type counts as none: the server's replaces it; if the fetch fails, the read error is thrown"
  )
  func undecodable() async throws {
    try await ObjectRig().with { (store) async throws in
      try await store.put("text", forKey: "a")
      #expect(await steps(store.stream(forKey: "a") { throw NoNetwork() }) == ["mismatch a"])
      #expect(try await store.value(String.self, forKey: "a") == "text")
      #expect(await steps(store.stream(forKey: "a") { 5 }) == ["fetched 5"])
      #expect(try await store.value(Int.self, forKey: "a") == 5)
    }
  }

  @Test("A fetched value that cannot be stored is delivered, and then the reason is thrown")
  func notStored() async throws {
    try await ObjectRig().with(ObjectStoreOptions(valueByteLimit: 2)) { (store) async throws in
      let delivered = await steps(store.stream(forKey: "a") { 12345 })
      #expect(delivered.first == "fetched 12345")
      #expect(delivered.count == 2 && delivered[1].contains("2 are allowed"))
      #expect(await steps(store.stream(forKey: "") { 1 }) == ["invalid key"])
    }
  }

  @Test("Closing ends running fetches, and a stream of a closed store throws")
  func closing() async throws {
    let store = try await ObjectRig().open()
    let server = HandDrivenFetch()
    let stream = store.stream(Int.self, forKey: "a") { try await server.fetch() }
    let steps = Task { await self.steps(stream) }
    let request = await server.request()
    try await store.close()
    #expect(server.cancelled == 1)
    request.resume(throwing: CancellationError())
    #expect(await steps.value == ["absent a CancellationError()"])
    #expect(await self.steps(stream) == ["closed"])
  }
}
