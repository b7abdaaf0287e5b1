import Synchronization

/// A service that several stores and other clients share, and the trace of what they ask it.
package final class SharedModel: Sendable {
  private struct State {
    var service: ModelService
    var trace: [String] = []
    var late: [(request: ModelRequest, actor: String)] = []
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
        let response = state.service.respond(to: request, from: actor)
        state.trace.append("    (late) \(actor): \(request.method) \(request.path) \(response.status)")
      }
      state.late = []
    }
  }

  /// Answers a request.
  func respond(
    to request: ModelRequest, from actor: String, failing: [Int: Int] = [:], member: Int? = nil
  ) -> ModelResponse {
    release()
    return state.withLock { $0.service.respond(to: request, from: actor, failing: failing, member: member) }
  }
}
