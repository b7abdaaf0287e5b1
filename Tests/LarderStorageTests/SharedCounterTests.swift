import Foundation
@_spi(Stores) import LarderStorage
import LarderTestSupport
import Synchronization
import Testing

@Suite("Storage: the counter that processes share, and recently used entries", .timeLimit(.minutes(5)))
struct SharedCounterTests {
  @Test("A number set by one process is read by the other, and outlives both")
  func shared() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("counter")
    do {
      let (one, two) = (try SharedCounter(path), try SharedCounter(path))
      #expect(one.number == 0)
      try one.lock(milliseconds: 0)
      one.set(.max)
      #expect(two.number == .max)
      one.unlock()
      try two.lock(milliseconds: 0)
      two.set(7)
      two.unlock()
      #expect(one.number == 7)
    }
    #expect(try SharedCounter(path).number == 7)
    #expect(try Data(contentsOf: URL(filePath: path)).count == 4096)
  }

  @Test("The lock has one holder; another caller fails after its timeout")
  func locking() throws {
    let folder = try TemporaryFolder()
    let path = folder.file("counter")
    let (one, two) = (try SharedCounter(path), try SharedCounter(path))
    try one.lock(milliseconds: 0)
    let error = #expect(throws: StorageError.self) { try two.lock(milliseconds: 1) }
    #expect(error?.category == .busy)
    one.unlock()
    try two.lock(milliseconds: 0)
    two.unlock()
  }

  @Test("A file that is too short is filled; one that cannot be created is an error")
  func files() throws {
    let folder = try TemporaryFolder()
    try folder.write([1, 2, 3], to: "short")
    let short = try SharedCounter(folder.file("short"))
    short.set(2)
    #expect(short.number == 2)
    let error = #expect(throws: StorageError.self) { try SharedCounter(folder.file("missing/counter")) }
    #expect(error?.category == .cannotOpen)
  }

  @Test("Entries in the order of their last use, compared with a simple list", arguments: 1...5)
  func recentlyUsed(seed: UInt64) {
    var random = PrintedSeed(seed: seed)
    var entries = RecentlyUsed<Int, Int>()
    /// Newest first.
    var list: [(key: Int, value: Int, cost: Int)] = []
    func take(_ key: Int) -> (key: Int, value: Int, cost: Int)? {
      list.firstIndex { $0.key == key }.map { list.remove(at: $0) }
    }
    for step in 0..<2000 {
      let key = Int.random(in: 0..<12, using: &random)
      switch Int.random(in: 0..<7, using: &random) {
      case 0, 1:
        let old = take(key)?.value
        list.insert((key, step, step % 10), at: 0)
        let replaced = entries.set(step, cost: step % 10, for: key)
        #expect(replaced == old)
      case 2:
        let entry = take(key)
        if let entry { list.insert(entry, at: 0) }
        let used = entries.use(key)
        #expect(used == entry?.value)
      case 3:
        let entry = take(key)
        if let entry { list.insert((key, entry.value + 1, entry.cost), at: 0) }
        entries.use(key) { value in value = value.map { $0 + 1 } }
      case 4:
        let removed = entries.remove(key)
        #expect(removed == take(key)?.value)
      case 5:
        let removed = entries.removeOldest()
        #expect(removed == list.popLast()?.value)
      default:
        #expect(entries.peek(key) == list.first { $0.key == key }?.value)
        if let place = list.firstIndex(where: { $0.key == key }) { list[place].value -= 1 }
        entries.change(key) { value in value = value.map { $0 - 1 } }
      }
      #expect(entries.keys == list.map(\.key))
      #expect(entries.count == list.count && entries.total == list.reduce(0) { $0 + $1.cost })
    }
  }
}
