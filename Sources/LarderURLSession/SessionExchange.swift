import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

/// The state of one request and its response, shared by the calling task and the session's delegate.
///
/// The delegate adds content, the task removes it. An exchange ends once: complete, failed or cancelled. Content that
/// arrived before a failure is still read first; content that arrived before a cancellation is dropped.
final class SessionExchange: Sendable {
  /// The number of bytes of unread content that suspends the session's task.
  private static let highWater = 256 << 10

  #if canImport(FoundationNetworking)
    /// False: swift-corelibs-foundation delivers some bytes twice if a task is suspended while it receives.
    private static let canSuspend = false
  #else
    private static let canSuspend = true
  #endif

  /// The head of a response.
  struct Head {
    var status: Int
    var fields: HTTPFields
    var length: Int?
  }

  private typealias HeadWaiter = CheckedContinuation<Result<Head, HTTPTransportError>, Never>

  private struct State {
    /// A head without content, held back until the end, so that dropping the response cannot break the connection.
    var pendingHead: Head?
    var hasHead = false
    var content = ContentBuffer()
    var isSuspended = false
    var headWaiter: HeadWaiter?
    var lastActivity = ContinuousClock.now
    var watchdog: Task<Void, Never>?
  }

  private let request: HTTPRequest
  private let task: URLSessionTask
  private let uploadFile: UploadFile?
  /// Keeps the transport alive until the content has been read or dropped: the session ends with the transport.
  private let owner: URLSessionTransport
  private let started = ContinuousClock.now
  private let state = Locked(State())

  init(_ request: HTTPRequest, task: URLSessionTask, uploadFile: UploadFile?, owner: URLSessionTransport) {
    self.request = request
    self.task = task
    self.uploadFile = uploadFile
    self.owner = owner
  }

  // Called by the task

  /// Starts the session's task and waits for the head.
  func start() async throws(HTTPTransportError) -> Head {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let early: Result<Head, HTTPTransportError>? = state.withLock { state in
          if let error = state.content.failure { return .failure(error) }
          state.headWaiter = continuation
          state.watchdog = Task { [weak self] in
            while let due = self?.nextLimit() {
              do { try await Task.sleep(until: due, clock: .continuous) } catch { return }
              self?.checkLimits()
            }
          }
          return nil
        }
        if let early { continuation.resume(returning: early) } else { task.resume() }
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
          let resumes = exchange(&state.isSuspended, with: false)
          state.lastActivity = .now
          return (state.content.read(or: continuation), resumes)
        }
        if resumes { task.resume() }
        if let ready { continuation.resume(returning: ready) }
      }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Ends the exchange from the caller's side; does nothing if it has already ended.
  func cancel() { fail(.cancelled) }

  // Called by the delegate

  /// Receives the head.
  func received(_ response: URLResponse) {
    guard let response = response as? HTTPURLResponse else {
      return fail(.protocolViolation("the response is not HTTP"))
    }
    let head: Head
    do throws(HTTPTransportError) {
      head = try Head(response, to: request.method)
    } catch {
      return fail(error)
    }
    let waiter: HeadWaiter? = state.withLock { state in
      state.lastActivity = .now
      state.hasHead = true
      if head.length == 0 {
        state.pendingHead = head
        return nil
      }
      return state.headWaiter.take()
    }
    waiter?.resume(returning: .success(head))
  }

  /// Receives content.
  func received(_ bytes: [UInt8]) {
    let (reader, suspends) = state.withLock { state -> (ContentBuffer.Reader?, Bool) in
      state.lastActivity = .now
      guard state.content.isOpen else { return (nil, false) }
      if let reader = state.content.takeReader() { return (reader, false) }
      state.content.append(bytes)
      let suspends =
        SessionExchange.canSuspend && !state.isSuspended && state.content.count >= SessionExchange.highWater
      if suspends { state.isSuspended = true }
      return (nil, suspends)
    }
    if suspends {
      task.suspend()
      // The reader may have been faster and resumed a task that was still running.
      if !state.withLock({ $0.isSuspended }) { task.resume() }
    }
    reader?.resume(returning: .success(bytes))
  }

  /// Some of the request's content was sent.
  func sent() { state.withLock { $0.lastActivity = .now } }

  /// The session's task has ended.
  func ended(_ error: (any Error)?) {
    let host = request.url.host() ?? ""
    let hasHead = state.withLock { $0.hasHead }
    finish(error.map { HTTPTransportError(sessionError: $0, host: host, hasHead: hasHead) })
  }

  private func fail(_ error: HTTPTransportError) {
    // A suspended task would never end.
    if finish(error) {
      task.cancel()
      task.resume()
    }
  }

  /// Ends the exchange; true if it was still open.
  @discardableResult
  private func finish(_ error: HTTPTransportError?) -> Bool {
    let ended = state.withLock { state -> (State, reader: ContentBuffer.Reader?)? in
      guard state.content.isOpen else { return nil }
      if error == .cancelled { state.content.discard() }
      let reader = state.content.finish(error)
      let ended = state
      state = State(content: state.content)
      return (ended, reader)
    }
    guard let (ended, reader) = ended else { return false }
    ended.watchdog?.cancel()
    uploadFile?.remove()
    if let head = ended.pendingHead, error == nil {
      ended.headWaiter?.resume(returning: .success(head))
    } else {
      ended.headWaiter?.resume(returning: .failure(error ?? .connectionLost(reason: "before the end of the head")))
    }
    reader?.resume(returning: error.map { .failure($0) } ?? .success(nil))
    return true
  }

  // Time

  /// The time at which a limit could be reached next; `nil` after the end.
  private func nextLimit() -> ContinuousClock.Instant? {
    let idle: ContinuousClock.Instant? = state.withLock { state in
      guard state.content.isOpen else { return nil }
      // The idle time-out does not run while received content is not yet read.
      let waitsForReader = state.content.count > 0 || state.isSuspended
      return (waitsForReader ? .now : state.lastActivity) + request.timeouts.idle
    }
    guard let idle else { return nil }
    guard let total = request.timeouts.total else { return idle }
    return min(idle, started + total)
  }

  /// Ends the exchange if one of its limits has been reached.
  private func checkLimits() {
    if let total = request.timeouts.total, started + total <= .now { return fail(.timeout(phase: "total")) }
    if let next = nextLimit(), next <= .now { fail(.timeout(phase: "idle")) }
  }
}
