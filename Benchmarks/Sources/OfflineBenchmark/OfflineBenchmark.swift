import Foundation

// The offline store with a million rows beside SQLite itself. The server of the rows is a process of its own, and so is
// each side: what one keeps in memory does not count for the other.
//
//   OfflineBenchmark PYTHON FOLDER ROWS     all of it; ends with 1 where a limit is missed
//   OfflineBenchmark changes FOLDER COUNT   changes made one by one, and their upload; the same
//   OfflineBenchmark encrypted PYTHON FOLDER ROWS   a store with a key beside one without; the same
//   OfflineBenchmark part NAME FOLDER …     one part, as the first form calls it; prints JSON

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
    case "download": try await DownloadPart.whole(root: rest[1], folder: rest[0], probes: false)
    case "probe": try await DownloadPart.whole(root: rest[1], folder: rest[0], probes: true)
    case "deltas": try await DownloadPart.deltas(root: rest[1], folder: rest[0])
    case "bare": try bare(folder: rest[0])
    case "questions": try await QuestionPart.run(root: rest[1], folder: rest[0])
    default: throw BenchmarkError("there is no part \(name)")
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

/// Runs the parts in processes of their own and judges what they say.
struct Driver {
  let python: String
  let folder: String
  let rows: Int
  private static let rounds = 3

  /// True where every limit held.
  func run() async throws -> Bool {
    let work = folder + "/offline-\(ProcessInfo.processInfo.processIdentifier)"
    try FileManager.default.createDirectory(atPath: work, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: work) }
    let server = try RowServer(python: python, folder: folder + "/rows", rows: rows)
    defer { server.stop() }
    var missed: [String] = []
    func judge(_ what: String, _ value: Double, _ unit: String, _ limit: Double, atLeast: Bool) {
      let held = atLeast ? value >= limit : value <= limit
      if !held { missed.append(what) }
      print(
        "\(what): \(two(value))\(unit)  (limit: at \(atLeast ? "least" : "most") \(two(limit)))\(held ? "" : "  MISSED")"
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
        "  round \(round + 1): download to queryable \(two(ourSeconds)) s, bare inserts \(two(bareSeconds)) s, "
          + "peak memory \(two(ours["memory"] ?? 0)) MB, file \(two(ours["file"] ?? 0)) MB")
    }
    judge("download, of the speed of bare inserts (median)", median(ratios), "", 0.6, atLeast: true)
    judge("peak memory while downloading", memory, " MB", 100, atLeast: false)

    let questions = try part("questions", work, server.root)
    let query = questions["query"] ?? .infinity
    judge("filter, order and top 20, of the time of hand-written SQL", query, "", 1.3, atLeast: false)
    judge(
      "100,000 rows decoded to structs, of the time of C calls", questions["decode"] ?? .infinity, "", 1.5,
      atLeast: false)
    judge("100,000 rows as JSON, of the speed of json_object", questions["json"] ?? 0, "", 0.8, atLeast: true)
    for name in questions.keys.sorted() where name.hasSuffix(" ms") { print("  \(name): \(two(questions[name] ?? 0))") }

    let deltas = try part("deltas", work, server.root)
    for (name, value) in deltas.sorted(by: { $0.value < $1.value }) {
      print("  delta of \(name) rows: \(two(value)) ms")
    }

    try clear(work)
    let probe = try part("probe", work, server.root)
    judge(
      "others wait for the write lock while a download runs, p99", probe["p99"] ?? .infinity, " ms", 50, atLeast: false)
    print(
      "  p50 \(two(probe["p50"] ?? 0)) ms, longest \(two(probe["longest"] ?? 0)) ms of \(Int(probe["count"] ?? 0)) waits"
    )
    print(missed.isEmpty ? "every limit of the offline store held" : "missed: \(missed.joined(separator: "; "))")
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

/// `Peers/rows.py`: it lives as long as its input is open.
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
    guard let port = Int(line.filter(\.isNumber)) else { throw BenchmarkError("the server of rows did not start") }
    root = "http://127.0.0.1:\(port)/service/"
  }

  func stop() {
    try? input.fileHandleForWriting.close()
    process.waitUntilExit()
  }
}

func median(_ values: [Double]) -> Double { values.isEmpty ? 0 : values.sorted()[values.count / 2] }
func two(_ value: Double) -> String { String(format: "%.2f", value) }
