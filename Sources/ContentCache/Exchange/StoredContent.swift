import HTTPCore
import Locking

/// Reads pieces of an entry's content one after another, some bytes at a time.
final class StoredContent: Sendable {
  /// How much of an entry is read at once.
  static let step = 1 << 16

  private struct Place {
    var piece = 0
    var offset = 0
    /// What was read before anybody asked.
    var ready: [UInt8]?
  }

  private enum Next {
    case bytes([UInt8])
    case read(Range<Int>)
    case end
  }

  let length: Int
  /// True where it is all of a file, as it is: that can be read at once, without a piece of it twice in memory.
  let isFile: Bool
  private let entry: CacheEntry
  private let pieces: [PartialAnswer.Piece]
  private let place = Locked(Place())

  /// All of the content.
  convenience init(_ entry: CacheEntry) {
    self.init(entry, [.stored(0..<entry.length)], length: entry.length, isFile: entry.isFile)
  }

  init(_ entry: CacheEntry, _ pieces: [PartialAnswer.Piece], length: Int, isFile: Bool = false) {
    self.isFile = isFile
    self.entry = entry
    self.pieces = pieces
    self.length = length
  }

  /// Reads the beginning, so that an entry that cannot be read is noticed before the answer is given.
  func start() async throws(CacheError) {
    let first = try await next()
    place.withLock { $0.ready = first }
  }

  /// The next bytes; nil at the end.
  func next() async throws(CacheError) -> [UInt8]? {
    switch place.withLock({ step(&$0) }) {
    case .bytes(let bytes): bytes
    case .read(let range): try await entry.read(range)
    case .end: nil
    }
  }

  /// All of the entry's content in one array, where nothing but its beginning has been read.
  func all() async throws(CacheError) -> [UInt8] {
    try await entry.readAll(behind: place.withLock { $0.ready.take() } ?? [])
  }

  private func step(_ place: inout Place) -> Next {
    if let ready = place.ready.take() { return .bytes(ready) }
    while place.piece < pieces.count {
      switch pieces[place.piece] {
      case .bytes(let bytes):
        place.piece += 1
        if !bytes.isEmpty { return .bytes(bytes) }
      case .stored(let range):
        let start = range.lowerBound + place.offset
        let end = min(range.upperBound, start + StoredContent.step)
        if end == range.upperBound {
          place.piece += 1
          place.offset = 0
        } else {
          place.offset += end - start
        }
        if start < end { return .read(start..<end) }
      }
    }
    return .end
  }
}
