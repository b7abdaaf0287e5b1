@_spi(Stores) import LarderCore

/// Writes into the second of two caches, and holds small content for the first.
///
/// If the second fails while the content is still small, only the first is written.
final class TieredWriter: CacheWriter {
  private struct State {
    var phase = WriterPhase.open
    /// All content so far; nil once it is larger than the first accepts.
    var bytes: [UInt8]? = []
    /// The second's writer; nil if there is none.
    var disk: (any CacheWriter)?
    /// Why the second accepts no more content.
    var failure: CacheError?
  }

  private let cache: TieredCache
  private let state: Locked<State>

  init(for cache: TieredCache, disk: any CacheWriter) {
    self.cache = cache
    state = Locked(State(disk: disk))
  }

  init(for cache: TieredCache, failed failure: CacheError) {
    self.cache = cache
    state = Locked(State(failure: failure))
  }

  func append(_ new: [UInt8]) async throws(CacheError) {
    let disk = try state.withLock { (state) throws(CacheError) -> (any CacheWriter)? in
      try state.phase.requireOpen()
      return state.failure == nil ? state.disk : nil
    }
    do throws(CacheError) { try await disk?.append(new) } catch { state.withLock { $0.failure = error } }
    try state.withLock { (state) throws(CacheError) in
      if let bufferedCount = state.bytes?.count, new.count <= cache.promotionByteLimit - bufferedCount {
        state.bytes?.append(contentsOf: new)
        return
      }
      if let failure = state.failure {
        // The content so far stays readable.
        state.phase = .failed(failure)
        throw failure
      }
      state.bytes = nil
    }
  }

  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    let (bytes, disk) = state.withLock { state in
      (state.bytes.map { Array($0[range.clamped(to: 0..<$0.count)]) }, state.disk)
    }
    if let bytes { return bytes }
    guard let disk else { throw .gone }
    return try await disk.read(range)
  }

  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    let (bytes, disk, failure) = try state.withLock { (state) throws(CacheError) in
      try state.phase.beginCommit()
      return (state.bytes?.trimmed(), state.disk, state.failure)
    }
    return try await cache.stripes.change(key) { () throws(CacheError) in
      let small = bytes.map { CacheEntry(metadata: metadata, bytes: $0) }
      var diskEntry: CacheEntry?
      let (diskFailure, mark) = await cache.changeDisk(key) { () throws(CacheError) in
        if let failure { throw failure }
        diskEntry = try await disk?.commit(metadata, forKey: key)
      }
      if diskFailure == .suspended { throw .suspended }
      if let entry = small ?? diskEntry {
        await cache.storeInMemory(entry, forKey: key, mark)
      } else {
        try await cache.memory.removeEntry(forKey: key)
      }
      if let diskFailure { throw diskFailure }
      guard let diskEntry else { throw .gone }
      return diskEntry
    }
  }
}
