import Foundation

/// Times of both sides, one figure a round.
struct Rounds {
  private var bare: [Double] = []
  private var ours: [Double] = []

  /// How often ours is as fast as the other side, by round, in order.
  private var speeds: [Double] { zip(bare, ours).map { $0 / $1 }.sorted() }

  /// The median of the rounds' ratios: 0.5 where ours takes twice as long.
  var speed: Double { speeds[speeds.count / 2] }

  /// Runs both sides in turn; who begins changes from round to round. The first round warms up and does not count.
  static func measure(
    _ rounds: Int, each times: Int, bare: () throws -> Void, ours: () async throws -> Void
  ) async throws -> Rounds {
    try await timed(rounds, each: times) {
      try seconds { try bare() }
    } ours: {
      try await ours()
    }
  }

  /// The same where the other side times itself.
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

  /// Both medians, and the ratio with the range of its middle eight tenths.
  func text(_ what: String) -> String {
    let speeds = speeds
    return """
        \(what) \(microseconds(Rounds.median(bare))) us, ours \(microseconds(Rounds.median(ours))) us (medians); \
      ours is \(two(speed)) times as fast (\(two(speeds[speeds.count / 10])) to \
      \(two(speeds[speeds.count - 1 - speeds.count / 10])))
      """
  }

  private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
}

/// Which limits held.
struct Verdicts {
  private(set) var missed: [String] = []

  /// Prints figures without a limit.
  func tell(_ what: String, _ rounds: Rounds, against: String) { print("\(what):\n\(rounds.text(against))") }

  /// Prints figures and whether the ratio holds its limit.
  mutating func judge(_ what: String, _ rounds: Rounds, against: String, atLeast limit: Double) {
    print("\(what):\n\(rounds.text(against))")
    let good = rounds.speed >= limit
    if !good { missed.append(what) }
    print("  limit: at least \(two(limit)) times  \(good ? "ok" : "MISSED")")
  }

  var summary: String {
    missed.isEmpty ? "every limit of the object store held" : "missed: \(missed.joined(separator: "; "))"
  }
}

private func microseconds(_ seconds: Double) -> String { two(seconds * 1e6) }
private func two(_ value: Double) -> String { String(format: "%.2f", value) }
