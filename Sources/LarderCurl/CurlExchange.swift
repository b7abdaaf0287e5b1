@_spi(Stores) import LarderCore
import LarderHTTP

/// The state of one request and its response, shared by the calling task and the engine's thread.
///
/// The engine adds content, the task removes it. An exchange ends once: complete, failed or cancelled. Content that
/// arrived before a failure is still read first; content that arrived before a cancellation is dropped.
final class CurlExchange: Sendable {
  /// The number of bytes of unread content that pauses the transfer. One write of libcurl may exceed it.
  private static let highWater = 256 << 10

  private struct State {
    var head: ResponseHead?
    var content = ContentBuffer()
    /// Whether the engine has stopped receiving until the reader has taken the buffered content.
    var isPaused = false
    var headWaiter: HeadWaiter?
  }

  private typealias HeadWaiter = CheckedContinuation<Result<ResponseHead, HTTPTransportError>, Never>

  let prepared: CurlRequest
  let upload: Upload
  private let engine: CurlEngine
  /// Keeps the transport alive until the content has been read or dropped: the engine ends with the transport.
  private let owner: CurlTransport
  private let state = Locked(State())

  init(_ prepared: CurlRequest, content: HTTPBody, engine: CurlEngine, owner: CurlTransport) {
    self.prepared = prepared
    self.engine = engine
    self.owner = owner
    upload = Upload(content, length: prepared.contentLength)
  }

  // Called by the task

  /// Posts the request to the engine and waits for the response's head.
  func start() async throws(HTTPTransportError) -> ResponseHead {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let early: Result<ResponseHead, HTTPTransportError>? = state.withLock { state in
          if let error = state.content.failure { return .failure(error) }
          state.headWaiter = continuation
          return nil
        }
        if let early { continuation.resume(returning: early) } else { engine.post(.start(self)) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Returns the next content, or `nil` at its end. For one caller at a time.
  func nextChunk() async throws(HTTPTransportError) -> [UInt8]? {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let (ready, resumes) = state.withLock { state in
          let resumes = exchange(&state.isPaused, with: false)
          return (state.content.read(or: continuation), resumes)
        }
        if resumes { engine.post(.resumeReceiving(self)) }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Ends the exchange from the task's side; does nothing if it has already ended.
  func cancel() {
    if finish(.cancelled) { engine.post(.cancel(self)) }
  }

  // Called by the engine

  /// False if the exchange was cancelled before the engine started it.
  var isOpen: Bool { state.withLock { $0.content.isOpen } }

  /// Delivers the final head.
  func deliver(_ head: ResponseHead) {
    let waiter = state.withLock { state in
      state.head = head
      return state.headWaiter.take()
    }
    waiter?.resume(returning: .success(head))
  }

  /// Delivers more content; false if it has to wait until the reader has caught up.
  func deliver(_ bytes: [UInt8]) -> Bool {
    let (accepted, reader) = state.withLock { state in
      if let reader = state.content.takeReader() { return (true, Optional(reader)) }
      if state.content.count >= CurlExchange.highWater {
        state.isPaused = true
        return (false, nil)
      }
      if state.content.isOpen { state.content.append(bytes) }
      return (true, nil)
    }
    reader?.resume(returning: .success(bytes))
    return accepted
  }

  /// Ends the exchange and resumes the task if it waits; true if the exchange was still open.
  @discardableResult
  func finish(_ error: HTTPTransportError?) -> Bool {
    let (isFirst, waiter, reader) = state.withLock { state in
      guard state.content.isOpen else { return (false, nil, nil) as (Bool, HeadWaiter?, ContentBuffer.Reader?) }
      if error == .cancelled { state.content.discard() }
      return (true, state.headWaiter.take(), state.content.finish(error))
    }
    guard isFirst else { return false }
    upload.stop()
    waiter?.resume(returning: .failure(error ?? .connectionLost(reason: "before the end of the head")))
    reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    return true
  }

  /// Notifies the engine, which waits for it, that there is more to send.
  func uploadIsReady() { engine.post(.resumeSending(self)) }
}
