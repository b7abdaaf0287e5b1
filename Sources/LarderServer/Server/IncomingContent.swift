@_spi(Stores) import LarderCore
import LarderHTTP

/// A request's content between the connection and its reader. It is pure: the exchange performs the actions that it
/// returns.
struct IncomingContent {
  typealias Reader = ContentBuffer.Reader

  /// The maximum number of bytes that are buffered for the reader. Beyond it, the client must wait.
  static let highWater = 128 << 10

  /// No reader will read: received content is dropped.
  var isDiscarded = false
  private var content = ContentBuffer()
  private(set) var received = 0

  /// True if the reader waits for more.
  var isAwaited: Bool { content.isAwaited }

  enum Reception {
    /// The piece was taken. If a reader was waiting, it gets the piece.
    case accepted(Reader?, [UInt8])
    /// The piece was not taken, because the reader is behind.
    case bufferFull
    /// The content exceeds the limit.
    case tooLarge
  }

  /// Takes a piece of content, or leaves it to be passed again.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Reception {
    if bytes.count > limit - received { return .tooLarge }
    if isDiscarded {
      received += bytes.count
      content.discard()
      return .accepted(nil, [])
    }
    if let reader = content.takeReader() {
      received += bytes.count
      return unsafe .accepted(reader, Array(bytes))
    }
    if content.count >= IncomingContent.highWater { return .bufferFull }
    received += bytes.count
    unsafe content.append(bytes)
    return .accepted(nil, [])
  }

  /// The content that a reader gets at once; nil if the reader must wait.
  mutating func read(or reader: Reader) -> ContentBuffer.Chunk? { content.read(or: reader) }

  /// Marks the content as complete. Returns the reader to resume.
  mutating func finish() -> Reader? { content.finish() }

  /// Ends the content with an error, and drops what the reader has not read. Returns the reader to resume.
  mutating func fail(_ error: HTTPTransportError) -> Reader? {
    if content.isOpen { content.discard() }
    return content.finish(error)
  }
}

extension ServerExchange {
  /// The stream that the responder reads.
  func makeContentStream(length: Int?) -> HTTPBodyStream {
    HTTPBodyStream(length: length, next: { try await self.nextContent() }, abandon: { self.abandonContent() })
  }

  private func nextContent() async throws(HTTPTransportError) -> [UInt8]? {
    let chunk = await withTaskCancellationHandler {
      await withCheckedContinuation { reader in
        let ready = state.withLock { state in
          let ready = state.incoming.read(or: reader)
          if state.stage == .head || state.stage == .content { resume(&state) }
          return ready
        }
        if let ready { reader.resume(returning: ready) }
      }
    } onCancel: {
      let reader = state.withLock { state in
        state.incoming.isDiscarded = true
        return state.incoming.fail(.cancelled)
      }
      reader?.resume(returning: .failure(.cancelled))
    }
    return try chunk.get()
  }

  /// Makes the server receive and drop the rest of the content.
  private func abandonContent() {
    let reader = state.withLock { state in
      state.incoming.isDiscarded = true
      if state.stage == .head || state.stage == .content { resume(&state) }
      return state.incoming.fail(.cancelled)
    }
    reader?.resume(returning: .failure(.cancelled))
  }
}
