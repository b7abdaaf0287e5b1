import LarderCore

/// The head of an entry's file as it was read before, and what was parsed of it.
///
/// A file whose head has the same key, lengths and sum is taken to have the same head: that is what a sum is for.
final class EntryHead: Sendable {
  let key: String
  let header: EntryFile.Header
  let metadata: CacheMetadata
  let rules: StoredRules
  /// Those of the content's blocks, where it is a file of its own.
  let marks: BlockMarks

  init(key: String, header: EntryFile.Header, metadata: CacheMetadata, rules: StoredRules, marks: BlockMarks) {
    self.key = key
    self.header = header
    self.metadata = metadata
    self.rules = rules
    self.marks = marks
  }
}

/// The heads of some thousand entries that were read lately, so that a hit of one of them parses nothing and reads its
/// content to the place where it stays.
///
/// Bounded memory, whatever the number of entries: so many places, and no long head in any.
struct EntryHeadCache: ~Copyable, Sendable {
  private static let count = 2048
  /// Longer heads are parsed each time.
  static let longest = 2048
  // What is at a place was noted last of all that have it.
  private let table = Locked([EntryHead?](repeating: nil, count: EntryHeadCache.count))

  /// The head of a key's entry as it was when it was read last, where that is known.
  func head(_ name: EntryName, _ key: String) -> EntryHead? {
    guard let known = table.withLock({ $0[EntryHeadCache.place(name)] }), known.key == key else { return nil }
    return known
  }

  /// Notes a head that was read; forgets whatever had the same place.
  func note(_ name: EntryName, _ head: EntryHead) {
    guard head.header.headLength <= EntryHeadCache.longest else { return }
    table.withLock { $0[EntryHeadCache.place(name)] = head }
  }

  private static func place(_ name: EntryName) -> Int { Int(name.high % UInt64(count)) }
}

extension CacheFolder {
  /// Reads a file of which the head is known, in one call; nil where it is another by now, or anything is wrong with it:
  /// then it has yet to be read as if nothing were known.
  func read(_ file: Int32, _ name: EntryName, as known: EntryHead) -> EntryFile? {
    let header = known.header
    let inline = header.blob == nil ? header.contentLength : 0
    var isSame = false
    // One byte more is asked for, so that a file that does not end there is noticed.
    let content = unsafe [UInt8](unsafeUninitializedCapacity: inline + 1) { room, count in
      // The array has room for so much.
      let raw = unsafe UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(room)[...inline])
      isSame = unsafe isRead(file, name, header, raw)
      count = isSame ? inline : 0
    }
    guard isSame else { return nil }
    let body = header.blob.map { EntryFile.Body.blob($0, known.marks) } ?? .inline(content)
    return EntryFile(head: known, body: body)
  }

  /// Reads the head, and behind it what fills all of the room but its last byte; true where both are right.
  private func isRead(
    _ file: Int32, _ name: EntryName, _ header: EntryFile.Header, _ room: UnsafeMutableRawBufferPointer
  ) -> Bool {
    if let keys { return unsafe isOpened(file, name, header, room, keys) }
    // Known heads are short. Nothing of the buffer is kept.
    return unsafe withUnsafeTemporaryAllocation(byteCount: header.headLength, alignment: 16) { head in
      guard let count = unsafe try? disk.readOnce(file, into: head, room), count == header.headLength + room.count - 1
      else { return false }
      let content = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<(room.count - 1)])
      // Lengths, sum and the sum of what the head holds are the known ones.
      guard let found = unsafe try? EntryFile.Header(UnsafeRawBufferPointer(head)), found == header,
        unsafe EntryFile.headSum(UnsafeRawBufferPointer(head)) == header.sum
      else { return false }
      return unsafe header.blob != nil
        || ContentChecksum.of(UnsafeRawBufferPointer(content), seed: EntryFile.contentSeed) == header.contentSum
    }
  }

  /// The same in an encrypted folder, where the head lies behind the content.
  private func isOpened(
    _ file: Int32, _ name: EntryName, _ header: EntryFile.Header, _ room: UnsafeMutableRawBufferPointer,
    _ keys: FolderKeys
  ) -> Bool {
    let content = unsafe UnsafeMutableRawBufferPointer(rebasing: room[..<(room.count - 1)])
    // One byte more, so that a file that does not end there is noticed.
    return unsafe withUnsafeTemporaryAllocation(byteCount: header.headLength + 1, alignment: 16) { head in
      // A known head is longer than its header.
      let begin = unsafe UnsafeMutableRawBufferPointer(rebasing: head[..<EntryFile.headerLength])
      let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: head[EntryFile.headerLength...])
      guard let count = unsafe try? disk.readOnce(file, into: begin, content, rest),
        count == header.headLength + content.count,
        // Nonce and tag are the known ones: what opens with them is what was read before.
        let sealed = header.sealed, unsafe begin.elementsEqual(sealed)
      else { return false }
      let behind = unsafe UnsafeMutableRawBufferPointer(rebasing: rest[..<(rest.count - 1)])
      return unsafe content.isEmpty
        ? SealedEntry.open(UnsafeRawBufferPointer(begin), behind, nil, name, keys)
        : SealedEntry.open(UnsafeRawBufferPointer(begin), content, behind, name, keys)
    }
  }
}
