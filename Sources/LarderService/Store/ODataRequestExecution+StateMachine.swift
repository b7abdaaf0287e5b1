extension ODataRequestExecution {
  /// The run of one request as a pure state machine: inputs in, steps out.
  ///
  /// `initialized` is left by `start`; `inProgress` by `finish`, `fail` or `cancel`; `ended` never. Inputs that arrive
  /// too late (a response after a cancellation) or too early produce no step.
  struct StateMachine {
    /// An input from a store or its caller.
    enum Input {
      case start
      case cacheResponse(ODataResponse?)
      case serverResponse(ODataResponse)
      case finish
      case fail(any Error, response: ODataResponse?)
      case cancel
    }

    private enum State { case new, running(last: ODataResponse?), ended }
    private var state = State.new

    /// True once the last step is decided, even if it is not delivered yet.
    var hasEnded: Bool { if case .ended = state { true } else { false } }

    /// Returns the steps that an input leads to, in their order.
    mutating func handle(_ input: Input) -> [ODataRequestEvent] {
      switch (state, input) {
      case (.new, .start):
        state = .running(last: nil)
        return [.requestStarted(.init(status: .initialized))]
      case (.running, .cacheResponse(let response)):
        state = .running(last: response)
        return [.requestCacheResponse(.init(status: .inProgress, response: response))]
      case (.running, .serverResponse(let response)):
        state = .running(last: response)
        return [.requestServerResponse(.init(status: .inProgress, response: response))]
      case (.running(let last), .finish):
        state = .ended
        return [.requestFinished(.init(status: .completed, response: last))]
      case (.running, .fail(let error, let response)):
        state = .ended
        let snapshot = ODataRequestEvent.Snapshot(status: .failed, response: response, error: error)
        return [.requestFailed(snapshot), .requestFinished(snapshot)]
      case (.new, .cancel):
        state = .ended
        return [.requestFinished(.init(status: .cancelled))]
      case (.running(let last), .cancel):
        state = .ended
        return [.requestFinished(.init(status: .cancelled, response: last))]
      case (.new, _), (.running, .start), (.ended, _):
        return []
      }
    }
  }
}
