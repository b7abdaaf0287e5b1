/// How often values were asked for, as far as the file does not know it yet, apart from those that are in memory.
struct RequestCounts: Sendable {
  /// Requests of one value.
  struct Requests: Sendable, Hashable {
    /// How many.
    var times: Int64 = 0
    /// The moment of the last: a number that only rises, no time.
    var last: Int64 = 0

    mutating func add(_ other: Requests) {
      times &+= other.times
      last = max(last, other.last)
    }
  }

  private var counts: [Int64: Requests] = [:]
  /// The values of this round whose turn has not come yet, by id, the last one first. Some may be gone.
  private var turn: [Int64] = []

  var count: Int { counts.count }

  mutating func add(_ requests: Requests, _ id: Int64) {
    if requests.times > 0 { counts[id, default: Requests()].add(requests) }
  }

  subscript(id: Int64) -> Requests { counts[id] ?? Requests() }

  mutating func take(_ id: Int64) -> Requests { counts.removeValue(forKey: id) ?? Requests() }

  /// Begins a round: each of the counts that there are has its turn, by id, so that rows are written side by side.
  mutating func beginRound() { turn = counts.keys.sorted(by: >) }

  /// Up to `limit` counts, which are not in here any more; fewer where the round is over. What is added to one that has had
  /// its turn waits for the next.
  mutating func takeSome(_ limit: Int) -> [(id: Int64, requests: Requests)] {
    var some: [(id: Int64, requests: Requests)] = []
    some.reserveCapacity(max(0, min(limit, turn.count)))
    while some.count < limit, let id = turn.popLast() {
      if let requests = counts.removeValue(forKey: id) { some.append((id, requests)) }
    }
    return some
  }
}
