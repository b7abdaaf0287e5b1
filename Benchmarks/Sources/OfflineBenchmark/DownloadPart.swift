import Foundation
import LarderCurl
import LarderOffline

/// The entity set of the benchmark, and the creation of stores for it.
enum Rows {
  static let columns = [
    "ID", "Name", "City", "Category", "Price", "Weight", "Stock", "IsActive", "Created", "Released", "Code", "Note",
  ]

  static func provider(root: String, folder: String, key: StorageKey? = nil) throws -> OfflineODataProvider {
    guard let url = URL(string: root) else { throw BenchmarkError("\(root) is not a URL") }
    return try OfflineODataProvider(
      serviceRoot: url, transport: try CurlTransport(),
      parameters: OfflineODataParameters(
        path: folder, encryptionKey: key, indexes: [OfflineODataIndex("Rows", ["City", "Stock"])]))
  }
}

/// A download of all rows, and deltas after it.
enum DownloadPart {
  static func full(root: String, folder: String, probes: Bool) async throws -> [String: Double] {
    let provider = try Rows.provider(root: root, folder: folder)
    try await provider.add(OfflineODataDefiningQuery("rows", "Rows"))
    let probe = LockProbe()
    if probes { probe.begin(path: folder + "/store.larder") }
    let begin = ContinuousClock.now
    try await provider.open()
    let seconds = inSeconds(begin.duration(to: .now))
    let result = try await provider.readJSON("Rows/$count")
    let rows = Double(String(decoding: result.bytes, as: UTF8.self)) ?? 0
    let waits = probes ? probe.end() : []
    guard !probes || !waits.isEmpty else { throw BenchmarkError("the probe never got the write lock") }
    try await provider.close()
    return [
      "seconds": seconds, "rows": rows, "memory": peakMegabytes(), "file": megabytes(folder + "/store.larder"),
      "p50": percentile(waits, 0.5), "p99": percentile(waits, 0.99), "longest": waits.last ?? 0,
      "count": Double(waits.count),
    ]
  }

  /// The time of each delta in milliseconds, by the number of its rows.
  static func deltas(root: String, folder: String) async throws -> [String: Double] {
    let provider = try Rows.provider(root: root, folder: folder)
    try await provider.open()
    var times: [String: Double] = [:]
    for _ in 0..<5 {
      let begin = ContinuousClock.now
      let report = try await provider.download()
      guard let outcome = report.queries.first, outcome.strategy == .changes else {
        throw BenchmarkError("no delta: \(report)")
      }
      times["\(outcome.rows)"] = inSeconds(begin.duration(to: .now)) * 1000
    }
    try await provider.close()
    return times
  }

  /// The peak memory of this process.
  static func peakMegabytes() -> Double {
    let text = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = text.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
    return (Double(line.filter(\.isNumber)) ?? .infinity) / 1024
  }

  private static func megabytes(_ path: String) -> Double {
    let size = try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    return Double(size ?? 0) / 1e6
  }
}
