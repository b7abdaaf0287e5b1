/// Combines new content and stored content of one representation into one stored response (RFC 9111 §3.4).
package struct Combination: Hashable, Sendable {
  /// A piece of the combined content, in order.
  package enum Segment: Hashable, Sendable {
    /// Bytes of the stored content, by their offsets in it.
    case stored(Range<Int>)
    /// Bytes of the received content, by their offsets in it; always after those of the previous received segment.
    case received(Range<Int>)
  }

  /// The maximum number of stored ranges of one representation; the shortest are dropped.
  package static let limit = 256

  /// The combined content.
  package let segments: [Segment]
  /// The combined metadata: the stored fields, updated by the new ones (§3.2). If nothing is missing, the status is 200
  /// and ``content`` is whole.
  package let metadata: CacheMetadata
  /// The combined content's length in bytes.
  package let length: Int

  /// True if the new content adds nothing, so that only the metadata changes.
  package var changesMetadataOnly: Bool {
    segments.allSatisfy(\.isStored)
  }

  /// Combines a stored entry with a 206; nil if they may belong to different representations, or have different codings.
  ///
  /// Before the content is received, `part` is the announced part. If the content is interrupted, combine again with
  /// ``ReceivedPart/prefix(_:)``.
  ///
  /// - Parameters:
  ///   - metadata: the new response's metadata, as it would be stored.
  ///   - rules: the new response's rules.
  package init?(
    _ entry: CacheEntry, with part: ReceivedPart, _ metadata: CacheMetadata, _ rules: StoredRules
  ) {
    guard metadata.status == 206, let validator = StrongValidator(entry.rules), validator == StrongValidator(rules)
    else { return nil }
    let stored = entry.metadata
    guard stored.fields.contentCoding == metadata.fields.contentCoding else { return nil }
    let storedRanges: ByteRangeSet
    let length: Int?
    switch stored.content {
    case .whole:
      guard stored.status == 200 else { return nil }
      storedRanges = ByteRangeSet([0..<entry.length])
      length = entry.length
    case .parts(let ranges, let total):
      guard let ranges = ByteRangeSet(stored: ranges, count: entry.length) else { return nil }
      storedRanges = ranges
      length = total
    }
    if let length, let partLength = part.length, partLength != length { return nil }
    let total = length ?? part.length
    if let total, part.range.upperBound > total || storedRanges.end > total { return nil }
    let union = Combination.limited(storedRanges.union(part.range), keeping: part.range)
    segments = Combination.segments(union, storedRanges: storedRanges, received: part.range)
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

  /// Builds the segments. Stored bytes are preferred, because they are already available.
  private static func segments(_ union: ByteRangeSet, storedRanges: ByteRangeSet, received: Range<Int>) -> [Segment] {
    var segments: [Segment] = []
    for range in union.ranges {
      var position = range.lowerBound
      for missing in storedRanges.missing(of: range) {
        appendStored(position..<missing.lowerBound, storedRanges, to: &segments)
        let start = missing.lowerBound - received.lowerBound
        segments.append(.received(start..<(start + missing.count)))
        position = missing.upperBound
      }
      appendStored(position..<range.upperBound, storedRanges, to: &segments)
    }
    return segments
  }

  private static func appendStored(_ range: Range<Int>, _ storedRanges: ByteRangeSet, to segments: inout [Segment]) {
    guard !range.isEmpty, let offsets = storedRanges.offsets(of: range) else { return }
    segments.append(.stored(offsets))
  }
}
