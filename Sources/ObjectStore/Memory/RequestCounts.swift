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

  var count: Int { counts.count }

  mutating func add(_ requests: Requests, _ id: Int64) {
    if requests.times > 0 { counts[id, default: Requests()].add(requests) }
  }

  subscript(id: Int64) -> Requests { counts[id] ?? Requests() }

  mutating func take(_ id: Int64) -> Requests { counts.removeValue(forKey: id) ?? Requests() }

  /// Up to `limit` of the counts, which are not in here any more.
  mutating func takeSome(_ limit: Int) -> [(id: Int64, requests: Requests)] {
    let some = counts.prefix(max(0, limit)).map { (id: $0.key, requests: $0.value) }
    if some.count == counts.count { counts = [:] } else { for one in some { counts[one.id] = nil } }
    return some
  }
}
