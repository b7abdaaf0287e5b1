import Foundation
import TestSupport
import Testing

@testable import CrashRig
@testable import OfflineOData

@Suite("Offline store: a process whose files may not grow", .timeLimit(.minutes(3)))
struct FileLimitTests {
  @Test("it says so; what was committed stays, and the next one goes on")
  func limits() async throws {
    let service = VersionedService()
    let server = try service.serve()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let root = server.url("/s/").absoluteString
    let file = folder.file("store.larder")
    var versions: [String: Int] = [:]
    var said: Set<String> = []
    for limit in [1, 8, 40, 100, 200, 400, 800, 1600, 2400] {
      let process = try CrashRigProcess(["offline", folder.path, root, "2"], fileLimit: limit)
      let lines = await process.lines()
      said.formUnion(lines.filter { $0.hasPrefix("failed") })
      if lines.last?.hasPrefix("failed") == true {
        let isTyped = ["failed diskFull", "failed fileFailed"].contains(lines.last)
        #expect(isTyped, "\(limit): \(lines)")
      }
      guard FileManager.default.fileExists(atPath: file) else { continue }
      let store = try await KilledStore(file)
      let now = try await store.check("\(limit) KiB")
      for (set, version) in now { #expect(version >= versions[set] ?? 0, "\(limit) KiB: \(set) went back") }
      versions = now
      try await store.close()
    }
    print("files that may not grow: \(said.sorted())")
    #expect(!said.isEmpty)
    service.moves = false
    let last = try await CrashRigProcess(["offline", folder.path, root, "2"]).lines()
    #expect(last.last == "closed", "\(last)")
    let store = try await KilledStore(file)
    let version = service.version
    #expect(
      try await store.check("the end") == ["Rows": version, "Whole": version, "Orders": version, "Photos": version])
    #expect(try await store.rubbish().isEmpty)
    try await store.close()
  }
}
