@_spi(Stores) import LarderCore
import LarderHTTP

// The layers of one exchange, outermost first. Each layer except retry repeats the one below it at most once.
extension ODataConversation {
  /// Sends a request, and repeats it after failures that may be temporary.
  func exchange(_ request: OutgoingRequest) async throws(ODataServiceError) -> IncomingResponse {
    try await retrying(request) { request throws(ODataServiceError) in try await self.tunnelled(request) }
  }

  /// Repeats `send` according to the retry policy.
  ///
  /// An earlier attempt at a change may have been executed. If the last result does not show whether it was, the first
  /// result is returned: otherwise the caller would believe that the change was not executed, or was another client's.
  func retrying(
    _ request: OutgoingRequest,
    _ send: (OutgoingRequest) async throws(ODataServiceError) -> IncomingResponse
  ) async throws(ODataServiceError) -> IncomingResponse {
    let environment = options.environment
    var retry = RetryStateMachine(
      policy: options.retry, repeatability: request.repeatability, isSafe: request.method.isSafe,
      start: environment.uptime())
    var firstUncertainResult: Result<IncomingResponse, ODataServiceError>?
    while true {
      let result: Result<IncomingResponse, ODataServiceError>
      do throws(ODataServiceError) { result = .success(try await send(request)) } catch { result = .failure(error) }
      guard let outcome = outcome(result) else {
        return try ended(conclusive(result, after: firstUncertainResult), sends: retry.attempts)
      }
      let action = retry.after(
        outcome, now: environment.uptime(), unixTime: environment.unixSeconds, random: environment.random())
      guard case .wait(let pause) = action else {
        return try ended(conclusive(result, after: firstUncertainResult), sends: retry.attempts)
      }
      if !outcome.isUntouched, !request.method.isSafe { firstUncertainResult = firstUncertainResult ?? result }
      do { try await environment.sleepBeforeRepetition(pause) } catch { throw request.error(.cancelled) }
    }
  }

  /// A result that is returned, with the number of sends.
  private func ended(
    _ result: Result<IncomingResponse, ODataServiceError>, sends: Int
  ) throws(ODataServiceError) -> IncomingResponse {
    do throws(ODataServiceError) {
      var response = try result.get()
      response.sends = sends
      return response
    } catch {
      var error = error
      error.sends = max(sends, error.sends)
      throw error
    }
  }

  /// The result of a change for which an earlier attempt may have been executed.
  private func conclusive(
    _ result: Result<IncomingResponse, ODataServiceError>,
    after firstUncertainResult: Result<IncomingResponse, ODataServiceError>?
  ) -> Result<IncomingResponse, ODataServiceError> {
    guard let firstUncertainResult else { return result }
    switch result {
    case .success(let response):
      switch response.status {
      // These come from a gateway, or do not concern the change; and a condition also fails because of the change just
      // executed.
      case 300...399, 401, 407, 408, 412, 425, 429, 511: return firstUncertainResult
      default: return result
      }
    case .failure(let error):
      switch error.category {
      case .communication(.hostNotFound), .communication(.cannotConnect), .communication(.tls), .authentication, .csrf:
        return firstUncertainResult
      default: return result
      }
    }
  }

  /// The outcome for the retry state machine; nil for every final result.
  private func outcome(_ result: Result<IncomingResponse, ODataServiceError>) -> RetryStateMachine.Outcome? {
    switch result {
    case .success(let response):
      response.isSuccess
        ? nil : .status(response.status, retryAfter: response.fields[.retryAfter], date: response.fields[.date])
    // A request for a token within this one has been repeated already.
    case .failure(let error) where error.sends > 1: nil
    case .failure(let error):
      switch error.category {
      case .communication(let error), .authentication(.unreachable(let error)): .transport(error)
      case .authentication(.unavailable(_, let retryAfter)): .noToken(retryAfter: retryAfter)
      default: nil
      }
    }
  }

  /// Sends PUT, PATCH, MERGE and DELETE as a POST if the options say so.
  private func tunnelled(_ request: OutgoingRequest) async throws(ODataServiceError) -> IncomingResponse {
    let wasRejected = state.withLock { $0.methodWasRejected }
    if options.tunnelling.applies(to: request.method, wasRejected: wasRejected) {
      return try await protected(request, method: .post)
    }
    let response = try await protected(request, method: request.method)
    guard options.tunnelling.replaces(request.method, after: response.status) else { return response }
    let postResponse = try await protected(request, method: .post)
    if !options.tunnelling.replaces(request.method, after: postResponse.status) {
      state.withLock { $0.methodWasRejected = true }
    }
    return postResponse
  }
}
