import LarderStorage

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension CacheFolder {
  /// The entry of a key. A damaged entry is removed, and `corrupt` is thrown.
  func entry(_ key: String) throws(CacheError) -> CacheEntry? {
    let name = try name(of: key)
    let path = name.path
    var missing: BlobID?
    // Another process may replace an entry between the reads of its two files; the next attempt reads the new entry.
    for _ in 0..<8 {
      guard let file = try load(name, path, key) else { return nil }
      switch file.body {
      case .inline(let bytes): return CacheEntry(file, bytes)
      case .blob(let id, let marks):
        if let blob = try openBlob(name, id: id, length: file.length, marks: marks) {
          return CacheEntry(file, blob)
        }
        missing = id
      }
    }
    if let missing { drop(name, blob: missing) }
    throw .corrupt(path: fullPath(path), reason: "the file of its content is missing")
  }

  /// The result of reading an entry's file.
  enum ReadResult: Sendable {
    case none
    case entry(EntryFile)
    case damaged(Disk.Status?, reason: String)
  }

  /// Reads an entry's file and records the use. Returns nil if there is none or it belongs to another key.
  private func load(_ name: EntryName, _ path: String, _ key: String) throws(CacheError) -> EntryFile? {
    switch try find(name, path, key) {
    case .none: return nil
    case .entry(let file): return file
    case .damaged(let status, let reason): throw damage(name, status, reason)
    }
  }

  /// Reads an entry's file and records the use. Changes nothing else.
  func find(_ name: EntryName, _ path: String, _ key: String) throws(CacheError) -> ReadResult {
    let file: Int32
    do throws(Errno) {
      file = try disk.open(root.number, path)
    } catch {
      switch error.code {
      case ENOENT, ENOTDIR: return .none
      // A link, a socket (on Linux ENXIO, on Darwin EOPNOTSUPP) or a device: a cache did not create it.
      case ELOOP, ENXIO, EOPNOTSUPP, EISDIR, ENODEV:
        return .damaged(try? disk.status(root.number, path), reason: "the file cannot be read")
      default: throw error.cacheError(fullPath(path))
      }
    }
    defer { _ = close(file) }
    do throws(Errno) {
      if let cachedHead = heads.head(name, key), let entry = read(file, name, cachedHead: cachedHead) {
        touch(file, name)
        return .entry(entry)
      }
      // A known head was read from a shelf, and its entry is the same wherever the file is now.
      guard try shelfKind(name.shelf) == .folder else { return .none }
      switch try read(file, name, key) {
      case .failure(let damage): return .damaged(try disk.status(file), reason: damage.reason)
      case .success(nil): return .none
      case .success(let entry?):
        heads.note(name, entry.head)
        touch(file, name)
        return .entry(entry)
      }
    } catch {
      throw error.cacheError(fullPath(path))
    }
  }

  /// The kind of file at a shelf's path; nil if there is none. Files behind a link would be neither counted nor
  /// evicted.
  func shelfKind(_ shelf: Int) throws(Errno) -> Disk.Status.Kind? {
    do throws(Errno) {
      return try disk.status(root.number, FolderNames.shelf(shelf)).kind
    } catch {
      if error.code == ENOENT || error.code == ENOTDIR { return nil }
      throw error
    }
  }

  private func read(
    _ file: Int32, _ name: EntryName, _ key: String
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    // This buffer and the next one are freed at the end of this function; nothing of them is kept.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: CacheFolder.firstRead, alignment: 16)
    defer { unsafe buffer.deallocate() }
    let first: Int
    do throws(Errno) {
      first = try unsafe disk.readOnce(file, into: buffer)
    } catch {
      // A folder, a pipe or a terminal: it has no offset to read from.
      guard [EISDIR, ESPIPE, EAGAIN, EINVAL].contains(error.code) else { throw error }
      return .failure(EntryFile.Damage(reason: "it is not a file"))
    }
    let beginning = unsafe UnsafeRawBufferPointer(rebasing: buffer[..<first])
    // A read of a regular file is short only at the end of the file.
    let isAll = first < buffer.count
    if let keys {
      let destination = unsafe UnsafeMutableRawBufferPointer(rebasing: buffer[..<first])
      return try unsafe readSealed(file, name: name, beginning: destination, isAll: isAll, key: key, keys: keys)
    }
    let header: EntryFile.Header
    do throws(EntryFile.Damage) {
      header = try unsafe EntryFile.Header(beginning)
      if isAll { try header.check(size: first) }
    } catch {
      return .failure(error)
    }
    // If inline content continues, reading it shows where the file ends.
    if isAll || header.blob == nil && header.headLength <= first {
      return try unsafe read(file, header: header, beginning: beginning, isAll: isAll, key: key)
    }
    let size = try disk.status(file).size
    guard size <= longestEntryFile else {
      return .failure(EntryFile.Damage(reason: "the file is too long for an entry"))
    }
    do throws(EntryFile.Damage) { try header.check(size: size) } catch { return .failure(error) }
    let longer = UnsafeMutableRawBufferPointer.allocate(byteCount: header.headLength, alignment: 16)
    defer { unsafe longer.deallocate() }
    guard try unsafe disk.read(file, into: longer, at: 0) == header.headLength else {
      return .failure(EntryFile.Damage(reason: "the file was truncated while it was being read"))
    }
    return try unsafe read(file, header: header, beginning: UnsafeRawBufferPointer(longer), isAll: false, key: key)
  }

  /// The number of bytes of the first read: many entries are no longer.
  private static let firstRead = 20_480

  /// Reads the rest of an entry of which the beginning, with the whole head, was read.
  private func read(
    _ file: Int32, header: EntryFile.Header, beginning: UnsafeRawBufferPointer, isAll: Bool, key: String
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    let head: EntryFile.Head?
    do throws(EntryFile.Damage) {
      // The header's length is within what was read.
      let raw = unsafe UnsafeRawBufferPointer(rebasing: beginning[..<header.headLength])
      head = try unsafe EntryFile.Head(raw, header, key: key)
    } catch {
      return .failure(error)
    }
    guard let head else { return .success(nil) }
    let entryHead = EntryHead(
      key: key, header: header, metadata: head.metadata, rules: StoredRules(head.metadata), marks: head.marks)
    if let blob = header.blob {
      return .success(EntryFile(head: entryHead, body: .blob(blob, head.marks)))
    }
    var failure: Errno?
    var damage: EntryFile.Damage?
    let rest = unsafe UnsafeRawBufferPointer(rebasing: beginning[header.headLength...])
    // One byte more is requested, to detect a file that does not end there.
    let content = unsafe [UInt8](unsafeUninitializedCapacity: header.contentLength + 1) { target, count in
      do throws(Errno) {
        // The array has room for this many bytes.
        let destination = unsafe UnsafeMutableRawBufferPointer(
          rebasing: UnsafeMutableRawBufferPointer(target)[...header.contentLength])
        damage = try unsafe fill(destination, from: rest, isAll: isAll, file, header)
        count = damage == nil ? header.contentLength : 0
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
    if let damage { return .failure(damage) }
    return .success(EntryFile(head: entryHead, body: .inline(content)))
  }

  /// Copies the part of a content that was read, and reads the rest. Returns what is wrong with it.
  ///
  /// `destination` is one byte longer than the content.
  private func fill(
    _ destination: UnsafeMutableRawBufferPointer, from beginning: UnsafeRawBufferPointer, isAll: Bool, _ file: Int32,
    _ header: EntryFile.Header
  ) throws(Errno) -> EntryFile.Damage? {
    var count = beginning.count
    if count <= header.contentLength {
      unsafe destination.copyMemory(from: beginning)
      if !isAll {
        let missing = unsafe UnsafeMutableRawBufferPointer(rebasing: destination[count...])
        count += try unsafe disk.readOnce(file, into: missing, at: header.headLength + count)
      }
      // A shorter read is expected, because the file ends after the content. Less than the content is examined.
      if count < header.contentLength {
        let missing = unsafe UnsafeMutableRawBufferPointer(rebasing: destination[count...])
        count += try unsafe disk.read(file, into: missing, at: header.headLength + count)
      }
    }
    guard count == header.contentLength else {
      return EntryFile.Damage(reason: "the file does not have the length in its header")
    }
    let content = unsafe UnsafeRawBufferPointer(rebasing: destination[..<count])
    guard unsafe ContentChecksum.of(content, seed: EntryFile.contentSeed) == header.contentChecksum else {
      return EntryFile.Damage(reason: "the checksum of the content is wrong")
    }
    return nil
  }

  /// The maximum length of an entry's file: other processes may have set a larger limit, up to a tebibyte.
  var longestEntryFile: Int {
    EntryFile.headerLength + SealedEntry.lengthsLength + EntryFile.headLimit
      + max(
        EntryFile.inlineLimit,
        EntryFile.blockCount(min(max(limit, 1 << 40), 1 << 56)) * BlockMarks.length(isSealed: keys != nil))
  }

  /// Records that an entry is used now, if the last record is not recent enough.
  private func touch(_ file: Int32, _ name: EntryName) {
    guard session != nil else { return }
    let now = clock.now
    let step = granularity(now)
    if let recorded = uses.recorded(name), UseClock.difference(now, recorded) <= step { return }
    guard let time = try? disk.status(file).time else { return }
    let used = clock.observe(time)
    if UseClock.difference(now, used) > step {
      try? disk.setTime(file, now)
      uses.note(name, recorded: now)
    } else {
      uses.note(name, recorded: used)
    }
  }

  /// Opens a content file. Returns nil if it does not exist.
  private func openBlob(
    _ name: EntryName, id: BlobID, length: Int, marks: BlockMarks
  ) throws(CacheError) -> BlobFile? {
    let path = id.path(of: name)
    let file: Descriptor
    let status: Disk.Status
    do throws(Errno) {
      file = Descriptor(try disk.open(root.number, path))
      status = try disk.status(file.number)
    } catch {
      if error.code == ENOENT { return nil }
      throw error.cacheError(fullPath(path))
    }
    guard status.kind == .file, status.size == length else {
      drop(name, blob: id)
      throw .corrupt(path: fullPath(path), reason: "the file does not have the length of the content")
    }
    return BlobFile(
      file, disk: disk, path: fullPath(path), id: id, length: length, marks: marks, keys: keys,
      onDamage: { [self] in drop(name, blob: id) })
  }

  /// Removes a damaged entry, unless another one has replaced it. Returns the error to throw.
  private func damage(_ name: EntryName, _ status: Disk.Status?, _ reason: String) -> CacheError {
    if session != nil {
      try? exclusively { () throws(CacheError) in
        guard let current = try? disk.status(root.number, name.path), status.map(current.isSame) ?? true else { return }
        try remove(name)
        // A damaged head does not show which content file belonged to it; counting finds content files without an
        // entry.
        try? rewrite(name.shelf)
      }
    }
    return .corrupt(path: fullPath(name.path), reason: reason)
  }

  /// Removes an entry whose content is damaged, unless it has another content by now.
  func drop(_ name: EntryName, blob: BlobID) {
    guard session != nil else { return }
    try? exclusively { () throws(CacheError) in
      guard let existing = try? existingEntry(name), existing.blob == blob else { return }
      try remove(name)
    }
  }
}
