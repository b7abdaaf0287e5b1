/// How new content and stored content of one representation become one stored response (RFC 9111 §3.4).
package struct Combination: Hashable, Sendable {
  /// A piece of the combined content, in order.
  package enum Segment: Hashable, Sendable {
    /// Bytes of the content that is stored, by their offsets in it.
    case stored(Range<Int>)
    /// Bytes of the content that has come, by their offsets in it; always further on than those of the segment before.
    case received(Range<Int>)
  }

  /// Ranges stored of one representation at most; the shortest make room.
  package static let limit = 256

  /// The combined content.
  package let segments: [Segment]
  /// The combined metadata: the stored fields, brought up to date by the new ones (§3.2); status 200 and ``content``
  /// whole once nothing is missing.
  package let metadata: CacheMetadata
  /// The combined content's length in bytes.
  package let length: Int

  /// True where the new content adds nothing, so that only the metadata change.
  package var changesMetadataOnly: Bool {
    segments.allSatisfy(\.isStored)
  }

  /// Combines a stored entry with a 206; nil where they are not known to be of one representation.
  ///
  /// Before the content has come, `part` is what was announced; where it breaks off, combine again with
  /// ``ReceivedPart/prefix(_:)``.
  ///
  /// - Parameters:
  ///   - metadata: the new answer's, as they would be stored.
  ///   - rules: the new answer's.
  package init?(
    _ entry: CacheEntry, with part: ReceivedPart, _ metadata: CacheMetadata, _ rules: StoredRules
  ) {
    guard metadata.status == 206, let validator = StrongValidator(entry.rules), validator == StrongValidator(rules)
    else { return nil }
    let stored = entry.metadata
    let held: ByteRangeSet
    let length: Int?
    switch stored.content {
    case .whole:
      guard stored.status == 200 else { return nil }
      held = ByteRangeSet([0..<entry.length])
      length = entry.length
    case .parts(let ranges, let total):
      guard let ranges = ByteRangeSet(stored: ranges, count: entry.length) else { return nil }
      held = ranges
      length = total
    }
    if let length, let told = part.length, told != length { return nil }
    let total = length ?? part.length
    if let total, part.range.upperBound > total || held.end > total { return nil }
    let union = Combination.limited(held.union(part.range), keeping: part.range)
    segments = Combination.segments(union, held: held, received: part.range)
    self.length = union.count
    self.metadata = stored.confirmed(by: metadata).holding(union, length: total)
  }

  private static func limited(_ union: ByteRangeSet, keeping new: Range<Int>) -> ByteRangeSet {
    var union = union
    while union.ranges.count > limit {
      let droppable = union.ranges.indices.filter { !union.ranges[$0].overlaps(new) }
      guard let shortest = droppable.min(by: { union.ranges[$0].count < union.ranges[$1].count }) else { break }
      union.remove(at: shortest)
    }
    return union
  }

  /// Stored bytes are preferred: they are there already.
  private static func segments(_ union: ByteRangeSet, held: ByteRangeSet, received: Range<Int>) -> [Segment] {
    var segments: [Segment] = []
    for range in union.ranges {
      var position = range.lowerBound
      for missing in held.missing(of: range) {
        appendStored(position..<missing.lowerBound, held, to: &segments)
        let start = missing.lowerBound - received.lowerBound
        segments.append(.received(start..<(start + missing.count)))
        position = missing.upperBound
      }
      appendStored(position..<range.upperBound, held, to: &segments)
    }
    return segments
  }

  private static func appendStored(_ range: Range<Int>, _ held: ByteRangeSet, to segments: inout [Segment]) {
    guard !range.isEmpty, let offsets = held.offsets(of: range) else { return }
    segments.append(.stored(offsets))
  }
}
