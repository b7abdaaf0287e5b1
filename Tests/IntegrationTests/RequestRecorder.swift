import LarderService
import Synchronization

/// Listens to one request and records every call as it was at that time.
final class RequestRecorder: ODataRequestListener {
  /// One call of the listener.
  struct Call: Sendable, Equatable, CustomStringConvertible {
    var name: String
    var status: ODataRequestStatus
    var response: Response?

    var description: String { "\(name)(\(status.rawValue), \(response.map { "\($0)" } ?? "nil"))" }
  }

  /// What identifies a response: two with one content are equal.
  struct Response: Sendable, Equatable, CustomStringConvertible {
    var statuses: [Int?]
    var payloads: [[UInt8]?]
    var isNotModified: Bool

    init(_ response: ODataResponse) {
      switch response {
      case .single(let single):
        statuses = [single.httpStatus]
        payloads = [single.payloadBytes]
        isNotModified = single.isNotModified
      case .batch(let batch):
        statuses = batch.slots.map { $0?.response?.httpStatus }
        payloads = batch.slots.map { $0?.response?.payloadBytes }
        isNotModified = false
      }
    }

    var description: String { "\(statuses) of \(payloads.map { $0?.count ?? -1 }) bytes" }
  }

  private struct State {
    var calls: [Call] = []
    var isOver = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }
  private let state = Mutex(State())

  /// All calls, once the last one has come.
  var calls: [Call] {
    get async {
      await withCheckedContinuation { waiting in
        let isOver = state.withLock { state in
          if !state.isOver { state.waiting.append(waiting) }
          return state.isOver
        }
        if isOver { waiting.resume() }
      }
      return state.withLock { $0.calls }
    }
  }

  private func note(_ name: String, _ execution: ODataRequestExecution) {
    let call = Call(name: name, status: execution.status, response: execution.response.map(Response.init))
    state.withLock { $0.calls.append(call) }
  }

  func requestStarted(_ execution: ODataRequestExecution) { note("requestStarted", execution) }
  func requestCacheResponse(_ execution: ODataRequestExecution) { note("requestCacheResponse", execution) }
  func requestServerResponse(_ execution: ODataRequestExecution) { note("requestServerResponse", execution) }
  func requestFailed(_ execution: ODataRequestExecution) { note("requestFailed", execution) }
  func requestFinished(_ execution: ODataRequestExecution) {
    note("requestFinished", execution)
    let waiting = state.withLock { state in
      state.isOver = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume() }
  }
}
