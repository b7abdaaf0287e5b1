import Foundation

// Compares the offline store with SQLite, for a million rows. The server of the rows and both sides are separate processes,
// so that their memory is measured separately.
//
//   OfflineBenchmark PYTHON FOLDER ROWS             all parts
//   OfflineBenchmark changes FOLDER COUNT           changes one by one, and their upload
//   OfflineBenchmark encrypted PYTHON FOLDER ROWS   a store with a key, compared with one without
//   OfflineBenchmark part NAME FOLDER …             one part, as the first form starts it; prints JSON
//
// Exits with 1 if a limit is missed.

@main
struct OfflineBenchmark {
  static func main() async throws {
    var arguments = Array(CommandLine.arguments.dropFirst())
    do {
      if arguments.first == "part", arguments.count >= 3 {
        arguments.removeFirst()
        let figures = try await part(arguments.removeFirst(), arguments)
        print(String(decoding: try JSONEncoder().encode(figures), as: UTF8.self))
        return
      }
      if arguments.first == "changes", arguments.count == 3, let count = Int(arguments[2]) {
        guard try await ChangePart(count: count).run(arguments[1]) else { exit(1) }
        return
      }
      if arguments.first == "encrypted", arguments.count == 4, let rows = Int(arguments[3]) {
        guard try await EncryptedPart(python: arguments[1], folder: arguments[2], rows: rows).run() else { exit(1) }
        return
      }
      guard arguments.count == 3, let rows = Int(arguments[2]) else {
        throw BenchmarkError("usage: OfflineBenchmark PYTHON FOLDER ROWS")
      }
      guard try await Driver(python: arguments[0], folder: arguments[1], rows: rows).run() else { exit(1) }
    } catch {
      FileHandle.standardError.write(Data("\(error)\n".utf8))
      exit(2)
    }
  }

  private static func part(_ name: String, _ rest: [String]) async throws -> [String: Double] {
    switch name {
    case "download": try await DownloadPart.full(root: rest[1], folder: rest[0], probes: false)
    case "probe": try await DownloadPart.full(root: rest[1], folder: rest[0], probes: true)
    case "deltas": try await DownloadPart.deltas(root: rest[1], folder: rest[0])
    case "bare": try bare(folder: rest[0])
    case "queries": try await QueryPart.run(root: rest[1], folder: rest[0])
    default: throw BenchmarkError("unknown part \(name)")
    }
  }

  private static func bare(folder: String) throws -> [String: Double] {
    let target = folder + "/bare.db"
    for end in ["", "-wal", "-shm"] { try? FileManager.default.removeItem(atPath: target + end) }
    let (seconds, rows) = try BareInserts.seconds(
      from: folder + "/store.larder", to: target, columns: Rows.columns)
    return ["seconds": seconds, "rows": Double(rows)]
  }
}

/// Runs each part in a separate process, and compares the results with the limits.
struct Driver {
  let python: String
  let folder: String
  let rows: Int
  private static let rounds = 3

  /// Returns true if all limits are met.
  func run() async throws -> Bool {
    let work = folder + "/offline-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: work) }
    let server = try RowServer(python: python, folder: folder + "/rows", rows: rows)
    defer { server.stop() }
    var missed: [String] = []
    func check(_ name: String, _ value: Double, unit: String = "", limit: Double, atLeast: Bool) {
      let isMet = atLeast ? value >= limit : value <= limit
      if !isMet { missed.append(name) }
      print(
        "\(name): \(two(value))\(unit)  (limit: at \(atLeast ? "least" : "most") \(two(limit)))\(isMet ? "" : "  MISSED")"
      )
    }
    var ratios: [Double] = []
    var memory = 0.0
    for round in 0..<Driver.rounds {
      try clear(work)
      let ours = try part("download", work, server.root)
      let bare = try part("bare", work)
      guard ours["rows"] == Double(rows), bare["rows"] == Double(rows) else {
        throw BenchmarkError("\(ours["rows"] ?? 0) and \(bare["rows"] ?? 0) rows instead of \(rows)")
      }
      let (ourSeconds, bareSeconds) = (ours["seconds"] ?? .infinity, bare["seconds"] ?? 0)
      ratios.append(bareSeconds / ourSeconds)
      memory = max(memory, ours["memory"] ?? .infinity)
      print(
        "  round \(round + 1): download until queries can be run \(two(ourSeconds)) s, bare inserts \(two(bareSeconds)) s, "
          + "peak memory \(two(ours["memory"] ?? 0)) MB, file \(two(ours["file"] ?? 0)) MB")
    }
    check("download: speed relative to bare inserts (median)", median(ratios), limit: 0.6, atLeast: true)
    check("peak memory of the download", memory, unit: " MB", limit: 100, atLeast: false)

    let queries = try part("queries", work, server.root)
    check(
      "filter, order and top 20: time relative to hand-written SQL", queries["query"] ?? .infinity, limit: 1.3,
      atLeast: false)
    check(
      "100,000 rows decoded to structs: time relative to C calls", queries["decode"] ?? .infinity, limit: 1.5,
      atLeast: false)
    check(
      "100,000 rows decoded to a generated type: time relative to the struct", queries["decode generated"] ?? .infinity,
      limit: 1.2, atLeast: false)
    check("100,000 rows as JSON: speed relative to json_object", queries["json"] ?? 0, limit: 0.8, atLeast: true)
    for name in queries.keys.sorted() where name.hasSuffix(" ms") { print("  \(name): \(two(queries[name] ?? 0))") }

    let deltas = try part("deltas", work, server.root)
    for (name, value) in deltas.sorted(by: { $0.value < $1.value }) {
      print("  delta of \(name) rows: \(two(value)) ms")
    }

    try clear(work)
    let probe = try part("probe", work, server.root)
    check(
      "wait of another connection for the write lock during a download, p99", probe["p99"] ?? .infinity, unit: " ms",
      limit: 50, atLeast: false)
    print(
      "  p50 \(two(probe["p50"] ?? 0)) ms, longest \(two(probe["longest"] ?? 0)) ms of \(Int(probe["count"] ?? 0)) waits"
    )
    print(missed.isEmpty ? "all limits of the offline store are met" : "missed: \(missed.joined(separator: "; "))")
    return missed.isEmpty
  }

  private func clear(_ work: String) throws {
    for name in try FileManager.default.contentsOfDirectory(atPath: work) {
      try FileManager.default.removeItem(atPath: work + "/" + name)
    }
  }

  private func part(_ name: String, _ work: String, _ rest: String...) throws -> [String: Double] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    process.arguments = ["part", name, work] + rest
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let bytes = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw BenchmarkError("the part \(name) failed") }
    return try JSONDecoder().decode([String: Double].self, from: bytes)
  }
}

/// `Peers/rows.py`, which runs until its standard input is closed.
final class RowServer {
  let root: String
  private let process = Process()
  private let input = Pipe()

  init(python: String, folder: String, rows: Int) throws {
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: python)
    process.arguments = ["Benchmarks/Peers/rows.py", folder, "\(rows)"]
    process.standardInput = input
    process.standardOutput = output
    try process.run()
    let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let port = Int(line.filter(\.isNumber)) else { throw BenchmarkError("the row server did not start") }
    root = "http://127.0.0.1:\(port)/service/"
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
func two(_ value: Double) -> String { String(format: "%.2f", value) }
