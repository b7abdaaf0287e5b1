import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder fetch on disks that are full or damaged", .timeLimit(.minutes(5)))
struct FetchStorageTests {
  /// A server with one content, and a cache in a folder.
  private struct Site {
    let server: ScriptedServer
    let folder: TemporaryFolder
    let content: String
    let rig: Rig
    var cache: String { folder.file("cache") }

    init(length: Int, isEncrypted: Bool) throws {
      let content = String((0..<length).map { Character(UnicodeScalar(UInt8(97 + $0 * 7 % 26))) })
      self.content = content
      server = try ScriptedServer { request in
        let fields: HTTPFields = ["Cache-Control": "max-age=60", "ETag": "\"1\""]
        return request.fields[.ifNoneMatch] != nil
          ? .response(304, fields: fields) : .response(200, fields: fields, body: content)
      }
      folder = try TemporaryFolder()
      rig = Rig(environment: isEncrypted ? ["LARDER_KEY": "a passphrase"] : [:])
    }

    func fetch(_ options: String...) async -> Outcome {
      await rig.run(["fetch", "--cache", cache, server.text("/a")] + options)
    }

    /// Keeps the content, then changes a byte of the file that it lies in.
    func damage(at place: Double) async throws {
      _ = await fetch()
      let files = FileManager.default
      let below = cache + "/larder.entries"
      let names = try files.subpathsOfDirectory(atPath: below).filter { name in
        (try? files.attributesOfItem(atPath: below + "/" + name)[.type] as? FileAttributeType) == .typeRegular
      }
      // The longest file is that of the content, or of the entry with it.
      func length(_ name: String) -> Int { (try? Data(contentsOf: URL(filePath: below + "/" + name)).count) ?? 0 }
      let name = try #require(names.max { length($0) < length($1) })
      var bytes = try Data(contentsOf: URL(filePath: below + "/" + name))
      bytes[Int(Double(bytes.count - 1) * place)] ^= 1
      let file = try FileHandle(forWritingTo: URL(filePath: below + "/" + name))
      try file.write(contentsOf: bytes)
      try file.close()
    }
  }

  @Test("On a full disk, the content is printed with a warning that it is not cached, and the status is 0")
  func fullDisk() async throws {
    guard let disk = try SmallDisk(bytes: 256 << 10) else {
      print("no disk can be mounted here: BinaryTests limits the length of files instead")
      return
    }
    let site = try Site(length: 500_000, isEncrypted: false)
    defer { site.server.stop() }
    // One cache was made while there was room, the other cannot be made.
    let head = await site.rig.run("fetch", "--cache", disk.path + "/old", site.server.text("/a"), "--head")
    #expect(head.status == .done)
    try disk.fill()
    for name in ["new", "old"] {
      for output in [nil, site.folder.file("out")] {
        let options = output.map { ["-o", $0] } ?? []
        let outcome = await site.rig.run(
          ["fetch", "--cache", disk.path + "/" + name, site.server.text("/a")] + options)
        #expect(outcome.status == .done, "\(outcome.diagnostics)")
        #expect(outcome.diagnostics.contains("warning: "), "\(outcome.diagnostics)")
        #expect(outcome.diagnostics.contains("The disk of \(disk.path)/\(name) is full."), "\(outcome.diagnostics)")
        let delivered = try output.map { String(decoding: try InputFile.read($0), as: UTF8.self) } ?? outcome.output
        #expect(delivered == site.content)
      }
    }
  }

  static let damages: [(length: Int, place: Double)] = [
    (20, 0.5), (100_000, 0.99), (200_000, 0), (200_000, 1), (600_000, 0.5), (3_000_000, 0.01), (3_000_000, 1),
  ]

  @Test(
    "Offline, damaged content exits with 4 before a byte of it is written, wherever the damage is",
    arguments: damages, [true, false])
  func damagedOffline(damage: (length: Int, place: Double), isEncrypted: Bool) async throws {
    let site = try Site(length: damage.length, isEncrypted: isEncrypted)
    defer { site.server.stop() }
    try await site.damage(at: damage.place)
    let outcome = await site.fetch("--offline")
    #expect(outcome.status == .storage, "\(outcome.diagnostics)")
    #expect(outcome.outputBytes.isEmpty, "\(outcome.outputBytes.count) bytes")
    #expect(outcome.diagnostics.contains("is damaged"), "\(outcome.diagnostics)")
    #expect(site.server.requests.count == 1)
    // It is gone, and that is no damage.
    #expect(await site.fetch("--offline").status == .negative)
    try await site.damage(at: damage.place)
    let file = site.folder.file("out")
    #expect(await site.fetch("--offline", "-o", file).status == .storage)
    #expect(!InputFile.exists(file))
    try await site.damage(at: damage.place)
    let report = await site.fetch("--offline", "--json")
    #expect(report.status == .storage && report.output.isEmpty, "\(report.output)")
  }

  @Test(
    "If the network may be used, the content is requested again, and only that is written",
    arguments: damages, [true, false])
  func damagedOnline(damage: (length: Int, place: Double), isEncrypted: Bool) async throws {
    let site = try Site(length: damage.length, isEncrypted: isEncrypted)
    defer { site.server.stop() }
    for options in [[], ["--refresh"], ["--policy", "cache-else-network"]] {
      try await site.damage(at: damage.place)
      let before = site.server.requests.count
      let outcome = await site.rig.run(["fetch", "--cache", site.cache, site.server.text("/a")] + options)
      #expect(outcome.status == .done && outcome.output == site.content, "\(outcome.diagnostics)")
      #expect(outcome.diagnostics.contains("is damaged"), "\(outcome.diagnostics)")
      #expect(site.server.requests.count > before)
      #expect(site.server.requests.last?.fields.contains(.ifNoneMatch) == false)
      // What came is kept in its place.
      #expect(await site.fetch("--offline").output == site.content)
    }
    try await site.damage(at: damage.place)
    site.server.stop()
    let outcome = await site.fetch()
    #expect(outcome.status == .network && outcome.outputBytes.isEmpty, "\(outcome.diagnostics)")
  }
}
