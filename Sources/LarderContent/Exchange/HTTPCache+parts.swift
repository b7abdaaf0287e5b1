@_spi(Stores) import LarderCore
import LarderHTTP

extension HTTPCache {
  /// Combining copies stored content. The copy may be this many times as long as the new content, or as long as
  /// ``combinedAlways``. Otherwise many small parts of a long resource would cost more than they save.
  private static let combinedShare = 16
  private static let combinedAlways = 16 << 20

  /// Stores the content of a 206: combined with stored content of the same representation, or alone (RFC 9111 §3.3,
  /// §3.4).
  ///
  /// - Parameter count: how many bytes of the announced part were received.
  func store(
    part writer: any CacheWriter, _ count: Int, _ metadata: CacheMetadata, _ originRequest: OriginRequest
  ) async -> CacheEntry? {
    guard let part = ReceivedPart(status: 206, fields: metadata.fields)?.prefix(count) else { return nil }
    let present = await present(originRequest)
    if let present, let combination = Combination(present.entry, with: part, metadata, StoredRules(metadata)) {
      await show(originRequest.hiddenKeys, originRequest.cacheRequest.resource)
      if combination.changesMetadataOnly || !HTTPCache.isWorthwhile(combination, count) {
        await update(
          present.entry, to: combination.changesMetadataOnly ? combination.metadata : present.entry.metadata,
          forKey: present.key, originRequest.cacheRequest.resource)
        return nil
      }
      let combined = CombinedContent(combination, stored: present.entry, receive: HTTPCache.reader(writer, count))
      return await store(
        combined, metadata: combination.metadata, key: present.key, resource: originRequest.cacheRequest.resource)
    }
    guard let stored = metadata.storing(part, inResponseTo: originRequest.request.fields) else { return nil }
    return await commit(writer, stored, originRequest)
  }

  private static func isWorthwhile(_ combination: Combination, _ count: Int) -> Bool {
    combination.length <= combinedAlways || combination.length / combinedShare <= count
  }

  /// Stores the beginning of a complete response that was interrupted, if it can be completed later.
  ///
  /// It does not replace a complete response, which may still be used if the server fails, nor a part of this
  /// representation that is at least as long. Without approval, which needs all of the content, it does not replace a
  /// part of another representation either.
  func store(
    beginning writer: any CacheWriter, _ count: Int, _ metadata: CacheMetadata, _ originRequest: OriginRequest,
    isApproved: Bool
  ) async -> CacheEntry? {
    guard let stored = metadata.interrupted(after: count, StoredRules(metadata)) else { return nil }
    if let present = await present(originRequest)?.entry {
      let isSame = StrongValidator(present.rules) == StrongValidator(StoredRules(metadata))
      if !present.rules.isPartial || (isSame ? present.length >= count : !isApproved) { return nil }
    }
    return await commit(writer, stored, originRequest)
  }

  /// The entry that is stored for the request now.
  private func present(_ originRequest: OriginRequest) async -> (entry: CacheEntry, key: String)? {
    if let stored = originRequest.stored { return (stored, originRequest.storedKey) }
    let lookup = await lookup(originRequest.cacheRequest)
    return lookup.entry.map { ($0, lookup.key) }
  }

  /// Stores combined content in place of the previous entry under a key; nil if this failed.
  private func store(
    _ content: CombinedContent, metadata: CacheMetadata, key: String, resource: String
  ) async -> CacheEntry? {
    do {
      let writer = try await cache.makeWriter()
      while let bytes = try await content.next() { try await writer.append(bytes) }
      return try await writer.commit(metadata, forKey: key)
    } catch {
      if let error = error as? CacheError { report(.cacheWriteFailed, resource, error) }
      return nil
    }
  }

  /// Reads the content of a writer from the beginning.
  private static func reader(_ writer: any CacheWriter, _ count: Int) -> @Sendable () async throws -> [UInt8]? {
    let offset = Locked(0)
    return {
      let range = offset.withLock { offset in
        let start = offset
        offset = min(count, start + EntryContent.step)
        return start..<offset
      }
      return range.isEmpty ? nil : try await writer.read(range)
    }
  }
}
