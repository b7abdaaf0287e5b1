import Foundation
import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderObjects

@Suite("Objects: the two tiers together", .timeLimit(.minutes(5)))
struct ObjectTierTests {
  @Test("The most requested values are in memory after opening, and can be read with their types")
  func warmUp() async throws {
    let rig = try ObjectRig()
    try await rig.with { (store) async throws in
      for number in 0..<20 { try await store.put(Friend(name: "\(number)", age: number), forKey: "\(number)") }
      try await store.put(Data([1, 2]), forKey: "data")
      for _ in 0..<9 { _ = try await store.value(Data.self, forKey: "data") }
      for number in 5..<10 {
        for _ in 0..<number { _ = try await store.value(Friend.self, forKey: "\(number)") }
      }
    }
    let store = try await rig.open(ObjectStoreOptions(warmUpCount: 3))
    #expect(store.memory.keys == ["9", "data", "8"] || store.memory.keys == ["data", "9", "8"])
    #expect(try await store.value(Friend.self, forKey: "9") == Friend(name: "9", age: 9))
    #expect(try await store.value(Friend.self, forKey: "9") == Friend(name: "9", age: 9))
    #expect(try await store.value(Data.self, forKey: "data") == Data([1, 2]))
    let error = try #require(await reason { _ = try await store.value(Int.self, forKey: "8") })
    #expect(error.key == "8")
    #expect(try await store.value(Friend.self, forKey: "8") == Friend(name: "8", age: 8))
    #expect(try await store.metadata(forKey: "9")?.timesRequested == 11)
    try await store.close()
  }

  @Test("Trimming releases the values in memory; they are read again, and their requests are counted")
  func trimMemory() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open()
    for number in 0..<20 { try await store.put(Friend(name: "\(number)", age: number), forKey: "\(number)") }
    for _ in 0..<3 { #expect(try await store.value(Friend.self, forKey: "7")?.age == 7) }
    #expect(store.memory.contents.count == 20)
    store.trimMemory()
    #expect(store.memory.contents == (0, 0))
    #expect(try await store.value(Friend.self, forKey: "7")?.age == 7)
    #expect(store.memory.keys == ["7"])
    #expect(try await store.metadata(forKey: "7")?.timesRequested == 4)
    try await store.close()
    store.trimMemory()
  }

  @Test("A store cannot be opened in memory, and the attempt leaves no file")
  func notInMemory() async throws {
    let error = await #expect(throws: ObjectStoreError.self) { _ = try await ObjectStore(path: ":memory:") }
    guard case .storage(let below)? = error?.category else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(below.category == .notSupported)
    for name in [":memory:", ":memory:-changes"] { #expect(!FileManager.default.fileExists(atPath: name)) }
  }

  /// A value that reads its store in its deinitializer.
  private final class Curious: Codable, Sendable {
    static let store = Mutex<ObjectStore?>(nil)
    static let readCount = Atomic(0)
    let number: Int

    init(_ number: Int) { self.number = number }

    deinit {
      guard let store = Curious.store.withLock({ $0 }) else { return }
      _ = store.memory.contents
      Curious.readCount.add(1, ordering: .relaxed)
    }
  }

  @Test("A value whose deinitializer reads the store can be replaced, deleted and evicted")
  func curiousValues() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open(ObjectStoreOptions(memory: .init(countLimit: 4, byteLimit: 1 << 20)))
    Curious.store.withLock { $0 = store }
    for number in 0..<8 { try await store.put(Curious(number), forKey: "\(number)") }
    for number in 4..<8 { try await store.put(Curious(number + 10), forKey: "\(number)") }
    #expect(try await store.removeValue(forKey: "7"))
    #expect(try await store.value(Curious.self, forKey: "1")?.number == 1)
    _ = try await store.removeAll()
    try await store.put(Curious(1), forKey: "1")
    try await store.close()
    Curious.store.withLock { $0 = nil }
    #expect(Curious.readCount.load(ordering: .relaxed) >= 12)
  }

  @Test("Counts are written a while after the first request, and a released store loses only later ones")
  func countsAreWritten() async throws {
    let rig = try ObjectRig()
    do {
      let store = try await rig.open()
      try await store.put(1, forKey: "a")
      for _ in 0..<3 { _ = try await store.value(Int.self, forKey: "a") }
      #expect(rig.delayed.withLock { $0.count } == 1)
      rig.runDelayed()
      // The writer's thread runs its work in order; a change may run on another thread in between, and write counts too.
      await withCheckedContinuation { written in store.database.whereWriting { _ in written.resume() } }
      try await store.put(2, forKey: "b")
      _ = try await store.value(Int.self, forKey: "b")
      #expect(rig.delayed.withLock { $0.count } == 1)
    }
    try await rig.with { (store) async throws in
      #expect(try await store.metadata(forKey: "a")?.timesRequested == 3)
      #expect(try await store.metadata(forKey: "b")?.timesRequested == 0)
    }
  }

  @Test("A put does not write the counts of other values, because their rows are anywhere in the file")
  func putsWriteNoCounts() async throws {
    let rig = try ObjectRig()
    let store = try await rig.open(ObjectStoreOptions(memory: .none))
    for number in 0..<20 { try await store.put(number, forKey: "\(number)") }
    for number in 0..<20 { _ = try await store.value(Int.self, forKey: "\(number)") }
    try await store.put(1, forKey: "20")
    func written() async throws -> Int64? {
      try await store.database.read { (connection) throws(StorageError) in
        try connection.first("SELECT count(*) FROM request") { (row) throws(StorageError) in try row.int64(0) }
      }
    }
    #expect(try await written() == 0)
    rig.runDelayed()
    await withCheckedContinuation { written in store.database.whereWriting { _ in written.resume() } }
    #expect(try await written() == 20)
    try await store.close()
  }

  @Test("Many counts are written without a delay, and none is lost")
  func manyCounts() async throws {
    let rig = try ObjectRig()
    let count = MemoryTier.countLimit + 100
    try await rig.with(ObjectStoreOptions(memory: .init(countLimit: 100))) { (store) async throws in
      try await store.transaction { objects in
        for number in 0..<count { try objects.put(number, forKey: "\(number)") }
      }
      for number in 0..<count { _ = try await store.value(Int.self, forKey: "\(number)") }
      _ = try await store.value(Int.self, forKey: "7")
    }
    try await rig.with(ObjectStoreOptions(memory: .none)) { (store) async throws in
      let times = try await store.metadata().items.map(\.timesRequested)
      #expect(times.reduce(0, +) == count + 1)
      #expect(try await store.metadata(forKey: "7")?.timesRequested == 2)
    }
  }

  @Test("Two stores on one file: each sees the other's changes at once, also from memory")
  func twoStores() async throws {
    let rig = try ObjectRig()
    let (one, two) = (try await rig.open(), try await rig.open())
    for round in 0..<50 {
      let (writer, reader) = round.isMultiple(of: 2) ? (one, two) : (two, one)
      try await writer.put(round, forKey: "a", labels: ["x"])
      #expect(try await reader.value(Int.self, forKey: "a") == round)
      #expect(try await reader.value(Int.self, forKey: "a") == round)
      #expect(try await writer.value(Int.self, forKey: "a") == round)
      #expect(reader.memory.keys == ["a"])
    }
    var changes = try two.changes(forKey: "a").makeAsyncIterator()
    try await one.removeValue(forKey: "a")
    two.refresh()
    #expect(await changes.next() == .missed)
    #expect(try await two.value(Int.self, forKey: "a") == nil)
    try await one.put(1, forKey: "a")
    try await one.removeAll()
    #expect(try await two.value(Int.self, forKey: "a") == nil)
    try await one.close()
    try await two.close()
  }

  @Test("Another application's file, a damaged one and one of a later version are rejected and not changed")
  func rejections() async throws {
    let rig = try ObjectRig()
    try rig.folder.write(Array("not a database, and not of such a size".utf8), to: "objects")
    let foreign = try #require(await reason { _ = try await rig.open() })
    guard case .storage(let error) = foreign.category, error.category == .foreignFile else { throw foreign }
    let junk = [UInt8](repeating: 0x5A, count: 4096)
    try rig.folder.write(junk, to: "objects")
    let damaged = try #require(await reason { _ = try await rig.open() })
    guard case .storage(let error) = damaged.category, error.category == .corrupt else { throw damaged }
    #expect(try [UInt8](Data(contentsOf: URL(filePath: rig.path))) == junk)
  }

  @Test("A changed byte on disk is an error with the key; other values can be read, and a put repairs the value")
  func damage() async throws {
    let rig = try ObjectRig(isPlain: true)
    try await rig.with { (store) async throws in
      try await store.put([UInt8](repeating: 0x41, count: 500), forKey: "a")
      try await store.put([UInt8](repeating: 0x42, count: 500), forKey: "b")
    }
    var bytes = try [UInt8](Data(contentsOf: URL(filePath: rig.path)))
    let place = try #require(bytes.firstRange(of: [UInt8](repeating: 0x41, count: 500)))
    bytes[place.lowerBound + 250] = 0x43
    try rig.folder.write(bytes, to: "objects")
    try await rig.with { (store) async throws in
      for attempt in [
        { _ = try await store.value([UInt8].self, forKey: "a") }, { _ = try await store.values([UInt8].self) },
        { _ = try await store.storedBytes(forKey: "a") },
      ] as [() async throws -> Void] {
        let error = try #require(await reason(attempt))
        guard case .damaged = error.category else { throw error }
        #expect(error.key == "a")
      }
      #expect(try await store.value([UInt8].self, forKey: "b")?.count == 500)
      try await store.put([UInt8]([1]), forKey: "a")
      #expect(try await store.value([UInt8].self, forKey: "a") == [1])
      try await store.checkIntegrity()
    }
  }

  @Test("A store that cannot share its number of changes with other processes does not open")
  func unusableChanges() async throws {
    let rig = try ObjectRig()
    try FileManager.default.createDirectory(atPath: rig.path + "-changes", withIntermediateDirectories: false)
    let error = try #require(await reason { _ = try await rig.open() })
    guard case .storage(let cause) = error.category, cause.category == .cannotOpen else { throw error }
    try FileManager.default.removeItem(atPath: rig.path + "-changes")
    try await rig.with { (store) async throws in try await store.put(1, forKey: "a") }
  }
}
