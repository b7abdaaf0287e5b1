#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

extension CacheFolder {
  /// The usage of all files. A damaged slot counts as nothing until its shelf is counted again.
  func usage() throws(Errno) -> (bytes: Int, entries: Int, shelves: [ShelfUsage?]) {
    let slots = try disk.read(state.number, FolderState.length - FolderState.headerLength, at: FolderState.headerLength)
    var total = ShelfUsage()
    var entries = 0
    var shelves: [ShelfUsage?] = []
    shelves.reserveCapacity(EntryName.shelves)
    for shelf in 0..<EntryName.shelves {
      let usage = FolderState.usage(slots, shelf)
      shelves.append(usage)
      total.add(bytes: usage?.bytes ?? 0, entries: 0)
      entries += usage?.entries ?? 0
    }
    return (total.bytes, entries, shelves)
  }

  /// Changes a shelf's slot; called with the lock held.
  func change(_ shelf: Int, bytes: Int, entries: Int) throws(Errno) {
    let old = try disk.read(state.number, FolderState.slotLength, at: FolderState.slotOffset(shelf))
    var usage: ShelfUsage
    if let stored = FolderState.singleUsage(old, shelf) { usage = stored } else { usage = try count(shelf) }
    usage.add(bytes: bytes, entries: entries)
    try disk.write(state.number, FolderState.slot(usage, shelf), at: FolderState.slotOffset(shelf))
  }

  /// Counts the files of one shelf again, removes content files without an entry, and writes the slot.
  func recount(_ shelf: Int) throws(CacheError) {
    try exclusively { () throws(CacheError) in
      do throws(Errno) { try rewrite(shelf) } catch { throw error.cacheError(path) }
    }
  }

  /// Recounts one shelf as ``recount(_:)`` does; called with the lock held.
  func rewrite(_ shelf: Int) throws(Errno) {
    let usage = try count(shelf)
    try disk.write(state.number, FolderState.slot(usage, shelf), at: FolderState.slotOffset(shelf))
  }

  /// Counts a shelf; called with the lock held. Content files that certainly belong to no entry are removed.
  private func count(_ shelf: Int) throws(Errno) -> ShelfUsage {
    var usage = ShelfUsage()
    var failure: Errno?
    do throws(Errno) {
      try unsafe disk.list(root.number, FolderNames.shelf(shelf)) { bytes in
        // Files that the cache did not create are not counted.
        guard let item = unsafe ShelfItem(shelf: shelf, name: bytes) else { return true }
        do throws(Errno) {
          try count(item, &usage)
          return true
        } catch {
          // The file was deleted by hand after it was listed.
          if error.code == ENOENT { return true }
          failure = error
          return false
        }
      }
    } catch {
      if error.code != ENOENT && error.code != ENOTDIR && error.code != ELOOP { throw error }
    }
    if let failure { throw failure }
    return usage
  }

  private func count(_ item: ShelfItem, _ usage: inout ShelfUsage) throws(Errno) {
    switch item {
    case .entry(let name):
      let status = try disk.status(root.number, name.path)
      if status.kind == .file { usage.add(bytes: status.size, entries: 1) }
    case .blob(let id, let name):
      if let old = try existingEntry(name), old.blob == id {
        usage.add(bytes: old.blobLength, entries: 0)
      } else {
        try disk.unlink(root.number, id.path(of: name))
      }
    }
  }
}
