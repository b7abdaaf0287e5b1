import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

/// Makes one system call fail: the n-th of a kind from now on, or all of them from there.
final class FaultPlan: Sendable {
  private struct State {
    var step: DiskStep?
    var left = 0
    var code: Int32 = 0
    var isLasting = false
    var struck = 0
  }
  private let state = Mutex(State())

  var faults: DiskFaults {
    { step in
      self.state.withLock { state in
        guard state.step == step else { return nil }
        state.left -= 1
        guard state.left == 0 || (state.isLasting && state.left < 0) else { return nil }
        state.struck += 1
        return state.code
      }
    }
  }

  func fail(_ step: DiskStep, after count: Int, _ code: Int32, lasting: Bool = false) {
    state.withLock { $0 = State(step: step, left: count + 1, code: code, isLasting: lasting) }
  }

  /// Ends the failures; returns how many there were.
  func end() -> Int {
    state.withLock { state in
      state.step = nil
      return state.struck
    }
  }
}

@Suite("A disk that fails", .timeLimit(.minutes(5)))
struct FileFailureTests {
  enum Act: String, CaseIterable, Sendable {
    case hit, hitLarge, storeSmall, storeLarge, replaceSmall, replaceLarge, write, update, remove, removeAll, evict
  }

  @Test("Former content that cannot be removed is reported, and the new entry is stored")
  func leftover() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    await cache.drained()
    try await cache.store(FileCacheRig.entry(200_000, seed: 1), forKey: "a")
    plan.fail(.remove, after: 0, EIO, lasting: true)
    try await cache.store(FileCacheRig.entry(210_000, seed: 2), forKey: "a")
    #expect(plan.end() > 0)
    #expect(try await cache.whole("a")?.bytes == FileCacheRig.bytes(210_000, seed: 2))
    let leftover = try #require(rig.diagnostics.first("cleanUpFailed"))
    #expect(leftover.module == "LarderContent" && leftover.level == .warning && leftover.fields == ["path": rig.path])
    #expect(leftover.error is CacheError)
    await cache.close()
  }

  @Test("at any one system call: a typed error, whole entries, right numbers", arguments: Act.allCases)
  func everyStep(act: Act) async throws {
    var struck = 0
    for (step, code) in zip(
      DiskStep.allCases, [EMFILE, ENOSPC, EIO, ENOSPC, EIO, EROFS, EIO, EIO, EIO, EIO, EIO, EMFILE])
    {
      for count in 0..<40 {
        let hits = try await FileFailureTests.strike(act, step, count, code)
        struck += hits
        if hits == 0 { break }
      }
    }
    print("\(act): \(struck) failures")
    #expect(struck >= 3)
  }

  private static func strike(_ act: Act, _ step: DiskStep, _ count: Int, _ code: Int32) async throws -> Int {
    let note: Comment = "\(act), \(step) \(count)"
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(limit: 1_000_000, synchronizes: count % 2 == 0, faults: plan.faults)
    await cache.drained()
    try await cache.store(FileCacheRig.entry(500, seed: 1), forKey: "small")
    try await cache.store(FileCacheRig.entry(200_000, seed: 2), forKey: "large")
    try await cache.store(FileCacheRig.entry(300, seed: 3), forKey: "other")
    let openEntry = try #require(try await cache.entry(forKey: "large"))
    if act == .evict { try await cache.store(FileCacheRig.entry(700_000, seed: 5), forKey: "filling") }
    plan.fail(step, after: count, code)
    do throws(CacheError) {
      try await perform(act, cache)
    } catch {
      switch error {
      case .full, .readOnly, .failed, .corrupt, .tooLarge: break
      default: Issue.record("\(note): \(error)")
      }
    }
    let struck = plan.end()
    for (key, wholes) in [
      "small": [(500, 1), (600, 11)], "large": [(200_000, 2), (210_000, 12)], "other": [(300, 3)], "new": [(700, 13)],
      "newLarge": [(220_000, 14)], "filling": [(700_000, 5)], "evicting": [(400_000, 15)],
    ] as [String: [(Int, UInt64)]] {
      guard let entry = try await cache.whole(key) else {
        let mayLack = ["new", "newLarge", "filling", "evicting"].contains(key)
        #expect(mayLack || [.remove, .removeAll, .evict].contains(act), "\(key): \(note)")
        continue
      }
      #expect(wholes.contains { entry.bytes == FileCacheRig.bytes($0.0, seed: $0.1) }, "\(key): \(note)")
    }
    #expect(try await openEntry.read(0..<openEntry.length) == FileCacheRig.bytes(200_000, seed: 2), note)
    // Never less than there is; exact once it is counted again.
    #expect(try cache.usedBytes >= rig.bytesOnDisk, note)
    await cache.drained()
    await cache.close()
    #expect(rig.files(below: "larder.temporary").isEmpty, note)
    try Data().write(to: URL(filePath: rig.path + "/larder.temporary/dead.lock"))
    let again = try rig.open()
    await again.drained()
    #expect(try again.usedBytes == rig.bytesOnDisk, note)
    #expect(try again.count == rig.entryFiles.count, note)
    #expect(rig.files(below: "larder.removed").isEmpty, note)
    #expect(rig.blobFiles.count <= rig.entryFiles.count, note)
    return struck
  }

  private static func perform(_ act: Act, _ cache: FileCache) async throws(CacheError) {
    switch act {
    case .hit: _ = try await cache.whole("small")
    case .hitLarge: _ = try await cache.whole("large")
    case .storeSmall: try await cache.store(FileCacheRig.entry(700, seed: 13), forKey: "new")
    case .storeLarge: try await cache.store(FileCacheRig.entry(220_000, seed: 14), forKey: "newLarge")
    case .replaceSmall: try await cache.store(FileCacheRig.entry(600, seed: 11), forKey: "small")
    case .replaceLarge: try await cache.store(FileCacheRig.entry(210_000, seed: 12), forKey: "large")
    case .write:
      let writer = try await cache.makeWriter()
      let bytes = FileCacheRig.bytes(220_000, seed: 14)
      for start in stride(from: 0, to: bytes.count, by: 30_000) {
        do throws(CacheError) {
          try await writer.append(Array(bytes[start..<min(start + 30_000, bytes.count)]))
        } catch {
          // What was appended before is still there to be read.
          let before = try await writer.read(0..<start)
          #expect(before == Array(bytes[..<start]))
          throw error
        }
      }
      _ = try await writer.commit(FileCacheRig.metadata(), forKey: "newLarge")
    case .update:
      guard let seen = try await cache.entry(forKey: "large") else { return }
      try await cache.update(seen, to: FileCacheRig.metadata("https://example.com/a", "new"), forKey: "large")
    case .remove: try await cache.removeEntry(forKey: "large")
    case .removeAll: try await cache.removeAll()
    case .evict: try await cache.store(FileCacheRig.entry(400_000, seed: 15), forKey: "evicting")
    }
  }

  @Test("while the folder is opened: a typed error, and it opens later")
  func opening() async throws {
    for (step, code) in zip(
      DiskStep.allCases, [EMFILE, ENOSPC, EIO, ENOSPC, EIO, EROFS, EIO, EIO, EIO, EIO, EIO, EMFILE])
    {
      for isNew in [true, false] {
        for count in 0..<20 {
          let rig = try FileCacheRig()
          if !isNew {
            let cache = try rig.open()
            try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
            await cache.close()
          }
          let plan = FaultPlan()
          plan.fail(step, after: count, code, lasting: true)
          let opened = try? rig.open(faults: plan.faults)
          await opened?.drained()
          await opened?.close()
          let struck = plan.end()
          let again = try rig.open()
          await again.drained()
          if !isNew { #expect(try await again.whole("k")?.bytes == FileCacheRig.bytes(200_000), "\(step) \(count)") }
          try await again.store(FileCacheRig.entry(10), forKey: "k")
          #expect(try again.usedBytes == rig.bytesOnDisk)
          if struck == 0 { break }
        }
      }
    }
  }

  @Test("that is full for a while: complete entries stay, nothing else is there, and then it works again")
  func full() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    plan.fail(.write, after: 0, ENOSPC, lasting: true)
    await #expect(throws: CacheError.full(path: rig.path)) {
      try await cache.store(FileCacheRig.entry(10), forKey: "a")
    }
    await #expect(throws: CacheError.full(path: rig.path)) {
      try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    }
    #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(200_000))
    #expect(try await cache.entry(forKey: "a") == nil)
    #expect(plan.end() > 1)
    try await cache.store(FileCacheRig.entry(10), forKey: "a")
    #expect(try await cache.whole("a")?.bytes == FileCacheRig.bytes(10))
    #expect(try cache.usedBytes == rig.bytesOnDisk)
  }

  @Test("as too many files are open: the message says so, and what was complete stays")
  func tooManyFiles() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    try await cache.store(FileCacheRig.entry(200_000), forKey: "k")
    for step in [DiskStep.open, .create] {
      plan.fail(step, after: 0, EMFILE, lasting: true)
      let failure = await #expect(throws: CacheError.self) {
        if step == .open { _ = try await cache.entry(forKey: "k") }
        try await cache.store(FileCacheRig.entry(10), forKey: "a")
      }
      #expect(failure?.description.contains("Too many files are open") == true)
      _ = plan.end()
      #expect(try await cache.whole("k")?.bytes == FileCacheRig.bytes(200_000))
    }
  }

  @Test(
    "as what is there may not be read: the error says so, and no entry is taken for damaged or removed",
    arguments: [EACCES, EPERM, EROFS, EMFILE, ENFILE, ENOSPC, EIO, ENOMEM])
  func failedReading(code: Int32) async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    for (key, length) in [("small", 20), ("large", 200_000)] {
      try await cache.store(FileCacheRig.entry(length), forKey: key)
    }
    let steps: [(DiskStep, Int)] = [
      (.open, 0), (.open, 1), (.status, 0), (.status, 1), (.read, 0), (.read, 1), (.read, 2),
    ]
    for (step, count) in steps {
      for (key, length) in [("small", 20), ("large", 200_000)] {
        plan.fail(step, after: count, code, lasting: true)
        let failure = await cacheError { _ = try await cache.whole(key) }
        _ = plan.end()
        switch failure {
        case .corrupt?, .foreign?, .gone?:
          Issue.record("\(step) \(count), errno \(code): \(String(describing: failure))")
        default: break
        }
        #expect(try await cache.whole(key)?.bytes == FileCacheRig.bytes(length), "\(step) \(count), errno \(code)")
      }
    }
    #expect(try cache.count == 2)
    await cache.close()
  }

  @Test("as a file may not be read, the message names it and the permissions", arguments: [EACCES, EPERM])
  func forbidden(code: Int32) async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    plan.fail(.open, after: 0, code)
    let failure = try #require(await cacheError { _ = try await cache.entry(forKey: "k") })
    #expect(failure.description.contains(try cache.filePath(of: "k")), "\(failure)")
    #expect(failure.description.contains("cannot be read") && failure.description.contains("permissions"), "\(failure)")
    await cache.close()
  }

  @Test("if a locked device prevents reading, the message says so; the folder is not treated as read-only")
  func lockedDevice() async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    await cache.drained()
    for (key, length) in [("small", 20), ("large", 200_000)] {
      try await cache.store(FileCacheRig.entry(length), forKey: key)
    }
    let openEntry = try #require(try await cache.entry(forKey: "large"))
    let reads: [(step: DiskStep, count: Int, read: @Sendable () async throws -> Void)] = [
      (.open, 0, { _ = try await cache.entry(forKey: "small") }),
      (.read, 0, { _ = try await cache.entry(forKey: "small") }),
      (.open, 1, { _ = try await cache.entry(forKey: "large") }),
      (.read, 0, { _ = try await openEntry.read(0..<10) }),
    ]
    for (number, act) in reads.enumerated() {
      plan.fail(act.step, after: act.count, EPERM, lasting: true)
      let failure = await cacheError(act.read)
      #expect(plan.end() > 0, "\(number)")
      guard case .failed(_, let reason)? = failure else {
        Issue.record("\(number): \(String(describing: failure))")
        continue
      }
      #expect(reason.contains("locked"), "\(number)")
    }
    #expect(try await cache.whole("small")?.bytes == FileCacheRig.bytes(20))
    #expect(try await openEntry.read(0..<openEntry.length) == FileCacheRig.bytes(200_000))
    await cache.close()
  }

  @Test("as the file system has no locks, the folder is not taken for one of a later version")
  func noLocks() throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    plan.fail(.lock, after: 0, ENOTSUP, lasting: true)
    let failure = #expect(throws: CacheError.self) { _ = try rig.open(faults: plan.faults) }
    guard case .failed? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
  }

  @Test(
    "as a socket has an entry's name, which Linux and Darwin say by different numbers, the entry is damaged",
    arguments: [ENXIO, EOPNOTSUPP])
  func socket(code: Int32) async throws {
    let rig = try FileCacheRig()
    let plan = FaultPlan()
    let cache = try rig.open(faults: plan.faults)
    await cache.drained()
    try await cache.store(FileCacheRig.entry(20), forKey: "k")
    plan.fail(.open, after: 0, code)
    let failure = await cacheError { _ = try await cache.entry(forKey: "k") }
    guard case .corrupt? = failure else {
      Issue.record("\(String(describing: failure))")
      return
    }
    // It makes room for the next one.
    #expect(try await cache.entry(forKey: "k") == nil)
    await cache.close()
  }
}
