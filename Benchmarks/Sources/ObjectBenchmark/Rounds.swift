import Foundation

/// The times of both sides, one value for each round.
struct Rounds {
  private var bare: [Double] = []
  private var ours: [Double] = []

  /// The speed of the store relative to the other side in each round, in ascending order.
  private var speeds: [Double] { zip(bare, ours).map { $0 / $1 }.sorted() }

  /// The median of the rounds' ratios: 0.5 if the store takes twice as long.
  var speed: Double { speeds[speeds.count / 2] }

  /// Runs both sides in each round, in alternating order. The first round is a warm-up and does not count.
  static func measure(
    _ rounds: Int, each times: Int, bare: () throws -> Void, ours: () async throws -> Void
  ) async throws -> Rounds {
    try await timed(rounds, each: times) {
      try seconds { try bare() }
    } ours: {
      try await ours()
    }
  }

  /// Runs both sides like ``measure(_:each:bare:ours:)``, if the other side measures its own time.
  static func timed(
    _ rounds: Int, each times: Int, bare: () throws -> Double, ours: () async throws -> Void
  ) async throws -> Rounds {
    var result = Rounds()
    for round in 0...rounds {
      var bareTime = 0.0
      if round.isMultiple(of: 2) { bareTime = try bare() }
      let begin = ContinuousClock.now
      try await ours()
      let ourTime = inSeconds(begin.duration(to: .now))
      if !round.isMultiple(of: 2) { bareTime = try bare() }
      if round == 0 { continue }
      result.bare.append(bareTime / Double(times))
      result.ours.append(ourTime / Double(times))
    }
    return result
  }

  private static func seconds(_ body: () throws -> Void) rethrows -> Double {
    let begin = ContinuousClock.now
    try body()
    return inSeconds(begin.duration(to: .now))
  }

  private static func inSeconds(_ duration: Duration) -> Double {
    Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
  }

  /// Both medians, and the ratio with its range from the 10th to the 90th percentile.
  func text(_ other: String) -> String {
    let speeds = speeds
    return """
        \(other) \(microseconds(Rounds.median(bare))) us, Larder \(microseconds(Rounds.median(ours))) us (medians); \
      Larder is \(two(speed)) times as fast (\(two(speeds[speeds.count / 10])) to \
      \(two(speeds[speeds.count - 1 - speeds.count / 10])))
      """
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// The limits that were missed.
struct Verdicts {
  private(set) var missed: [String] = []

  /// Prints figures without a limit.
  func report(_ name: String, _ rounds: Rounds, against: String) { print("\(name):\n\(rounds.text(against))") }

  /// Prints figures, and whether the ratio meets its limit.
  mutating func check(_ name: String, _ rounds: Rounds, against: String, atLeast limit: Double) {
    print("\(name):\n\(rounds.text(against))")
    let isMet = rounds.speed >= limit
    if !isMet { missed.append(name) }
    print("  limit: at least \(two(limit)) times  \(isMet ? "ok" : "MISSED")")
  }

  var summary: String {
    missed.isEmpty ? "all limits of the object store are met" : "missed: \(missed.joined(separator: "; "))"
  }
}

private func microseconds(_ seconds: Double) -> String { two(seconds * 1e6) }
private func two(_ value: Double) -> String { String(format: "%.2f", value) }
