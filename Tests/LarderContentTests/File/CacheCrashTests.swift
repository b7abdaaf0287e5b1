import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCrashRig

/// The rig as a process that is killed.
private struct CacheRigProcess {
  let kind: CacheRig.Kind
  let folder: String
  var limit = 1 << 30
  var round = 0

  private func make() -> (process: Process, output: FileHandle) {
    let process = Process()
    let runner = URL(filePath: CommandLine.arguments[0])
    process.executableURL = runner.deletingLastPathComponent().appending(path: "LarderCrashRig")
    process.arguments = ["content", kind.rawValue, folder, String(limit), String(round)]
    let pipe = Pipe()
    process.standardOutput = pipe
    return (process, pipe.fileHandleForReading)
  }

  /// Runs the program, and kills it some time after it has written a number of lines. Returns the last round that it
  /// acknowledged for each number.
  func runAndKill(afterLines wanted: Int, microseconds: UInt32) async throws -> [Int: Int] {
    let (process, output) = make()
    try process.run()
    let identifier = process.processIdentifier
    let heard: Data = await withCheckedContinuation { done in
      Thread.detachNewThread {
        var heard = Data()
        var lines = 0
        var isKilled = false
        while true {
          if !isKilled, lines >= wanted {
            isKilled = true
            _ = usleep(microseconds)
            _ = kill(identifier, SIGKILL)
          }
          let chunk = output.availableData
          if chunk.isEmpty { break }
          heard.append(chunk)
          for byte in chunk where byte == 0x0A { lines += 1 }
        }
        done.resume(returning: heard)
      }
    }
    process.waitUntilExit()
    return CacheRigProcess.acknowledged(heard)
  }

  private static func acknowledged(_ heard: Data) -> [Int: Int] {
    var rounds: [Int: Int] = [:]
    // A last line without its end was truncated by the kill.
    for line in String(decoding: heard, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
      .dropLast()
    {
      let words = line.split(separator: " ")
      guard words.count == 3, let round = Int(words[1]), let number = Int(words[2]) else { continue }
      rounds[number] = max(rounds[number] ?? -1, round)
    }
    return rounds
  }

  /// Runs it while `body` does, then kills it.
  func run(_ body: () async throws -> Void) async throws {
    let (process, output) = make()
    try process.run()
    let identifier = process.processIdentifier
    // Its output is read to the end, so that it never waits.
    Thread.detachNewThread { while !output.availableData.isEmpty {} }
    defer {
      _ = kill(identifier, SIGKILL)
      process.waitUntilExit()
    }
    try await body()
  }
}

@Suite("Caches of processes killed during concurrent stores", .serialized, .timeLimit(.minutes(5)))
struct CacheCrashTests {
  static let kills = 6

  @Test("hold every acknowledged entry, and no other but whole", arguments: CacheRig.Kind.allCases)
  func kills(kind: CacheRig.Kind) async throws {
    let folder = try TemporaryFolder()
    var random = PrintedSeed(for: "kills of \(kind)")
    var acknowledged: [Int: Int] = [:]
    var heard = 0
    for kill in 0..<CacheCrashTests.kills {
      var rig = CacheRigProcess(kind: kind, folder: folder.path)
      rig.round = (acknowledged.values.max() ?? 0) + 1
      let lines = Int(random.next() % UInt64(kill % 2 == 0 ? 900 : 2500))
      let said = try await rig.runAndKill(afterLines: lines, microseconds: UInt32(random.next() % 20_000))
      heard += said.count
      acknowledged.merge(said) { max($0, $1) }
      let cache = try await kind.open(folder.path, limit: 1 << 30)
      var whole = 0
      for number in 0..<CacheRig.count {
        let last = acknowledged[number]
        guard let entry = try await cache.entry(forKey: CacheRig.key(number)) else {
          #expect(last == nil, "\(number) is lost, kill \(kill)")
          continue
        }
        let round = try #require(try await CacheRig.round(of: entry, number), "\(number) is not whole, kill \(kill)")
        #expect(round >= last ?? 0, "\(number) is of round \(round), kill \(kill)")
        whole += 1
        // What was stored but not heard of may be gone over by the next round alone.
        acknowledged[number] = round
      }
      #expect(whole >= said.count)
      if kind == .files, let files = cache as? FileCache { try await CacheCrashTests.check(files, folder) }
    }
    print("\(kind): \(CacheCrashTests.kills) kills, \(heard) entries acknowledged before them")
    #expect(heard > 500)
  }

  /// Nothing of the dead is left, and the numbers are right.
  private static func check(_ cache: FileCache, _ folder: TemporaryFolder) async throws {
    await cache.drained()
    let rig = try FileCacheRig(folder: folder, path: folder.file("files"))
    // The lock of this cache's own folder.
    #expect(rig.files(below: "larder.temporary").count == 1)
    #expect(rig.files(below: "larder.removed").isEmpty)
    #expect(try cache.usedBytes == rig.bytesOnDisk)
    #expect(try cache.count == rig.entryFiles.count)
    await cache.close()
  }

  @Test("serve whole entries to another process all the while, also as room is made")
  func readingBesides() async throws {
    let folder = try TemporaryFolder()
    let rig = CacheRigProcess(kind: .files, folder: folder.path, limit: 4 << 20, round: 1)
    let cache = try FileCache(
      path: folder.file("files"), byteLimit: 4 << 20, encryptionKey: try RigKey.fromEnvironment())
    var random = PrintedSeed(for: "reading besides")
    var hits = 0
    var rounds: Set<Int> = []
    try await rig.run {
      var looks = 0
      while looks < 200_000, hits < 3000 || rounds.count < 2 {
        looks += 1
        let number = Int(random.next() % UInt64(CacheRig.count))
        guard let entry = try await cache.entry(forKey: CacheRig.key(number)) else { continue }
        let round = try #require(try await CacheRig.round(of: entry, number), "\(number) is not whole")
        rounds.insert(round)
        hits += 1
        if hits % 50 == 0 { try await cache.removeEntry(forKey: CacheRig.key(number)) }
      }
    }
    print("reading besides: \(hits) hits of \(rounds.count) rounds")
    #expect(hits >= 3000 && rounds.count >= 2)
    await cache.close()
    let again = try FileCache(
      path: folder.file("files"), byteLimit: 4 << 20, encryptionKey: try RigKey.fromEnvironment())
    try await CacheCrashTests.check(again, folder)
  }
}
