@_spi(Stores) import LarderCore
import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

// Adds credentials and cookies. This is the only place where requests are passed to the transport.
extension ODataConversation {
  /// Sends with credentials, and once more with newer ones after a 401.
  func authorized(
    _ request: OutgoingRequest, method: HTTPMethod
  ) async throws(ODataServiceError) -> IncomingResponse {
    guard let authentication, request.isSameOrigin, !request.fields.contains(.authorization) else {
      return try await attempt(request, method: method)
    }
    var attempt = request
    let value = try await credentials(request) { () throws(HTTPAuthenticationError) in
      try await authentication.authorization()
    }
    attempt.fields[.authorization] = value
    let response = try await self.attempt(attempt, method: method)
    guard response.status == 401 else { return response }
    let challenge = response.fields[.wwwAuthenticate]
    let newer = try await credentials(request) { () throws(HTTPAuthenticationError) in
      try await authentication.authorization(after: value, challenge: challenge)
    }
    guard let newer else { return response }
    attempt.fields[.authorization] = newer
    return try await self.attempt(attempt, method: method)
  }

  private func credentials(
    _ request: OutgoingRequest, _ obtain: () async throws(HTTPAuthenticationError) -> String?
  ) async throws(ODataServiceError) -> String? {
    do throws(HTTPAuthenticationError) { return try await obtain() } catch {
      if error == .unreachable(.cancelled) { throw request.error(.cancelled) }
      throw request.error(.authentication(error), cause: error)
    }
  }

  /// Sends once: adds and stores cookies, and reads the content.
  private func attempt(
    _ request: OutgoingRequest, method: HTTPMethod
  ) async throws(ODataServiceError) -> IncomingResponse {
    let message = message(request, method: method)
    do {
      let response = try await transport.send(message)
      let isOfService = request.isSameOrigin && root.isSameOrigin(response.url)
      let sender = ResponseSender(response.url, requested: request.url)
      if isOfService { storeCookies(response) }
      if request.wantsStream, (200...299).contains(response.status) {
        return IncomingResponse(
          status: response.status, fields: response.fields, bytes: [], stream: response.body, isOfService: isOfService,
          sender: sender)
      }
      let bytes = try await response.body.collect(upTo: options.payloadByteLimit)
      return IncomingResponse(
        status: response.status, fields: response.fields, bytes: bytes, isOfService: isOfService, sender: sender)
    } catch {
      throw request.error(error)
    }
  }

  private func message(_ request: OutgoingRequest, method: HTTPMethod) -> HTTPRequest {
    var fields = request.fields
    if method != request.method {
      fields[.httpMethod] = request.method.rawValue
      fields[.httpMethodOverride] = request.method.rawValue
    }
    if request.isSameOrigin {
      for field in options.fields { fields.setDefault(field.name, field.value) }
      let path = URLParts(request.url.absoluteString).path
      let now = options.environment.unixSeconds
      let isSecure = root.origin.scheme == "https"
      if let cookies = state.withLock({ $0.cookies.field(path: path, isSecure: isSecure, now: now) }) {
        fields[.cookie] = fields[.cookie].map { $0 + "; " + cookies } ?? cookies
      }
    }
    // A redirected change would arrive as a GET, and its response, often a log-in page, would count as a success.
    var message = HTTPRequest(
      method: method, url: request.url, fields: fields, body: request.body, timeouts: request.timeouts,
      followsRedirects: method.isSafe)
    message.certificateAudience = .origin(root.url)
    message.validators = request.validators
    return message
  }

  private func storeCookies(_ response: HTTPResponse) {
    let fields = response.fields.values(of: .setCookie)
    guard !fields.isEmpty else { return }
    let path = URLParts(response.url.absoluteString).path
    let now = options.environment.unixSeconds
    state.withLock { state in
      if state.cookies.storeCookies(fields, path: path, now: now) { state.csrf.sessionChanged() }
    }
  }
}
