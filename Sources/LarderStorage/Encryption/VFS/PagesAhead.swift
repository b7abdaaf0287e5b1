import CLarderSQLite

/// Sealed pages that are read ahead when pages are requested in sequence. One call of the system reads several pages,
/// which saves about as much time as decrypting them costs.
///
/// The pages are valid for one transaction: no other process may change what it reads from the file (SQLite WAL format
/// §2.2), and each transaction takes and releases a lock.
@safe struct PagesAhead {
  private static let count = 8

  /// The buffer, freed with its owner.
  @safe private final class Buffer {
    let start: UnsafeMutableRawPointer

    init() { unsafe start = .allocate(byteCount: count * FileContent.pageLength, alignment: 64) }

    deinit { unsafe start.deallocate() }
  }

  private var buffer: Buffer?
  /// The number of the first page in the buffer, and the number of pages.
  private var first: UInt64 = 0
  private var pageCount: UInt64 = 0
  /// The page requested last, and how many requests before it were in sequence.
  private var last: UInt64 = 0
  private var run = 0

  /// Returns a page from the buffer, and reads several pages ahead if that seems worthwhile. Nil if the page must be
  /// read alone.
  mutating func page(_ number: UInt64, of file: RealFile) -> UnsafeRawPointer? {
    defer { last = number }
    if let buffer, number >= first, number - first < pageCount {
      return unsafe UnsafeRawPointer(buffer.start + Int(number - first) * FileContent.pageLength)
    }
    run = number == last &+ 1 ? run + 1 : 0
    guard run > 2 else { return nil }
    let buffer = buffer ?? Buffer()
    self.buffer = buffer
    pageCount = 0
    let length = Self.count * FileContent.pageLength
    guard unsafe file.readWhole(buffer.start, length, at: Int64(number - 1) * Int64(FileContent.pageLength)) else {
      // The file's end is near.
      run = 0
      return nil
    }
    (first, pageCount) = (number, UInt64(Self.count))
    return unsafe UnsafeRawPointer(buffer.start)
  }

  /// Whether the page requested last follows the one before it.
  var isInOrder: Bool { run > 0 }

  /// Discards the pages that were read.
  mutating func forget() { pageCount = 0 }
}
