//! A custom cache needs four functions. This one uses a dictionary in memory.

import Foundation
import LarderContent
import Synchronization

/// Stores up to a hundred small responses, then starts again empty.
final class SmallCache: Cache {
  private let entries = Mutex<[String: CacheEntry]>([:])

  func entry(forKey key: String) async throws(CacheError) -> CacheEntry? {
    entries.withLock { $0[key] }
  }

  func store(_ entry: CacheEntry, forKey key: String) async throws(CacheError) {
    guard entry.length <= 100_000 else { throw .tooLarge(limit: 100_000) }
    // The content may be in a file that is deleted with this entry, so the cache stores a copy.
    let copy = CacheEntry(metadata: entry.metadata, bytes: try await entry.read(0..<entry.length))
    entries.withLock { entries in
      if entries.count >= 100 { entries = [:] }
      entries[key] = copy
    }
  }

  func removeEntry(forKey key: String) async throws(CacheError) {
    entries.withLock { $0[key] = nil }
  }

  func removeAll() async throws(CacheError) {
    entries.withLock { $0 = [:] }
  }
}

// The protocol provides the rest: a writer for content of any length, and updates of the metadata. If you store entries
// elsewhere, `CacheMetadata.encoded()` converts the metadata to bytes, and `init(encoded:)` reads them.
let cache = SmallCache()
let writer = try await cache.makeWriter()
try await writer.append(Array("Hello".utf8))
let metadata = CacheMetadata(url: "http://example.com/", status: 200, requestTime: .now, responseTime: .now)
_ = try await writer.commit(metadata, forKey: "http://example.com/")
print(try await cache.entry(forKey: "http://example.com/")?.getData().count ?? 0, "bytes stored")
