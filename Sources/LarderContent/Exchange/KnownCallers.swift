import LarderCore
import LarderHTTP

/// The callers that something is stored for, so that what one of them changes can be made invalid for all.
///
/// A record in the cache names them across processes. It is written when the first response of a caller is stored, and
/// read when something is changed: the way of a hit knows nothing of it. At most ``limit`` are known, the latest; what is
/// stored for others lives as long as its freshness lets it.
final class KnownCallers: Sendable {
  /// Callers at most. A change looks one entry up for each.
  static let limit = 1024
  private static let recordKey = " #callers"

  private struct State {
    /// Suffixes of keys, the latest at the end.
    var order: [String] = []
    var set: Set<String> = []

    /// False where all of them were known.
    mutating func add(_ callers: [String]) -> Bool {
      let news = callers.filter { set.insert($0).inserted }
      order += news
      if order.count > KnownCallers.limit {
        for dropped in order.prefix(order.count - KnownCallers.limit) { set.remove(dropped) }
        order.removeFirst(order.count - KnownCallers.limit)
      }
      return !news.isEmpty
    }
  }

  private let state = Locked(State())
  /// MemoryEntry while the record is read, changed and written back.
  private let lock = KeyedLock()

  /// Notes a caller before the first response of its own is stored; afterwards this costs one look into a set.
  func note(_ caller: String, in cache: any Cache, now: Int64) async throws(CacheError) {
    if caller.isEmpty || state.withLock({ $0.set.contains(caller) }) { return }
    try await lock.run(KnownCallers.recordKey) { () async throws(CacheError) in
      let recorded = try await KnownCallers.recorded(in: cache)
      let all = state.withLock { state in
        _ = state.add(recorded)
        _ = state.add([caller])
        return state.order
      }
      if !recorded.contains(caller) { try await KnownCallers.record(all, in: cache, now: now) }
    }
  }

  /// All callers that this process or the record knows.
  func all(in cache: any Cache) async throws(CacheError) -> [String] {
    let recorded = try await KnownCallers.recorded(in: cache)
    return state.withLock { state in
      _ = state.add(recorded)
      return state.order
    }
  }

  /// The cache holds nothing any more.
  func forget() { state.withLock { $0 = State() } }

  private static func recorded(in cache: any Cache) async throws(CacheError) -> [String] {
    try await cache.entry(forKey: recordKey)?.metadata.variants.map(\.key) ?? []
  }

  private static func record(_ callers: [String], in cache: any Cache, now: Int64) async throws(CacheError) {
    let variants = callers.map { CacheVariant(key: $0, names: [], selecting: [:], etag: nil, date: now) }
    let metadata = CacheMetadata(url: "", status: 0, requestTime: now, responseTime: now, variants: variants)
    try await cache.store(CacheEntry(metadata: metadata, bytes: []), forKey: recordKey)
  }
}
