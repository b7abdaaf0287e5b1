import Foundation
import LarderObjects
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig

@Suite("A suspended object store", .timeLimit(.minutes(5)))
struct ObjectSuspensionTests {
  private static func reason(_ body: () async throws -> Void) async -> String {
    do {
      try await body()
      return "none"
    } catch let error as ObjectStoreError {
      return switch error.category {
      case .suspended: "suspended"
      case .closed: "closed"
      case .storage(let error): "\(error.category)"
      case .absent(let below): "absent: \(type(of: below))"
      default: "\(error)"
      }
    } catch { return "\(error)" }
  }

  @Test(
    "holds no lock, throws `suspended` from every call, and continues after it is resumed", arguments: [false, true])
  func life(isEncrypted: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("objects")
    let store = try await ObjectStore(path: path, encryptionKey: isEncrypted ? try RigKey.make() : nil)
    try await store.put("one", forKey: "a", labels: ["l"])
    #expect(try await store.value(String.self, forKey: "a") == "one")
    #if os(Linux)
      #expect(try heldLocks(below: folder.path).contains("POSIX objects"))
    #endif
    try await store.suspend()
    let calls: [@Sendable () async throws -> Void] = [
      { _ = try await store.value(String.self, forKey: "a") }, { try await store.put("two", forKey: "a") },
      { try await store.removeValue(forKey: "a") }, { try await store.removeAll() }, { _ = try await store.keys() },
      { _ = try await store.values(String.self, label: "l") }, { _ = try await store.count },
      { _ = try await store.metadata(forKey: "a") }, { try await store.checkIntegrity() },
      { try await store.transaction { _ in } }, { _ = try await store.storedBytes(forKey: "a") },
    ]
    for (number, call) in calls.enumerated() {
      #expect(await Self.reason(call) == "suspended", "call \(number)")
    }
    store.refresh()
    #if os(Linux)
      #expect(try heldLocks(below: folder.path) == [])
    #endif
    let open = openDescriptors().values.filter { $0.hasPrefix(path) }
    #expect(Set(open).isSubset(of: [path + "-changes"]), "\(open)")
    #expect(!FileManager.default.fileExists(atPath: path + "-wal"))
    try await store.resume()
    #expect(try await store.value(String.self, forKey: "a") == "one")
    try await store.put("two", forKey: "a")
    #expect(try await store.value(String.self, forKey: "a") == "two")
    try await store.close()
    #expect(await Self.reason { try await store.put("three", forKey: "a") } == "closed")
  }

  @Test("sees changes of another process after resuming, and reports `missed` to observers")
  func otherProcess() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    try await store.put(1, forKey: "count")
    // From now on, the value is read from memory.
    #expect(try await store.value(Int.self, forKey: "count") == 1)
    var changes = try store.changes(forKey: "count").makeAsyncIterator()
    try await store.suspend()
    #expect(try await ObjectProcess.lines(.count, rig.path, 2) == ["counted 2", "counted 3"])
    try await store.resume()
    #expect(await changes.next() == .missed)
    #expect(try await store.value(Int.self, forKey: "count") == 3)
    try await store.put(4, forKey: "count")
    #expect(await changes.next() == .put(key: "count"))
    try await store.close()
    #expect(await changes.next() == nil)
  }

  @Test("background writes take no lock and cause no error")
  func beside() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    try await store.put("one", forKey: "a")
    _ = try await store.value(String.self, forKey: "a")
    try await store.suspend()
    // Request counts that were scheduled to be written later.
    rig.runDelayed()
    try await store.resume()
    #expect(try await store.metadata(forKey: "a")?.timesRequested == 1)
    try await store.close()
  }

  @Test("request counts do not wait for the lock of another process, and are lost")
  func countsWithoutLock() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    try await store.put("one", forKey: "a")
    _ = try await store.value(String.self, forKey: "a")
    let other = try SharedCounter(rig.path + "-changes")
    try other.lock(milliseconds: 1000)
    // Scheduled counts do not delay anything either.
    rig.runDelayed()
    try await store.suspend()
    other.unlock()
    try await store.resume()
    #expect(try await store.metadata(forKey: "a")?.timesRequested == 0)
    try await store.close()
  }

  @Test("a running fetch ends, and its stream throws")
  func fetch() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let stream = store.stream(String.self, forKey: "a") {
      begin.finish()
      // Ends when its task is cancelled.
      for await _ in AsyncStream(Void.self, { _ in }) {}
      throw CancellationError()
    }
    let reading = Task { await Self.reason { for try await _ in stream {} } }
    for await _ in begun {}
    try await store.suspend()
    #expect(await reading.value == "absent: CancellationError")
    #expect(await Self.reason { for try await _ in stream {} } == "suspended")
    try await store.resume()
    #expect(try await store.count == 0)
    try await store.close()
  }

  @Test("stays suspended if the file has another key, and opens when it has the right key again")
  func otherKey() async throws {
    let folder = try TemporaryFolder()
    let path = folder.file("objects")
    let store = try await ObjectStore(path: path)
    try await store.put("one", forKey: "a")
    try await store.suspend()
    try await ObjectStore.changeEncryptionKey(path: path, from: nil, to: try RigKey.make())
    #expect(await Self.reason { try await store.resume() } == "encrypted")
    #expect(await Self.reason { try await store.put("two", forKey: "a") } == "suspended")
    try await ObjectStore.changeEncryptionKey(path: path, from: try RigKey.make(), to: nil)
    try await store.resume()
    #expect(try await store.value(String.self, forKey: "a") == "one")
    try await store.suspend()
    try FileManager.default.removeItem(atPath: path)
    try await store.resume()
    #expect(try await store.value(String.self, forKey: "a") == nil)
    try await store.close()
  }

  @Test("calls without effect: resuming an open store, suspending twice, suspending or resuming a closed store")
  func nothing() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    try await store.resume()
    try await store.put("one", forKey: "a")
    async let first: Void = store.suspend()
    async let second: Void = store.suspend()
    _ = try await (first, second)
    try await store.suspend()
    try await store.close()
    #expect(await Self.reason { try await store.put("two", forKey: "a") } == "closed")
    try await store.suspend()
    try await store.resume()
    #expect(await Self.reason { try await store.put("two", forKey: "a") } == "closed")
    #expect(try await rig.with { try await $0.value(String.self, forKey: "a") } == "one")
  }

  @Test("suspending and resuming during changes: each change is applied or throws `suspended`")
  func mixture() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    let applied = try await withThrowingTaskGroup(of: Int?.self) { group in
      for number in 0..<200 {
        group.addTask { @concurrent in
          switch number % 10 {
          case 0: try await store.suspend()
          case 5: try await store.resume()
          default:
            let reason = await Self.reason { try await store.put(number, forKey: "\(number)") }
            #expect(["none", "suspended"].contains(reason))
            return reason == "none" ? number : nil
          }
          return nil
        }
      }
      var applied: Set<String> = []
      for try await number in group { if let number { applied.insert("\(number)") } }
      return applied
    }
    try await store.resume()
    #expect(Set(try await store.keys()) == applied)
    try await store.close()
  }
}
