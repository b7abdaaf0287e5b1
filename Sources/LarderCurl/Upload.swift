@_spi(Stores) import LarderCore
import LarderHTTP

/// The content of a request while it is sent: passes one chunk at a time from the producer's task to the engine's
/// thread.
///
/// The producer is asked for the next chunk only when libcurl has taken the last one: this is the back-pressure.
final class Upload: Sendable {
  /// The result of a request for bytes by the engine.
  enum Piece {
    case bytes(Int)
    /// No bytes yet; the engine is notified when there are more.
    case notReady
    case end
    case failed(HTTPTransportError)
  }

  private struct State {
    var chunk: [UInt8] = []
    var offset = 0
    var sent = 0
    var isAtEnd = false
    var failure: HTTPTransportError?
    /// Whether the engine found no bytes and waits for them.
    var isStarved = false
    var producerWaiter: CheckedContinuation<Void, Never>?
    var producer: Task<Void, Never>?
    /// The number of starts, so that a producer of an earlier start cannot add to a later one.
    var generation = 0
  }

  private let content: HTTPBody
  private let length: Int?
  private let state = Locked(State())

  init(_ content: HTTPBody, length: Int?) {
    self.content = content
    self.length = length
  }

  /// Starts, or restarts, at the content's first byte. `ready` is called when there are bytes for an idle engine.
  func start(ready: @escaping @Sendable () -> Void) {
    stop()
    switch content {
    case .none: state.withLock { $0.isAtEnd = true }
    case .bytes(let bytes):
      state.withLock { state in
        state.chunk = bytes
        state.isAtEnd = true
      }
    case .stream(_, let open):
      let generation = state.withLock { $0.generation }
      let producer = Task { await self.produce(open(), generation, ready) }
      let isCurrent = state.withLock { state in
        if state.generation == generation { state.producer = producer }
        return state.generation == generation
      }
      if !isCurrent { producer.cancel() }
    }
  }

  /// Ends the producer and discards its chunk.
  func stop() {
    let (producer, producerWaiter) = state.withLock { state in
      let ended = (state.producer, state.producerWaiter)
      state = State(generation: state.generation + 1)
      return ended
    }
    producer?.cancel()
    producerWaiter?.resume()
  }

  /// Copies bytes for libcurl.
  func read(into target: UnsafeMutableRawBufferPointer) -> Piece {
    let (piece, producerWaiter) = state.withLock { state -> (Piece, CheckedContinuation<Void, Never>?) in
      if let failure = state.failure { return (.failed(failure), nil) }
      let count = min(target.count, state.chunk.count - state.offset)
      guard count > 0 else {
        if !state.isAtEnd { state.isStarved = true }
        return (state.isAtEnd ? atEnd(state.sent) : .notReady, nil)
      }
      unsafe state.chunk.withUnsafeBytes { chunk in
        unsafe target.copyMemory(from: .init(rebasing: chunk[state.offset..<state.offset + count]))
      }
      state.offset += count
      state.sent += count
      guard state.offset == state.chunk.count, !state.isAtEnd else { return (.bytes(count), nil) }
      state.chunk = []
      state.offset = 0
      return (.bytes(count), state.producerWaiter.take())
    }
    producerWaiter?.resume()
    return piece
  }

  private func atEnd(_ sent: Int) -> Piece {
    guard let length, sent < length else { return .end }
    return .failed(.invalidRequest("its content ended after \(sent) of \(length) bytes"))
  }

  private func produce(_ stream: HTTPBodyStream, _ generation: Int, _ ready: @Sendable () -> Void) async {
    var byteCount = 0
    do {
      var chunks = stream.makeAsyncIterator()
      while let chunk = try await chunks.next() {
        if chunk.isEmpty { continue }
        byteCount += chunk.count
        if let length, byteCount > length {
          throw HTTPTransportError.invalidRequest("its content is longer than the \(length) bytes announced")
        }
        guard await offer(chunk, generation, ready) else { return }
      }
      change(generation, ready) { $0.isAtEnd = true }
    } catch {
      let failure = error as? HTTPTransportError ?? .invalidRequest("its content failed: \(error)")
      change(generation, ready) { $0.failure = failure }
    }
  }

  /// Offers a chunk and returns when it has been taken; false if no more is wanted.
  private func offer(_ chunk: [UInt8], _ generation: Int, _ ready: @Sendable () -> Void) async -> Bool {
    change(generation, ready) { state in
      state.chunk = chunk
      state.offset = 0
    }
    await withCheckedContinuation { continuation in
      let isConsumed = state.withLock { state in
        if state.generation != generation || state.chunk.isEmpty { return true }
        state.producerWaiter = continuation
        return false
      }
      if isConsumed { continuation.resume() }
    }
    return state.withLock { $0.generation == generation }
  }

  private func change(_ generation: Int, _ ready: @Sendable () -> Void, _ body: (inout sending State) -> Void) {
    let wasStarved = state.withLock { state in
      guard state.generation == generation else { return false }
      body(&state)
      defer { state.isStarved = false }
      return state.isStarved
    }
    if wasStarved { ready() }
  }
}
