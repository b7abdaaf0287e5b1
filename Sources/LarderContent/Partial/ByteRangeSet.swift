/// Positions of a representation's bytes: ranges in order, with gaps between them, none empty.
package struct ByteRangeSet: Hashable, Sendable {
  /// The ranges.
  package private(set) var ranges: [Range<Int>]

  /// The union of any ranges.
  package init(_ ranges: [Range<Int>] = []) {
    self.ranges = []
    for range in ranges.sorted(by: { $0.lowerBound < $1.lowerBound }) where !range.isEmpty {
      if let last = self.ranges.last, range.lowerBound <= last.upperBound {
        self.ranges[self.ranges.count - 1] = last.lowerBound..<max(last.upperBound, range.upperBound)
      } else {
        self.ranges.append(range)
      }
    }
  }

  /// The ranges of stored content. Nil if they are not in order, overlap, or do not contain `count` bytes in total.
  package init?(stored ranges: [Range<Int>], count: Int) {
    var end = -1
    var sum = 0
    for range in ranges {
      guard range.lowerBound > end, !range.isEmpty else { return nil }
      end = range.upperBound
      // Ranges with gaps that begin at 0 or later have no more bytes than the last one's end.
      sum += range.count
    }
    guard sum == count else { return nil }
    self.ranges = ranges
  }

  /// The number of bytes.
  package var count: Int { ranges.reduce(0) { $0 + $1.count } }
  /// True if there are no bytes.
  package var isEmpty: Bool { ranges.isEmpty }

  /// True if every byte of a range is included.
  package func contains(_ range: Range<Int>) -> Bool {
    if range.isEmpty { return true }
    guard let index = index(of: range.lowerBound) else { return false }
    return range.upperBound <= ranges[index].upperBound
  }

  /// The parts of a range that are not included, in order.
  package func missing(of range: Range<Int>) -> [Range<Int>] {
    var missing: [Range<Int>] = []
    var position = range.lowerBound
    for included in ranges.dropFirst(firstIndex(endingAfter: position)) {
      guard included.lowerBound < range.upperBound else { break }
      if position < included.lowerBound { missing.append(position..<included.lowerBound) }
      position = max(position, included.upperBound)
    }
    if position < range.upperBound { missing.append(position..<range.upperBound) }
    return missing
  }

  /// The place of a range in the concatenated ranges; nil if the range is not included.
  package func offsets(of range: Range<Int>) -> Range<Int>? {
    guard let index = index(of: range.lowerBound), range.upperBound <= ranges[index].upperBound else { return nil }
    var before = 0
    for included in ranges[..<index] { before += included.count }
    let start = before + (range.lowerBound - ranges[index].lowerBound)
    return start..<(start + range.count)
  }

  /// The union with a range.
  package func union(_ range: Range<Int>) -> ByteRangeSet { ByteRangeSet(ranges + [range]) }

  /// Removes one range.
  mutating func remove(at index: Int) { ranges.remove(at: index) }

  private func index(of position: Int) -> Int? {
    let index = firstIndex(endingAfter: position)
    return index < ranges.count && ranges[index].lowerBound <= position ? index : nil
  }

  private func firstIndex(endingAfter position: Int) -> Int {
    var low = 0
    var high = ranges.count
    while low < high {
      let middle = low + (high - low) / 2
      if ranges[middle].upperBound > position { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
