import Foundation

/// What a key costs: the same work on a store without one and on one with one, in turn, in one process.
///
/// Processor time of all threads of the process, which other programs change little; the median of the rounds' ratios
/// counts.
public struct KeyCost {
  /// One kind of work, and how many times the processor time of a plain store it may take; nil where it is shown beside.
  public struct Work: Sendable {
    let name: String
    let limit: Double?

    /// Names a work.
    public init(_ name: String, limit: Double?) { (self.name, self.limit) = (name, limit) }
  }

  private var missed: [String] = []

  /// Nothing measured yet.
  public init() {}

  /// Measures so many rounds of both sides; who comes first changes from round to round, and one more before them warms up.
  ///
  /// - Parameter measure: does all works on a store of its own, with a key or without, and gives the seconds of each, in the
  ///   order of `works`.
  public mutating func compare(
    _ what: String, _ works: [Work], rounds: Int,
    _ measure: (_ round: Int, _ isKeyed: Bool) async throws -> [Double]
  ) async throws {
    var times: [[(plain: Double, encrypted: Double)]] = works.map { _ in [] }
    for round in 0...max(1, rounds) {
      var found: [Bool: [Double]] = [:]
      for isKeyed in round % 2 == 0 ? [false, true] : [true, false] {
        found[isKeyed] = try await measure(round, isKeyed)
      }
      guard round > 0, let plain = found[false], let encrypted = found[true] else { continue }
      for index in works.indices { times[index].append((plain[index], encrypted[index])) }
    }
    for (work, pairs) in zip(works, times) { tell("\(what), \(work.name)", work.limit, pairs) }
  }

  private mutating func tell(_ name: String, _ limit: Double?, _ pairs: [(plain: Double, encrypted: Double)]) {
    let ratios = pairs.map { $0.encrypted / $0.plain }.sorted()
    let (plain, ratio) = (pairs.map(\.plain).sorted()[pairs.count / 2], ratios[ratios.count / 2])
    print(
      """
      \(name): plain \(text(plain)), encrypted/plain \(two(ratio)) \
      (\(two(ratios[0])) to \(two(ratios[ratios.count - 1])))
      """)
    guard let limit else { return }
    if ratio > limit { missed.append(name) }
    print("  limit: \(two(limit)) times  \(ratio <= limit ? "ok" : "MISSED")")
  }

  /// True where every limit held, which is printed.
  public func end() -> Bool {
    print(missed.isEmpty ? "every limit of encryption held" : "missed: \(missed.joined(separator: "; "))")
    return missed.isEmpty
  }

  /// The seconds of the processor that one of so many repetitions took.
  public static func seconds(of repetitions: Int = 1, _ body: () async throws -> Void) async throws -> Double {
    let before = used()
    try await body()
    return (used() - before) / Double(repetitions)
  }

  private static func used() -> Double {
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
