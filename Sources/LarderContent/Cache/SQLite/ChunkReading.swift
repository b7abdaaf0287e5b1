import LarderStorage

/// Reads a range out of a body's chunks, each of which is checked.
struct ChunkReading {
  let body: Int64
  /// The number of bytes that the body has so far; its last chunk may be short.
  let length: Int
  /// The range to read, within the length.
  let range: Range<Int>

  enum Outcome {
    case bytes([UInt8])
    /// A chunk does not exist: the body has been deleted.
    case missing
    /// A chunk is damaged: its checksum is wrong.
    case damaged
  }

  private static let size = SQLiteCacheSchema.chunkBytes

  func read(_ connection: Connection) throws(StorageError) -> Outcome {
    let (first, last) = (range.lowerBound / ChunkReading.size, (range.upperBound - 1) / ChunkReading.size)
    var number = first
    var bytes: [UInt8] = []
    var isWhole = true
    try connection.forEachRow(
      "SELECT id, checksum, bytes FROM chunk WHERE id BETWEEN ? AND ? ORDER BY id",
      [.integer(SQLiteCacheSchema.chunk(first, of: body)), .integer(SQLiteCacheSchema.chunk(last, of: body))]
    ) { (row) throws(StorageError) in
      let (id, chunk) = (try row.int64(0), try row.bytes(2))
      guard id == SQLiteCacheSchema.chunk(number, of: body) else { return false }
      let (start, end) = (number * ChunkReading.size, (number + 1) * ChunkReading.size)
      isWhole = StoredRow.checksum(chunk: id, chunk) == (try row.int64(1)) && chunk.count >= min(end, length) - start
      guard isWhole else { return false }
      number += 1
      let part = max(range.lowerBound, start) - start..<min(range.upperBound, end) - start
      if first == last {
        bytes = part.count == chunk.count ? chunk : Array(chunk[part])
      } else {
        if bytes.isEmpty { bytes.reserveCapacity(range.count) }
        bytes += chunk[part]
      }
      return true
    }
    if !isWhole { return .damaged }
    return number == last + 1 ? .bytes(bytes) : .missing
  }
}
