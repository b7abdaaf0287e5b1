import Foundation
import LarderObjects

// Compares the object store with its building blocks: durable puts and reads from disk with bare SQLite of the same
// durability, reads from memory with a dictionary and a lock, and all of them with PyPI's diskcache. Both sides alternate: the
// speed of the machine changes, but the ratio changes much less.
//
//   ObjectBenchmark FOLDER PYTHON PEER
//   ObjectBenchmark encrypted FOLDER [VALUES]
//
// FOLDER should be on the disk to measure, not in memory; files created in it are removed. PYTHON is an interpreter with
// diskcache, PEER is Peers/objects.py. `encrypted` compares a store with a key with one without. Exits with 1 if a limit is
// missed.

@main
struct ObjectBenchmark {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.first == "encrypted", let place = arguments.dropFirst().first {
      let folder = URL(filePath: place).appending(path: "larder-bench-\(UUID().uuidString)")
      let count = arguments.dropFirst(2).first.flatMap { Int($0) } ?? 50_000
      guard try await EncryptedPart(folder: folder, count: count).run() else { exit(1) }
      return
    }
    guard arguments.count == 3, let place = arguments.first, let peer = arguments.last else {
      print("usage: ObjectBenchmark FOLDER PYTHON PEER")
      exit(2)
    }
    let folder = URL(filePath: place).appending(path: "larder-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    let missed = try await run(in: folder, python: arguments[2], peer: peer)
    if missed { exit(1) }
  }

  /// Prints the ratios. Returns true if a limit is missed.
  static func run(in folder: URL, python: String, peer: String) async throws -> Bool {
    defer { try? FileManager.default.removeItem(at: folder) }
    var verdicts = Verdicts()
    let bench = try await Bench(folder)
    try await bench.puts(&verdicts)
    try await bench.memory(&verdicts)
    try await bench.disk(&verdicts)
    try await bench.peer(
      DiskCachePeer(python: python, script: peer, folder: folder.appending(path: "diskcache"), bytes: Bench.bytes),
      &verdicts)
    try await bench.close()
    print(verdicts.summary)
    return !verdicts.missed.isEmpty
  }
}

/// A value of about one kilobyte when encoded.
struct Profile: Codable, Sendable, Equatable {
  var id: Int
  var name: String
  var friends: [Int]
  var about: String

  init(_ id: Int) {
    self.id = id
    name = "Person \(id)"
    friends = (0..<40).map { 1000 + $0 }
    about = String(repeating: "Likes to walk. ", count: 50)
  }
}

/// The compared sides and the measurements.
struct Bench {
  static let bytes = 1024
  private static let count = 1000

  private let store: ObjectStore
  private let uncached: ObjectStore
  private let bare: BareTable
  private let value = (0..<Bench.bytes).map { UInt8(truncatingIfNeeded: $0) }
  private let keys = (0..<Bench.count).map { "key/\($0)" }

  init(_ folder: URL) async throws {
    let path = folder.appending(path: "object.store").path
    store = try await ObjectStore(path: path)
    // A store on the same file without a memory tier.
    uncached = try await ObjectStore(
      path: path, options: ObjectStoreOptions(memory: .none, warmUpCount: 0))
    bare = try BareTable(path: folder.appending(path: "bare.sqlite").path)
    let (keys, value) = (keys, value)
    try await store.transaction { changes in for key in keys { try changes.put(value, forKey: key) } }
    try bare.batch { for key in keys { try bare.put(value, key) } }
  }

  func close() async throws {
    try await uncached.close()
    try await store.close()
  }

  // MARK: Against SQLite

  func puts(_ verdicts: inout Verdicts) async throws {
    let times = 100
    var (bareNew, ourNew) = (0, 0)
    func new(_ rounds: Int, _ ours: (ClosedRange<Int>) async throws -> Void) async throws -> Rounds {
      try await Rounds.measure(rounds, each: times) {
        for _ in 0..<times {
          bareNew += 1
          try bare.put(value, "new/\(bareNew)")
        }
      } ours: {
        ourNew += times
        try await ours(ourNew - times + 1...ourNew)
      }
    }
    verdicts.check(
      "durable put of 1 kB, new key", try await new(30) { try await Bench.putNew($0, value, in: store) },
      against: "bare SQLite", atLeast: 0.8)

    // Different bytes each time: SQLite writes nothing if a row does not change.
    var (bareRound, ourRound) = (0, 0)
    let old = try await Rounds.measure(30, each: times) {
      bareRound += 1
      let value = value.map { $0 &+ UInt8(truncatingIfNeeded: bareRound) }
      for key in keys.prefix(times) { try bare.put(value, key) }
    } ours: {
      ourRound += 1
      let value = value.map { $0 &+ UInt8(truncatingIfNeeded: ourRound) }
      try await Bench.replace(Array(keys.prefix(times)), with: value, in: store)
    }
    verdicts.check("durable put of 1 kB, replaced", old, against: "bare SQLite", atLeast: 0.8)

    // The main thread never waits for the disk: a put switches to another thread and back, which bare SQLite does not do.
    let main = try await new(15) { range in
      for number in range { try await store.put(value, forKey: "new/\(number)") }
    }
    verdicts.report("durable put of 1 kB, new key, by the main actor", main, against: "bare SQLite")

    let batch = 10_000
    let many = try await Rounds.measure(10, each: batch) {
      try bare.batch {
        for _ in 0..<batch {
          bareNew += 1
          try bare.put(value, "new/\(bareNew)")
        }
      }
    } ours: {
      let first = ourNew
      ourNew += batch
      try await putBatch(first + 1...first + batch)
    }
    verdicts.check("10,000 puts in a transaction", many, against: "bare SQLite", atLeast: 0.7)
  }

  /// Puts values one after another, by a task of the concurrency pool, whose thread may block, as that of bare SQLite.
  @concurrent
  private static func putNew(_ numbers: ClosedRange<Int>, _ value: [UInt8], in store: ObjectStore) async throws {
    for number in numbers { try await store.put(value, forKey: "new/\(number)") }
  }

  @concurrent
  private static func replace(_ keys: [String], with value: [UInt8], in store: ObjectStore) async throws {
    for key in keys { try await store.put(value, forKey: key) }
  }

  private func putBatch(_ numbers: ClosedRange<Int>) async throws {
    let value = value
    try await store.transaction { changes in
      for number in numbers { try changes.put(value, forKey: "new/\(number)") }
    }
  }

  func disk(_ verdicts: inout Verdicts) async throws {
    let raw = try await Rounds.measure(50, each: keys.count) {
      for key in keys where try bare.get(key).count != Bench.bytes {
        throw BenchmarkError("bare SQLite returned another row")
      }
    } ours: {
      for key in keys {
        guard try await uncached.value([UInt8].self, forKey: key)?.count == Bench.bytes else {
          throw BenchmarkError("the store returned another value")
        }
      }
    }
    verdicts.check("get from disk, 1 kB of bytes", raw, against: "bare SQLite", atLeast: 1 / 1.5)

    let profiles = keys.indices.map { Profile($0) }
    let encoder = JSONEncoder()
    try await store.transaction { changes in
      for profile in profiles { try changes.put(profile, forKey: "profile/\(profile.id)") }
    }
    try bare.batch {
      for profile in profiles { try bare.put([UInt8](encoder.encode(profile)), "profile/\(profile.id)") }
    }
    let names = profiles.map { "profile/\($0.id)" }
    let decoder = JSONDecoder()
    let decoded = try await Rounds.measure(30, each: names.count) {
      for (index, name) in names.enumerated() {
        guard try decoder.decode(Profile.self, from: Data(bare.get(name))).id == index else {
          throw BenchmarkError("bare SQLite returned another row")
        }
      }
    } ours: {
      for (index, name) in names.enumerated() {
        guard try await uncached.value(Profile.self, forKey: name)?.id == index else {
          throw BenchmarkError("the store returned another value")
        }
      }
    }
    verdicts.check("get from disk, decoded", decoded, against: "bare SQLite and JSONDecoder", atLeast: 1 / 1.5)
  }

  // MARK: Against a dictionary

  func memory(_ verdicts: inout Verdicts) async throws {
    let dictionary = LRUDictionary<[UInt8]>(limit: 10_000)
    for key in keys {
      dictionary.put(value, key)
      _ = try await store.value([UInt8].self, forKey: key)
    }
    let times = 10
    let lookups = try await Rounds.measure(100, each: keys.count * times) {
      for _ in 0..<times {
        for key in keys where dictionary[key]?.count != Bench.bytes {
          throw BenchmarkError("the dictionary returned another value")
        }
      }
    } ours: {
      try await hits(times)
    }
    verdicts.check("get from memory", lookups, against: "locked dictionary with LRU", atLeast: 0.3)
  }

  private func hits(_ times: Int) async throws {
    for _ in 0..<times {
      for key in keys {
        guard try await store.value([UInt8].self, forKey: key)?.count == Bench.bytes else {
          throw BenchmarkError("the store returned another value")
        }
      }
    }
  }

  // MARK: Against diskcache

  func peer(_ peer: DiskCachePeer, _ verdicts: inout Verdicts) async throws {
    var number = 1_000_000
    func compare(
      _ name: String, rounds: Int, _ command: String, count: Int, ours: () async throws -> Void
    ) async throws {
      let result = try await Rounds.timed(
        rounds, each: count, bare: { try peer.time(command, count) }, ours: ours)
      verdicts.check(name, result, against: "diskcache", atLeast: 5)
    }
    try await compare("durable put against diskcache", rounds: 20, "put", count: 100) {
      number += 100
      try await Bench.putNew(number - 99...number, value, in: store)
    }
    // The upper bound: both wait for the disk once.
    var bareNumber = number
    let upperBound = try await Rounds.timed(20, each: 100, bare: { try peer.time("put", 100) }) {
      for _ in 0..<100 {
        bareNumber += 1
        try bare.put(value, "most/\(bareNumber)")
      }
    }
    verdicts.report("durable put of bare SQLite instead of the store", upperBound, against: "diskcache")
    try await compare("durable put of 32 concurrent callers against diskcache", rounds: 10, "together", count: 320) {
      number += 320
      let first = number - 320
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<32 {
          group.addTask { [store, value] in
            for index in 1...10 { try await store.put(value, forKey: "new/\(first + task * 10 + index)") }
          }
        }
        try await group.waitForAll()
      }
    }
    try await compare("10,000 puts against diskcache", rounds: 4, "batch", count: 10_000) {
      number += 10_000
      try await putBatch(number - 9_999...number)
    }
    try await compare("get against diskcache", rounds: 20, "get", count: 5000) { try await hits(5) }
  }
}
