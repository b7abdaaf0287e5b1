import Foundation

/// Measures the cost of encryption: the same work on a store with and without a key, alternately, in one process.
///
/// It measures the processor time of all threads of the process, on which other programs have little effect. The result
/// is the median of the rounds' ratios.
public struct KeyCost {
  /// One kind of work. `limit` is the maximum ratio to the processor time of a store without a key; nil for no limit.
  public struct Work: Sendable {
    let name: String
    let limit: Double?

    /// Creates a kind of work.
    public init(_ name: String, limit: Double?) { (self.name, self.limit) = (name, limit) }
  }

  private var missed: [String] = []

  /// Creates a comparison without results.
  public init() {}

  /// Measures both sides in each round, in alternating order, after a warm-up round, and prints the results.
  ///
  /// - Parameter measure: does all kinds of work on a new store, with or without a key, and returns the seconds of each, in
  ///   the order of `works`.
  public mutating func compare(
    _ subject: String, _ works: [Work], rounds: Int,
    _ measure: (_ round: Int, _ isKeyed: Bool) async throws -> [Double]
  ) async throws {
    var times: [[(plain: Double, encrypted: Double)]] = works.map { _ in [] }
    for round in 0...max(1, rounds) {
      var seconds: [Bool: [Double]] = [:]
      for isKeyed in round % 2 == 0 ? [false, true] : [true, false] {
        seconds[isKeyed] = try await measure(round, isKeyed)
      }
      guard round > 0, let plain = seconds[false], let encrypted = seconds[true] else { continue }
      for index in works.indices { times[index].append((plain[index], encrypted[index])) }
    }
    for (work, pairs) in zip(works, times) { report("\(subject), \(work.name)", work.limit, pairs) }
  }

  private mutating func report(_ name: String, _ limit: Double?, _ pairs: [(plain: Double, encrypted: Double)]) {
    let ratios = pairs.map { $0.encrypted / $0.plain }.sorted()
    let (plain, ratio) = (pairs.map(\.plain).sorted()[pairs.count / 2], ratios[ratios.count / 2])
    print(
      """
      \(name): without a key \(text(plain)), ratio with/without \(two(ratio)) \
      (\(two(ratios[0])) to \(two(ratios[ratios.count - 1])))
      """)
    guard let limit else { return }
    if ratio > limit { missed.append(name) }
    print("  limit: \(two(limit)) times  \(ratio <= limit ? "ok" : "MISSED")")
  }

  /// Prints whether all limits are met. Returns true if they are.
  public func end() -> Bool {
    print(missed.isEmpty ? "all limits of encryption are met" : "missed: \(missed.joined(separator: "; "))")
    return missed.isEmpty
  }

  /// The processor time of one of `repetitions` repetitions, in seconds.
  public static func seconds(of repetitions: Int = 1, _ body: () async throws -> Void) async throws -> Double {
    let before = processorTime()
    try await body()
    return (processorTime() - before) / Double(repetitions)
  }

  private static func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  private func text(_ seconds: Double) -> String {
    if seconds < 1e-3 { return "\(two(seconds * 1e6)) us" }
    return seconds < 1 ? "\(two(seconds * 1e3)) ms" : "\(two(seconds)) s"
  }

  private func two(_ value: Double) -> String { String(format: "%.2f", value) }
}
