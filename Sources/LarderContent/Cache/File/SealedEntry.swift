import LarderStorage

// An entry's file in an encrypted folder. Numbers are little-endian.
//
//    0  magic              "LARDERE1"; the digit is the version
//    8  blob               two times eight bytes; zero if the content is in this file
//   24  content's length   eight bytes; zero if the content is in this file
//   32  length             four bytes: the length of the sealed data
//   36  nonce              12 bytes, random
//   48  tag                16 bytes
//   64  sealed as one: the content, or for each block of it nonce and tag (28 bytes); key, metadata; the key's length
//       and the metadata's (four bytes each). So the content is decrypted where it stays.
//
// The bytes 0 to 35 and the entry's name are authenticated with the sealed data, so that no file can replace another. A
// blob's file consists of the sealed content alone, and each block is sealed separately. The text "LARDRCK1", the
// blob's number and the block's index are authenticated with a block, so that no block can replace another. The entry's
// file holds the number of blocks, their lengths and their tags: blocks cannot be removed or restored without being
// noticed.

/// The first bytes of an entry's file in an encrypted folder: what is known before it is decrypted.
struct SealedEntry {
  let blob: BlobID?
  /// The content's length, if the content has a file of its own.
  let contentLength: Int
  /// The length of the whole file.
  let fileLength: Int

  /// `LARDERE1`.
  private static let magic: UInt64 = 0x3145_5245_4452_414C
  /// Where the nonce begins; the tag follows it.
  private static let markStart = 36
  /// The size of the two lengths.
  static let lengthsLength = 8

  /// Reads the fields. Nothing is verified before the file is decrypted.
  init(_ raw: UnsafeRawBufferPointer) throws(EntryFile.Damage) {
    guard raw.count >= EntryFile.headerLength else {
      throw EntryFile.Damage(reason: "the file is too short for an entry")
    }
    // All loads are inside the 64 bytes.
    func number(_ offset: Int) -> UInt64 {
      UInt64(littleEndian: unsafe raw.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
    guard number(0) == SealedEntry.magic else {
      throw EntryFile.Damage(reason: "the file is not an encrypted entry of this version")
    }
    let id = BlobID(high: number(8), low: number(16))
    blob = id.high != 0 || id.low != 0 ? id : nil
    let sealed = Int(number(32) & 0xFFFF_FFFF)
    guard sealed >= SealedEntry.lengthsLength, let length = Int(exactly: number(24)), length <= Int.max / 2,
      (length > 0) == (blob != nil)
    else { throw EntryFile.Damage(reason: "the header has invalid lengths") }
    contentLength = length
    fileLength = EntryFile.headerLength + sealed
  }

  /// Throws if the file's length is not the one that its header states.
  func check(size: Int) throws(EntryFile.Damage) {
    if fileLength != size { throw EntryFile.Damage(reason: "the file does not have the length in its header") }
  }

  /// The file's bytes. Throws `tooLarge` if key and metadata exceed their limit.
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
    // The number has four bytes; after it there is room for nonce and tag.
    bytes += repeatElement(0, count: EntryFile.headerLength - bytes.count)
    bytes += tail
    bytes.append(contentsOf: key.utf8)
    bytes += encoded
    EntryFile.append(UInt64(keyLength) | UInt64(encoded.count) &<< 32, to: &bytes)
    let isSealed = unsafe bytes.withUnsafeMutableBytes { raw in
      // The buffer contains the header and the data to seal after it.
      let data = unsafe authenticatedData(UnsafeRawBufferPointer(raw), name)
      let mark = unsafe UnsafeMutableRawBufferPointer(rebasing: raw[markStart..<EntryFile.headerLength])
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: raw[EntryFile.headerLength...])
      return unsafe data.withUnsafeBytes { unsafe keys.contents.seal(rest, mark: mark, with: $0) }
    }
    guard isSealed else { throw CacheError.failed(path: name.path, reason: "The platform's cryptography failed.") }
    return bytes
  }

  /// The data that is authenticated with the sealed data.
  private static func authenticatedData(_ raw: UnsafeRawBufferPointer, _ name: EntryName) -> [UInt8] {
    var data = unsafe Array(raw[..<markStart])
    EntryFile.append(name.high, to: &data)
    EntryFile.append(name.low, to: &data)
    return data
  }

  /// Decrypts sealed data in place, in two buffers of which the second is optional. Returns false if it is not what was
  /// written under this name. `header` contains the file's first 64 bytes.
  static func open(
    _ header: UnsafeRawBufferPointer, first: UnsafeMutableRawBufferPointer, second: UnsafeMutableRawBufferPointer?,
    name: EntryName, keys: FolderKeys
  ) -> Bool {
    guard header.count == EntryFile.headerLength else { return false }
    let data = unsafe authenticatedData(header, name)
    let mark = unsafe UnsafeRawBufferPointer(rebasing: header[markStart...])
    return unsafe data.withUnsafeBytes { unsafe keys.contents.open(first, second, mark: mark, with: $0) }
  }

  /// The contents of a decrypted file.
  struct Opened {
    let head: EntryHead
    /// The length of the content, or of its blocks' nonces and tags. They are the first part of the sealed data.
    let length: Int
  }

  /// Reads a decrypted file, whose complete data is in the buffer. Nil if it belongs to another key.
  func opened(
    _ header: UnsafeRawBufferPointer, _ raw: UnsafeRawBufferPointer, key: String
  ) throws(EntryFile.Damage) -> Opened? {
    guard raw.count == fileLength - EntryFile.headerLength, raw.count >= SealedEntry.lengthsLength else {
      throw EntryFile.Damage(reason: "the header has invalid lengths")
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
    else { throw EntryFile.Damage(reason: "the header has invalid lengths") }
    let keyEnd = start + keyLength
    // Every slice is inside the buffer: its ends are in order and not after the buffer's end.
    guard unsafe EntryFile.isSame(UnsafeRawBufferPointer(rebasing: raw[start..<keyEnd]), key) else { return nil }
    let metadata: CacheMetadata
    do throws(CacheMetadata.DecodingError) {
      metadata = try unsafe CacheMetadata(decoding: UnsafeRawBufferPointer(rebasing: raw[keyEnd..<end]))
    } catch {
      throw EntryFile.Damage(reason: error.description)
    }
    let entryHeader = unsafe EntryFile.Header(
      sealed: Array(header), key: keyLength, metadata: metadataLength,
      content: blob == nil ? start : contentLength, blob: blob)
    let marks =
      unsafe blob == nil
      ? UnsafeRawBufferPointer(start: nil, count: 0) : UnsafeRawBufferPointer(rebasing: raw[..<start])
    let head = unsafe EntryHead(
      key: key, header: entryHeader, metadata: metadata, rules: StoredRules(metadata),
      marks: BlockMarks(marks, isSealed: true))
    return Opened(head: head, length: start)
  }
}
