import Foundation
import KeyCost
import LarderContent

// Measures fresh hits of the content cache in the process, and compares hits from memory with a dictionary, and hits from a file
// with reading that file and with PyPI's hishel. Both sides alternate: the speed of the machine changes, but
// the ratio changes much less.
//
//   ContentBenchmark [PEERS]
//   ContentBenchmark encrypted
//
// PEERS is the output of Peers/peers.py in this run: {"hishel": hits per second, ...}. `encrypted` compares caches with a key
// with caches without. Exits with 1 if a limit is missed.

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
    // First, to be as close to the run of the peers as possible.
    try await againstPython(in: folder, rates, &verdicts)
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
      for request in resources.cycle(times) where bare.lookUp(request)?.count != bytes {
        throw BenchmarkError("the dictionary has no \(request.url)")
      }
    } ours: {
      try await resources.hits(engine, times, expecting: .memory)
    }
    let limit = max(10e-6, 3 * pair.bare)
    print("memory, \(bytes) bytes, engine and body: \(pair.text("dictionary lookup with key"))")
    print(verdicts.check("hit from memory", pair.ours <= limit, "\(microseconds(limit)) us"))
  }

  static func files(_ bytes: Int, in folder: URL, _ verdicts: inout Verdicts) async throws {
    let times = max(4, min(96, 3_000_000 / bytes))
    let resources = try Resources(count: 16, bytes: bytes)
    let engine = HTTPCache(
      cache: try FileCache(path: folder.appendingPathComponent("files-\(bytes)").path), transport: resources.origin)
    try await resources.fill(engine, expecting: .disk)
    let bare = try BareFiles(resources, in: folder.appendingPathComponent("bare-\(bytes)"))
    let pair = try await Pair.measure(times: times) {
      for index in 0..<times where try bare.read(index).count != bytes {
        throw BenchmarkError("the file was not read completely")
      }
    } ours: {
      try await resources.hits(engine, times, expecting: .disk)
    }
    print("file, \(bytes) bytes, engine and body: \(pair.text("open, read, close"))")
    print(verdicts.check("hit from a file of \(bytes) bytes", pair.ratio <= 2, "2 times"))
    await engine.close()
  }

  static func againstPython(in folder: URL, _ rates: [String: Double], _ verdicts: inout Verdicts) async throws {
    let bytes = 10_240
    let times = 200
    let resources = try Resources(count: 1, bytes: bytes)
    let engine = HTTPCache(
      cache: try FileCache(path: folder.appendingPathComponent("cache").path),
      transport: resources.origin)
    try await resources.fill(engine, expecting: .disk)
    let alone = try await Pair.measure(times: times, {}) { try await resources.hits(engine, times, expecting: .disk) }
    print(
      "file, \(bytes) bytes, engine and body: \(Int(1 / alone.ours)) hits per second, \(microseconds(alone.ours)) us")
    for (name, rate) in rates.sorted(by: { $0.key < $1.key }) {
      let times = 1 / alone.ours / rate
      print("  \(name): \(Int(rate)) hits per second; Larder reaches \(two(times)) times that")
      if name == "hishel" { print(verdicts.check("file against hishel", times >= 20, "at least 20 times")) }
    }
    await engine.close()
  }
}

/// The times of both sides, and the ratio of each round.
struct Pair {
  var bare: Double
  var ours: Double
  var ratios: [Double]

  var ratio: Double { ratios[ratios.count / 2] }

  /// Runs both sides alternately, about a millisecond each, so that the scheduler interrupts few rounds. The first tenth is a
  /// warm-up and does not count.
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

  func text(_ other: String) -> String {
    """

      \(other) \(microseconds(bare)) us, hit \(microseconds(ours)) us (medians)
      ratio, round by round: median \(two(ratio)), 10th percentile \(two(ratios[ratios.count / 10])), \
      90th percentile \(two(ratios[ratios.count - 1 - ratios.count / 10]))
    """
  }
}

/// The limits that were missed.
struct Verdicts {
  var missed: [String] = []

  mutating func check(_ name: String, _ isMet: Bool, _ limit: String) -> String {
    if !isMet { missed.append(name) }
    return "  limit: \(limit)  \(isMet ? "ok" : "MISSED")"
  }

  var summary: String {
    missed.isEmpty ? "all limits in the process are met" : "missed: \(missed.joined(separator: ", "))"
  }
}

/// The error that ends a benchmark.
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
