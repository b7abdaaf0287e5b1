import Testing

@testable import LarderOData

@Suite("Recorded payloads", .timeLimit(.minutes(5)))
struct PayloadSampleTests {
  static let seed: UInt64 = 20_260_115
  /// What no reader can take: the service broke off in the middle; Latin-1 bytes; a raw line break inside a string.
  static let broken: Set<String> = [
    "v4-json/lodata/Protocol/ErrorReportingTest__test_stream_error__1.txt",
    "v2-json/northwind-odata4j/SystemQueryOptionFilterDoubleCeilingTest.json",
    "v2-json/northwind-odata4j/SystemQueryOptionFilterIntDayTest.json",
  ]

  @Test("Every recorded payload is read completely, or rejected with its position")
  func whole() throws {
    for (path, bytes) in sampleFiles() {
      let result = try #require(outcome([bytes]), "\(path)")
      switch result {
      case .success(let payload):
        #expect(!Self.broken.contains(path), "\(path)")
        if Self.dump { print("== \(path)\n\(payload)") }
      case .failure(let error):
        #expect(Self.broken.contains(path), "\(path): \(error)")
        if Self.dump { print("== \(path)\n\(error)") }
      }
    }
  }
  static let dump = false

  @Test("Chunk boundaries anywhere give the same payload")
  func chunks() throws {
    print("seed \(Self.seed)")
    var generator = SplitMix(state: Self.seed)
    for (path, bytes) in sampleFiles() {
      let whole = try #require(outcome([bytes]))
      #expect(outcome(randomChunks(bytes, using: &generator)) == whole, "\(path), seed \(Self.seed)")
      if bytes.count < 3000 { #expect(outcome(bytes.map { [$0] }) == whole, "\(path), byte by byte") }
    }
  }
}
