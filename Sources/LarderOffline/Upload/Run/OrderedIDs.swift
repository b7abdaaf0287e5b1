/// A sorted set of ids. It is optimized for ids that arrive nearly in order and are removed from the front.
struct OrderedIDs: Sendable {
  private var ids: [Int64] = []
  private var start = 0

  var isEmpty: Bool { start == ids.count }
  var all: ArraySlice<Int64> { ids[start...] }

  mutating func insert(_ id: Int64) {
    let place = place(of: id)
    if place < ids.count, ids[place] == id { return }
    ids.insert(id, at: place)
  }

  mutating func remove(_ id: Int64) {
    let place = place(of: id)
    guard place < ids.count, ids[place] == id else { return }
    if place == start { start += 1 } else { ids.remove(at: place) }
    if start > 64, start * 2 > ids.count {
      ids.removeFirst(start)
      start = 0
    }
  }

  mutating func popFirst() -> Int64? {
    guard let first = all.first else { return nil }
    remove(first)
    return first
  }

  /// The index of an id, or the index where it would be inserted.
  private func place(of id: Int64) -> Int {
    var (low, high) = (start, ids.count)
    while low < high {
      let middle = low + (high - low) / 2
      if ids[middle] < id { low = middle + 1 } else { high = middle }
    }
    return low
  }
}
