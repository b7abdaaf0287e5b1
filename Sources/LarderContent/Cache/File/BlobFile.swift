@_spi(Stores) import LarderCore
import LarderStorage

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// An open content file of its own: read in pieces, where each block is checked before any byte of it is returned.
///
/// The content stays readable if the cache drops it in the meantime: the system keeps the file until it is closed.
final class BlobFile: Sendable {
  private let file: Descriptor
  private let disk: Disk
  private let path: String
  private let id: BlobID
  /// The content's length.
  let length: Int
  private let marks: BlockMarks
  private let keys: FolderKeys?
  /// Called when a block is damaged.
  private let onDamage: @Sendable () -> Void
  /// The block in whose middle the last read ended. If pieces are smaller than blocks, the next read begins there.
  private let lastBlock = Locked<(blockIndex: Int, bytes: [UInt8])?>(nil)

  /// The number of blocks that are read at once: few calls, and the bytes are still in the processor's cache when they
  /// are checked.
  private static let blocksPerRead = 2

  init(
    _ file: Descriptor, disk: Disk, path: String, id: BlobID, length: Int, marks: BlockMarks, keys: FolderKeys?,
    onDamage: @escaping @Sendable () -> Void
  ) {
    self.file = file
    self.disk = disk
    self.path = path
    self.id = id
    self.length = length
    self.marks = marks
    self.keys = keys
    self.onDamage = onDamage
  }

  /// Reads a range of the content. Throws `corrupt` if one of its blocks is damaged.
  ///
  /// `beginning` holds the first bytes of the range, which were read before: they are copied, the others read.
  func read(_ range: Range<Int>, behind beginning: [UInt8] = []) throws(CacheError) -> [UInt8] {
    let range = range.clamped(to: 0..<length)
    if range.count <= beginning.count { return beginning.count == range.count ? beginning : [] }
    var failure: CacheError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
      // The array has room for the range, and the range is longer than its beginning.
      let all = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<range.count])
      unsafe all.copyBytes(from: beginning)
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: all[beginning.count...])
      do throws(CacheError) {
        try unsafe fill(rest, range.lowerBound + beginning.count..<range.upperBound)
        count = range.count
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    return bytes
  }

  /// Reads all of the content directly into the returned buffer.
  func readData() throws(CacheError) -> Data {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, length), alignment: 16)
    do throws(CacheError) {
      try unsafe fill(UnsafeMutableRawBufferPointer(rebasing: buffer[..<length]), 0..<length)
    } catch {
      unsafe buffer.deallocate()
      throw error
    }
    guard let base = buffer.baseAddress else { return Data() }
    // Freed by the matching deallocation, with the last copy of the data.
    return unsafe Data(
      bytesNoCopy: base, count: length, deallocator: .custom { pointer, _ in unsafe pointer.deallocate() })
  }

  private func fill(_ buffer: UnsafeMutableRawBufferPointer, _ range: Range<Int>) throws(CacheError) {
    var position = range.lowerBound
    while position < range.upperBound {
      let blockIndex = position / EntryFile.blockLength
      let block = blockRange(blockIndex)
      // `position` is in the range, and the buffer as long as the range.
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[(position - range.lowerBound)...])
      if position == block.lowerBound, block.upperBound <= range.upperBound {
        position += try unsafe readWhole(blockIndex, rest)
      } else {
        let end = min(block.upperBound, range.upperBound)
        let bytes = try blockBytes(blockIndex, block, keepsBlock: end < block.upperBound)
        let part = position - block.lowerBound..<end - block.lowerBound
        unsafe rest.copyBytes(from: bytes[part])
        position = end
      }
    }
  }

  private func blockRange(_ blockIndex: Int) -> Range<Int> {
    let start = min(blockIndex * EntryFile.blockLength, length)
    return start..<min(start + EntryFile.blockLength, length)
  }

  /// Reads as many whole blocks as fit, up to the number that is read at once. Returns their length.
  private func readWhole(_ blockIndex: Int, _ rest: UnsafeMutableRawBufferPointer) throws(CacheError) -> Int {
    let start = blockIndex * EntryFile.blockLength
    var end = start
    for next in blockIndex..<blockIndex + BlobFile.blocksPerRead {
      let block = blockRange(next)
      if block.isEmpty || block.upperBound - start > rest.count { break }
      end = block.upperBound
    }
    let target = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<(end - start)])
    try unsafe read(into: target, at: start)
    for offset in stride(from: 0, to: end - start, by: EntryFile.blockLength) {
      let part = unsafe target[offset..<min(offset + EntryFile.blockLength, end - start)]
      try unsafe check(UnsafeMutableRawBufferPointer(rebasing: part), blockIndex + offset / EntryFile.blockLength)
    }
    return end - start
  }

  /// Reads a block of which only a part is requested.
  private func blockBytes(_ blockIndex: Int, _ block: Range<Int>, keepsBlock: Bool) throws(CacheError) -> [UInt8] {
    if let bytes = lastBlock.withLock({ $0?.blockIndex == blockIndex ? $0?.bytes : nil }) { return bytes }
    var failure: CacheError?
    let bytes = unsafe [UInt8](unsafeUninitializedCapacity: block.count) { buffer, count in
      do throws(CacheError) {
        let raw = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<block.count])
        try unsafe read(into: raw, at: block.lowerBound)
        try unsafe check(raw, blockIndex)
        count = block.count
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    lastBlock.withLock { $0 = keepsBlock ? (blockIndex, bytes) : nil }
    return bytes
  }

  private func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int) throws(CacheError) {
    let count: Int
    do throws(Errno) {
      count = try unsafe disk.read(file.number, into: buffer, at: offset)
    } catch {
      throw error.cacheError(path)
    }
    guard count == buffer.count else { throw damage("the file ends early, at byte \(offset + count)") }
  }

  /// Checks a block and decrypts it in place if necessary.
  private func check(_ raw: UnsafeMutableRawBufferPointer, _ blockIndex: Int) throws(CacheError) {
    guard unsafe marks.open(raw, of: id, at: blockIndex, keys) else {
      throw damage("block \(blockIndex) failed its integrity check")
    }
  }

  private func damage(_ reason: String) -> CacheError {
    onDamage()
    return .corrupt(path: path, reason: reason)
  }
}
