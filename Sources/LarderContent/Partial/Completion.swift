/// Combines a stored response with a part that is being received: decides what may be stored, whether the part arrives
/// as announced or is interrupted (RFC 9111 §3.3, §3.4).
package struct Completion: Sendable {
  /// The result if all announced bytes arrive.
  package let combination: Combination
  /// The stored entry.
  package let entry: CacheEntry
  private let part: ReceivedPart
  private let partMetadata: CacheMetadata
  private let rules: StoredRules

  /// Creates a completion from a combination and its inputs: `partMetadata` and `rules` are the metadata and rules of the new
  /// part.
  package init(
    _ combination: Combination, entry: CacheEntry, part: ReceivedPart, partMetadata: CacheMetadata,
    rules: StoredRules
  ) {
    self.combination = combination
    self.entry = entry
    self.part = part
    self.partMetadata = partMetadata
    self.rules = rules
  }

  /// What to store of combined content that was interrupted after `count` bytes; nil if that adds nothing.
  ///
  /// - Returns: the metadata, and the ranges of the stored content, by their offsets in it, to append to the received
  ///   bytes.
  package func interrupted(after count: Int) -> (metadata: CacheMetadata, rest: [Range<Int>])? {
    guard count < combination.length, combination.isWithinLimit,
      let part = part.prefix(combination.received(within: count)),
      let shorter = Combination(entry, with: part, partMetadata, rules), shorter.isWithinLimit,
      let rest = shorter.stored(behind: count)
    else { return nil }
    return (shorter.metadata, rest)
  }
}

extension Combination {
  /// False if ranges may have been dropped.
  fileprivate var isWithinLimit: Bool {
    if case .parts(let ranges, _) = metadata.content { ranges.count < Combination.limit } else { true }
  }

  /// How many bytes of the received content are among the first `count` of the combined.
  fileprivate func received(within count: Int) -> Int {
    var position = 0
    var received = 0
    for segment in segments where position < count {
      if case .received(let range) = segment { received = range.lowerBound + min(range.count, count - position) }
      position += segment.count
    }
    return received
  }

  /// The stored bytes after the first `count`; nil if other bytes are missing there too.
  fileprivate func stored(behind count: Int) -> [Range<Int>]? {
    guard count <= length else { return nil }
    var position = 0
    var rest: [Range<Int>] = []
    for segment in segments {
      let skipped = min(max(0, count - position), segment.count)
      position += segment.count
      if skipped == segment.count { continue }
      guard case .stored(let range) = segment else { return nil }
      rest.append((range.lowerBound + skipped)..<range.upperBound)
    }
    return rest
  }
}

extension Combination.Segment {
  /// True for stored bytes.
  package var isStored: Bool {
    if case .stored = self { true } else { false }
  }

  /// The number of bytes.
  package var count: Int {
    switch self {
    case .stored(let range), .received(let range): range.count
    }
  }
}
