#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// An entry's file. It is written completely before it gets its name, and never changed afterwards. Numbers are
// little-endian.
//
//    0  magic              "LARDERF1"; the digit is the version
//    8  head's checksum    of the 48 bytes after it, the key, the metadata and the blocks' checksums, with the seed 1
//   16  key's length       four bytes
//   20  metadata's length  four bytes
//   24  content's length   eight bytes
//   32  blob               two times eight bytes; zero if the content is in this file
//   48  content's checksum with the seed 2; zero if the content is in a file of its own
//   56  zero
//   64  key, metadata, then the content, or the checksum of each block of it, eight bytes each
//
// A blob's file consists of the content alone. The checksums of its blocks include the blob's number and the block's
// index, so that no block can replace another. In an encrypted folder both files differ: see SealedEntry.swift.

/// An entry's file, read or to be written.
struct EntryFile: Sendable {
  let head: EntryHead
  let body: Body

  var metadata: CacheMetadata { head.metadata }
  /// The content's length.
  var length: Int { head.header.contentLength }
  /// The length of the entry's own file.
  var fileLength: Int { head.header.fileLength }

  /// Where the content is stored.
  enum Body: Sendable {
    case inline([UInt8])
    case blob(BlobID, BlockMarks)
  }

  /// Content up to this length is stored in the entry's file, so that only one file is opened.
  static let inlineLimit = 131_072
  /// The number of bytes that one checksum covers.
  static let blockLength = 65_536
  /// The maximum length of key and metadata together.
  static let headLimit = 16_777_216
  static let headerLength = 64

  /// What is wrong with a file.
  struct Damage: Error, Hashable { let reason: String }

  /// The first bytes of an entry's file.
  struct Header: Hashable {
    let sum: UInt64
    let keyLength: Int
    let metadataLength: Int
    let contentLength: Int
    let contentChecksum: UInt64
    /// The number of the content's file, if the content has a file of its own.
    let blob: BlobID?

    /// In an encrypted folder, the first bytes of the file; otherwise nil.
    var sealed: [UInt8]?

    /// The length of the whole file.
    var fileLength: Int { headLength + (blob == nil ? contentLength : 0) }

    /// The length of the header, the key, the metadata and, if there are any, the blocks' checksums.
    let headLength: Int

    /// Creates the header from a decrypted file of an encrypted folder.
    init(sealed: [UInt8], key: Int, metadata: Int, content: Int, blob: BlobID?) {
      (sum, contentChecksum) = (0, 0)
      (keyLength, metadataLength, contentLength) = (key, metadata, content)
      self.blob = blob
      self.sealed = sealed
      let marks = blob == nil ? 0 : EntryFile.blockCount(content) * BlockMarks.length(isSealed: true)
      headLength = EntryFile.headerLength + SealedEntry.lengthsLength + key + metadata + marks
    }

    /// Reads a header. Its lengths are within their limits then, but their sum must still be compared with the file's
    /// length.
    init(_ raw: UnsafeRawBufferPointer) throws(Damage) {
      guard raw.count >= EntryFile.headerLength else { throw Damage(reason: "the file is too short for an entry") }
      // All loads are inside the 64 bytes.
      func number(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      guard number(0) == EntryFile.magic else { throw Damage(reason: "the file is not an entry of this version") }
      sum = number(8)
      let key = Int(number(16) & 0xFFFF_FFFF)
      let metadata = Int(number(16) &>> 32)
      let id = BlobID(high: number(32), low: number(40))
      let isBlob = id.high != 0 || id.low != 0
      guard key + metadata <= EntryFile.headLimit, let length = Int(exactly: number(24)), length <= Int.max / 2,
        isBlob ? length > 0 : length <= EntryFile.inlineLimit
      else { throw Damage(reason: "the header has invalid lengths") }
      keyLength = key
      metadataLength = metadata
      contentLength = length
      contentChecksum = number(48)
      blob = isBlob ? id : nil
      headLength = EntryFile.headerLength + key + metadata + (isBlob ? EntryFile.blockCount(length) * 8 : 0)
    }

    /// Throws if the file's length is not the one that its header states.
    func check(size: Int) throws(Damage) {
      if fileLength != size { throw Damage(reason: "the file does not have the length in its header") }
    }
  }

  /// `LARDERF1`.
  static let magic: UInt64 = 0x3146_5245_4452_414C
  private static let headSeed: UInt64 = 1
  static let contentSeed: UInt64 = 2

  /// The number of blocks of a content.
  static func blockCount(_ length: Int) -> Int { length / blockLength + (length % blockLength == 0 ? 0 : 1) }

  /// The key, the metadata and the blocks' checksums of a file.
  struct Head {
    let metadata: CacheMetadata
    let marks: BlockMarks

    /// Reads the head, which fills the buffer. Nil if it belongs to another key.
    init?(_ raw: UnsafeRawBufferPointer, _ header: Header, key: String) throws(Damage) {
      // The header's lengths add up to the buffer's, so every slice is inside it.
      guard unsafe EntryFile.headChecksum(raw) == header.sum else {
        throw Damage(reason: "the checksum of the header is wrong")
      }
      let keyEnd = EntryFile.headerLength + header.keyLength
      let metadataEnd = keyEnd + header.metadataLength
      let storedKey = unsafe UnsafeRawBufferPointer(rebasing: raw[EntryFile.headerLength..<keyEnd])
      guard unsafe EntryFile.isSame(storedKey, key) else { return nil }
      do throws(CacheMetadata.DecodingError) {
        metadata = try unsafe CacheMetadata(decoding: UnsafeRawBufferPointer(rebasing: raw[keyEnd..<metadataEnd]))
      } catch {
        throw Damage(reason: error.description)
      }
      marks = unsafe BlockMarks(UnsafeRawBufferPointer(rebasing: raw[metadataEnd...]), isSealed: false)
    }
  }

  /// The checksum of a head, without the header's first 16 bytes, which must be in the buffer.
  static func headChecksum(_ raw: UnsafeRawBufferPointer) -> UInt64 {
    unsafe ContentChecksum.of(UnsafeRawBufferPointer(rebasing: raw[16...]), seed: headSeed)
  }

  static func isSame(_ storedKey: UnsafeRawBufferPointer, _ key: String) -> Bool {
    guard storedKey.count == key.utf8.count else { return false }
    if storedKey.count == 0 { return true }
    var key = key
    // Both exist during the comparison alone and have equal lengths.
    return key.withUTF8 { bytes in
      guard let left = bytes.baseAddress, let right = storedKey.baseAddress else { return false }
      return unsafe memcmp(left, right, bytes.count) == 0
    }
  }

  /// The file's bytes. Throws `tooLarge` if key and metadata exceed their limit.
  static func bytes(key: String, metadata: CacheMetadata, length: Int, body: Body) throws(CacheError) -> [UInt8] {
    let encoded = metadata.encoded()
    let keyLength = key.utf8.count
    guard keyLength + encoded.count <= headLimit else { throw CacheError.tooLarge(limit: headLimit) }
    var blob: BlobID?
    var contentChecksum: UInt64 = 0
    var tail = 0
    switch body {
    case .inline(let content):
      tail = content.count
      contentChecksum = ContentChecksum.of(content, seed: contentSeed)
    case .blob(let id, let marks):
      blob = id
      tail = marks.bytes.count
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerLength + keyLength + encoded.count + tail)
    append(magic, to: &bytes)
    append(0, to: &bytes)
    append(UInt64(keyLength) | UInt64(encoded.count) &<< 32, to: &bytes)
    append(UInt64(length), to: &bytes)
    append(blob?.high ?? 0, to: &bytes)
    append(blob?.low ?? 0, to: &bytes)
    append(contentChecksum, to: &bytes)
    append(0, to: &bytes)
    bytes.append(contentsOf: key.utf8)
    bytes.append(contentsOf: encoded)
    if case .blob(_, let marks) = body { bytes += marks.bytes }
    let sum = unsafe bytes.withUnsafeBytes { raw in unsafe headChecksum(raw) }
    for index in 0..<8 { bytes[8 + index] = UInt8(truncatingIfNeeded: sum &>> UInt64(8 * index)) }
    if case .inline(let content) = body { bytes.append(contentsOf: content) }
    return bytes
  }

  static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value &>> shift)) }
  }

  /// The checksum of one block of a blob.
  static func blockChecksum(_ raw: UnsafeRawBufferPointer, of blob: BlobID, at index: Int) -> UInt64 {
    unsafe ContentChecksum.of(
      raw, seed: blob.low ^ blob.high &+ UInt64(truncatingIfNeeded: index) &* 0x9E37_79B9_7F4A_7C15)
  }
}
