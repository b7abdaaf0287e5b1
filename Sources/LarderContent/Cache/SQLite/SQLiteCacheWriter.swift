import LarderCore

/// Writes content into a cache file. Small content is kept in memory until the commit; larger content is written to
/// chunks that are not visible yet.
final class SQLiteCacheWriter: CacheWriter {
  private struct State {
    var phase = WriterPhase.open
    /// True while chunks are being written.
    var isWriting = false
    /// The body in which the content is staged; nil while the content is small.
    var hold: BodyHold?
    /// The number of bytes in chunks.
    var staged = 0
    /// The bytes after those in chunks.
    var rest: [UInt8] = []
    var length: Int { staged + rest.count }
  }

  /// The number of bytes that are written into chunks at once.
  private static let sliceBytes = 4 * SQLiteCacheSchema.chunkBytes

  private let store: SQLiteStore
  private let limit: Int
  private let state = Locked(State())

  init(_ store: SQLiteStore, limit: Int) {
    self.store = store
    self.limit = limit
  }

  deinit {
    let hold = state.withLock { state -> BodyHold? in
      if case .committed = state.phase { return nil }
      return state.hold
    }
    if let hold { store.abandon(hold.body) }
  }

  func append(_ bytes: [UInt8]) async throws(CacheError) {
    let isMuch = try state.withLock { (state) throws(CacheError) -> Bool in
      try state.phase.requireOpen()
      guard !state.isWriting else { throw CacheError.notSupported("concurrent appends to one writer") }
      guard bytes.count <= limit - state.length else {
        state.phase = .failed(.tooLarge(limit: limit))
        throw CacheError.tooLarge(limit: limit)
      }
      state.rest.append(contentsOf: bytes)
      state.isWriting = state.rest.count >= SQLiteCacheWriter.sliceBytes
      return state.isWriting
    }
    if isMuch { try await stage() }
  }

  /// Writes all whole chunks.
  private func stage() async throws(CacheError) {
    while true {
      let (hold, staged, chunks) = state.withLock { state in
        let count = min(state.rest.count, SQLiteCacheWriter.sliceBytes)
        return (state.hold, state.staged, SQLiteCacheWriter.chunks(state.rest[..<count], onlyWhole: true))
      }
      if chunks.isEmpty { break }
      do throws(CacheError) {
        let body = try await store.stage(chunks, first: staged / SQLiteCacheSchema.chunkBytes, of: hold?.body)
        let newHold = hold ?? BodyHold(body, in: store)
        state.withLock { state in
          if state.hold == nil { state.hold = newHold }
          let count = chunks.count * SQLiteCacheSchema.chunkBytes
          state.staged += count
          state.rest.removeFirst(count)
        }
      } catch {
        state.withLock { state in
          state.phase = .failed(error)
          state.isWriting = false
        }
        throw error
      }
    }
    state.withLock { $0.isWriting = false }
  }

  private static func chunks(_ bytes: ArraySlice<UInt8>, onlyWhole: Bool) -> [[UInt8]] {
    var chunks: [[UInt8]] = []
    var rest = bytes
    while rest.count >= SQLiteCacheSchema.chunkBytes || (!onlyWhole && !rest.isEmpty) {
      let chunk = rest.prefix(SQLiteCacheSchema.chunkBytes)
      chunks.append(Array(chunk))
      rest = rest[chunk.endIndex...]
    }
    return chunks
  }

  func read(_ range: Range<Int>) async throws(CacheError) -> [UInt8] {
    let (hold, staged, part, rest) = state.withLock { state in
      let part = range.clamped(to: 0..<state.length)
      let below = part.clamped(to: 0..<state.staged)
      let above = max(part.lowerBound, state.staged)..<max(part.upperBound, state.staged)
      return (
        state.hold, state.staged, below,
        Array(state.rest[(above.lowerBound - state.staged)..<(above.upperBound - state.staged)])
      )
    }
    guard let hold, !part.isEmpty else { return rest }
    let below = try hold.read(part, length: staged)
    return rest.isEmpty ? below : below + rest
  }

  func commit(_ metadata: CacheMetadata, forKey key: String) async throws(CacheError) -> CacheEntry {
    let (hold, staged, rest) = try state.withLock { (state) throws(CacheError) in
      guard !state.isWriting else { throw CacheError.notSupported("a commit during an append") }
      try state.phase.beginCommit()
      return (state.hold, state.staged, state.rest)
    }
    do throws(CacheError) {
      return try await commit(metadata, key, hold, staged, rest)
    } catch {
      // Releases the hold, so that the staged content is deleted with the writer.
      state.withLock { $0.phase = .failed(error) }
      throw error
    }
  }

  private func commit(
    _ metadata: CacheMetadata, _ key: String, _ hold: BodyHold?, _ staged: Int, _ rest: [UInt8]
  ) async throws(CacheError) -> CacheEntry {
    if hold == nil, rest.count <= SQLiteCacheSchema.inlineLimit {
      let entry = CacheEntry(metadata: metadata, bytes: rest.trimmed(), tier: .disk)
      try await store.put(entry, key)
      return entry
    }
    let length = staged + rest.count
    let row = NewRow(key: key, metadata: metadata.encoded(), size: length, body: hold?.body ?? 0, content: [])
    try store.checkFits(row)
    let hold = try await stagedBody(hold)
    try await store.commit(
      SQLiteCacheWriter.chunks(rest[...], onlyWhole: false), first: staged / SQLiteCacheSchema.chunkBytes,
      NewRow(key: key, metadata: row.metadata, size: length, body: hold.body, content: []))
    state.withLock { state in
      state.staged = length
      state.rest = []
    }
    return SQLiteStore.entry(metadata, length: length, hold)
  }

  /// The body, which is created if nothing has been staged yet.
  private func stagedBody(_ hold: BodyHold?) async throws(CacheError) -> BodyHold {
    if let hold { return hold }
    let newHold = BodyHold(try await store.stage([], first: 0, of: nil), in: store)
    state.withLock { $0.hold = newHold }
    return newHold
  }
}
