import Foundation
import LarderHistoryRig
import LarderTestSupport
import Testing

/// How long histories are begun, and how many: `LARDER_HISTORY_SECONDS` and `LARDER_HISTORIES` set others than a
/// minute.
private enum Length {
  static let environment = ProcessInfo.processInfo.environment
  private static let requestedSeconds = environment["LARDER_HISTORY_SECONDS"].flatMap { Int($0) }
  static let count = environment["LARDER_HISTORIES"].flatMap { Int($0) }
  static let seconds = requestedSeconds ?? (count == nil ? 60 : nil)
  static let limit: TimeLimitTrait.Duration = .minutes(10 + (seconds ?? 0) / 30 + (count ?? 0) / 10)
}

@Suite("Random histories of stores, a service and other clients", .timeLimit(Length.limit))
struct HistoryTests {
  @Test("no change is lost, applied twice or applied without a request, and the stores have what the service has")
  func histories() async throws {
    let first = PrintedSeed(for: "histories of offline stores", default: 1).seed
    let batch = HistoryBatch(first: first, count: Length.count, limit: Length.seconds.map { .seconds($0) })
    var surprises: [UInt64: Finding] = [:]
    let result = try await batch.run { outcome in
      if let finding = outcome.findings.first { surprises[outcome.seed] = finding }
    }
    print(result)
    #expect(result.histories > 0)
    #expect(!result.hasTooManyUnavoidable)
    // One of each kind is shown by the shortest history that has it.
    for (name, all) in Dictionary(grouping: surprises, by: \.value.name).sorted(by: { $0.key < $1.key }) {
      guard let (seed, finding) = all.min(by: { $0.key < $1.key }) else { continue }
      let shortest = try await HistoryShrinker.shortest(HistoryPlan(seed: seed), showing: name)
      Issue.record("LARDER_SEED=\(seed) LARDER_HISTORIES=1: \(finding)\n\(shortest.trace)")
    }
  }

  @Test("the same seed gives the same history", arguments: [9, 27, 32, 57])
  func repetition(seed: UInt64) async throws {
    var traces: Set<String> = []
    for _ in 0..<2 {
      let run = try HistoryRun(HistoryPlan(seed: seed))
      _ = await run.carryOut()
      traces.insert(run.trace)
    }
    #expect(traces.count == 1, "\(traces.joined(separator: "\n\n"))")
  }

  @Test("a history is shortened to the steps that its finding needs", arguments: [[3, 8], [0], [19], [4, 5, 6], []])
  func shortening(needed: [Int]) async throws {
    let shortest = try await HistoryShrinker.shortest(Array(0..<20), tries: 200) { steps in
      needed.allSatisfy(steps.contains)
    }
    #expect(shortest == needed)
  }

  @Test("a history of no steps finds nothing", arguments: HistoryTheme.allCases)
  func rest(theme: HistoryTheme) async throws {
    var plan = HistoryPlan(seed: 3, theme: theme)
    plan.steps = []
    let run = try HistoryRun(plan)
    let findings = await run.carryOut()
    #expect(findings.isEmpty, "\(run.trace)")
  }
}
