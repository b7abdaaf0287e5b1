@_spi(Stores) import LarderCore
import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Tokens against cross-site request forgery (CSRF).
extension ODataConversation {
  /// Sends a change with the service's token, and fetches a token if the service requires one.
  func protected(
    _ request: OutgoingRequest, method: HTTPMethod
  ) async throws(ODataServiceError) -> IncomingResponse {
    guard request.isSameOrigin, !method.isSafe, !request.fields.contains(.csrfToken) else {
      return try await authorized(request, method: method)
    }
    var action = state.withLock { $0.csrf.beforeSending() }
    var rejection: IncomingResponse?
    while true {
      let token: String?
      switch action {
      case .deliver: return try delivered(rejection, request)
      case .fetch: token = try await csrfToken()
      case .send(let currentToken): token = currentToken
      }
      var attempt = request
      attempt.fields[.csrfToken] = token
      let response = try await authorized(attempt, method: method)
      guard CSRFStateMachine.isRejection(status: response.status, field: response.fields[.csrfToken]) else {
        return response
      }
      let isReplay = rejection != nil
      rejection = response
      action = state.withLock { $0.csrf.afterRejection(of: token, isReplay: isReplay) }
    }
  }

  private func delivered(
    _ rejection: IncomingResponse?, _ request: OutgoingRequest
  ) throws(ODataServiceError) -> IncomingResponse {
    if let rejection, options.csrf == .never { return rejection }
    let response = rejection.map { self.response($0, request) }
    throw request.error(.csrf("the service rejected the token that it issued"), response: response)
  }

  /// The service's token, fetched once for all callers that need it.
  private func csrfToken() async throws(ODataServiceError) -> String {
    try await csrfFetch.value { [self] in
      // Another caller may have fetched it meanwhile.
      if case .send(let token?) = state.withLock({ $0.csrf.beforeSending() }) { return .success(token) }
      do throws(ODataServiceError) { return .success(try await fetchCSRFToken()) } catch { return .failure(error) }
    }
  }

  /// Requests the service root with HEAD, and with GET if HEAD is rejected or gives no token.
  private func fetchCSRFToken() async throws(ODataServiceError) -> String {
    var statuses: [String] = []
    for method in [HTTPMethod.head, .get] {
      let request = OutgoingRequest(
        operation: "csrf", method: method, url: try root.resolve(""), isSameOrigin: true,
        fields: [.csrfToken: "Fetch", .accept: "application/json, */*;q=0.5", .cacheControl: "no-cache"],
        timeouts: options.timeouts, repeatability: .always)
      let response = try await retrying(request) { request throws(ODataServiceError) in
        try await self.authorized(request, method: method)
      }
      // The token of an unauthenticated client would belong to no session.
      if response.status == 401 { throw rejection(response, request) }
      if response.status != 403, let token = CSRFStateMachine.token(in: response.fields[.csrfToken]) {
        state.withLock { $0.csrf.received(token) }
        return token
      }
      statuses.append("\(method) \(response.status)")
    }
    let url = root.url.absoluteString
    throw ODataServiceError(
      .csrf("the service root returned none (\(statuses.joined(separator: ", ")))"), operation: "csrf", url: url)
  }
}
