import CLarderMicroHTTPD
@_spi(Stores) import LarderCore
import LarderHTTP

/// One request and its response, between libmicrohttpd's thread and the responder's task.
///
/// libmicrohttpd calls from the connection's thread: for the head, for pieces of content, for the end, and later for
/// pieces of the response. If it must wait, the connection is suspended. The code whose state change ends the wait
/// resumes the connection under the same lock, so that this happens once. ``Listener`` detects a client that leaves in
/// the meantime.
///
/// libmicrohttpd's functions are called under the lock: suspending and resuming do not call back.
final class ServerExchange: Sendable {
  /// The progress of the request.
  enum Stage {
    /// The head was received; content, if there is any, has not been requested.
    case head
    /// Content is being received.
    case content
    /// The request is complete.
    case whole
    /// libmicrohttpd has ended the exchange; its connection must not be used any more.
    case over
  }

  struct State {
    var stage = Stage.head
    var isStarted = false
    var isSuspended = false
    /// The connection must be closed at the next call.
    var isAborted = false
    var expectsContinue = false
    /// The responder's task; later the task that fetches a piece of the response.
    var task: Task<Void, Never>?
    /// A response that has not been queued yet.
    var response: HTTPServerResponse?
    var hasResponse = false
    var incoming = IncomingContent()
    var outgoing = OutgoingContent()
    var onEnd: (@Sendable (HTTPServerResponse.End) -> Void)?
    /// The method, for the log of rejections.
    var method = ""
    /// The server rejected the request without calling the responder.
    var isRejected = false
    /// The status of the queued response; 0 if none was queued.
    var status = 0
  }

  /// The target as sent.
  let target: String
  let connection: ClientConnection
  let engine: ServerEngine
  let handle: ConnectionHandle
  let state = Locked(State())

  init(target: String, connection: ClientConnection, engine: ServerEngine, handle: ConnectionHandle) {
    self.target = target
    self.connection = connection
    self.engine = engine
    self.handle = handle
  }

  /// True if the head has not been handled.
  var isAtHead: Bool {
    state.withLock { state in
      if case .head = state.stage { return true }
      return !state.isStarted
    }
  }

  // Suspending and resuming, under the lock

  /// What a callback of libmicrohttpd does next.
  enum Step {
    /// Return; libmicrohttpd continues, or waits if the connection was suspended.
    case proceed
    case respond(HTTPServerResponse)
    case close
  }

  /// Suspends the connection, on its own thread.
  func suspend(_ state: inout State) -> Step {
    if engine.isClosing || state.isAborted { return .close }
    state.isSuspended = true
    handle.suspend()
    // A connection that is not departing is still watched.
    if connection.isDisconnecting { engine.listener.watchAgain(connection) }
    return .proceed
  }

  /// Resumes the connection, from any thread. Does nothing if it is not suspended.
  func resume(_ state: inout State) {
    guard state.isSuspended else { return }
    state.isSuspended = false
    handle.resume()
  }

  // The responder's side

  /// Starts the responder. If the responder does not suspend, its response exists when this returns.
  func start(_ request: HTTPServerRequest) {
    let task = Task.immediate {
      let response = await engine.responder(request)
      respond(with: response)
    }
    let isOver = state.withLock { state in
      if !state.hasResponse { state.task = task }
      return state.isAborted || state.stage == .over
    }
    // Cancel without the lock: a cancellation handler may take it.
    if isOver { task.cancel() }
  }

  /// Sets the response. A responder may respond before the request is complete. Content that is still being received is
  /// delivered to the holder of its stream, or dropped if the stream was released.
  func respond(with response: HTTPServerResponse) {
    let (isWanted, _) = state.withLock { state in
      let ended = state.task.take()
      state.hasResponse = true
      guard state.stage != .over, !state.isAborted else { return (false, ended) }
      state.response = response
      resume(&state)
      return (true, ended)
    }
    if !isWanted { response.discard() }
  }

  // The end

  /// Aborts the exchange, because its client has left or the server stops.
  func abort() {
    let released = state.withLock { state -> ReleasedResources? in
      guard state.stage != .over, !state.isAborted else { return nil }
      state.isAborted = true
      let released = ReleasedResources(&state, error: .connectionLost(reason: "the client disconnected"))
      resume(&state)
      return released
    }
    released?.release()
  }

  /// Aborts the exchange if the connection is suspended and the client is gone. Returns false if it is not suspended or
  /// the client is there.
  func abortIfDisconnected() -> Bool {
    let isDisconnected = state.withLock { state in state.isSuspended && connection.isPeerGone }
    if isDisconnected { abort() }
    return isDisconnected
  }

  /// Called when libmicrohttpd has finished the exchange.
  func end(isComplete: Bool, status: Int) {
    let (released, onEnd, end, rejectedMethod) = state.withLock { state in
      state.stage = .over
      let end = HTTPServerResponse.End(
        status: state.status, contentBytes: state.outgoing.sentBytes(isComplete: isComplete),
        isComplete: isComplete && !state.isAborted && !state.outgoing.hasFailed)
      let released = ReleasedResources(&state, error: .connectionLost(reason: "the client disconnected"))
      return (released, state.onEnd.take(), end, state.isStarted ? nil : Optional(state.method))
    }
    released.release()
    onEnd?(end)
    if let method = rejectedMethod, let report = engine.options.onRejection {
      report(
        HTTPServerRejection(
          client: connection.client, method: method, target: target, status: status,
          isComplete: isComplete && status != 0))
    }
  }
}

/// The resources of an exchange that ends, to be released without the lock.
struct ReleasedResources {
  private let task: Task<Void, Never>?
  private let response: HTTPServerResponse?
  private let outgoing: OutgoingContent
  private let reader: IncomingContent.Reader?
  private let error: HTTPTransportError

  init(_ state: inout ServerExchange.State, error: HTTPTransportError) {
    self.error = error
    task = state.task.take()
    response = state.response.take()
    outgoing = state.outgoing.discard()
    reader = state.incoming.fail(error)
  }

  /// Releases the resources. The content's stream is cancelled before the task that creates its next piece: a producer
  /// whose task was cancelled throws, and would then not, or not always, be notified of the cancellation.
  func release() {
    response?.discard()
    outgoing.cancel()
    task?.cancel()
    reader?.resume(returning: .failure(error))
  }
}

extension HTTPServerResponse {
  /// Discards a response that will not be sent.
  func discard() {
    if case .stream(let stream) = body { stream.cancel() }
    onEnd?(End(status: 0, contentBytes: 0, isComplete: false))
  }

  /// Replaces a response that cannot be sent by a text of the server. The original `onEnd` handler is called for the
  /// replacement.
  mutating func replace(status: Int, _ text: String) {
    if case .stream(let stream) = body { stream.cancel() }
    let onEnd = onEnd
    self = HTTPServerResponse(status: status, text: text)
    self.onEnd = onEnd
  }
}

/// libmicrohttpd's connection.
///
/// Sendable: the two functions are called under the exchange's lock and while its connection exists: `suspend` on the
/// connection's thread, `resume` on any thread, which libmicrohttpd allows.
@safe struct ConnectionHandle: @unchecked Sendable {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  /// The size of the request's head in bytes if it is complete, otherwise 0; on the connection's thread.
  var headSize: Int { unsafe larder_mhd_head_size(pointer) }

  /// Iterates over the request's fields; on the connection's thread.
  func forEachField(_ context: UnsafeMutableRawPointer, _ body: MHD_KeyValueIteratorN) {
    _ = unsafe larder_mhd_each_field(pointer, body, context)
  }

  func suspend() { unsafe MHD_suspend_connection(pointer) }
  func resume() { unsafe MHD_resume_connection(pointer) }
}
