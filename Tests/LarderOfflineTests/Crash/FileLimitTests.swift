import LarderTestSupport
import Testing

@Suite("Offline store: a process whose files may not grow", .timeLimit(.minutes(3)))
struct FileLimitTests {
  @Test("it is reported; committed data stays, and the next one resumes")
  func limits() async throws {
    let place = try VersionedFolder()
    defer { place.server.stop() }
    var said: Set<String> = []
    for limit in [1, 8, 40, 100, 200, 400, 800, 1600, 2400] {
      let lines = try await place.process(downloads: 2, fileLimit: limit).lines()
      said.formUnion(lines.filter { $0.hasPrefix("failed") })
      if lines.last?.hasPrefix("failed") == true {
        let isTyped = ["failed diskFull", "failed fileFailed"].contains(lines.last)
        #expect(isTyped, "\(limit): \(lines)")
      }
      try await place.check("\(limit) KiB")
    }
    print("files that may not grow: \(said.sorted())")
    #expect(!said.isEmpty)
    try await place.finish()
  }
}
