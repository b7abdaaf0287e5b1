import Foundation
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderObjects

/// A server moved by hand: each question waits until it is answered.
final class HandDrivenFetch: Sendable {
  private struct State {
    var questions: [CheckedContinuation<Int, any Error>] = []
    var waiting: [CheckedContinuation<CheckedContinuation<Int, any Error>, Never>] = []
    var count = 0
    var cancelled = 0
  }

  private let state = Mutex(State())

  /// How often it was asked.
  var count: Int { state.withLock { $0.count } }
  var cancelled: Int { state.withLock { $0.cancelled } }

  func ask() async throws -> Int {
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { question in
        let waiter = state.withLock { state in
          state.count += 1
          if state.waiting.isEmpty { state.questions.append(question) }
          return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
        }
        waiter?.resume(returning: question)
      }
    } onCancel: {
      state.withLock { $0.cancelled += 1 }
    }
  }

  /// The next question, when it is asked.
  func question() async -> CheckedContinuation<Int, any Error> {
    await withCheckedContinuation { waiter in
      let question = state.withLock { state in
        if state.questions.isEmpty { state.waiting.append(waiter) }
        return state.questions.isEmpty ? nil : state.questions.removeFirst()
      }
      if let question { waiter.resume(returning: question) }
    }
  }
}

struct NoNetwork: Error {}

@Suite("Objects: the value that is here, then the server's", .timeLimit(.minutes(5)))
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
      switch error.reason {
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
    "The outcomes: both, only the cache, only the server, none, gone",
    arguments: [
      (1, .success(2), ["cached 1", "fetched 2"], 2),
      (1, .failure(NoNetwork()), ["cached 1", "failed NoNetwork()"], 1),
      (nil, .success(2), ["fetched 2"], 2), (nil, .failure(NoNetwork()), ["absent a NoNetwork()"], nil),
      (1, .failure(ObjectGone()), ["cached 1", "gone a"], nil), (nil, .failure(ObjectGone()), ["gone a"], nil),
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

  @Test("The cached value comes before the server has answered; labels and lifetime are the fetched value's")
  func order() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a")
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a", labels: ["x"], lifetime: .seconds(5)) { try await server.ask() }
      var iterator = stream.makeAsyncIterator()
      guard case .cached(1) = try await iterator.next() else { throw NoNetwork() }
      await server.question().resume(returning: 2)
      guard case .fetched(2) = try await iterator.next() else { throw NoNetwork() }
      #expect(try await iterator.next() == nil)
      #expect(try await store.values(Int.self, label: "x") == [2])
      rig.clock.advance(5)
      #expect(try await store.value(Int.self, forKey: "a") == nil)
      // Expired is absent: only the server's comes.
      #expect(await steps(store.stream(forKey: "a") { 3 }) == ["fetched 3"])
    }
  }

  @Test(
    "A value that is put and deleted while the server is asked stays deleted; one that expires meanwhile is replaced",
    arguments: ["delete", "with others", "all", "many", "expiry", "none"])
  func comeAndGone(_ way: String) async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let server = HandDrivenFetch()
      async let told = steps(store.stream(forKey: "a") { try await server.ask() })
      let question = await server.question()
      // Another's change in between, which is told as `missed`, hides nothing.
      try await rig.with { other in try await other.put(1, forKey: "another's") }
      store.refresh()
      try await store.put(1, forKey: "a", expires: way == "expiry" ? rig.clock.now.addingTimeInterval(1) : nil)
      switch way {
      case "delete": try await store.delete(forKey: "a")
      case "with others":
        try await store.transaction { objects in
          try objects.delete(forKey: "a")
          try objects.put(2, forKey: "b")
        }
      case "many":
        try await store.transaction { objects in for number in 0..<1100 { try objects.put(1, forKey: "\(number)") } }
        try await store.deleteAll()
      case "all": try await store.deleteAll()
      case "expiry": rig.clock.advance(2)
      default: break
      }
      question.resume(returning: 7)
      #expect(await told == ["fetched 7"])
      let expected = way == "none" ? 1 : way == "expiry" ? 7 : nil
      #expect(try await store.value(Int.self, forKey: "a") == expected)
    }
  }

  @Test("A value that is deleted while the server is asked stays deleted, also where it would have expired by then")
  func deletedBeforeExpiry() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      try await store.put(1, forKey: "a", expires: rig.clock.now.addingTimeInterval(1))
      let server = HandDrivenFetch()
      async let told = steps(store.stream(forKey: "a") { try await server.ask() })
      let question = await server.question()
      #expect(try await store.delete(forKey: "a"))
      rig.clock.advance(2)
      question.resume(returning: 7)
      #expect(await told == ["cached 1", "fetched 7"])
      #expect(try await store.value(Int.self, forKey: "a") == nil)
    }
  }

  @Test("What is put or deleted while the server is asked stands, whatever the server says")
  func newer() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.ask() }
      try await store.put(1, forKey: "a")
      async let first = steps(stream)
      var question = await server.question()
      try await store.put(2, forKey: "a")
      question.resume(returning: 10)
      #expect(await first == ["cached 1", "fetched 10"])
      #expect(try await store.value(Int.self, forKey: "a") == 2)
      async let second = steps(stream)
      question = await server.question()
      try await store.put(2, forKey: "a")
      question.resume(throwing: ObjectGone())
      #expect(await second == ["cached 2", "gone a"])
      #expect(try await store.value(Int.self, forKey: "a") == 2)
      async let third = steps(stream)
      question = await server.question()
      try await store.delete(forKey: "a")
      question.resume(returning: 11)
      #expect(await third == ["cached 2", "fetched 11"])
      #expect(try await store.value(Int.self, forKey: "a") == nil)
    }
  }

  @Test("A value that expires while the server is asked gives way to the server's")
  func expiresMeanwhile() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      let server = HandDrivenFetch()
      try await store.put(1, forKey: "a", expires: rig.clock.now.addingTimeInterval(1))
      async let steps = steps(store.stream(Int.self, forKey: "a") { try await server.ask() })
      let question = await server.question()
      rig.clock.advance(2)
      try await store.put(0, forKey: "another")
      question.resume(returning: 2)
      #expect(await steps == ["cached 1", "fetched 2"])
      #expect(try await store.value(Int.self, forKey: "a") == 2)
    }
  }

  @Test("A fetch that nobody wants any more stores nothing, even where it ignores its cancellation")
  func abandoned() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.ask() }
      try await store.put(1, forKey: "a")
      do {
        var leaves = stream.makeAsyncIterator()
        _ = try await leaves.next()
      }
      let old = await server.question()
      async let steps = steps(stream)
      let new = await server.question()
      old.resume(returning: 2)
      // Made after whatever the old fetch would make.
      for _ in 0..<20 { try await store.put(0, forKey: "another") }
      #expect(try await store.value(Int.self, forKey: "a") == 1)
      new.resume(returning: 3)
      #expect(await steps == ["cached 1", "fetched 3"])
      #expect(try await store.value(Int.self, forKey: "a") == 3)
    }
  }

  @Test("Callers of one key share one fetch; another key and a later caller have their own")
  func sharing() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.ask() }
      var iterators = (0..<10).map { _ in stream.makeAsyncIterator() }
      try await store.put(1, forKey: "a")
      for index in iterators.indices {
        guard case .cached(1) = try await iterators[index].next() else { throw NoNetwork() }
      }
      await server.question().resume(returning: 2)
      for index in iterators.indices {
        guard case .fetched(2) = try await iterators[index].next() else { throw NoNetwork() }
      }
      #expect(server.count == 1)
      #expect(store.fetches.count == 0)
      async let later = steps(stream)
      await server.question().resume(returning: 3)
      #expect(await later == ["cached 2", "fetched 3"])
      #expect(server.count == 2)
    }
  }

  @Test("The fetch goes on while one caller wants it, and is cancelled with the last")
  func leaving() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.ask() }
      try await store.put(1, forKey: "a")
      var stays: ObjectStream<Int>.Iterator? = stream.makeAsyncIterator()
      _ = try await stays?.next()
      do {
        var leaves = stream.makeAsyncIterator()
        _ = try await leaves.next()
      }
      let question = await server.question()
      #expect(server.cancelled == 0)
      stays = nil
      #expect(server.cancelled == 1)
      // Who comes now is not given the cancelled one.
      async let next = steps(stream)
      await server.question().resume(returning: 4)
      #expect(await next == ["cached 1", "fetched 4"])
      question.resume(throwing: CancellationError())
    }
  }

  @Test("A caller whose task is cancelled ends; the others get the value")
  func cancellation() async throws {
    try await ObjectRig().with { (store) async throws in
      let server = HandDrivenFetch()
      let stream = store.stream(Int.self, forKey: "a") { try await server.ask() }
      let stays = Task { await steps(stream) }
      let question = await server.question()
      let leaves = Task { await steps(stream) }
      leaves.cancel()
      #expect(await leaves.value == [])
      question.resume(returning: 1)
      #expect(await stays.value == ["fetched 1"])
      #expect(server.count == 1)
    }
  }

  @Test("A value here of another type counts as none: the server's heals it, its failure shows what is wrong")
  func undecodable() async throws {
    try await ObjectRig().with { (store) async throws in
      try await store.put("text", forKey: "a")
      #expect(await steps(store.stream(forKey: "a") { throw NoNetwork() }) == ["mismatch a"])
      #expect(try await store.value(String.self, forKey: "a") == "text")
      #expect(await steps(store.stream(forKey: "a") { 5 }) == ["fetched 5"])
      #expect(try await store.value(Int.self, forKey: "a") == 5)
    }
  }

  @Test("A value that cannot be kept is told, and then why")
  func notKept() async throws {
    try await ObjectRig().with(ObjectStoreOptions(valueByteLimit: 2)) { (store) async throws in
      let found = await steps(store.stream(forKey: "a") { 12345 })
      #expect(found.first == "fetched 12345")
      #expect(found.count == 2 && found[1].contains("2 are allowed"))
      #expect(await steps(store.stream(forKey: "") { 1 }) == ["invalid key"])
    }
  }

  @Test("Closing ends what is under way, and a stream of a closed store throws")
  func closing() async throws {
    let store = try await ObjectRig().open()
    let server = HandDrivenFetch()
    let stream = store.stream(Int.self, forKey: "a") { try await server.ask() }
    let steps = Task { await self.steps(stream) }
    let question = await server.question()
    try await store.close()
    #expect(server.cancelled == 1)
    question.resume(throwing: CancellationError())
    #expect(await steps.value == ["absent a CancellationError()"])
    #expect(await self.steps(stream) == ["closed"])
  }
}
