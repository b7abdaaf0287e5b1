import Foundation
import LarderObjects
import LarderTestSupport
import Synchronization
import Testing

/// A value whose decoding takes as long as the test needs.
private struct SlowValue: ByteStorable {
  static let begun = Mutex<(@Sendable () -> Void)?>(nil)
  static let mayEnd = DispatchSemaphore(value: 0)

  init() {}

  init(storedBytes bytes: [UInt8]) throws {
    SlowValue.begun.withLock { $0 }?()
    SlowValue.mayEnd.wait()
  }

  func storedBytes() throws -> [UInt8] { [] }
}

@Suite("Objects: point reads during long reads", .timeLimit(.minutes(5)))
struct ObjectPointReadTests {
  @Test("A value is read from the file while long reads use all their connections")
  func besideLongReads() async throws {
    let rig = try ObjectRig()
    try await rig.with(ObjectStoreOptions(memory: .none)) { (store) async throws in
      try await store.put(SlowValue(), forKey: "slow")
      try await store.put(1, forKey: "a")
      let (begun, continuation) = AsyncStream.makeStream(of: Void.self)
      SlowValue.begun.withLock { $0 = { continuation.yield() } }
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<4 {
          group.addTask { try await store.values(SlowValue.self, .keys(prefix: "slow")).count }
        }
        var beginnings = begun.makeAsyncIterator()
        for _ in 0..<4 { await beginnings.next() }
        #expect(try await store.value(Int.self, forKey: "a") == 1)
        #expect(try await store.metadata(forKey: "a") != nil)
        for _ in 0..<4 { SlowValue.mayEnd.signal() }
        for try await count in group { #expect(count == 1) }
      }
    }
  }
}
