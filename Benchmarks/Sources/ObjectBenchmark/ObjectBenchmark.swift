import Foundation
import LarderObjects

// What the object store costs beside what it is made of: durable puts and reads from disk beside bare SQLite with the same
// durability, reads from memory beside a dictionary under a lock, and all of it beside PyPI's diskcache. Rounds of both sides
// in turn: the machine's speed drifts, the ratio much less.
//
//   ObjectBenchmark FOLDER PYTHON PEER
//   ObjectBenchmark encrypted FOLDER [VALUES]
//
// FOLDER should lie on the disk that is meant, not in memory; what is made in it is removed. PYTHON has diskcache, PEER is
// Peers/objects.py. `encrypted` compares a store with a key to one without. Ends with 1 where a limit is missed.

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

  /// Prints the ratios; true where a limit is missed.
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

/// A value of about a kilobyte when it is encoded.
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

/// The sides and what is timed.
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
    // The same file without a memory tier.
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
    verdicts.judge(
      "durable put of 1 kB, new key", try await new(30) { try await Bench.putNew($0, value, in: store) },
      against: "bare SQLite", atLeast: 0.8)

    // Other bytes each time: SQLite writes nothing where a row stays as it is.
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
    verdicts.judge("durable put of 1 kB, replaced", old, against: "bare SQLite", atLeast: 0.8)

    // Its thread is not kept waiting for the disk: a way to another one and back, which bare SQLite does not go.
    let main = try await new(15) { range in
      for number in range { try await store.put(value, forKey: "new/\(number)") }
    }
    verdicts.tell("durable put of 1 kB, new key, by the main actor", main, against: "bare SQLite")

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
    verdicts.judge("10,000 puts in a transaction", many, against: "bare SQLite", atLeast: 0.7)
  }

  /// One after another, by a task of the concurrency pool, as bare SQLite by a thread that may wait.
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
      for key in keys where try bare.get(key).count != Bench.bytes { throw BenchmarkError("not the row") }
    } ours: {
      for key in keys {
        guard try await uncached.value([UInt8].self, forKey: key)?.count == Bench.bytes else {
          throw BenchmarkError("not the value")
        }
      }
    }
    verdicts.judge("get from disk, 1 kB of bytes", raw, against: "bare SQLite", atLeast: 1 / 1.5)

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
          throw BenchmarkError("not the row")
        }
      }
    } ours: {
      for (index, name) in names.enumerated() {
        guard try await uncached.value(Profile.self, forKey: name)?.id == index else {
          throw BenchmarkError("not the value")
        }
      }
    }
    verdicts.judge("get from disk, decoded", decoded, against: "bare SQLite and JSONDecoder", atLeast: 1 / 1.5)
  }

  // MARK: Against a dictionary

  func memory(_ verdicts: inout Verdicts) async throws {
    let dictionary = LRUDictionary<[UInt8]>(limit: 10_000)
    for key in keys {
      dictionary.put(value, key)
      _ = try await store.value([UInt8].self, forKey: key)
    }
    let times = 10
    let looks = try await Rounds.measure(100, each: keys.count * times) {
      for _ in 0..<times {
        for key in keys where dictionary[key]?.count != Bench.bytes { throw BenchmarkError("not in the dictionary") }
      }
    } ours: {
      try await hits(times)
    }
    verdicts.judge("get from memory", looks, against: "locked dictionary with LRU", atLeast: 0.3)
  }

  private func hits(_ times: Int) async throws {
    for _ in 0..<times {
      for key in keys {
        guard try await store.value([UInt8].self, forKey: key)?.count == Bench.bytes else {
          throw BenchmarkError("not the value")
        }
      }
    }
  }

  // MARK: Against diskcache

  func peer(_ peer: DiskCachePeer, _ verdicts: inout Verdicts) async throws {
    var number = 1_000_000
    func compare(
      _ what: String, _ rounds: Int, _ command: String, _ count: Int, ours: () async throws -> Void
    ) async throws {
      let result = try await Rounds.timed(
        rounds, each: count, bare: { try peer.time(command, count) }, ours: ours)
      verdicts.judge(what, result, against: "diskcache", atLeast: 5)
    }
    try await compare("durable put against diskcache", 20, "put", 100) {
      number += 100
      try await Bench.putNew(number - 99...number, value, in: store)
    }
    // What is possible at most: both wait for the disk once.
    var bareNumber = number
    let most = try await Rounds.timed(20, each: 100, bare: { try peer.time("put", 100) }) {
      for _ in 0..<100 {
        bareNumber += 1
        try bare.put(value, "most/\(bareNumber)")
      }
    }
    verdicts.tell("durable put of bare SQLite in place of ours", most, against: "diskcache")
    try await compare("durable put of 32 callers at once against diskcache", 10, "together", 320) {
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
    try await compare("10,000 puts against diskcache", 4, "batch", 10_000) {
      number += 10_000
      try await putBatch(number - 9_999...number)
    }
    try await compare("get against diskcache", 20, "get", 5000) { try await hits(5) }
  }
}
