@_spi(Stores) import LarderCore

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// A content file that has not been moved to its shelf yet.
struct PendingContentFile: Sendable {
  let file: FolderSession.File
  let id: BlobID
  let length: Int
}

/// The existing files under an entry's name.
struct ExistingEntry: Sendable {
  let status: Disk.Status
  /// The content file that the entry refers to.
  let blob: BlobID?
  /// The content file's length; 0 if it does not exist.
  let blobLength: Int

  /// The total size of its files in bytes.
  var bytes: Int { (status.kind == .file ? status.size : 0) + blobLength }
}

extension CacheFolder {
  /// The bytes of an entry's file, sealed if the folder is encrypted.
  func bytes(
    _ name: EntryName, key: String, metadata: CacheMetadata, length: Int, body: EntryFile.Body
  ) throws(CacheError) -> [UInt8] {
    guard let keys else { return try EntryFile.bytes(key: key, metadata: metadata, length: length, body: body) }
    return try SealedEntry.bytes(name, key: key, metadata: metadata, length: length, body: body, keys)
  }

  /// Writes an entry's file and makes it visible, together with its content file if there is one. Returns why the content
  /// of the previous entry could not be removed, for ``report(_:_:)``; nil if it was removed, or there was none.
  func publish(
    _ name: EntryName, _ bytes: [UInt8], blob: PendingContentFile? = nil
  ) throws(CacheError) -> CacheError? {
    let session = try writable()
    let total = bytes.count + (blob?.length ?? 0)
    guard total <= limit else { throw CacheError.tooLarge(limit: limit) }
    try checkState()
    let file = try write(bytes, session)
    do throws(CacheError) {
      let leftover = try changing(name) { () throws(CacheError) in
        try replace(name, by: file, length: bytes.count, blob: blob, session: session)
      }
      if synchronizes { try syncShelf(name) }
      return leftover
    } catch {
      session.remove(file.name)
      throw error
    }
  }

  /// Writes a new file for an entry; it is not visible yet.
  private func write(_ bytes: [UInt8], _ session: FolderSession) throws(CacheError) -> FolderSession.File {
    var createdFile: FolderSession.File?
    do throws(Errno) {
      let file = try session.makeFile()
      createdFile = file
      try disk.write(file.descriptor.number, bytes, at: 0)
      try? disk.setTime(file.descriptor.number, clock.now)
      if synchronizes { try disk.sync(file.descriptor.number) }
      return file
    } catch {
      if let createdFile { session.remove(createdFile.name) }
      throw error.cacheError(path)
    }
  }

  /// Moves a file to the name of an entry; called with the lock held. Returns why the content of the previous entry could
  /// not be removed; nil if it was removed, or there was none.
  private func replace(
    _ name: EntryName, by file: FolderSession.File, length: Int, blob: PendingContentFile?, session: FolderSession
  ) throws(CacheError) -> CacheError? {
    let old: ExistingEntry?
    do throws(Errno) { old = try existingEntry(name) } catch { throw error.cacheError(path) }
    let added = length + (blob?.length ?? 0)
    let entries = old?.status.kind == .file ? 0 : 1
    var isMoved = false
    do throws(Errno) {
      try change(name.shelf, bytes: added, entries: entries)
      do throws(Errno) {
        if let blob { try move(blob.file.name, to: blob.id.path(of: name), session) }
        isMoved = true
        try move(file.name, to: name.path, session)
      } catch {
        if isMoved, let blob { try? disk.unlink(root.number, blob.id.path(of: name)) }
        try? change(name.shelf, bytes: -added, entries: -entries)
        throw error
      }
    } catch {
      throw error.cacheError(path)
    }
    guard let old else { return nil }
    do throws(Errno) {
      if let blob = old.blob, old.blobLength > 0 { try disk.unlink(root.number, blob.path(of: name)) }
      try change(name.shelf, bytes: -old.bytes, entries: 0)
      return nil
    } catch {
      // The new entry is stored; the old one's bytes stay counted until the folder is counted again.
      return error.cacheError(path)
    }
  }

  /// Moves a file to its place. Creates the folders there, and removes foreign files that are in the way.
  private func move(_ file: String, to path: String, _ session: FolderSession) throws(Errno) {
    do throws(Errno) {
      try session.move(file, to: path)
    } catch {
      switch error.code {
      case ENOENT: break
      case ENOTDIR: discard(String(path.prefix(FolderNames.shelf(0).count)))
      case EISDIR, ENOTEMPTY, EEXIST: discard(path)
      default: throw error
      }
      try disk.makeFolder(root.number, FolderNames.entries)
      try disk.makeFolder(root.number, String(path.prefix(FolderNames.shelf(0).count)))
      try session.move(file, to: path)
    }
  }

  private func syncShelf(_ name: EntryName) throws(CacheError) {
    do throws(Errno) {
      let shelf = Descriptor(try disk.openFolder(root.number, FolderNames.shelf(name.shelf)))
      try disk.sync(shelf.number)
    } catch {
      throw error.cacheError(path)
    }
  }

  /// The existing entry under a name; nil if there is none. Throws if that cannot be determined.
  ///
  /// Called with the lock held. If the shelf's path is not a folder, it is removed: files behind a link do not belong
  /// to the cache.
  func existingEntry(_ name: EntryName) throws(Errno) -> ExistingEntry? {
    guard let kind = try shelfKind(name.shelf) else { return nil }
    if kind != .folder {
      discard(FolderNames.shelf(name.shelf))
      try rewrite(name.shelf)
      return nil
    }
    let path = name.path
    let status: Disk.Status
    do throws(Errno) {
      status = try disk.status(root.number, path)
    } catch {
      if error.code == ENOENT || error.code == ENOTDIR { return nil }
      throw error
    }
    guard status.kind == .file else { return ExistingEntry(status: status, blob: nil, blobLength: 0) }
    let file = Descriptor(try disk.open(root.number, path))
    let bytes = try disk.read(file.number, EntryFile.headerLength, at: 0)
    guard let blob = claim(bytes, size: status.size) else {
      return ExistingEntry(status: status, blob: nil, blobLength: 0)
    }
    do throws(Errno) {
      let blobStatus = try disk.status(root.number, blob.path(of: name))
      return ExistingEntry(status: status, blob: blob, blobLength: blobStatus.kind == .file ? blobStatus.size : 0)
    } catch {
      if error.code != ENOENT { throw error }
      return ExistingEntry(status: status, blob: blob, blobLength: 0)
    }
  }

  /// The content file that the first bytes of an entry's file refer to, if the entry's file has the length that they
  /// state.
  private func claim(_ bytes: [UInt8], size: Int) -> BlobID? {
    unsafe bytes.withUnsafeBytes { raw in
      if keys != nil {
        let sealedEntry = unsafe try? SealedEntry(raw)
        return sealedEntry?.fileLength == size ? sealedEntry?.blob : nil
      }
      guard let header = unsafe try? EntryFile.Header(raw), (try? header.check(size: size)) != nil else { return nil }
      return header.blob
    }
  }

  /// Removes an entry; called with the lock held. Returns the number of bytes that this freed.
  @discardableResult
  func remove(_ name: EntryName) throws(CacheError) -> Int {
    do throws(Errno) {
      guard let old = try existingEntry(name) else { return 0 }
      if old.status.kind == .folder {
        discard(name.path)
        return 0
      }
      try disk.unlink(root.number, name.path)
      var freed = old.status.kind == .file ? old.status.size : 0
      // If the content file stays, it remains counted, and is found when the folder is counted again.
      if let blob = old.blob, (try? disk.unlink(root.number, blob.path(of: name))) != nil { freed += old.blobLength }
      if old.status.kind == .file { try change(name.shelf, bytes: -freed, entries: -1) }
      return freed
    } catch {
      if error.code == ENOENT { return 0 }
      throw error.cacheError(fullPath(name.path))
    }
  }

  /// Removes an entry.
  func removeEntry(_ key: String) throws(CacheError) {
    _ = try writable()
    let name = try name(of: key)
    _ = try changing(name) { () throws(CacheError) in try remove(name) }
  }

  /// Replaces an entry's metadata if the entry still has the metadata `expected`; its content stays where it is.
  func update(_ expected: CacheMetadata, length: Int, to metadata: CacheMetadata, _ key: String) throws(CacheError) {
    let session = try writable()
    let name = try name(of: key)
    try changing(name) { () throws(CacheError) in
      guard case .entry(let old) = try find(name, name.path, key), old.metadata == expected, old.length == length,
        (try? shelfKind(name.shelf)) == .folder
      else { return }
      let bytes = try bytes(name, key: key, metadata: metadata, length: old.length, body: old.body)
      guard bytes.count + (old.head.header.blob == nil ? 0 : old.length) <= limit else {
        throw CacheError.tooLarge(limit: limit)
      }
      let file = try write(bytes, session)
      do throws(Errno) {
        try change(name.shelf, bytes: bytes.count, entries: 0)
        do throws(Errno) {
          try move(file.name, to: name.path, session)
        } catch {
          try? change(name.shelf, bytes: -bytes.count, entries: 0)
          throw error
        }
        try change(name.shelf, bytes: -old.fileLength, entries: 0)
      } catch {
        session.remove(file.name)
        throw error.cacheError(path)
      }
    }
    if synchronizes { try syncShelf(name) }
  }

  /// Removes all entries with one rename; the files are deleted later.
  func removeAll() throws(CacheError) {
    _ = try writable()
    try changing(nil) { () throws(CacheError) in
      do throws(Errno) {
        try disk.makeFolder(root.number, FolderNames.removed)
        let target = FolderNames.removed + "/" + Hexadecimal.text(environment.random(), digits: 16)
        do throws(Errno) {
          try disk.rename(root.number, FolderNames.entries, to: root.number, target)
        } catch {
          if error.code != ENOENT { throw error }
        }
        try disk.makeFolder(root.number, FolderNames.entries)
        try disk.write(state.number, FolderState.emptySlots, at: FolderState.headerLength)
      } catch {
        throw error.cacheError(path)
      }
    }
  }
}
