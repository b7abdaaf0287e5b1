@_spi(Stores) import LarderCore

/// The head of an entry's file as it was read before, in parsed form.
///
/// If a file's head has the same key, lengths and checksum, the two heads are assumed to be equal, as the checksum is
/// meant to show.
final class EntryHead: Sendable {
  let key: String
  let header: EntryFile.Header
  let metadata: CacheMetadata
  let rules: StoredRules
  /// The check values of the content's blocks, if the content has a file of its own.
  let marks: BlockMarks

  init(key: String, header: EntryFile.Header, metadata: CacheMetadata, rules: StoredRules, marks: BlockMarks) {
    self.key = key
    self.header = header
    self.metadata = metadata
    self.rules = rules
    self.marks = marks
  }
}

/// The heads of some thousand recently read entries. With a cached head, a hit parses nothing and reads its content
/// directly into the returned array.
///
/// The memory is bounded for any number of entries: the number of slots is fixed, and no slot holds a long head.
struct EntryHeadCache: ~Copyable, Sendable {
  private static let count = 2048
  /// Longer heads are parsed each time.
  static let longest = 2048
  // A slot holds the entry that was noted last among all that share the slot.
  private let table = Locked([EntryHead?](repeating: nil, count: EntryHeadCache.count))

  /// The head of a key's entry as it was last read, if it is cached.
  func head(_ name: EntryName, _ key: String) -> EntryHead? {
    guard let cachedHead = table.withLock({ $0[EntryHeadCache.slot(name)] }), cachedHead.key == key else { return nil }
    return cachedHead
  }

  /// Caches a head that was read. It replaces the previous head in its slot.
  func note(_ name: EntryName, _ head: EntryHead) {
    guard head.header.headLength <= EntryHeadCache.longest else { return }
    table.withLock { $0[EntryHeadCache.slot(name)] = head }
  }

  private static func slot(_ name: EntryName) -> Int { Int(name.high % UInt64(count)) }
}

extension CacheFolder {
  /// Reads a file whose head is known, in one call. Returns nil if the file has changed or anything is wrong with it:
  /// then it must be read as if nothing were known.
  func read(_ file: Int32, _ name: EntryName, cachedHead: EntryHead) -> EntryFile? {
    let header = cachedHead.header
    let inline = header.blob == nil ? header.contentLength : 0
    var isSame = false
    // One byte more is requested, to detect a file that does not end there.
    let content = unsafe [UInt8](unsafeUninitializedCapacity: inline + 1) { destination, count in
      // The array has room for this many bytes.
      let raw = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(destination)[...inline])
      isSame = unsafe isRead(file, name: name, header: header, destination: raw)
      count = isSame ? inline : 0
    }
    guard isSame else { return nil }
    let body = header.blob.map { EntryFile.Body.blob($0, cachedHead.marks) } ?? .inline(content)
    return EntryFile(head: cachedHead, body: body)
  }

  /// Reads the head, and after it all of `destination` but its last byte. Returns true if both are right.
  private func isRead(
    _ file: Int32, name: EntryName, header: EntryFile.Header, destination: UnsafeMutableRawBufferPointer
  ) -> Bool {
    if let keys { return unsafe isOpened(file, name: name, header: header, destination: destination, keys: keys) }
    // Known heads are short. Nothing of the buffer is kept.
    return unsafe withUnsafeTemporaryAllocation(byteCount: header.headLength, alignment: 16) { head in
      guard let count = unsafe try? disk.readOnce(file, into: head, destination),
        count == header.headLength + destination.count - 1
      else { return false }
      let content = unsafe UnsafeMutableRawBufferPointer(rebasing: destination[..<(destination.count - 1)])
      // The lengths, the checksum, and the checksum of the head's data are the known ones.
      guard let readHeader = unsafe try? EntryFile.Header(UnsafeRawBufferPointer(head)), readHeader == header,
        unsafe EntryFile.headChecksum(UnsafeRawBufferPointer(head)) == header.sum
      else { return false }
      return unsafe header.blob != nil
        || ContentChecksum.of(UnsafeRawBufferPointer(content), seed: EntryFile.contentSeed) == header.contentChecksum
    }
  }

  /// Reads a file of an encrypted folder, where the head follows the content. Returns true if it is the known one.
  private func isOpened(
    _ file: Int32, name: EntryName, header: EntryFile.Header, destination: UnsafeMutableRawBufferPointer,
    keys: FolderKeys
  ) -> Bool {
    let content = unsafe UnsafeMutableRawBufferPointer(rebasing: destination[..<(destination.count - 1)])
    // One byte more, to detect a file that does not end there.
    return unsafe withUnsafeTemporaryAllocation(byteCount: header.headLength + 1, alignment: 16) { head in
      // A known head is longer than its header.
      let begin = unsafe UnsafeMutableRawBufferPointer(rebasing: head[..<EntryFile.headerLength])
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: head[EntryFile.headerLength...])
      guard let count = unsafe try? disk.readOnce(file, into: begin, content, rest),
        count == header.headLength + content.count,
        // If nonce and tag are the known ones, the decrypted data equals what was read before.
        let sealed = header.sealed, unsafe begin.elementsEqual(sealed)
      else { return false }
      let behind = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<(rest.count - 1)])
      return unsafe content.isEmpty
        ? SealedEntry.open(UnsafeRawBufferPointer(begin), first: behind, second: nil, name: name, keys: keys)
        : SealedEntry.open(UnsafeRawBufferPointer(begin), first: content, second: behind, name: name, keys: keys)
    }
  }
}
