//! A cache of one's own: four functions are enough, here over a dictionary in memory.

import LarderContent
import Synchronization

/// Keeps small responses until it has a hundred, then begins anew.
final class SmallCache: Cache {
  private let entries = Mutex<[String: CacheEntry]>([:])

  func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    entries.withLock { $0[key] }
  }

  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    guard entry.length <= 100_000 else { throw .tooLarge(limit: 100_000) }
    // The content may be in a file that goes when this entry does: what is kept is a copy.
    let kept = CacheEntry(metadata: entry.metadata, bytes: try await entry.read(0..<entry.length))
    entries.withLock { entries in
      if entries.count >= 100 { entries = [:] }
      entries[key] = kept
    }
  }

  func removeEntry(forKey key: String) async throws(CacheError) {
    entries.withLock { $0[key] = nil }
  }

  func removeAll() async throws(CacheError) {
    entries.withLock { $0 = [:] }
  }
}

// The rest comes with the protocol: a writer that takes in content of any length, and updates of the metadata. Where the
// entries lie elsewhere, `CacheMetadata` turns to bytes by `encoded()` and back by `init(encoded:)`.
let cache = SmallCache()
let writer = try await cache.makeWriter()
try await writer.append(Array("Hello".utf8))
let metadata = CacheMetadata(url: "http://example.com/", status: 200, requestTime: 0, responseTime: 0)
_ = try await writer.commit(metadata, forKey: "http://example.com/")
print(try await cache.entry(forKey: "http://example.com/")?.getData().count ?? 0, "bytes kept")
