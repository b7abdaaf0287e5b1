// An entry's file, all of it written before it gets its name, never changed after. Numbers are little-endian.
//
//    0  magic              "LARDERF1"; the digit is the version
//    8  sum                of all bytes behind it, under the seed 1
//   16  key's length       four bytes
//   20  metadata's length  four bytes
//   24  content's length   eight bytes
//   32  blob               two times eight bytes; zero where the content is in this file
//   48  key, metadata, then the content, or the sum of each block of it, eight bytes each
//
// A blob's file is the content and nothing else. Its blocks' sums stand under the blob's number and the block's place,
// so that no block can stand for another.

/// An entry's file, read or to be written.
struct EntryFile: Sendable {
  let metadata: CacheMetadata
  let length: Int
  let body: Body

  /// Where the content is.
  enum Body: Sendable {
    case inline([UInt8])
    case blob(BlobID, sums: [UInt64])
  }

  /// Contents up to this length are in the entry's file: one file to open, and one copy that costs little.
  static let inlineLimit = 65_536
  /// The bytes that one sum is of.
  static let blockLength = 65_536
  /// Keys and metadata together are no longer.
  static let headLimit = 16_777_216
  static let headerLength = 48

  /// What is wrong with a file.
  struct Damage: Error, Hashable { let reason: String }

  /// The head of an entry's file.
  struct Header: Hashable {
    var sum: UInt64
    var keyLength: Int
    var metadataLength: Int
    var contentLength: Int
    /// Where the content is in a file of its own.
    var blob: BlobID?

    /// What follows key and metadata, in bytes.
    var tailLength: Int { blob == nil ? contentLength : EntryFile.blockCount(contentLength) * 8 }
    var fileLength: Int { EntryFile.headerLength + keyLength + metadataLength + tailLength }

    /// Reads the first bytes of a file that has `size` bytes.
    init(_ raw: UnsafeRawBufferPointer, size: Int) throws(Damage) {
      guard raw.count >= EntryFile.headerLength else { throw Damage(reason: "shorter than any entry") }
      // All loads are inside the 48 bytes.
      func number(_ offset: Int) -> UInt64 {
        UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      }
      guard number(0) == EntryFile.magic else { throw Damage(reason: "not an entry of this version") }
      sum = number(8)
      keyLength = Int(number(16) & 0xFFFF_FFFF)
      metadataLength = Int(number(16) &>> 32)
      let id = BlobID(high: number(32), low: number(40))
      blob = id.high == 0 && id.low == 0 ? nil : id
      guard keyLength + metadataLength <= EntryFile.headLimit, let length = Int(exactly: number(24)),
        length <= Int.max / 2
      else { throw Damage(reason: "impossible lengths") }
      contentLength = length
      guard blob == nil || length > 0 else { throw Damage(reason: "impossible lengths") }
      guard length <= EntryFile.inlineLimit || blob != nil, fileLength == size else {
        throw Damage(reason: "its length is not what it says")
      }
    }
  }

  /// `LARDERF1`.
  static let magic: UInt64 = 0x3146_5245_4452_414C
  private static let seed: UInt64 = 1

  /// How many blocks a content has.
  static func blockCount(_ length: Int) -> Int { length / blockLength + (length % blockLength == 0 ? 0 : 1) }

  /// Throws where bytes are not the beginning of an entry's file of `size` bytes.
  static func checkHeader(_ bytes: [UInt8], size: Int) throws(Damage) {
    let result: Result<Header, Damage> = unsafe bytes.withUnsafeBytes { raw in
      do throws(Damage) { return .success(try unsafe Header(raw, size: size)) } catch { return .failure(error) }
    }
    _ = try result.get()
  }

  /// Reads a whole file; nil where it is of another key.
  init?(_ raw: UnsafeRawBufferPointer, key: String) throws(Damage) {
    let header = try unsafe Header(raw, size: raw.count)
    // The header's lengths add up to the buffer's, so every slice is inside it.
    let checked = unsafe UnsafeRawBufferPointer(rebasing: raw[16...])
    guard unsafe ContentSum.of(checked, seed: EntryFile.seed) == header.sum else {
      throw Damage(reason: "its sum is wrong")
    }
    let keyEnd = EntryFile.headerLength + header.keyLength
    let metadataEnd = keyEnd + header.metadataLength
    guard unsafe EntryFile.isSame(raw[EntryFile.headerLength..<keyEnd], key) else { return nil }
    do throws(CacheMetadata.DecodingError) {
      metadata = try unsafe CacheMetadata(decoding: UnsafeRawBufferPointer(rebasing: raw[keyEnd..<metadataEnd]))
    } catch {
      throw Damage(reason: error.description)
    }
    length = header.contentLength
    if let blob = header.blob {
      var sums: [UInt64] = []
      sums.reserveCapacity(header.tailLength / 8)
      for offset in stride(from: metadataEnd, to: raw.count, by: 8) {
        sums.append(UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
      }
      body = .blob(blob, sums: sums)
    } else {
      body = .inline(unsafe [UInt8](raw[metadataEnd...]))
    }
  }

  private static func isSame(_ slice: Slice<UnsafeRawBufferPointer>, _ key: String) -> Bool {
    guard unsafe slice.count == key.utf8.count else { return false }
    var key = key
    // Both live during the comparison alone.
    return key.withUTF8 { unsafe $0.elementsEqual(slice) }
  }

  /// The file's bytes; throws `tooLarge` where key and metadata are longer than any may be.
  static func bytes(key: String, metadata: CacheMetadata, length: Int, body: Body) throws(CacheError) -> [UInt8] {
    let encoded = metadata.encoded()
    let keyLength = key.utf8.count
    guard keyLength + encoded.count <= headLimit else { throw CacheError.tooLarge(limit: headLimit) }
    var blob: BlobID?
    var tail = 0
    switch body {
    case .inline(let content): tail = content.count
    case .blob(let id, let sums):
      blob = id
      tail = sums.count * 8
    }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(headerLength + keyLength + encoded.count + tail)
    append(magic, to: &bytes)
    append(0, to: &bytes)
    append(UInt64(keyLength) | UInt64(encoded.count) &<< 32, to: &bytes)
    append(UInt64(length), to: &bytes)
    append(blob?.high ?? 0, to: &bytes)
    append(blob?.low ?? 0, to: &bytes)
    bytes.append(contentsOf: key.utf8)
    bytes.append(contentsOf: encoded)
    switch body {
    case .inline(let content): bytes.append(contentsOf: content)
    case .blob(_, let sums): for sum in sums { append(sum, to: &bytes) }
    }
    // The header's 16 first bytes are there.
    let sum = unsafe bytes.withUnsafeBytes { raw in
      unsafe ContentSum.of(UnsafeRawBufferPointer(rebasing: raw[16...]), seed: seed)
    }
    for place in 0..<8 { bytes[8 + place] = UInt8(truncatingIfNeeded: sum &>> UInt64(8 * place)) }
    return bytes
  }

  private static func append(_ value: UInt64, to bytes: inout [UInt8]) {
    for shift in stride(from: UInt64(0), to: 64, by: 8) { bytes.append(UInt8(truncatingIfNeeded: value &>> shift)) }
  }

  /// The sum of one block of a blob.
  static func blockSum(_ raw: UnsafeRawBufferPointer, of blob: BlobID, at place: Int) -> UInt64 {
    unsafe ContentSum.of(raw, seed: blob.low ^ blob.high &+ UInt64(truncatingIfNeeded: place) &* 0x9E37_79B9_7F4A_7C15)
  }
}
