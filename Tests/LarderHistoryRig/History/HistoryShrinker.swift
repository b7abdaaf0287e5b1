/// Drops the steps that a finding of a history does not need.
package enum HistoryShrinker {
  /// The shortest history found while a finding of one name remains: of the name given, else of the history's first.
  package static func shortest(
    _ plan: HistoryPlan, showing name: String? = nil, tries: Int = 60
  ) async throws -> HistoryRun {
    let whole = try HistoryRun(plan)
    guard let wanted = await whole.carryOut().map(\.name).first(where: { name == nil || $0 == name }) else {
      return whole
    }
    var best = whole
    _ = try await shortest(plan.steps, tries: tries) { steps in
      var shorter = plan
      shorter.steps = steps
      let run = try HistoryRun(shorter)
      let shows = await run.carryOut().contains { $0.name == wanted }
      if shows { best = run }
      return shows
    }
    return best
  }

  /// Drops runs of steps, halves first, for which `shows` still holds without them. Gives up after so many tries: what is
  /// left then is short enough.
  package static func shortest<Step>(
    _ steps: [Step], tries: Int, shows: ([Step]) async throws -> Bool
  ) async throws -> [Step] {
    var best = steps
    var (size, left) = (max(1, steps.count / 2), tries)
    while true {
      var start = 0
      while start < best.count, left > 0 {
        left -= 1
        var shorter = best
        shorter.removeSubrange(start..<min(start + size, shorter.count))
        if try await shows(shorter) { best = shorter } else { start += size }
      }
      if size == 1 || left == 0 { return best }
      size /= 2
    }
  }
}
