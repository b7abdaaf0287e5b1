import Foundation
import LarderOData
import LarderTestSupport
import Testing

/// The fuzzer that `make fuzz` runs, for half a minute. One after another: each of these keeps a processor busy.
@Suite("Fuzzing the language", .timeLimit(.minutes(5)), .serialized)
struct LanguageFuzzTests {
  private static func corpus() throws -> [FuzzCase] {
    let stored = try FuzzCorpus.read(PackageRoot.folder.appending(path: "Fuzzing/Corpus"))
    let standard = SharedOData.folder.flatMap { FuzzCorpus.grammarCases($0.appending(path: "abnf-cases.json")) }
    return stored + (standard ?? [])
  }

  @Test("The seed texts are valid, and print the same twice")
  func corpusIsValid() throws {
    let stored = try FuzzCorpus.read(PackageRoot.folder.appending(path: "Fuzzing/Corpus"))
    #expect(stored.count > 40)
    for item in stored {
      #expect(item.entry.rejection(item.text, item.version) == nil, "\(item.entry) \(item.text)")
      #expect(FuzzChecks.complaint(item) == nil, "\(item.entry) \(item.text)")
    }
  }

  @Test("Failures that a fuzzer found stay fixed")
  func failCases() throws {
    for item in try FuzzCorpus.read(PackageRoot.folder.appending(path: "Fuzzing/FailCases")) {
      #expect(FuzzChecks.complaint(item) == nil, "\(item.entry) \(item.text)")
    }
  }

  @Test("Random texts, mutants and trees for 30 seconds")
  func random() async throws {
    let seed = PrintedSeed(for: "fuzzing the language").seed
    let report = try await onDedicatedThread {
      FuzzRun(corpus: try LanguageFuzzTests.corpus()).run(seed: seed, seconds: 30)
    }
    print("fuzzing the language: \(report.steps) steps, \(report.trees) trees")
    for failure in report.failures { Issue.record("\(failure)") }
    #expect(report.steps > 100)
    #expect(report.trees > 100)
  }

  @Test(
    "100,000 levels are too deep, and the deepest accepted texts work, on a stack of 512 kB",
    arguments: FuzzDepth.families)
  func depth(family: FuzzFamily) async throws {
    let complaint = try await onSmallStack { FuzzDepth.complaint(family) }
    #expect(complaint == nil)
  }

  @Test("100,000 openings of all kinds are rejected on a stack of 512 kB")
  func mixtures() async throws {
    let seed = PrintedSeed(for: "mixtures of openings").seed
    for step in 0..<20 {
      let text = FuzzDepth.mixture(seed: seed &+ UInt64(step), count: 100_000)
      #expect(try await onSmallStack { FuzzEntry.expression.rejection(text, .v401) != nil })
    }
  }

  @Test("Reading time is linear in the length of the text", arguments: FuzzGrowth.families)
  func growth(family: FuzzFamily) throws {
    func reads(_ bytes: Int) -> Int {
      let reads = ByteReads()
      _ = ByteReads.$current.withValue(reads) { family.entry.rejection(family.text(bytes: bytes), family.version) }
      return reads.count
    }
    let (once, twice) = (reads(6 << 10), reads(12 << 10))
    // An invalid encoding is rejected before the text is read.
    #expect(once > 0 || family.part == "%")
    #expect(twice <= 2 * once + 1000, "\(family)")
    #expect(twice <= 60 * 12 << 10, "\(family)")
  }
}
