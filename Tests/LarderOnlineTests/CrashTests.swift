import Foundation
import LarderOnline
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderCrashRig

/// A process is killed at random times while it fills a cache; afterwards the cache opens and has whole responses only,
/// and the last one that was acknowledged.
@Suite("Killed at any time", .serialized, .timeLimit(.minutes(5)))
struct CrashTests {
  static let kills = 30

  @Test("thirty kills leave a cache that opens, with whole and acknowledged responses")
  func kills() async throws {
    let folder = try TemporaryFolder()
    let root = "http://crash-\(UUID().uuidString.lowercased()).test/"
    var random = PrintedSeed(for: "kills")
    var round = 0
    var acknowledged = 0
    for _ in 0..<CrashTests.kills {
      var rig = RigProcess(folder: folder.path, root: root)
      rig.seed = random.next()
      rig.round = round
      rig.lines = Int(random.next() % 60)
      rig.microseconds = UInt32(random.next() % 3000)
      let said = try await rig.runAndKill()
      round = said.lastRound + 1
      acknowledged += said.stored.count
      let entries = try await CrashTests.wholeResponses(folder.path)
      guard let last = said.stored.last else { continue }
      // What was acknowledged last cannot have been cleaned up; a later round may have replaced it unheard.
      let stored: Int = entries[root + last.path] ?? -1
      #expect(stored >= last.round, "\(last.path) was acknowledged, seed \(rig.seed)")
    }
    print("kills: \(CrashTests.kills), responses acknowledged before them: \(acknowledged)")
    #expect(acknowledged > CrashTests.kills)
    try await opensWithoutReplacement(folder.path, root)
  }

  private func opensWithoutReplacement(_ folder: String, _ root: String) async throws {
    let log = DiagnosticLog()
    var options = OnlineStoreOptions(
      useCache: true, path: folder, encryptionKey: try RigKey.fromEnvironment())
    options.onDiagnostic = { log.add($0) }
    let url = try #require(URL(string: root))
    let service = StubService { _ in StubService.Response.ok("{}") }
    let store = try OnlineODataStore(serviceRoot: url, transport: service, options: options)
    try await store.open()
    #expect(log.all.isEmpty)
    try await store.close()
  }

  /// Every entry's content proves itself; returns the round of each URL.
  private static func wholeResponses(_ folder: String) async throws -> [String: Int] {
    guard let file = try TechnicalCacheFile.files(in: folder, key: try RigKey.fromEnvironment()).first else {
      return [:]
    }
    // Killed before the first page was written: an empty file holds nothing.
    if DatabaseFile(file.path).byteCount == 0 { return [:] }
    var rounds: [String: Int] = [:]
    for entry in try await file.entries() {
      let responses: [ODataSingleResponse] = try await file.responses(to: entry.url)
      let content: String = text(responses.first) ?? ""
      let round: Int = CrashTests.number(after: "\"round\":", in: content)
      let whole: String = SelfCheckingService.body(entry.url, round)
      #expect(content == whole)
      rounds[entry.url] = round
    }
    return rounds
  }

  private static func number(after name: String, in text: String) -> Int {
    guard let range = text.firstRange(of: name) else { return -1 }
    let digits = text[range.upperBound...].prefix { $0.isNumber }
    return Int(String(digits)) ?? -1
  }
}

/// The rig as a process that will be killed.
struct RigProcess {
  let folder: String
  let root: String
  var seed: UInt64 = 0
  var round = 0
  /// It is killed once it has said so many lines, and has then worked for so long.
  var lines = 0
  var microseconds: UInt32 = 0

  init(folder: String, root: String) {
    self.folder = folder
    self.root = root
  }

  /// What it said before its end.
  struct Said: Sendable {
    struct Stored: Sendable {
      var round: Int
      var path: String
    }
    var stored: [Stored] = []
    var lastRound = 0

    init(_ output: Data) {
      let text = String(decoding: output, as: UTF8.self)
      // A last line without its end was truncated by the kill.
      let lines: [Substring] = text.split(separator: "\n", omittingEmptySubsequences: false).dropLast()
      for line in lines {
        let words: [Substring] = line.split(separator: " ")
        guard words.count >= 2, let round = Int(String(words[1])) else { continue }
        lastRound = round
        if words.count == 3 { stored.append(Stored(round: round, path: String(words[2]))) }
      }
    }
  }

  func runAndKill() async throws -> Said {
    let process = Process()
    let runner = URL(filePath: CommandLine.arguments[0])
    process.executableURL = runner.deletingLastPathComponent().appending(path: "LarderCrashRig")
    process.arguments = [folder, root, String(seed), String(round)]
    let pipe = Pipe()
    process.standardOutput = pipe
    try process.run()
    let identifier = process.processIdentifier
    let output = pipe.fileHandleForReading
    let wanted = lines
    let pause = microseconds
    let heard: Data = await withCheckedContinuation { (done: CheckedContinuation<Data, Never>) in
      Thread.detachNewThread {
        var heard = Data()
        var isKilled = false
        while true {
          if !isKilled, RigProcess.lineCount(heard) >= wanted {
            isKilled = true
            _ = usleep(pause)
            _ = kill(identifier, SIGKILL)
          }
          let chunk: Data = output.availableData
          if chunk.isEmpty { break }
          heard.append(chunk)
        }
        done.resume(returning: heard)
      }
    }
    process.waitUntilExit()
    return Said(heard)
  }

  private static func lineCount(_ data: Data) -> Int {
    var count = 0
    for byte in data where byte == 0x0A { count += 1 }
    return count
  }
}
