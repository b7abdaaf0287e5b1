import LarderStorage

/// The check values of a content's blocks, in their order: the checksum of each block, or in an encrypted folder the
/// nonce and tag that the block was sealed with.
struct BlockMarks: Hashable, Sendable {
  /// The check values one after another, as they are stored in an entry's file.
  private(set) var bytes: [UInt8] = []
  private let length: Int

  /// The size of a block's check value in an entry's file.
  static func length(isSealed: Bool) -> Int { isSealed ? SealingKey.markLength : 8 }

  init(isSealed: Bool) { length = BlockMarks.length(isSealed: isSealed) }

  /// Creates check values from the bytes in a file.
  init(_ raw: UnsafeRawBufferPointer, isSealed: Bool) {
    bytes = unsafe Array(raw)
    length = BlockMarks.length(isSealed: isSealed)
  }

  var count: Int { bytes.count / length }

  /// Appends the checksum of the next block.
  mutating func add(_ block: UnsafeRawBufferPointer, of blob: BlobID) {
    let checksum = unsafe EntryFile.blockChecksum(block, of: blob, at: count)
    unsafe withUnsafeBytes(of: checksum.littleEndian) { unsafe bytes.append(contentsOf: $0) }
  }

  /// Seals the next block in place and appends its nonce and tag. Returns false if the platform's library fails.
  mutating func seal(_ block: UnsafeMutableRawBufferPointer, of blob: BlobID, _ keys: FolderKeys) -> Bool {
    let authenticatedData = BlockMarks.authenticatedData(blob, count)
    return unsafe withUnsafeTemporaryAllocation(byteCount: SealingKey.markLength, alignment: 8) { mark in
      guard unsafe authenticatedData.withUnsafeBytes({ unsafe keys.contents.seal(block, mark: mark, with: $0) }) else {
        return false
      }
      unsafe bytes.append(contentsOf: mark)
      return true
    }
  }

  /// Checks that a block is what was written at its place, and decrypts it in place if necessary. Returns false if it
  /// is not.
  func open(_ block: UnsafeMutableRawBufferPointer, of blob: BlobID, at index: Int, _ keys: FolderKeys?) -> Bool {
    guard index >= 0, index < count else { return false }
    return unsafe bytes.withUnsafeBytes { marks in
      // There is one for each block.
      let mark = unsafe UnsafeRawBufferPointer(rebasing: marks[index * length..<(index + 1) * length])
      guard let keys else {
        let checksum = unsafe UInt64(littleEndian: mark.loadUnaligned(as: UInt64.self))
        return unsafe EntryFile.blockChecksum(UnsafeRawBufferPointer(block), of: blob, at: index) == checksum
      }
      return unsafe BlockMarks.authenticatedData(blob, index).withUnsafeBytes {
        unsafe keys.contents.open(block, mark: mark, with: $0)
      }
    }
  }

  /// The authenticated data of a block: its content's file and its index.
  private static func authenticatedData(_ blob: BlobID, _ index: Int) -> [UInt64] {
    [0x314B_4352_4452_414C, blob.high, blob.low, UInt64(truncatingIfNeeded: index)].map(\.littleEndian)
  }
}
