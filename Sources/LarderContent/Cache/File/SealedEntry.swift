import LarderStorage

// An entry's file in an encrypted folder. Numbers are little-endian.
//
//    0  magic              "LARDERE1"; the digit is the version
//    8  blob               two times eight bytes; zero where the content is in this file
//   24  content's length   eight bytes; zero where the content is in this file
//   32  length             four bytes: of all that is sealed
//   36  nonce              12 bytes, random
//   48  tag                16 bytes
//   64  sealed as one: the content, or of each block of it nonce and tag (28 bytes); key, metadata; the key's length and
//       the metadata's (four bytes each). So the content is opened where it stays.
//
// Authenticated with what is sealed: the bytes 0 to 35 and the entry's name, so that no file can stand for another. A
// blob's file is the sealed content and nothing else, each block sealed by itself; authenticated with a block: the text
// "LARDRCK1", the blob's number and the block's, so that no block can stand for another. How many there are, how long they
// are and what their tags are stands in the entry's file: nothing can be cut off or put back unnoticed.

/// The first bytes of an entry's file in an encrypted folder: what can be known before it is opened.
struct SealedEntry {
  let blob: BlobID?
  /// Where the content is in a file of its own.
  let contentLength: Int
  /// The length of all of the file.
  let fileLength: Int

  /// `LARDERE1`.
  private static let magic: UInt64 = 0x3145_5245_4452_414C
  /// Where the nonce begins, and the tag behind it.
  private static let markStart = 36
  /// The bytes of the two lengths.
  static let lengthsLength = 8

  /// Reads them. Nothing is certain before the file is opened.
  init(_ raw: UnsafeRawBufferPointer) throws(EntryFile.Damage) {
    guard raw.count >= EntryFile.headerLength else { throw EntryFile.Damage(reason: "shorter than any entry") }
    // All loads are inside the 64 bytes.
    func number(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    guard number(0) == SealedEntry.magic else {
      throw EntryFile.Damage(reason: "not an encrypted entry of this version")
    }
    let id = BlobID(high: number(8), low: number(16))
    blob = id.high != 0 || id.low != 0 ? id : nil
    let sealed = Int(number(32) & 0xFFFF_FFFF)
    guard sealed >= SealedEntry.lengthsLength, let length = Int(exactly: number(24)), length <= Int.max / 2,
      (length > 0) == (blob != nil)
    else { throw EntryFile.Damage(reason: "impossible lengths") }
    contentLength = length
    fileLength = EntryFile.headerLength + sealed
  }

  /// Throws where a file has another length than it says.
  func check(size: Int) throws(EntryFile.Damage) {
    if fileLength != size { throw EntryFile.Damage(reason: "its length is not what it says") }
  }

  /// The file's bytes; throws `tooLarge` where key and metadata are longer than any may be.
  static func bytes(
    _ name: EntryName, key: String, metadata: CacheMetadata, length: Int, body: EntryFile.Body, _ keys: FolderKeys
  ) throws(CacheError) -> [UInt8] {
    let encoded = metadata.encoded()
    let keyLength = key.utf8.count
    guard keyLength + encoded.count <= EntryFile.headLimit else {
      throw CacheError.tooLarge(limit: EntryFile.headLimit)
    }
    let tail: [UInt8]
    var blob: BlobID?
    switch body {
    case .inline(let content): tail = content
    case .blob(let id, let marks): (blob, tail) = (id, marks.bytes)
    }
    let sealed = lengthsLength + keyLength + encoded.count + tail.count
    guard sealed <= Int(UInt32.max) else { throw CacheError.tooLarge(limit: Int(UInt32.max)) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(EntryFile.headerLength + sealed)
    EntryFile.append(magic, to: &bytes)
    EntryFile.append(blob?.high ?? 0, to: &bytes)
    EntryFile.append(blob?.low ?? 0, to: &bytes)
    EntryFile.append(blob == nil ? 0 : UInt64(length), to: &bytes)
    EntryFile.append(UInt64(sealed), to: &bytes)
    // The number has four bytes; behind them is room for nonce and tag.
    bytes += repeatElement(0, count: EntryFile.headerLength - bytes.count)
    bytes += tail
    bytes.append(contentsOf: key.utf8)
    bytes += encoded
    EntryFile.append(UInt64(keyLength) | UInt64(encoded.count) &<< 32, to: &bytes)
    let isSealed = unsafe bytes.withUnsafeMutableBytes { raw in
      // The header is there, and what is sealed behind it.
      let data = unsafe place(UnsafeRawBufferPointer(raw), name)
      let mark = unsafe UnsafeMutableRawBufferPointer(rebasing: raw[markStart..<EntryFile.headerLength])
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: raw[EntryFile.headerLength...])
      return unsafe data.withUnsafeBytes { unsafe keys.contents.seal(rest, mark: mark, with: $0) }
    }
    guard isSealed else { throw CacheError.failed(path: name.path, reason: "The platform's cryptography failed.") }
    return bytes
  }

  /// What is authenticated with what is sealed.
  private static func place(_ raw: UnsafeRawBufferPointer, _ name: EntryName) -> [UInt8] {
    var data = unsafe Array(raw[..<markStart])
    EntryFile.append(name.high, to: &data)
    EntryFile.append(name.low, to: &data)
    return data
  }

  /// Opens in place what was sealed, in two buffers of which the second may be missing; false where it is not what was
  /// written under this name. `header` is the 64 bytes that the file begins with.
  static func open(
    _ header: UnsafeRawBufferPointer, _ first: UnsafeMutableRawBufferPointer, _ second: UnsafeMutableRawBufferPointer?,
    _ name: EntryName, _ keys: FolderKeys
  ) -> Bool {
    guard header.count == EntryFile.headerLength else { return false }
    let data = unsafe place(header, name)
    let mark = unsafe UnsafeRawBufferPointer(rebasing: header[markStart...])
    return unsafe data.withUnsafeBytes { unsafe keys.contents.open(first, second, mark: mark, with: $0) }
  }

  /// What an opened file says.
  struct Opened {
    let head: EntryHead
    /// The length of the content in what was sealed, or of what its blocks were sealed with: it comes first.
    let length: Int
  }

  /// Reads an opened file, of which all that was sealed is in the buffer; nil where it is of another key.
  func opened(
    _ header: UnsafeRawBufferPointer, _ raw: UnsafeRawBufferPointer, key: String
  ) throws(EntryFile.Damage) -> Opened? {
    guard raw.count == fileLength - EntryFile.headerLength, raw.count >= SealedEntry.lengthsLength else {
      throw EntryFile.Damage(reason: "impossible lengths")
    }
    let end = raw.count - SealedEntry.lengthsLength
    // The lengths are inside the buffer.
    let lengths = UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: end, as: UInt64.self))
    let (keyLength, metadataLength) = (Int(lengths & 0xFFFF_FFFF), Int(lengths &>> 32))
    let start = end - keyLength - metadataLength
    guard keyLength + metadataLength <= EntryFile.headLimit,
      blob == nil
        ? (0...EntryFile.inlineLimit).contains(start)
        : start == EntryFile.blockCount(contentLength) * BlockMarks.length(isSealed: true)
    else { throw EntryFile.Damage(reason: "impossible lengths") }
    let keyEnd = start + keyLength
    // Every slice is inside the buffer: its ends are in order and not behind its own.
    guard unsafe EntryFile.isSame(UnsafeRawBufferPointer(rebasing: raw[start..<keyEnd]), key) else { return nil }
    let metadata: CacheMetadata
    do throws(CacheMetadata.DecodingError) {
      metadata = try unsafe CacheMetadata(decoding: UnsafeRawBufferPointer(rebasing: raw[keyEnd..<end]))
    } catch {
      throw EntryFile.Damage(reason: error.description)
    }
    let found = unsafe EntryFile.Header(
      sealed: Array(header), key: keyLength, metadata: metadataLength,
      content: blob == nil ? start : contentLength, blob: blob)
    let marks =
      unsafe blob == nil
      ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(rebasing: raw[..<start])
    let head = unsafe EntryHead(
      key: key, header: found, metadata: metadata, rules: StoredRules(metadata),
      marks: BlockMarks(marks, isSealed: true))
    return Opened(head: head, length: start)
  }
}
