import Foundation
import LarderHTTP
import LarderOnline
import LarderService
import Synchronization

// Measures the time from a request to `requestCacheResponse`, and compares it with a bare SQLite read of the same row. Both
// sides alternate: the speed of the machine changes, but the ratio changes much less.
//
//   CacheBenchmark [BYTES] [ROUNDS] [PEERS]
//   CacheBenchmark encrypted [RESPONSES]
//
// PEERS is the output of Peers/peers.py in this run: {"hishel": hits per second, ...}. `encrypted` compares a cache with a key
// with one without. Exits with 1 if a limit is missed.

@main
struct CacheBenchmark {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst().compactMap { Int($0) }
    let bytes = arguments.first ?? 10_240
    let rounds = arguments.dropFirst().first ?? 20
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("larder-bench-\(UUID().uuidString)")
    if CommandLine.arguments.dropFirst().first == "encrypted" {
      let isMet = try await EncryptedPart(folder: folder, count: arguments.first ?? 5000).run()
      try? FileManager.default.removeItem(at: folder)
      if !isMet { exit(1) }
      return
    }
    let (awaited, ratio) = try await run(bytes: bytes, rounds: rounds, folder: folder)
    try? FileManager.default.removeItem(at: folder)
    let peers = CommandLine.arguments.dropFirst(3).first ?? "{}"
    for (name, rate) in try JSONDecoder().decode([String: Double].self, from: Data(peers.utf8)).sorted(by: {
      $0.key < $1.key
    }) {
      print("  \(name): \(Int(rate)) hits per second; Larder reaches \(two(1 / awaited / rate)) times that")
    }
    print(ratio <= limit ? "  limit met: at most \(Int(limit)) times" : "  limit MISSED: at most \(Int(limit)) times")
    if ratio > limit { exit(1) }
  }

  /// The maximum of the median ratio.
  static let limit = 5.0

  /// Prints the ratios. Returns the seconds of one awaited passive read, and the median ratio.
  static func run(bytes: Int, rounds: Int, folder: URL) async throws -> (awaited: Double, ratio: Double) {
    let filler = String(repeating: "x", count: max(0, bytes - 34))
    let payload = Array(#"{"value":[{"ID":1,"Name":"\#(filler)"}]}"#.utf8)
    guard let root = URL(string: "http://origin.test/service/") else { throw BenchmarkError("no URL") }
    let store = try OnlineODataStore(
      serviceRoot: root, transport: Origin(payload: payload),
      options: OnlineStoreOptions(useCache: true, path: folder.path))
    try await store.open()
    _ = try await store.execute(.read("Rows?$top=30"))
    try store.setPassive(true)

    let file = try cacheFile(in: folder)
    let bare = try BareSQLite(path: file, url: "http://origin.test/service/Rows?$top=30")
    let each = 2_000
    var ratios: [Double] = []
    var best = (store: Double.infinity, bare: Double.infinity)
    for round in 0...rounds {
      let bareTime = try timeBare(bare, times: each, expecting: payload.count)
      let storeTime = try await timeStore(store, times: each, expecting: payload.count)
      if round == 0 { continue }  // Warms caches and branch predictors.
      ratios.append(storeTime / bareTime)
      best = (min(best.store, storeTime), min(best.bare, bareTime))
    }
    ratios.sort()
    let awaited = try await timeAwaited(store, times: each)
    print(
      """
      technical cache, \(payload.count) bytes, \(rounds) rounds of \(each):
        bare SQLite point read           \(microseconds(best.bare)) us (best round)
        request to requestCacheResponse  \(microseconds(best.store)) us (best round)
        ratio, round by round            min \(two(ratios[0]))  median \(two(ratios[ratios.count / 2]))  \
      max \(two(ratios[ratios.count - 1]))   (limit: \(Int(limit)))
        passive execute, awaited         \(microseconds(awaited)) us, \(Int(1 / awaited)) hits per second
      """)
    try await store.close()
    return (awaited, ratios[ratios.count / 2])
  }

  static func cacheFile(in folder: URL) throws -> String {
    let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
    for name in names where !name.hasSuffix("-wal") && !name.hasSuffix("-shm") && !name.hasSuffix("lock") {
      return folder.appendingPathComponent(name).path
    }
    throw BenchmarkError("no cache file in \(folder.path)")
  }

  static func timeBare(_ bare: BareSQLite, times: Int, expecting count: Int) throws -> Double {
    let begin = ContinuousClock.now
    for _ in 0..<times {
      guard try bare.read().count == count else { throw BenchmarkError("the bare read returned another row") }
    }
    return seconds(begin.duration(to: .now)) / Double(times)
  }

  /// Time from the call of `schedule` to the call of `requestCacheResponse`, one after another.
  static func timeStore(_ store: OnlineODataStore, times: Int, expecting count: Int) async throws -> Double {
    var total = 0.0
    for _ in 0..<times {
      let listener = Stopwatch()
      await withCheckedContinuation { continuation in
        listener.resumeWhenFinished(continuation)
        listener.begin()
        store.schedule(.read("Rows?$top=30"), listener: listener)
      }
      guard listener.count == count else { throw BenchmarkError("a measured request was not a cache hit") }
      total += listener.seconds
    }
    return total / Double(times)
  }

  static func timeAwaited(_ store: OnlineODataStore, times: Int) async throws -> Double {
    let begin = ContinuousClock.now
    for _ in 0..<times { _ = try await store.execute(.read("Rows?$top=30")) }
    return seconds(begin.duration(to: .now)) / Double(times)
  }
}

/// Listens to one request and records the time of its cached response.
final class Stopwatch: ODataRequestListener {
  private struct Times {
    var begin = ContinuousClock.now
    var response: ContinuousClock.Instant?
    var count = 0
    var continuation: CheckedContinuation<Void, Never>?
  }
  private let times = Mutex(Times())

  var seconds: Double {
    times.withLock { times in times.response.map { larderSeconds(times.begin.duration(to: $0)) } ?? .infinity }
  }
  var count: Int { times.withLock { $0.count } }

  func resumeWhenFinished(_ continuation: CheckedContinuation<Void, Never>) {
    times.withLock { $0.continuation = continuation }
  }
  func begin() { times.withLock { $0.begin = .now } }

  func requestCacheResponse(_ execution: ODataRequestExecution) {
    let now = ContinuousClock.now
    let count = execution.response?.single?.payloadBytes.count ?? 0
    times.withLock {
      $0.response = now
      $0.count = count
    }
  }

  func requestFinished(_ execution: ODataRequestExecution) {
    times.withLock { times in
      defer { times.continuation = nil }
      return times.continuation
    }?.resume()
  }
}

func larderSeconds(_ duration: Duration) -> Double {
  Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
}

private func seconds(_ duration: Duration) -> Double { larderSeconds(duration) }
private func microseconds(_ seconds: Double) -> String { two(seconds * 1e6) }
private func two(_ value: Double) -> String { String(format: "%6.2f", value) }
