import HistoryRig

/// Runs random histories for as long as one likes:
/// `HistoryRunner [--seed N] [--count N | --seconds N] [--width N] [--trace] [--shrink]`.
///
/// It begins with the history of `--seed` and goes on with those behind it, `--width` at a time. `--trace` prints each
/// history, `--shrink` a short one for each kind of finding.
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
      limit: number("--seconds").map { .seconds($0) }, width: Int(number("--width") ?? 3))
    let result = try await batch.run { outcome in
      if arguments.contains("--trace") { print(outcome.trace) }
      for finding in outcome.findings { print("seed \(outcome.seed): \(finding)") }
    }
    print(result)
    guard arguments.contains("--shrink") else { return }
    for (name, seeds) in result.seeds.sorted(by: { $0.key < $1.key }) {
      guard let seed = seeds.min() else { continue }
      print("\n\(name)\n" + (try await HistoryShrinker.shortest(HistoryPlan(seed: seed), showing: name)).trace)
    }
  }
}
