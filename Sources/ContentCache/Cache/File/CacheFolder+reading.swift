#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension CacheFolder {
  /// The entry of a key. A damaged one is removed, and throws `corrupt`.
  func entry(_ key: String) throws(CacheError) -> CacheEntry? {
    let name = EntryName(key: key, seed: header.seed)
    let path = name.path
    // Between the two files of an entry another process may replace it; the next look sees the new one.
    for _ in 0..<8 {
      guard let (file, status) = try load(name, path, key) else { return nil }
      switch file.body {
      case .inline(let bytes): return CacheEntry(metadata: file.metadata, bytes: bytes, tier: .disk)
      case .blob(let id, let sums):
        if let blob = try openBlob(name, id, file.length, sums) {
          return CacheEntry(metadata: file.metadata, length: file.length) { (range) throws(CacheError) in
            try blob.read(range)
          }
        }
        if let now = try? disk.status(root.number, path), now.isSame(as: status) {
          throw damage(name, status, "the file of its content is missing")
        }
      }
    }
    return nil
  }

  /// What lies under an entry's name.
  enum Finding: Sendable {
    case none
    case entry(EntryFile, Disk.Status)
    case damaged(Disk.Status?, reason: String)
  }

  /// Reads an entry's file and records the use; nil where there is none or it is of another key.
  private func load(_ name: EntryName, _ path: String, _ key: String) throws(CacheError) -> (EntryFile, Disk.Status)? {
    switch try find(path, key) {
    case .none: return nil
    case .entry(let file, let status): return (file, status)
    case .damaged(let status, let reason): throw damage(name, status, reason)
    }
  }

  /// Reads an entry's file and records the use. Changes nothing else.
  func find(_ path: String, _ key: String) throws(CacheError) -> Finding {
    let file: Int32
    do throws(Errno) {
      file = try disk.open(root.number, path)
    } catch {
      switch error.code {
      case ENOENT, ENOTDIR: return .none
      // A link, a socket, a file of somebody else: nothing that was put there by a cache.
      case ELOOP, ENXIO, EACCES, EPERM, EISDIR, ENODEV:
        return .damaged(try? disk.status(root.number, path), reason: "it is no readable file")
      default: throw error.cacheError(fullPath(path))
      }
    }
    defer { _ = close(file) }
    do throws(Errno) {
      let status = try disk.status(file)
      switch try read(file, status, key) {
      case .failure(let found): return .damaged(status, reason: found.reason)
      case .success(nil): return .none
      case .success(let entry?):
        touch(file, status.time)
        return .entry(entry, status)
      }
    } catch {
      throw error.cacheError(fullPath(path))
    }
  }

  private func read(
    _ file: Int32, _ status: Disk.Status, _ key: String
  ) throws(Errno) -> Result<EntryFile?, EntryFile.Damage> {
    guard status.kind == .file else { return .failure(EntryFile.Damage(reason: "it is no file")) }
    guard status.size <= longestEntryFile else {
      return .failure(EntryFile.Damage(reason: "it is longer than any entry"))
    }
    if status.size > 1 << 20 {
      // So much memory is taken only for what begins like an entry of that length.
      let head = try disk.read(file, EntryFile.headerLength, at: 0)
      do throws(EntryFile.Damage) {
        try EntryFile.checkHeader(head, size: status.size)
      } catch {
        return .failure(error)
      }
    }
    // Freed at the end of this function; nothing of it is kept.
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: status.size, alignment: 16)
    defer { unsafe buffer.deallocate() }
    let count = try unsafe disk.read(file, into: buffer, at: 0)
    do throws(EntryFile.Damage) {
      guard count == status.size else { throw EntryFile.Damage(reason: "it was cut while it was read") }
      return .success(try unsafe EntryFile(UnsafeRawBufferPointer(buffer), key: key))
    } catch {
      return .failure(error)
    }
  }

  /// The longest file of an entry: other processes may have set a larger limit, up to a tebibyte.
  private var longestEntryFile: Int {
    EntryFile.headerLength + EntryFile.headLimit
      + max(EntryFile.inlineLimit, EntryFile.blockCount(min(max(limit, 1 << 40), 1 << 56)) * 8)
  }

  /// Records that an entry is used now, where the last record is not recent enough.
  private func touch(_ file: Int32, _ time: Int64) {
    let used = clock.seen(time)
    let now = clock.now
    if session != nil, UseClock.difference(now, used) > granularity { try? disk.setTime(file, now) }
  }

  /// Opens a content's file; nil where it is not there.
  private func openBlob(
    _ name: EntryName, _ id: BlobID, _ length: Int, _ sums: [UInt64]
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
      throw .corrupt(path: fullPath(path), reason: "its length is not that of the content")
    }
    return BlobFile(
      file, disk: disk, path: fullPath(path), id: id, length: length, sums: sums,
      onDamage: { [self] in drop(name, blob: id) })
  }

  /// Removes a damaged entry, unless another has taken its place; answers the error to throw.
  private func damage(_ name: EntryName, _ status: Disk.Status?, _ reason: String) -> CacheError {
    if session != nil {
      try? exclusively { () throws(CacheError) in
        guard let found = try? disk.status(root.number, name.path), status.map(found.isSame) ?? true else { return }
        try remove(name)
      }
    }
    return .corrupt(path: fullPath(name.path), reason: reason)
  }

  /// Removes an entry whose content is damaged, unless it has another content by now.
  func drop(_ name: EntryName, blob: BlobID) {
    guard session != nil else { return }
    try? exclusively { () throws(CacheError) in
      guard occupant(name)?.blob == blob else { return }
      try remove(name)
    }
  }
}
