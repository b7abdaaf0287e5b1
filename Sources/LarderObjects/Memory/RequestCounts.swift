/// Request counts that are not written to the file yet, except those of values in memory.
struct RequestCounts: Sendable {
  /// The requests of one value.
  struct Requests: Sendable, Hashable {
    /// The number of requests.
    var times: Int64 = 0
    /// The number of the last request: it only rises, and is not a time.
    var last: Int64 = 0

    mutating func add(_ other: Requests) {
      times &+= other.times
      last = max(last, other.last)
    }
  }

  private var counts: [Int64: Requests] = [:]
  /// The ids of values whose counts are still to be written in this round, in reverse order. Some may have been
  /// deleted.
  private var round: [Int64] = []

  var count: Int { counts.count }

  mutating func add(_ requests: Requests, _ id: Int64) {
    if requests.times > 0 { counts[id, default: Requests()].add(requests) }
  }

  subscript(id: Int64) -> Requests { counts[id] ?? Requests() }

  mutating func remove(_ id: Int64) -> Requests { counts.removeValue(forKey: id) ?? Requests() }

  /// Begins a round: every existing count is written once, ordered by id, so that adjacent rows are written together.
  mutating func beginRound() { round = counts.keys.sorted(by: >) }

  /// Removes up to `limit` counts and returns them; fewer at the end of the round. Requests that are added to a count
  /// after its turn are written in the next round.
  mutating func takeCounts(_ limit: Int) -> [(id: Int64, requests: Requests)] {
    var batch: [(id: Int64, requests: Requests)] = []
    batch.reserveCapacity(max(0, min(limit, round.count)))
    while batch.count < limit, let id = round.popLast() {
      if let requests = counts.removeValue(forKey: id) { batch.append((id, requests)) }
    }
    return batch
  }
}
