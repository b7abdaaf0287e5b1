import Foundation
import KeyCost
import LarderContent

// What a fresh hit of the content cache costs in the process: from memory beside a dictionary, from a file beside reading
// that file, from SQLite beside PyPI's hishel. Rounds of both sides in turn: the machine's speed drifts, the ratio much less.
//
//   ContentBenchmark [PEERS]
//   ContentBenchmark encrypted
//
// PEERS is what Peers/peers.py printed in this run: {"hishel": hits a second, ...}. `encrypted` compares caches with a key
// to caches without. Ends with 1 where a limit is missed.

@main
struct ContentBenchmark {
  static func main() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("larder-bench-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let argument = CommandLine.arguments.dropFirst().first ?? "{}"
    var verdicts = Verdicts()
    if argument == "encrypted" {
      var cost = KeyCost()
      try await EncryptedPart.run(in: folder, &cost)
      if !cost.end() { exit(1) }
      return
    }
    let rates = try JSONDecoder().decode([String: Double].self, from: Data(argument.utf8))
    // First, as close to the peers' run as can be.
    try await sqlite(in: folder, rates, &verdicts)
    try await memory(&verdicts)
    for bytes in [1024, 16 << 10, 100_000, 1 << 20] { try await files(bytes, in: folder, &verdicts) }
    print(verdicts.summary)
    if !verdicts.missed.isEmpty { exit(1) }
  }

  static func memory(_ verdicts: inout Verdicts) async throws {
    let bytes = 1024
    let resources = try Resources(count: 64, bytes: bytes)
    let engine = HTTPCache(cache: MemoryCache(), transport: resources.origin)
    try await resources.fill(engine, expecting: .memory)
    let bare = BareDictionary(resources)
    let times = 256
    let pair = try await Pair.measure(times: times) {
      for request in resources.cycle(times) where bare.look(request)?.count != bytes {
        throw BenchmarkError("the dictionary has no \(request.url)")
      }
    } ours: {
      try await resources.hits(engine, times, expecting: .memory)
    }
    let limit = max(10e-6, 3 * pair.bare)
    print("memory, \(bytes) bytes, engine and body: \(pair.text("dictionary look-up with key"))")
    print(verdicts.judge("hit from memory", pair.ours <= limit, "\(microseconds(limit)) us"))
  }

  static func files(_ bytes: Int, in folder: URL, _ verdicts: inout Verdicts) async throws {
    let times = max(4, min(96, 3_000_000 / bytes))
    let resources = try Resources(count: 16, bytes: bytes)
    let engine = HTTPCache(
      cache: try FileCache(path: folder.appendingPathComponent("files-\(bytes)").path), transport: resources.origin)
    try await resources.fill(engine, expecting: .disk)
    let bare = try BareFiles(resources, in: folder.appendingPathComponent("bare-\(bytes)"))
    let pair = try await Pair.measure(times: times) {
      for index in 0..<times where try bare.read(index).count != bytes { throw BenchmarkError("the file is not whole") }
    } ours: {
      try await resources.hits(engine, times, expecting: .disk)
    }
    print("file, \(bytes) bytes, engine and body: \(pair.text("open, read, close"))")
    print(verdicts.judge("hit from a file of \(bytes) bytes", pair.ratio <= 2, "2 times"))
    await engine.close()
  }

  static func sqlite(in folder: URL, _ rates: [String: Double], _ verdicts: inout Verdicts) async throws {
    let bytes = 10_240
    let times = 200
    let resources = try Resources(count: 1, bytes: bytes)
    let engine = HTTPCache(
      cache: try await SQLiteCache(path: folder.appendingPathComponent("cache.sqlite").path),
      transport: resources.origin)
    try await resources.fill(engine, expecting: .disk)
    let alone = try await Pair.measure(times: times, {}) { try await resources.hits(engine, times, expecting: .disk) }
    print(
      "SQLite, \(bytes) bytes, engine and body: \(Int(1 / alone.ours)) hits a second, \(microseconds(alone.ours)) us")
    for (name, rate) in rates.sorted(by: { $0.key < $1.key }) {
      let times = 1 / alone.ours / rate
      print("  \(name): \(Int(rate)) hits a second; ours is \(two(times)) times that")
      if name == "hishel" { print(verdicts.judge("SQLite against hishel", times >= 20, "at least 20 times")) }
    }
    await engine.close()
  }
}

/// Times of both sides, and the ratio of each round.
struct Pair {
  var bare: Double
  var ours: Double
  var ratios: [Double]

  var ratio: Double { ratios[ratios.count / 2] }

  /// Runs both sides in turn, about a millisecond each, so that few rounds are cut by another process's turn; the first
  /// tenth warms caches and branch predictors and does not count.
  static func measure(
    times: Int, rounds: Int = 400, _ bare: () throws -> Void, ours: () async throws -> Void
  ) async throws -> Pair {
    var bareTimes: [Double] = []
    var ourTimes: [Double] = []
    for _ in 0..<(rounds + rounds / 10) {
      let begin = ContinuousClock.now
      try bare()
      let middle = ContinuousClock.now
      try await ours()
      let end = ContinuousClock.now
      bareTimes.append(seconds(begin.duration(to: middle)) / Double(times))
      ourTimes.append(seconds(middle.duration(to: end)) / Double(times))
    }
    bareTimes.removeFirst(rounds / 10)
    ourTimes.removeFirst(rounds / 10)
    let ratios = zip(ourTimes, bareTimes).map { $0 / $1 }.sorted()
    return Pair(bare: median(bareTimes), ours: median(ourTimes), ratios: ratios)
  }

  func text(_ what: String) -> String {
    """

      \(what) \(microseconds(bare)) us, hit \(microseconds(ours)) us (medians)
      ratio, round by round: median \(two(ratio)), a tenth below \(two(ratios[ratios.count / 10])), \
      a tenth above \(two(ratios[ratios.count - 1 - ratios.count / 10]))
    """
  }
}

/// Which limits held.
struct Verdicts {
  var missed: [String] = []

  mutating func judge(_ what: String, _ good: Bool, _ limit: String) -> String {
    if !good { missed.append(what) }
    return "  limit: \(limit)  \(good ? "ok" : "MISSED")"
  }

  var summary: String {
    missed.isEmpty ? "every limit in the process held" : "missed: \(missed.joined(separator: ", "))"
  }
}

/// What stopped a benchmark.
struct BenchmarkError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

private func median(_ values: some Collection<Double>) -> Double { values.sorted()[values.count / 2] }

private func seconds(_ duration: Duration) -> Double {
  Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

func microseconds(_ seconds: Double) -> String { two(seconds * 1e6) }
func two(_ value: Double) -> String { String(format: "%.2f", value) }
