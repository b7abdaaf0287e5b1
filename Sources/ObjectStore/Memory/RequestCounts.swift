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
  /// The values whose turn comes next, the last one first, by id: their rows are written side by side. Some may be gone.
  private var turn: [Int64] = []

  var count: Int { counts.count }

  mutating func add(_ requests: Requests, _ id: Int64) {
    if requests.times > 0 { counts[id, default: Requests()].add(requests) }
  }

  subscript(id: Int64) -> Requests { counts[id] ?? Requests() }

  mutating func take(_ id: Int64) -> Requests { counts.removeValue(forKey: id) ?? Requests() }

  /// Up to `limit` of the counts, which are not in here any more; fewer where these are all. They come in rounds, by id: what
  /// is added to one that has had its turn waits for the next round.
  mutating func takeSome(_ limit: Int) -> [(id: Int64, requests: Requests)] {
    var some: [(id: Int64, requests: Requests)] = []
    some.reserveCapacity(max(0, min(limit, counts.count)))
    while some.count < limit, !counts.isEmpty {
      if turn.isEmpty { turn = counts.keys.sorted(by: >) }
      if let id = turn.popLast(), let requests = counts.removeValue(forKey: id) { some.append((id, requests)) }
    }
    if counts.isEmpty { turn = [] }
    return some
  }
}
