import LarderContent
import Synchronization

/// A cache in a dictionary, whose every step a test can make fail, and which records its calls.
final class ShelfCache: Cache {
  enum Step: Hashable, Sendable {
    case entry, store, remove, update, makeWriter, append, read, commit
  }

  private struct State {
    var entries: [String: CacheEntry] = [:]
    var failing: [Step: CacheError] = [:]
    var log: [String] = []
  }

  private let state = Mutex(State())

  /// From here on a step throws; nil lets it work again.
  func fail(_ step: Step, _ error: CacheError? = .failed(path: "shelf", reason: "broken by the test")) {
    state.withLock { $0.failing[step] = error }
  }

  var keys: [String] { state.withLock { $0.entries.keys.sorted() } }
  var log: [String] { state.withLock { $0.log } }
  subscript(key: String) -> CacheEntry? { state.withLock { $0.entries[key] } }
  func put(_ entry: CacheEntry, _ key: String) { state.withLock { $0.entries[key] = entry } }

  fileprivate func check(_ step: Step) throws(CacheError) {
    if let error = state.withLock({ $0.failing[step] }) { throw error }
  }

  func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    try check(.entry)
    return self[key]
  }

  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    try check(.store)
    state.withLock {
      $0.entries[key] = entry
      $0.log.append("store \(key)")
    }
  }

  func removeEntry(forKey key: String) async throws(CacheError) {
    try check(.remove)
    state.withLock {
      $0.entries[key] = nil
      $0.log.append("remove \(key)")
    }
  }

  func removeAll() async throws(CacheError) {
    try check(.remove)
    state.withLock { $0.entries = [:] }
  }

  func update(_ entry: CacheEntry, to metadata: CacheMetadata, forKey key: String) async throws(CacheError) {
    try check(.update)
    state.withLock { state in
      guard state.entries[key] === entry else { return }
      state.entries[key] = entry.with(metadata)
      state.log.append("update \(key)")
    }
  }

  func makeWriter() async throws(CacheError) -> any CacheWriter {
    try check(.makeWriter)
    return ShelfWriter(self)
  }
}

private final class ShelfWriter: CacheWriter {
  private let shelf: ShelfCache
  private let bytes = Mutex<[UInt8]>([])

  init(_ shelf: ShelfCache) { self.shelf = shelf }

  func append(_ more: [UInt8]) async throws(CacheError) {
    try shelf.check(.append)
    bytes.withLock { $0 += more }
  }

  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    try shelf.check(.read)
    return bytes.withLock { Array($0[range]) }
  }

  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    try shelf.check(.commit)
    let entry = CacheEntry(metadata: metadata, bytes: bytes.withLock { $0 })
    try await shelf.store(entry, forKey: key)
    return entry
  }
}
