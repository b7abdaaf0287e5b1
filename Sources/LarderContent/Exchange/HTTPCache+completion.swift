import LarderHTTP

extension HTTPCache {
  /// Completes a stored response and returns its content while the rest is being received. Returns false if something
  /// is still missing afterwards, or if the stored content cannot be read.
  func complete(
    _ completion: Completion, response: HTTPResponse, originResponse: OriginResponse,
    originRequest: OriginRequest,
    transfer: Transfer
  ) async -> Bool {
    let combination = completion.combination
    let isStorable = await metadata(toStore: originResponse, originRequest) != nil
    guard var head = head(of: combination, originRequest.cacheRequest, isStorable: isStorable) else { return false }
    guard await isReadable(completion, originRequest) else { return false }
    head.forwardStatus = originResponse.status
    let content = CombinedContent(combination, stored: completion.entry, received: response.body)
    var pump = Pump(
      engine: self, transfer: transfer, originRequest: originRequest, originResponse: originResponse, head: head,
      completion: completion)
    await pump.run(HTTPBodyStream(length: combination.length, next: content.next))
    // Content that the server no longer wants stored was needed up to here.
    if !isStorable { await remove(originRequest.storedKey, originRequest.cacheRequest.resource) }
    return true
  }

  /// The head of combined content for the request; nil if something is still missing.
  private func head(of combination: Combination, _ cacheRequest: CacheRequest, isStorable: Bool) -> TransferHead? {
    let metadata = combination.metadata
    let storedMetadata = isStorable ? metadata : nil
    let outcome = RangeOutcome.of(
      cacheRequest.request.fields, metadata, StoredRules(metadata), length: combination.length, boundary: "")
    switch outcome {
    case .whole:
      return TransferHead(
        status: metadata.status, fields: metadata.fields, length: combination.length, metadata: storedMetadata)
    case .respond(let partial):
      guard let view = partial.singleRange else { return nil }
      var head = TransferHead(
        status: partial.status, fields: partial.fields, length: combination.length, metadata: storedMetadata)
      head.view = view
      return head
    case .fetch, .forward: return nil
    }
  }

  /// Restricts a whole response to the requested range, if the server sends everything instead of the missing part.
  func limitToRequestedRange(_ head: inout TransferHead, _ cacheRequest: CacheRequest) {
    guard head.status == 200, let metadata = head.metadata, let rules = head.rules, let length = head.length else {
      return
    }
    let outcome = RangeOutcome.of(cacheRequest.request.fields, metadata, rules, length: length, boundary: "")
    guard case .respond(let partial) = outcome, let view = partial.singleRange else { return }
    head.forwardStatus = head.status
    head.status = partial.status
    head.fields = partial.fields
    head.view = view
  }

  /// Reads the parts of stored content that are checked when read, before the response is returned.
  private func isReadable(_ completion: Completion, _ originRequest: OriginRequest) async -> Bool {
    let pieces = completion.combination.segments.compactMap { segment in
      if case .stored(let range) = segment { PartialResponse.Piece.stored(range) } else { nil }
    }
    let length = pieces.reduce(0) { sum, piece in
      if case .stored(let range) = piece { sum + range.count } else { sum }
    }
    do throws(CacheError) {
      try await EntryContent(completion.entry, pieces, length: length).start(checking: options.checkedByteLimit)
      return true
    } catch {
      report(.cacheReadFailed, originRequest.cacheRequest.resource, error)
      await remove(originRequest.storedKey, originRequest.cacheRequest.resource)
      return false
    }
  }

  /// Stores the received beginning of combined content that was interrupted, with the stored content after it.
  func store(
    beginning writer: any CacheWriter, _ count: Int, of completion: Completion, _ originRequest: OriginRequest
  ) async -> CacheEntry? {
    guard let (metadata, rest) = completion.interrupted(after: count) else { return nil }
    do throws(CacheError) {
      for range in rest {
        var remaining = range
        while !remaining.isEmpty {
          let bytes = try await completion.entry.read(remaining.prefix(EntryContent.step))
          if bytes.isEmpty { throw CacheError.gone }
          try await writer.append(bytes)
          remaining = remaining.dropFirst(bytes.count)
        }
      }
      return try await writer.commit(metadata, forKey: originRequest.storedKey)
    } catch {
      report(.cacheWriteFailed, originRequest.cacheRequest.resource, error)
      return nil
    }
  }

  /// Stores combined content as the entry in place of the completed one; nil if the cache failed.
  func commit(_ writer: any CacheWriter, completing originRequest: OriginRequest, _ metadata: CacheMetadata) async
    -> CacheEntry?
  {
    do throws(CacheError) {
      return try await writer.commit(metadata, forKey: originRequest.storedKey)
    } catch {
      report(.cacheWriteFailed, originRequest.cacheRequest.resource, error)
      return nil
    }
  }
}

extension PartialResponse {
  /// The range of the stored content to send, if it is a single one; empty for a 416.
  fileprivate var singleRange: Range<Int>? {
    if status == 416 { return 0..<0 }
    return if status == 206, pieces.count == 1, case .stored(let range)? = pieces.first { range } else { nil }
  }
}
