import Foundation
import LarderOData

/// Fuzzes the OData language: `LanguageFuzzer SECONDS [SEED]`, in the project's folder. Exits with 1 if it found a failure.
@main
enum LanguageFuzzer {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let seconds = arguments.first.flatMap(Double.init), seconds > 0 else {
      print("usage: LanguageFuzzer SECONDS [SEED]")
      exit(2)
    }
    let seedText = arguments.dropFirst().first
    guard let seed = seedText.map({ UInt64($0) }) ?? UInt64.random(in: 0 ... .max) else {
      print("LanguageFuzzer: the seed '\(seedText ?? "")' is not a number")
      exit(2)
    }
    print("seed \(seed)")
    let failures = try await texts(seconds: seconds, seed: seed) + depth() + growth()
    print(failures == 0 ? "no failures" : "\(failures) failures; repeat with SEED=\(seed)")
    exit(failures == 0 ? 0 : 1)
  }

  /// Parses random texts, mutated texts and random trees. Returns the number of failures.
  private static func texts(seconds: Double, seed: UInt64) throws -> Int {
    let here = URL(filePath: FileManager.default.currentDirectoryPath)
    var corpus = try FuzzCorpus.read(here.appending(path: "Fuzzing/Corpus"))
    corpus += try FuzzCorpus.read(here.appending(path: "Fuzzing/FailCases"))
    let cases = FuzzCorpus.grammarCases(
      here.deletingLastPathComponent().appending(path: "shared/odata/abnf-cases.json"))
    if cases == nil { print("../shared/odata/abnf-cases.json does not exist: only the corpus of the project is used") }
    let watch = FuzzWatch()
    var run = FuzzRun(corpus: corpus + (cases ?? []))
    run.willRead = { watch.begin($0) }
    let report = run.run(seed: seed, seconds: seconds)
    watch.end()
    print("\(report.steps) steps, \(report.trees) trees")
    for failure in report.failures { print("WRONG \(failure)") }
    return report.failures.count
  }

  private static func depth() async throws -> Int {
    var failures = 0
    for family in FuzzDepth.families {
      // Printed first, because nothing can be printed after a stack overflow.
      print("depth: \(family)")
      guard let complaint = try await onSmallStack({ FuzzDepth.complaint(family) }) else { continue }
      failures += 1
      print("WRONG \(family): \(complaint)")
    }
    for part in FuzzDepth.openings {
      print("depth: \(part)… by every rule")
      guard let complaint = try await onSmallStack({ FuzzDepth.complaintOfRules(part) }) else { continue }
      failures += 1
      print("WRONG \(complaint)")
    }
    return failures
  }

  private static func growth() -> Int {
    var failures = 0
    for family in FuzzGrowth.families {
      let ratio = FuzzGrowth.ratio(family, bytes: 256 << 10, enough: 2.4)
      if ratio < 3 { continue }
      failures += 1
      print("WRONG \(family): a text of twice the length takes \(ratio) times as long")
    }
    return failures
  }
}
