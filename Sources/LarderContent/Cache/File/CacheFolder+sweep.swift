import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

// Clears up after dead processes: incomplete files, content files without an entry, usage numbers that are too large.
// Runs in the background after the folder was opened, one step at a time.
extension CacheFolder {
  /// Clears up after processes that have died, then deletes discarded files.
  func sweep() throws(CacheError) {
    guard session != nil else { return }
    let (dead, shelves): ([DeadSession], [ShelfUsage?])
    do throws(Errno) { (dead, shelves) = try (deadSessions(), usage().shelves) } catch {
      throw error.cacheError(path)
    }
    if !dead.isEmpty || shelves.contains(nil) { try countAll() }
    do throws(Errno) {
      for session in dead {
        if isStopped { return }
        discard(FolderNames.temporary + "/" + session.name)
        try? disk.unlink(root.number, FolderNames.temporary + "/" + session.name + ".lock")
      }
      try emptyRemoved()
    } catch {
      throw error.cacheError(path)
    }
  }

  /// The folder of a dead process. `lock` is held, so that no other process clears it up at the same time.
  private struct DeadSession {
    let name: String
    let lock: Descriptor?
  }

  /// Finds at most a thousand sessions; the others are found the next time.
  private func deadSessions() throws(Errno) -> [DeadSession] {
    var dead: [DeadSession] = []
    for name in try disk.names(root.number, FolderNames.temporary, atMost: 1000) {
      let path = FolderNames.temporary + "/" + name
      if let session = name.hasSuffix(".lock") ? String(name.dropLast(5)) : nil {
        guard let file = try? Descriptor(disk.open(root.number, path)), (try? disk.lock(file.number)) == true else {
          continue
        }
        dead.append(DeadSession(name: session, lock: file))
      } else if (try? disk.status(root.number, path + ".lock")) == nil {
        dead.append(DeadSession(name: name, lock: nil))
      }
    }
    return dead
  }

  /// Counts every shelf. Stops early if the cache is closed, and then throws, so that the next opening counts again.
  private func countAll() throws(CacheError) {
    for shelf in 0..<EntryName.shelves {
      if isStopped { throw Errno(ECANCELED).cacheError(path) }
      try recount(shelf)
    }
  }

  /// Deletes discarded files. A folder within a folder is moved up first, so that no depth is too large.
  func emptyRemoved() throws(Errno) {
    while !isStopped {
      let names = try disk.names(root.number, FolderNames.removed, atMost: 64)
      var deleted = 0
      for name in names { deleted += delete(FolderNames.removed + "/" + name) }
      // Files that cannot be deleted stay; the next opening tries again.
      if deleted == 0 { return }
    }
  }

  /// Deletes a file, or a folder's files. Returns how many were deleted.
  private func delete(_ path: String) -> Int {
    guard let status = try? disk.status(root.number, path) else { return 0 }
    guard status.kind == .folder else { return (try? disk.unlink(root.number, path)) == nil ? 0 : 1 }
    var deleted = 0
    while !isStopped {
      guard let names = try? disk.names(root.number, path, atMost: 256), !names.isEmpty else { break }
      let before = deleted
      for name in names {
        let item = path + "/" + name
        if (try? disk.unlink(root.number, item)) != nil {
          deleted += 1
        } else if (try? disk.status(root.number, item))?.kind == .folder {
          discard(item)
          if (try? disk.status(root.number, item)) == nil { deleted += 1 }
        }
      }
      if deleted == before { break }
    }
    return (try? disk.removeFolder(root.number, path)) == nil ? deleted : deleted + 1
  }
}
