@_spi(Stores) import LarderCore
import LarderHTTP

/// Reads pieces of an entry's content one after another, some bytes at a time.
final class EntryContent: Sendable {
  /// The number of bytes that are read at once.
  static let step = 1 << 16
  /// Content of at most this many bytes stays in memory after it has been checked.
  static let memoryLimit = 1 << 20

  private struct Position {
    var piece = 0
    var offset = 0
    /// Bytes that were read in advance.
    var readAhead: [UInt8]?
  }

  private enum Next {
    case bytes([UInt8])
    case read(Range<Int>)
    case end
  }

  let length: Int
  /// True if the content is a whole file: it can be read at once, without a piece of it twice in memory.
  let isFile: Bool
  private let entry: CacheEntry
  private let pieces: [PartialResponse.Piece]
  private let position = Locked(Position())

  /// Creates a reader for all of the content.
  convenience init(_ entry: CacheEntry) {
    self.init(entry, [.stored(0..<entry.length)], length: entry.length, isFile: entry.isFile)
  }

  init(_ entry: CacheEntry, _ pieces: [PartialResponse.Piece], length: Int, isFile: Bool = false) {
    self.isFile = isFile
    self.entry = entry
    self.pieces = pieces
    self.length = length
  }

  /// Reads what is checked before the response is returned: all of the content if that is at most `limit` bytes,
  /// otherwise its beginning.
  func start(checking limit: Int) async throws(CacheError) {
    if length <= min(limit, EntryContent.memoryLimit) {
      let whole = try await readAll()
      return position.withLock { $0 = Position(piece: pieces.count, readAhead: whole) }
    }
    if length <= limit {
      while try await next() != nil {}
      position.withLock { $0 = Position() }
    }
    let first = try await next()
    position.withLock { $0.readAhead = first }
  }

  /// All of the content if it is in memory.
  var bytes: [UInt8]? { position.withLock { $0.piece == pieces.count ? $0.readAhead : nil } }

  private func readAll() async throws(CacheError) -> [UInt8] {
    if isFile { return try await entry.readAll(behind: []) }
    var all: [UInt8] = []
    all.reserveCapacity(length)
    while let bytes = try await next() { all += bytes }
    return all
  }

  /// The next bytes; nil at the end.
  func next() async throws(CacheError) -> [UInt8]? {
    switch position.withLock({ step(&$0) }) {
    case .bytes(let bytes): bytes
    case .read(let range): try await entry.read(range)
    case .end: nil
    }
  }

  /// All of the entry's content in one array, if nothing but its beginning has been read.
  func all() async throws(CacheError) -> [UInt8] {
    try await entry.readAll(behind: position.withLock { $0.readAhead.take() } ?? [])
  }

  private func step(_ position: inout Position) -> Next {
    if let readAhead = position.readAhead.take() { return .bytes(readAhead) }
    while position.piece < pieces.count {
      switch pieces[position.piece] {
      case .bytes(let bytes):
        position.piece += 1
        if !bytes.isEmpty { return .bytes(bytes) }
      case .stored(let range):
        let start = range.lowerBound + position.offset
        let end = min(range.upperBound, start + EntryContent.step)
        if end == range.upperBound {
          position.piece += 1
          position.offset = 0
        } else {
          position.offset += end - start
        }
        if start < end { return .read(start..<end) }
      }
    }
    return .end
  }
}
