import LarderCore
import LarderHTTP

/// A request's content between the connection and its reader. Pure: the exchange acts on what it answers.
struct IncomingContent {
  typealias Chunk = Result<[UInt8]?, HTTPTransportError>
  typealias Reader = CheckedContinuation<Chunk, Never>

  /// Bytes that wait for the reader; more makes the client wait.
  static let highWater = 128 << 10

  private enum End {
    case open, complete
    case failed(HTTPTransportError)
  }

  /// Nobody will read: what comes is dropped.
  var isUnwanted = false
  private var end = End.open
  private var waiting: [UInt8] = []
  private var reader: Reader?
  private(set) var received = 0

  /// True where the reader waits for more.
  var isAwaited: Bool { reader != nil }

  enum Reception {
    /// Taken in; the reader, where one waited, gets it.
    case taken(Reader?, [UInt8])
    /// Not now: the reader is behind.
    case later
    /// More than is allowed.
    case tooMuch
  }

  /// Takes in a piece or leaves it.
  mutating func receive(_ bytes: UnsafeRawBufferPointer, limit: Int) -> Reception {
    if bytes.count > limit - received { return .tooMuch }
    if isUnwanted {
      received += bytes.count
      waiting = []
      return .taken(nil, [])
    }
    if let reader {
      self.reader = nil
      received += bytes.count
      return unsafe .taken(reader, Array(bytes))
    }
    if waiting.count >= IncomingContent.highWater { return .later }
    received += bytes.count
    unsafe waiting.append(contentsOf: bytes)
    return .taken(nil, [])
  }

  /// What a reader gets at once; nil where it has to wait.
  mutating func read(or reader: Reader) -> Chunk? {
    if !waiting.isEmpty {
      let chunk = waiting
      waiting = []
      return .success(chunk)
    }
    switch end {
    case .complete: return .success(nil)
    case .failed(let error): return .failure(error)
    case .open:
      self.reader = reader
      return nil
    }
  }

  /// All has come.
  mutating func finish() -> Reader? {
    if case .open = end { end = .complete }
    return reader.take()
  }

  /// No more will come; what has come is dropped.
  mutating func fail(_ error: HTTPTransportError) -> Reader? {
    if case .open = end {
      end = .failed(error)
      waiting = []
    }
    return reader.take()
  }
}

extension Exchange {
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
        state.incoming.isUnwanted = true
        return state.incoming.fail(.cancelled)
      }
      reader?.resume(returning: .failure(.cancelled))
    }
    return try chunk.get()
  }

  /// What is still to come is received and dropped.
  private func abandonContent() {
    let reader = state.withLock { state in
      state.incoming.isUnwanted = true
      if state.stage == .head || state.stage == .content { resume(&state) }
      return state.incoming.fail(.cancelled)
    }
    reader?.resume(returning: .failure(.cancelled))
  }
}
