import LarderHTTP

/// Passes the content of one response from the network into the cache and to its readers.
struct Pump {
  private let engine: HTTPCache
  private let transfer: Transfer
  private let originRequest: OriginRequest
  private let originResponse: OriginResponse
  private var head: TransferHead
  /// The completion that the content is for; nil if the content is used alone.
  private let completion: Completion?
  /// Stores the content. Nil after a failure, and if nothing is stored.
  private var writer: (any CacheWriter)?
  /// True if the stored response is outdated as soon as a parser accepts the content, which is not stored itself.
  var discardsStored = false
  private var received = 0
  /// The last piece of content. Readers get it after it is stored, so that a later request finds the stored response.
  private var lastBytes: [UInt8]?

  init(
    engine: HTTPCache, transfer: Transfer, originRequest: OriginRequest, originResponse: OriginResponse,
    head: TransferHead,
    completion: Completion? = nil
  ) {
    self.engine = engine
    self.transfer = transfer
    self.originRequest = originRequest
    self.originResponse = originResponse
    self.head = head
    self.completion = completion
  }

  /// Runs to the end of the content.
  mutating func run(_ content: HTTPBodyStream) async {
    await open()
    // A response without content is complete with its head: it is stored before its readers are notified.
    if writer == nil || head.length != 0 { transfer.publish(.success(.content(head))) }
    do {
      for try await bytes in content {
        await receive(bytes)
        if writer == nil, !transfer.hasReaders { throw HTTPTransportError.cancelled }
      }
      try await complete()
    } catch {
      await reportInterruption(error as? HTTPTransportError ?? .other("\(error)"))
    }
  }

  private mutating func open() async {
    guard head.metadata != nil else {
      engine.transfers.detach(transfer, isShareable: isShareable)
      return transfer.stopSpooling()
    }
    guard engine.keepsContent else { return transfer.stopSpooling() }
    do throws(CacheError) {
      let writer = try await engine.cache.makeWriter()
      transfer.spool(to: writer)
      self.writer = writer
      head.isSpooled = true
    } catch {
      engine.report(.cacheWriteFailed, originRequest.cacheRequest.resource, error)
      transfer.stopSpooling()
    }
  }

  /// Whether responses like this one can be shared; nil after a server failure, which does not show this.
  private var isShareable: Bool? {
    if let rules = head.rules { return engine.isReusable(rules) }
    return StaleVerdict.Failure.status(head.status).isError ? nil : false
  }

  private mutating func receive(_ bytes: [UInt8]) async {
    received += bytes.count
    if let writer {
      do throws(CacheError) {
        try await writer.append(bytes)
      } catch {
        // A cache that does not accept content of this size has not failed.
        if case .tooLarge = error {
        } else {
          engine.report(.cacheWriteFailed, originRequest.cacheRequest.resource, error)
        }
        transfer.stopSpooling()
        self.writer = nil
      }
    }
    if writer != nil, received == head.length {
      lastBytes = bytes
    } else {
      transfer.publish(bytes)
      await transfer.waitForSpace()
    }
  }

  private mutating func complete() async throws {
    if let length = head.length, received != length {
      throw HTTPTransportError.connectionLost(reason: "only \(received) of \(length) bytes were received")
    }
    if await isApproved() { await store() }
    engine.transfers.detach(transfer, isShareable: isShareable)
    transfer.approval.settle()
    deliver()
    transfer.end(.complete)
  }

  /// True if the content may replace what is stored. Readers with parsers get all of the content before they decide.
  private mutating func isApproved() async -> Bool {
    guard writer != nil || discardsStored, transfer.awaitsParser(status: head.status) else { return true }
    deliver()
    transfer.end(.complete)
    switch await transfer.approval.verdict() {
    case .accepted: return true
    case .rejected: return false
    case .undecided: return await !engine.hasSuccess(for: originRequest, rules: head.rules)
    }
  }

  private mutating func deliver() {
    transfer.publish(.success(.content(head)))
    if let bytes = lastBytes.take() { transfer.publish(bytes) }
  }

  private mutating func store() async {
    if discardsStored { await engine.discardOutdated(originRequest, originResponse) }
    if let writer, let metadata = head.metadata {
      let entry = await engine.unlessOutdated(transfer, originRequest) {
        let entry =
          if completion != nil {
            await engine.commit(writer, completing: originRequest, metadata)
          } else if metadata.status == 206 {
            await engine.store(part: writer, received, metadata, originRequest)
          } else {
            await engine.commit(writer, metadata, originRequest)
          }
        if let entry { engine.outdateOlder(than: transfer, entry) }
        return entry
      }
      if let entry {
        head.isStored = true
        transfer.storing.set()
        if entry.length == received { transfer.spool(is: entry) }
      }
    }
  }

  private mutating func reportInterruption(_ error: HTTPTransportError) async {
    if let writer, let metadata = head.metadata, received > 0 {
      _ = await engine.unlessOutdated(transfer, originRequest) {
        if let completion {
          await engine.store(beginning: writer, received, of: completion, originRequest)
        } else if metadata.status == 206 {
          await engine.store(part: writer, received, metadata, originRequest)
        } else {
          await engine.store(
            beginning: writer, received, metadata, originRequest,
            isApproved: !transfer.awaitsParser(status: head.status))
        }
      }
    }
    engine.transfers.detach(transfer, isShareable: nil)
    transfer.approval.settle()
    deliver()
    transfer.end(.failed(error))
  }
}
