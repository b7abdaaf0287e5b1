import LarderContent
import Synchronization

/// A shelf on which content becomes an entry when the test says so.
final class SlowShelf: Cache {
  private struct State {
    var isHeld = true
    var begun = 0
    var committing: [CheckedContinuation<Void, Never>] = []
    var watching: [CheckedContinuation<Void, Never>] = []
  }

  let shelf: ShelfCache
  private let state = Mutex(State())

  init(_ shelf: ShelfCache) { self.shelf = shelf }

  /// Suspends until somebody is about to commit.
  func committing() async {
    await withCheckedContinuation { waiting in
      let isThere = state.withLock { state in
        if state.begun > 0 { return true }
        state.watching.append(waiting)
        return false
      }
      if isThere { waiting.resume() }
    }
  }

  /// Lets everybody commit from here on.
  func release() {
    let waiting = state.withLock { state in
      state.isHeld = false
      defer { state.committing = [] }
      return state.committing
    }
    for waiting in waiting { waiting.resume() }
  }

  fileprivate func hold() async {
    await withCheckedContinuation { waiting in
      let (goesOn, watching) = state.withLock { state in
        state.begun += 1
        defer { state.watching = [] }
        if state.isHeld { state.committing.append(waiting) }
        return (!state.isHeld, state.watching)
      }
      for watching in watching { watching.resume() }
      if goesOn { waiting.resume() }
    }
  }

  func entry(forKey key: String) async throws(CacheError) -> CacheEntry? { try await shelf.entry(forKey: key) }
  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    try await shelf.store(entry, forKey: key)
  }
  func removeEntry(forKey key: String) async throws(CacheError) { try await shelf.removeEntry(forKey: key) }
  func removeAll() async throws(CacheError) { try await shelf.removeAll() }
  func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {
    try await shelf.update(entry, to: metadata, forKey: key)
  }
  func makeWriter() async throws(CacheError) -> any CacheWriter {
    SlowWriter(try await shelf.makeWriter(), self)
  }
}

private final class SlowWriter: CacheWriter {
  private let writer: any CacheWriter
  private let slow: SlowShelf

  init(_ writer: any CacheWriter, _ slow: SlowShelf) {
    self.writer = writer
    self.slow = slow
  }

  func append(_ bytes: [UInt8]) async throws(CacheError) { try await writer.append(bytes) }
  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] { try await writer.read(range) }
  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    await slow.hold()
    return try await writer.commit(metadata, forKey: key)
  }
}
