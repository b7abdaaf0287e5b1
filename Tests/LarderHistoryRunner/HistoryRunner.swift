import Foundation
import LarderHistoryRig

/// Runs random histories for as long as one likes:
/// `LarderHistoryRunner [--seed N] [--count N | --seconds N] [--width N] [--theme NAME] [--stop] [--trace] [--shrink]`.
///
/// It begins with the history of `--seed` and continues with those after it, `--width` at a time. `--theme` makes all
/// of them about one theme, `--stop` ends with the first one that has a finding, `--trace` prints each history,
/// `--shrink` a short one for each kind of finding. Ends with 1 if there is a finding that a store could have avoided, or if there are many
/// that none can.
@main
enum HistoryRunner {
  static func main() async throws {
    let arguments = CommandLine.arguments
    func number(_ name: String) -> UInt64? {
      arguments.firstIndex(of: name).flatMap { arguments.indices.contains($0 + 1) ? UInt64(arguments[$0 + 1]) : nil }
    }
    let batch = HistoryBatch(
      first: number("--seed") ?? 1,
      count: number("--count").map { Int($0) } ?? (number("--seconds") == nil ? 100 : nil),
      limit: number("--seconds").map { .seconds($0) }, width: Int(number("--width") ?? 3),
      theme: arguments.firstIndex(of: "--theme").flatMap { HistoryTheme(rawValue: arguments[$0 + 1]) })
    let begin = ContinuousClock.now
    let result = try await batch.run(isStoppedByFinding: arguments.contains("--stop")) { outcome in
      if arguments.contains("--trace") { print(outcome.trace) }
      let seconds = begin.duration(to: .now).components.seconds
      for finding in outcome.findings { print("seed \(outcome.seed) after \(seconds) s: \(finding)") }
    }
    print(result)
    defer { if !result.seeds.isEmpty || result.hasTooManyUnavoidable { exit(1) } }
    guard arguments.contains("--shrink") else { return }
    for (name, seeds) in result.seeds.sorted(by: { $0.key < $1.key }) {
      guard let seed = seeds.min() else { continue }
      print("\n\(name)\n" + (try await HistoryShrinker.shortest(batch.plan(seed), showing: name)).trace)
    }
  }
}
