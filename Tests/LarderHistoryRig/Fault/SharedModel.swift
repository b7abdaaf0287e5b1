import Synchronization

/// A service that several stores and other clients share, and the trace of their requests.
package final class SharedModel: Sendable {
  private struct State {
    var service: ModelService
    var trace: [String] = []
    var late: [(request: ModelRequest, actor: String)] = []

    /// Marks the effects from a number on as effects whose response was lost.
    mutating func noteLost(from first: Int) {
      for place in service.effects.indices.dropFirst(first) { service.effects[place].isLost = true }
    }
  }

  private let state: Mutex<State>

  package init(_ service: ModelService) { state = Mutex(State(service: service)) }

  package var service: ModelService { state.withLock { $0.service } }
  package var trace: [String] { state.withLock { $0.trace } }

  package func change<Value>(_ body: (inout ModelService) -> sending Value) -> sending Value {
    state.withLock { body(&$0.service) }
  }

  package func note(_ line: String) { state.withLock { $0.trace.append(line) } }

  /// Keeps a request that the service carries out before it sees another one.
  func delay(_ request: ModelRequest, from actor: String) { state.withLock { $0.late.append((request, actor)) } }

  /// Carries out what was delayed.
  package func release() {
    state.withLock { state in
      for (request, actor) in state.late {
        let first = state.service.effects.count
        let response = state.service.respond(to: request, from: actor)
        state.noteLost(from: first)
        state.trace.append("    (late) \(actor): \(request.method) \(request.path) \(response.status)")
      }
      state.late = []
    }
  }

  /// Responds to a request.
  ///
  /// - Parameter isLost: whether the response does not report what was done.
  func respond(
    to request: ModelRequest, from actor: String, failing: [Int: Int] = [:], member: Int? = nil,
    isLost: (ModelResponse) -> Bool = { _ in false }
  ) -> ModelResponse {
    release()
    return state.withLock { state in
      let first = state.service.effects.count
      let response = state.service.respond(to: request, from: actor, failing: failing, member: member)
      if isLost(response) { state.noteLost(from: first) }
      return response
    }
  }
}
