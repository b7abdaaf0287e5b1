import Foundation
import LarderOData

/// Fuzzes the OData language: `LanguageFuzzer SECONDS [SEED]`, in the project's folder. Ends with 1 where something is wrong.
@main
enum LanguageFuzzer {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard let seconds = arguments.first.flatMap(Double.init), seconds > 0 else {
      print("usage: LanguageFuzzer SECONDS [SEED]")
      exit(2)
    }
    let asked = arguments.dropFirst().first
    guard let seed = asked.map({ UInt64($0) }) ?? UInt64.random(in: 0 ... .max) else {
      print("LanguageFuzzer: the seed '\(asked ?? "")' is no number")
      exit(2)
    }
    print("seed \(seed)")
    let failures = try await texts(seconds: seconds, seed: seed) + depth() + growth()
    print(failures == 0 ? "nothing wrong" : "\(failures) things wrong; repeat with SEED=\(seed)")
    exit(failures == 0 ? 0 : 1)
  }

  /// Random texts, mutants and trees.
  private static func texts(seconds: Double, seed: UInt64) throws -> Int {
    let here = URL(filePath: FileManager.default.currentDirectoryPath)
    var corpus = try FuzzCorpus.read(here.appending(path: "Fuzzing/Corpus"))
    corpus += try FuzzCorpus.read(here.appending(path: "Fuzzing/FailCases"))
    let cases = FuzzCorpus.grammarCases(
      here.deletingLastPathComponent().appending(path: "shared/odata/abnf-cases.json"))
    if cases == nil { print("../shared/odata/abnf-cases.json is absent: the seed corpus is the project's own") }
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
      // Said before, as a stack that overflows says nothing.
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
      print("WRONG \(family): twice the text takes \(ratio) times the time")
    }
    return failures
  }
}
