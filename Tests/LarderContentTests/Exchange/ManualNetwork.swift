import LarderHTTP
import Synchronization

/// A network that the test drives: each request waits until the test responds to it, piece by piece.
///
/// Nothing sleeps: ``exchange(_:)`` suspends until that many requests have come.
final class ManualNetwork: HTTPTransport {
  private struct State {
    var exchanges: [ManualExchange] = []
    var waiting: [(count: Int, CheckedContinuation<Void, Never>)] = []
  }

  private let state = Mutex(State())
  private let automatic: (@Sendable (HTTPRequest, Int) -> Scripted?)?

  /// With a function that responds at once if it returns something.
  init(_ automatic: (@Sendable (HTTPRequest, Int) -> Scripted?)? = nil) { self.automatic = automatic }

  var requests: [HTTPRequest] { state.withLock { $0.exchanges.map(\.request) } }

  /// The request of that number, from 0, as soon as it has come.
  func exchange(_ index: Int) async -> ManualExchange {
    await withCheckedContinuation { waiting in
      let isThere = state.withLock { state in
        if state.exchanges.count > index { return true }
        state.waiting.append((index + 1, waiting))
        return false
      }
      if isThere { waiting.resume() }
    }
    return state.withLock { $0.exchanges[index] }
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let exchange = ManualExchange(request)
    let (index, ready) = state.withLock { state in
      state.exchanges.append(exchange)
      let ready = state.waiting.filter { $0.count <= state.exchanges.count }.map(\.1)
      state.waiting.removeAll { $0.count <= state.exchanges.count }
      return (state.exchanges.count - 1, ready)
    }
    for waiting in ready { waiting.resume() }
    if let scripted = automatic?(request, index) { scripted.play(exchange) }
    return try await exchange.head()
  }

  /// A response that is sent at once.
  struct Scripted: Sendable {
    var status: Int
    var fields: HTTPFields
    var body: String
    var failure: HTTPTransportError?

    init(_ status: Int, _ fields: HTTPFields = [:], _ body: String = "") {
      self.status = status
      self.fields = fields
      self.body = body
    }

    static func failure(_ error: HTTPTransportError) -> Scripted {
      var scripted = Scripted(0)
      scripted.failure = error
      return scripted
    }

    fileprivate func play(_ exchange: ManualExchange) {
      if let failure { return exchange.fail(failure) }
      exchange.respond(status, fields, length: body.utf8.count)
      if !body.isEmpty { exchange.send(body) }
      exchange.finish()
    }
  }
}

/// One request that the network got, and its response, which the test sends.
final class ManualExchange: Sendable {
  let request: HTTPRequest
  private let heads = Feed<HTTPResponse>()
  private let content = Feed<[UInt8]>()

  init(_ request: HTTPRequest) { self.request = request }

  fileprivate func head() async throws(HTTPTransportError) -> HTTPResponse {
    guard let response = try await heads.next() else { throw .connectionLost(reason: "no response") }
    return response
  }

  /// Sends a head; without a length the content is chunked.
  func respond(_ status: Int, _ fields: HTTPFields = [:], length: Int? = nil) {
    let content = content
    let body = HTTPBodyStream(
      length: length, next: { try await content.next() }, abandon: { content.end(.cancelled) })
    heads.add(HTTPResponse(status: status, fields: fields, url: request.url, body: body))
  }

  func send(_ text: String) { content.add(Array(text.utf8)) }
  func send(_ bytes: [UInt8]) { content.add(bytes) }
  func finish() { content.end(nil) }
  func breakOff() { content.end(.connectionLost(reason: "broken by the test")) }
  func fail(_ error: HTTPTransportError) { heads.end(error) }

  /// Suspends until the engine has given this request, or its content, up.
  func ended() async {
    await heads.ended()
    await content.ended()
  }
  func headGivenUp() async { await heads.ended() }
  func contentEnded() async { await content.ended() }
  /// How many pieces the engine has not taken yet.
  var untaken: Int { content.count }
  /// Suspends until the engine has taken all but `count` pieces.
  func taken(but count: Int) async { await content.drained(to: count) }
}

/// Values handed from the test to the one who waits for them.
private final class Feed<Value: Sendable>: Sendable {
  private struct State {
    var values: [Value] = []
    var isEnded = false
    var error: HTTPTransportError?
    var waiting: CheckedContinuation<Void, Never>?
    var watching: [(count: Int?, CheckedContinuation<Void, Never>)] = []

    mutating func wake() -> [CheckedContinuation<Void, Never>] {
      var ready = waiting.map { [$0] } ?? []
      waiting = nil
      let (values, isEnded) = (values, isEnded)
      ready += watching.filter { $0.count.map { values.count <= $0 } ?? isEnded }.map(\.1)
      watching.removeAll { $0.count.map { values.count <= $0 } ?? isEnded }
      return ready
    }
  }

  private let state = Mutex(State())

  var count: Int { state.withLock { $0.values.count } }

  private func change(_ work: (inout State) -> Void) {
    let ready = state.withLock { state in
      work(&state)
      return state.wake()
    }
    for waiting in ready { waiting.resume() }
  }

  func add(_ value: Value) { change { $0.values.append(value) } }

  func end(_ error: HTTPTransportError?) {
    change { state in
      if state.isEnded { return }
      state.isEnded = true
      state.error = error
    }
  }

  func ended() async { await watch(nil) }
  func drained(to count: Int) async { await watch(count) }

  private func watch(_ count: Int?) async {
    await withCheckedContinuation { waiting in
      change { $0.watching.append((count, waiting)) }
    }
  }

  func next() async throws(HTTPTransportError) -> Value? {
    while true {
      var value: Value?
      var step = 0
      var error: HTTPTransportError?
      change { state in
        if Task.isCancelled {
          state.isEnded = true
          state.error = .cancelled
          state.values = []
        }
        if !state.values.isEmpty {
          value = state.values.removeFirst()
          step = 1
        } else if state.isEnded {
          error = state.error
          step = 2
        }
      }
      if step == 1 { return value }
      if step == 2 {
        if let error { throw error }
        return nil
      }
      await withTaskCancellationHandler {
        await withCheckedContinuation { waiting in
          let goesOn = state.withLock { state in
            if !state.values.isEmpty || state.isEnded { return true }
            state.waiting = waiting
            return false
          }
          if goesOn { waiting.resume() }
        }
      } onCancel: {
        end(.cancelled)
      }
    }
  }
}
