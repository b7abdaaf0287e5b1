import LarderStorage

/// One row of `entry` as stored in the file.
struct StoredRow {
  var id: Int64
  /// The content's length in bytes.
  var size: Int64
  /// The body with the content; 0 if the content is in `content`.
  var body: Int64
  var checksum: Int64
  var metadata: [UInt8]
  var content: [UInt8]

  /// Selects the row under a key, with its cost.
  static let query = "SELECT id, size, body, checksum, metadata, content, cost FROM entry WHERE key = ?"

  init(_ row: borrowing Row) throws(StorageError) {
    id = try row.int64(0)
    size = try row.int64(1)
    body = try row.int64(2)
    checksum = try row.int64(3)
    metadata = try row.bytes(4)
    content = try row.bytes(5)
  }

  /// The metadata, if everything in the row is as it was written under that key.
  func checkedMetadata(_ key: String) -> CacheMetadata? {
    let sum = StoredRow.checksum(key: key, size: size, body: body, metadata: metadata, content: content)
    guard sum == checksum, body != 0 || size == Int64(content.count), size >= 0 else { return nil }
    return CacheMetadata(encoded: metadata)
  }

  /// The checksum of everything that a result depends on, including the key.
  static func checksum(key: String, size: Int64, body: Int64, metadata: [UInt8], content: [UInt8]) -> Int64 {
    var sum = Checksum.of(metadata)
    for next in [Checksum.of(content), Checksum.of(Array(key.utf8)), size, body] { sum = join(sum, next) }
    return sum
  }

  /// The checksum of a chunk, which includes its id.
  static func checksum(chunk id: Int64, _ bytes: [UInt8]) -> Int64 { join(Checksum.of(bytes), id) }

  private static func join(_ sum: Int64, _ next: Int64) -> Int64 {
    (sum ^ (sum >> 29)) &* 0x2545_F491_4F6C_DD1D &+ next
  }

  /// The space that an entry takes in the file, in bytes: data that does not fit in a page takes whole pages.
  static func cost(key: String, metadata: Int, size: Int) -> Int64 {
    let row = Int64(metadata) + 2 * Int64(key.utf8.count) + 128
    let (sum, overflow) = row.addingReportingOverflow(Int64(size))
    if overflow || sum > Int64.max - 4096 { return .max }
    return sum > 3000 ? (sum + 4095) / 4096 * 4096 : sum
  }
}
