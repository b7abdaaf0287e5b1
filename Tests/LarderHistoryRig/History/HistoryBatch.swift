/// Many histories from consecutive seeds, a few at a time.
package struct HistoryBatch: Sendable {
  package let first: UInt64
  /// How many; nil goes by the time.
  package let count: Int?
  /// How long new ones are begun; nil goes by the number.
  package let limit: Duration?
  /// How many are carried out at once.
  package let width: Int
  /// What all of them are about; nil for what their seeds say.
  package let theme: HistoryTheme?

  package init(
    first: UInt64, count: Int? = nil, limit: Duration? = nil, width: Int = 3, theme: HistoryTheme? = nil
  ) {
    (self.first, self.count, self.limit, self.width, self.theme) = (first, count, limit, max(1, width), theme)
  }

  /// The history of a seed.
  package func plan(_ seed: UInt64) -> HistoryPlan {
    theme.map { HistoryPlan(seed: seed, theme: $0) } ?? HistoryPlan(seed: seed)
  }

  /// What came of one history.
  package struct Outcome: Sendable {
    package let seed: UInt64
    package let findings: [Finding]
    /// What no store can avoid.
    package let unavoidable: [Finding]
    package let trace: String
  }

  /// What was found.
  package struct Result: Sendable, CustomStringConvertible {
    package var histories = 0
    /// The seeds that show a kind of finding, by its name.
    package var seeds: [String: [UInt64]] = [:]
    /// The seeds that show what no store can avoid.
    package var unavoidable: [UInt64] = []

    /// Whether there are too many unavoidable findings: at least three, in more than 2 percent of the histories. Then
    /// the store or the oracle has a defect.
    package var hasTooManyUnavoidable: Bool { unavoidable.count >= 3 && unavoidable.count * 50 > histories }

    package var description: String {
      var named = seeds.sorted { $0.key < $1.key }
      if !unavoidable.isEmpty { named.append((key: "unavoidable", value: unavoidable)) }
      let lines = named.map { name, seeds in
        "\(name): \(seeds.count) histories, seeds \(seeds.sorted().prefix(6).map(String.init).joined(separator: " "))"
      }
      return (["\(histories) histories"] + lines).joined(separator: "\n")
    }

    mutating func take(_ outcome: Outcome) {
      histories += 1
      for name in Set(outcome.findings.map(\.name)) { seeds[name, default: []].append(outcome.seed) }
      if !outcome.unavoidable.isEmpty { unavoidable.append(outcome.seed) }
    }
  }

  /// Carries them out; `report` hears of each.
  ///
  /// - Parameter isStoppedByFinding: none is begun behind the first one that has a finding.
  package func run(
    isStoppedByFinding: Bool = false, _ report: (Outcome) -> Void = { _ in }
  ) async throws -> Result {
    var result = Result()
    let begin = ContinuousClock.now
    try await withThrowingTaskGroup(of: Outcome.self) { group in
      var seed = first
      func isDue() -> Bool {
        count.map { seed &- first < UInt64($0) } ?? true
          && limit.map { begin.duration(to: .now) < $0 } ?? (count != nil)
      }
      func add(to group: inout ThrowingTaskGroup<Outcome, any Error>) {
        let next = seed
        seed &+= 1
        group.addTask {
          let run = try HistoryRun(plan(next))
          let findings = await run.carryOut()
          return Outcome(seed: next, findings: findings, unavoidable: run.unavoidable, trace: run.trace)
        }
      }
      for _ in 0..<width where isDue() { add(to: &group) }
      while let outcome = try await group.next() {
        result.take(outcome)
        report(outcome)
        if isDue(), !isStoppedByFinding || result.seeds.isEmpty { add(to: &group) }
      }
    }
    return result
  }
}
