import CLarderMicroHTTPD
import LarderCore
import LarderHTTP

/// One request and its response, between libmicrohttpd's thread and the responder's task.
///
/// libmicrohttpd calls from the connection's thread: the head, pieces of content, the end, and later for pieces of the
/// response. Where it has to wait, the connection is suspended; who changes the state so that the waiting has an end
/// resumes it, under the same lock, so that it happens once. ``Listener`` notices a client that leaves meanwhile.
///
/// libmicrohttpd's functions are called under the lock: suspending and resuming call nothing back.
final class Exchange: Sendable {
  /// How far the request is.
  enum Stage {
    /// The head is there; content, where there is any, has not been asked for.
    case head
    /// Content comes in.
    case content
    /// The request is whole.
    case whole
    /// libmicrohttpd has ended the exchange; its connection must not be touched any more.
    case over
  }

  struct State {
    var stage = Stage.head
    var isStarted = false
    var isSuspended = false
    /// The connection is to be closed at the next call.
    var isAborted = false
    var expectsContinue = false
    /// The responder's, later that of a piece of the response.
    var task: Task<Void, Never>?
    /// What has been answered and not been queued yet.
    var answer: HTTPServerResponse?
    var hasAnswered = false
    var incoming = IncomingContent()
    var outgoing = OutgoingContent()
    var onEnd: (@Sendable (HTTPServerResponse.End) -> Void)?
    /// For the log of refusals.
    var method = ""
    /// The server has refused the request by itself.
    var isRefused = false
    /// Of the response that was queued; 0 where none was.
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

  /// True where the head has not been dealt with.
  var isAtHead: Bool {
    state.withLock { state in
      if case .head = state.stage { return true }
      return !state.isStarted
    }
  }

  // Waiting, under the lock

  /// What a call of libmicrohttpd does next.
  enum Step {
    /// Returns; libmicrohttpd goes on, or waits where the connection was suspended.
    case proceed
    case respond(HTTPServerResponse)
    case close
  }

  /// Makes the connection wait, on its own thread.
  func suspend(_ state: inout State) -> Step {
    if engine.isClosing || state.isAborted { return .close }
    state.isSuspended = true
    handle.suspend()
    // Otherwise it is still watched.
    if connection.isDeparting { engine.listener.watchAgain(connection) }
    return .proceed
  }

  /// Ends the waiting, from any thread; nothing where the connection does not wait.
  func resume(_ state: inout State) {
    guard state.isSuspended else { return }
    state.isSuspended = false
    handle.resume()
  }

  // The responder's side

  /// Starts the responder; where it does not suspend, its answer is there when this returns.
  func start(_ request: HTTPServerRequest) {
    let task = Task.immediate {
      let response = await engine.responder(request)
      answer(response)
    }
    let isOver = state.withLock { state in
      if !state.hasAnswered { state.task = task }
      return state.isAborted || state.stage == .over
    }
    // Without the lock: what hears of the cancellation may want it.
    if isOver { task.cancel() }
  }

  /// Content that is still coming in goes on to whoever holds its stream: an answer may be given before the request is whole,
  /// and be about all of it. Where nobody holds it, it is dropped.
  func answer(_ response: HTTPServerResponse) {
    let (isWanted, _) = state.withLock { state in
      let ended = state.task.take()
      state.hasAnswered = true
      guard state.stage != .over, !state.isAborted else { return (false, ended) }
      state.answer = response
      resume(&state)
      return (true, ended)
    }
    if !isWanted { response.giveUp() }
  }

  // The end

  /// Breaks the exchange off: its client has left, or the server ends.
  func abort() {
    let leftover = state.withLock { state -> ReleasedResources? in
      guard state.stage != .over, !state.isAborted else { return nil }
      state.isAborted = true
      let leftover = ReleasedResources(&state, error: .connectionLost(reason: "the client has left"))
      resume(&state)
      return leftover
    }
    leftover?.release()
  }

  /// Breaks the exchange off where the client is gone while the connection waits; false where it does not wait.
  func abortIfDeparted() -> Bool {
    let isGone = state.withLock { state in state.isSuspended && connection.isPeerGone }
    if isGone { abort() }
    return isGone
  }

  /// libmicrohttpd is done with the exchange.
  func end(isComplete: Bool, status: Int) {
    let (leftover, onEnd, end, refused) = state.withLock { state in
      state.stage = .over
      let end = HTTPServerResponse.End(
        status: state.status, contentBytes: state.outgoing.sentBytes(isComplete: isComplete),
        isComplete: isComplete && !state.isAborted && !state.outgoing.hasFailed)
      let leftover = ReleasedResources(&state, error: .connectionLost(reason: "the client has left"))
      return (leftover, state.onEnd.take(), end, state.isStarted ? nil : Optional(state.method))
    }
    leftover.release()
    onEnd?(end)
    if let method = refused, let report = engine.options.onRefusal {
      report(
        HTTPServerRejection(
          client: connection.client, method: method, target: target, status: status,
          isComplete: isComplete && status != 0))
    }
  }
}

/// What is taken out of an exchange that ends, to be let go without the lock.
struct ReleasedResources {
  private let task: Task<Void, Never>?
  private let answer: HTTPServerResponse?
  private let outgoing: OutgoingContent
  private let reader: IncomingContent.Reader?
  private let error: HTTPTransportError

  init(_ state: inout Exchange.State, error: HTTPTransportError) {
    self.error = error
    task = state.task.take()
    answer = state.answer.take()
    outgoing = state.outgoing.giveUp()
    reader = state.incoming.fail(error)
  }

  /// Content is given up before the task that makes its next piece is cancelled: a producer whose task was cancelled
  /// throws, and would not be told otherwise, or sometimes.
  func release() {
    answer?.giveUp()
    outgoing.cancel()
    task?.cancel()
    reader?.resume(returning: .failure(error))
  }
}

extension HTTPServerResponse {
  /// Lets go of a response that nobody will get.
  func giveUp() {
    if case .stream(let stream) = body { stream.cancel() }
    onEnd?(End(status: 0, contentBytes: 0, isComplete: false))
  }

  /// Puts a text of the server in the place of a response that cannot be sent; who waits for its end is told of this one's.
  mutating func replace(status: Int, _ text: String) {
    if case .stream(let stream) = body { stream.cancel() }
    let onEnd = onEnd
    self = HTTPServerResponse(status: status, text: text)
    self.onEnd = onEnd
  }
}

/// libmicrohttpd's connection.
///
/// Sendable: the two functions are called under the exchange's lock and while its connection exists, `suspend` on the
/// connection's thread, `resume` from any, which libmicrohttpd allows.
@safe struct ConnectionHandle: @unchecked Sendable {
  private let pointer: OpaquePointer

  init(_ pointer: OpaquePointer) { unsafe self.pointer = pointer }

  /// The bytes of the request's head where it is whole, otherwise 0; on the connection's thread.
  var headSize: Int { unsafe larder_mhd_head_size(pointer) }

  /// Walks the request's fields; on the connection's thread.
  func forEachField(_ context: UnsafeMutableRawPointer, _ body: MHD_KeyValueIteratorN) {
    _ = unsafe larder_mhd_each_field(pointer, body, context)
  }

  func suspend() { unsafe MHD_suspend_connection(pointer) }
  func resume() { unsafe MHD_resume_connection(pointer) }
}
