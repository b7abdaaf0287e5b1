@_spi(Stores) import LarderCore
import LarderHTTP

/// The callers that have stored responses. When one of them changes a resource, the responses of all callers can be
/// invalidated.
///
/// A record in the cache lists them for all processes. It is written when the first response of a caller is stored, and
/// read when a resource changes; a hit does not use it. At most ``limit`` callers are known, the most recent ones.
/// Responses stored for other callers are used as long as they are fresh.
final class KnownCallers: Sendable {
  /// The maximum number of callers. A change looks up one entry for each.
  static let limit = 1024
  private static let recordKey = " #callers"

  private struct State {
    /// Key suffixes, the most recent at the end.
    var order: [String] = []
    var set: Set<String> = []

    /// Adds callers. Returns false if all of them were known.
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
  /// Held while the record is read, changed and written back.
  private let lock = KeyedLock()

  /// Records a caller before its first own response is stored. Later calls cost one set lookup.
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

  /// Forgets all callers, because the cache was emptied.
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
