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
      case .fetch: token = try await csrfToken(request)
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
  private func csrfToken(_ change: OutgoingRequest) async throws(ODataServiceError) -> String {
    try await csrfFetch.value { [self] in
      // Another caller may have fetched it meanwhile.
      if case .send(let token?) = state.withLock({ $0.csrf.beforeSending() }) { return .success(token) }
      do throws(ODataServiceError) { return .success(try await fetchCSRFToken(change)) } catch {
        return .failure(error)
      }
    }
  }

  /// Requests the service root, then the metadata, then the set that a change concerns, each with HEAD, and with GET if
  /// HEAD is rejected or gives no token. Some services give no token at their root, or have none there. Any response of
  /// the service may contain the token, whatever its status.
  private func fetchCSRFToken(_ change: OutgoingRequest) async throws(ODataServiceError) -> String {
    var rejections: [String] = []
    let set = CSRFTokenSource.set(of: root.relative((change.firstChange ?? change.url).absoluteString))
      .flatMap { name in knownModel?.entitySet(name) == nil && knownModel != nil ? nil : CSRFTokenSource.set(name) }
    for source in [CSRFTokenSource.root, .metadata, set].compactMap({ $0 }) {
      var statuses: [String] = []
      for method in [HTTPMethod.head, .get] {
        let request = OutgoingRequest(
          operation: "csrf", method: method, url: try root.resolve(source.path(method)), isSameOrigin: true,
          fields: [.csrfToken: "Fetch", .accept: "application/json, */*;q=0.5", .cacheControl: "no-cache"],
          timeouts: options.timeouts, repeatability: .always)
        let response = try await retrying(request) { request throws(ODataServiceError) in
          try await self.authorized(request, method: method)
        }
        // The token of an unauthenticated client would belong to no session.
        if response.status == 401 { throw rejection(response, request) }
        if response.isOfService, let token = CSRFStateMachine.token(in: response.fields[.csrfToken]) {
          state.withLock { $0.csrf.received(token) }
          return token
        }
        statuses.append("\(method) \(response.status)")
      }
      rejections.append("\(source.name): \(statuses.joined(separator: ", "))")
    }
    throw ODataServiceError(
      .csrf("no response of the service contains one (\(rejections.joined(separator: "; ")))"), operation: "csrf",
      url: root.url.absoluteString)
  }
}

/// A resource of the service that is requested for a token.
enum CSRFTokenSource: Equatable {
  case root
  case metadata
  case set(String)

  /// The path relative to the root. Of a set, one entity is enough.
  func path(_ method: HTTPMethod) -> String {
    switch self {
    case .root: ""
    case .metadata: "$metadata"
    case .set(let name): method == .head ? name : name + "?$top=1"
    }
  }

  /// The name in an error.
  var name: String {
    switch self {
    case .root: "root"
    case .metadata: "$metadata"
    case .set(let name): name
    }
  }

  /// The set that a change concerns, by its path relative to the root; nil if it names none. An operation is not called
  /// for a token.
  static func set(of path: String?) -> String? {
    guard let segment = path?.prefix(while: { !"/(?#".contains($0) }), !segment.isEmpty, !segment.hasPrefix("$") else {
      return nil
    }
    return String(segment)
  }
}
