public import LarderCore
public import LarderHTTP
public import LarderOData

/// Why a request to a service, or an operation of an online store, failed.
public struct ODataServiceError: Error, Sendable, CustomStringConvertible, CustomDebugStringConvertible {
  /// The kind of failure.
  public enum Category: Sendable {
    /// No response, or only part of one, was received.
    case communication(HTTPTransportError)
    /// The service rejected the request: the status and, if it sent one, its own error.
    case http(status: Int, payload: ODataErrorPayload?)
    /// The client is not authenticated, or credentials could not be obtained.
    case authentication(HTTPAuthenticationError)
    /// The service requires a token against cross-site request forgery and does not provide one; the text says what it
    /// did.
    case csrf(String)
    /// The request cannot be sent as it is; the text says what to change.
    case invalidRequest(String)
    /// The response cannot be read; the text says where and why.
    case malformedResponse(String)
    /// A Swift type cannot be decoded from the result; the text gives the path of the property, its declared type, the
    /// kind of its value and the requested type.
    case undecodableType(String)
    /// The library's version, or the service, does not support what the text names.
    case notSupported(String)
    /// The caller cancelled.
    case cancelled
    /// The service ended a batch before this part.
    case notProcessed
    /// The store is not open.
    case notOpen
    /// The store is passive, so it does not send changes or requests that must not use the cache.
    case passive
    /// A passive store has no cached response for this request.
    case notCached
    /// The store is suspended, or was suspended while this call ran.
    case suspended
    /// The store is open, and the operation needs a closed one.
    case alreadyOpen
    /// The store has no technical cache: its options do not enable it.
    case cacheNotEnabled
    /// The technical cache is closed.
    case cacheClosed
    /// The technical cache is open, and the operation needs a closed one.
    case cacheNotClosed
    /// Another store uses the technical cache of this service, in this process or another one.
    case cacheInUse(path: String)
    /// The technical cache contains metadata that cannot be read, and the store is passive.
    case metadataUnreadable(String)
    /// The file of the technical cache cannot be used. The error is a `StorageError`.
    case storage(any LarderError)
  }

  /// The kind of failure.
  public let category: Category
  /// The operation that failed: `read`, `create`, `metadata`, `batch` …
  public let operation: String
  /// The method that was or would have been sent; nil if there is none.
  public let method: HTTPMethod?
  /// The URL, without user information and with secret query values hidden; nil if there is none.
  public let url: String?
  /// The underlying error, if there is one.
  public let cause: (any Error)?
  /// The service's response, if there is one.
  public let response: ODataSingleResponse?
  /// The number of times that the request was sent.
  package internal(set) var sends = 1
  /// Whether the response is that to a part of a batch: the service itself has given it.
  package var isOfBatchPart = false
  /// Whether the response does not come from the service, as a look-up or a redirect to another origin has shown: it says
  /// nothing about the resource, and the request did not reach the service.
  package var isForeign = false

  /// Creates an error.
  ///
  /// - `url`: the URL as sent; its secrets are removed here.
  public init(
    _ category: Category, operation: String, method: HTTPMethod? = nil, url: String? = nil,
    cause: (any Error)? = nil, response: ODataSingleResponse? = nil
  ) {
    self.category = category
    self.operation = operation
    self.method = method
    self.url = url.map(RedactedURL.text)
    self.cause = cause
    self.response = response
  }

  /// The status code, if the service responded with one.
  public var httpStatus: Int? { if case .http(let status, _) = category { status } else { response?.httpStatus } }

  /// The service's own error, if it rejected the request and sent one.
  public var payload: ODataErrorPayload? { if case .http(_, let payload) = category { payload } else { nil } }

  /// The service's explanation of a rejection, on one line and shortened: its error message, else the text that it sent
  /// instead. It contains no secrets, but it may contain personal data.
  private var words: String? {
    guard case .http(let status, let payload) = category else { return nil }
    if let message = payload.flatMap({ ErrorText.line($0.message) }) { return message }
    return status >= 400 ? response.flatMap(ErrorText.text) : nil
  }

  /// Where a redirect that was not followed leads to, without its query.
  private var redirect: String? {
    guard case .http(300..<400, _) = category, let location = response?.fields[.location] else { return nil }
    return ErrorText.line(RedactedURL.withoutQuery(RedactedURL.text(location))).map { " (to \($0))" }
  }

  /// What happened, with the service's explanation.
  private var summary: String {
    let problem =
      if isForeign, case .http(let status, _) = category {
        response?.sender.isOtherOrigin == true
          ? "HTTP \(status): the request was redirected to another server, whose response says nothing about the resource"
          : "HTTP \(status): the response does not come from the service, which does not respond now"
      } else { category.summary }
    return problem + (redirect ?? "") + (words.map { ": " + $0 } ?? "") + (requiredWait ?? "")
  }

  /// How long the service asks its clients to wait (`Retry-After`).
  private var requiredWait: String? {
    guard case .http(let status, _) = category, TemporaryStatus.contains(status),
      let field = response?.fields[.retryAfter], RetryAfter.delay(field, unixTime: 0) != nil
    else { return nil }
    return field.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
      ? "; it asks clients to wait \(field) s" : "; it asks clients to wait until \(field)"
  }

  /// True if the same request may succeed later without any change.
  public var isTransient: Bool {
    switch category {
    case .communication(let error): error.isTransient
    case .http(let status, _): isForeign || TemporaryStatus.contains(status)
    case .malformedResponse: isForeign
    case .authentication(.unavailable): true
    case .authentication(.unreachable(let error)): error.isTransient
    case .storage(let error): error.isTransient
    default: false
    }
  }

  /// What happened, in the words of the service too if it rejected the request, and what to do about it. Contains no
  /// credentials, no query, and nothing else of a payload, so that it may be shown and logged. The words of the service
  /// may contain personal data.
  public var description: String {
    text(url.map(RedactedURL.withoutQuery))
  }

  /// ``description`` with the names of the URL's query options, and only those of their values that hold no data, such
  /// as `$count=true`.
  package var descriptionWithOptions: String { text(url.map(RedactedURL.withOptionNames)) }

  private func text(_ url: String?) -> String {
    var summary = summary
    if case .http = category {} else if let status = response?.httpStatus { summary = "HTTP \(status): \(summary)" }
    return ErrorExchange.text(operation, method: method?.rawValue, url: url, summary)
  }

  /// All that is known, including the service's own error: for developers, not for logs.
  public var debugDescription: String {
    var lines = ["\(operation): \(category.summary)"]
    if let url { lines.append("request: \(method.map { $0.rawValue + " " } ?? "")\(url)") }
    if let payload { lines.append("service: \(payload)") }
    for detail in payload?.details ?? [] { lines.append("detail: \(detail.code) \(detail.message)") }
    if let cause { lines.append("cause: \(String(reflecting: cause))") }
    if let response {
      lines.append("response: \(response.payloadBytes.count) bytes, status \(response.httpStatus ?? 0)")
    }
    return lines.joined(separator: "\n")
  }
}

extension ODataServiceError.Category {
  var summary: String {
    switch self {
    case .communication(let error): error.description
    case .http(let status, let payload): Self.summary(status: status, code: payload?.code)
    case .authentication(let failure): failure.description
    case .csrf(let detail): "No valid CSRF token: \(detail)"
    case .invalidRequest(let detail): "The request cannot be sent: \(detail)"
    case .malformedResponse(let detail): "The response cannot be read: \(detail)"
    case .undecodableType(let detail): "The Swift type cannot be decoded from the result: \(detail)"
    case .notSupported(let name): "Not supported: \(name)"
    case .cancelled: "The request was cancelled."
    case .notProcessed:
      "The service stopped the batch before this request. Send the request again, or set continuesOnError in the batch."
    case .notOpen: "The store is not open. Open the store first."
    case .suspended: "The store is suspended. Call resume() when the application is active again."
    case .passive: "The store is in passive mode and sends no requests. Switch it to active mode."
    case .notCached: "The cache has no response to this request. Send the request once in active mode."
    case .alreadyOpen, .cacheNotEnabled, .cacheClosed, .cacheNotClosed, .cacheInUse, .metadataUnreadable, .storage:
      explanation.description
    }
  }

  private static func summary(status: Int, code: String?) -> String {
    let explanation =
      switch status {
      case 304: "the service sent an unexpected response: the resource is unchanged"
      case 300..<400: "the service sent a redirect, which was not followed"
      case 400: "the service rejected the request as invalid"
      case 401: "the service requires valid credentials"
      case 403: "the user has no permission for this request"
      case 404: "there is no such resource"
      case 409: "the request conflicts with the resource's state"
      case 410: "the resource is gone"
      case 412: "the resource has changed since it was read"
      case 428: "the service requires the ETag of the changed resource"
      case 429: "the service received too many requests"
      case 500...599: "the service failed"
      default: "the service rejected the request"
      }
    let suffix = code.flatMap { isPlain($0) ? " [\($0)]" : nil } ?? ""
    return "HTTP \(status): \(explanation)\(suffix)"
  }

  /// Whether a code looks like a code, and may be shown: services also put free text there.
  private static func isPlain(_ code: String) -> Bool {
    !code.isEmpty && code.utf8.count <= 80
      && code.utf8.allSatisfy {
        ($0 >= 0x30 && $0 <= 0x39) || ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || "/_.-:".utf8.contains($0)
      }
  }
}

/// Why credentials could not be obtained, or were rejected.
public enum HTTPAuthenticationError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The service responded with 401 to the credentials that were sent, or none were configured.
  case rejected(challenge: String?)
  /// The token endpoint rejected the request with an error code (RFC 6749 §5.2), such as `invalid_client`.
  ///
  /// - `description`: the server's explanation (`error_description`), shortened and without secrets; nil if it gave none.
  case tokenEndpoint(code: String, description: String? = nil)
  /// The grant is no longer valid (`invalid_grant`): the user must sign in again. The text is the server's explanation.
  case invalidGrant(description: String? = nil)
  /// The device code expired before the user confirmed it (RFC 8628 §3.5).
  case deviceCodeExpired
  /// The user denied access to the device (RFC 8628 §3.5).
  case accessDenied
  /// The token endpoint's response cannot be read; the text says where.
  case malformedTokenResponse(String)
  /// The token endpoint could not be reached.
  case unreachable(HTTPTransportError)
  /// The application's own token provider failed; the text names the type of its error.
  case provider(String)
  /// The token endpoint is overloaded or unavailable: 408, 425, 429, or a status from 500 on. The same request may
  /// succeed later.
  ///
  /// - `retryAfter`: the field `Retry-After`.
  case unavailable(status: Int, retryAfter: String?)

  /// Safe to show to a person: contains no credentials.
  public var description: String {
    switch self {
    case .rejected: "The service rejected the credentials. Sign in with other credentials."
    case .tokenEndpoint(let code, let description):
      "The token endpoint rejected the request: \(code)" + (description.map { ": \($0)" } ?? "")
    case .invalidGrant(let description):
      "\(HTTPAuthenticationError.invalidSignIn(description)) Sign in again."
    case .unavailable(let status, let retryAfter):
      "The token endpoint is overloaded or unavailable (HTTP \(status)\(retryAfter.map { ", Retry-After: \($0)" } ?? ""))."
    case .deviceCodeExpired: "The device code expired before the user confirmed it. Start the sign-in again."
    case .accessDenied: "The user denied the sign-in."
    case .malformedTokenResponse(let detail): "The token endpoint's response cannot be read: \(detail)"
    case .unreachable(let error): "The token endpoint cannot be reached: \(error)"
    case .provider(let type): "The application's token provider failed: \(type)"
    }
  }
}

extension ODataServiceError: LarderError {
  /// The stable number: the status if the service rejected the request, from 100 on; else from 1 in the order of the
  /// categories.
  public var errorIdentity: ErrorIdentity {
    switch category {
    case .communication(let error): ErrorIdentity(1, "communication", error.errorCategory)
    case .http(let status, _): ErrorIdentity(status: status)
    case .authentication(let failure): ErrorIdentity(2, "authentication", failure.errorCategory)
    case .csrf: ErrorIdentity(3, "csrf", .authentication)
    case .invalidRequest: ErrorIdentity(4, "invalidRequest", .invalidInput)
    case .malformedResponse: ErrorIdentity(5, "malformedResponse", .server)
    case .notSupported: ErrorIdentity(6, "notSupported", .notSupported)
    case .cancelled: ErrorIdentity(7, "cancelled", .cancelled)
    case .notProcessed: ErrorIdentity(8, "notProcessed", .server)
    case .notOpen: ErrorIdentity(9, "notOpen", .state)
    case .passive: ErrorIdentity(10, "passive", .state)
    case .notCached: ErrorIdentity(11, "notCached", .notFound)
    case .suspended: ErrorIdentity(12, "suspended", .state)
    case .undecodableType: ErrorIdentity(13, "undecodableType", .invalidData)
    case .alreadyOpen: ErrorIdentity(14, "alreadyOpen", .state)
    case .cacheInUse: ErrorIdentity(15, "cacheInUse", .state)
    case .cacheNotEnabled: ErrorIdentity(16, "cacheNotEnabled", .state)
    case .cacheClosed: ErrorIdentity(17, "cacheClosed", .state)
    case .cacheNotClosed: ErrorIdentity(18, "cacheNotClosed", .state)
    case .storage(let error): ErrorIdentity(19, "storage", error.errorCategory)
    case .metadataUnreadable: ErrorIdentity(20, "metadataUnreadable", .invalidData)
    }
  }

  /// The method, the URL and the status; nil if the error has no URL.
  public var exchange: ErrorExchange? {
    url.map { ErrorExchange(method: method?.rawValue, url: $0, status: httpStatus) }
  }

  /// What happened, in the words of the service too if it rejected the request, and what to do about it. Contains no
  /// credentials, no query, and nothing else of a payload. The words of the service may contain personal data.
  public var explanation: ErrorExplanation {
    let location = url.map { ", \(method.map { $0.rawValue + " " } ?? "")\(RedactedURL.withoutQuery($0))" } ?? ""
    var text = category.explanation
    if case .cancelled = category, let status = response?.httpStatus, status < 300 {
      text = ErrorExplanation(
        "The change was made, but the call was cancelled before its entity was read.",
        cure: "Read the entity. Do not send the change again.")
    }
    let message = if case .http = category { summary } else { text.message }
    return ErrorExplanation(
      "\(ErrorExplanation.clause(message)) (\(operation)\(location))", cure: isForeign ? foreignCure : text.cure)
  }
}

extension ODataServiceError {
  /// What to do about a response that does not come from the service.
  private var foreignCure: String {
    guard response?.sender.isOtherOrigin == true else { return "Try again later." }
    return "Sign in to the network if it asks for it, then try again. If the service has moved, use its new URL."
  }
}

extension ODataServiceError.Category {
  fileprivate var explanation: ErrorExplanation {
    switch self {
    case .communication(let error): error.explanation
    case .http(let status, _): ErrorExplanation(summary, cure: Self.cure(status: status))
    case .authentication(let failure): failure.explanation
    case .csrf: ErrorExplanation(summary, cure: "Sign in again, or report the problem to the operator of the service.")
    case .invalidRequest: ErrorExplanation(summary, cure: "Correct the request.")
    case .malformedResponse:
      ErrorExplanation(summary, cure: "Check the URL, or report the problem to the operator of the service.")
    case .undecodableType: ErrorExplanation(summary, cure: "Change the property's type in the Swift type.")
    case .notSupported: ErrorExplanation(summary, cure: "Use a request without this feature.")
    case .cancelled: ErrorExplanation(summary, cure: CancellationError().explanation.cure)
    case .notProcessed:
      ErrorExplanation(
        "The service stopped the batch before this request.",
        cure: "Send the request again, or set continuesOnError in the batch.")
    case .notOpen: ErrorExplanation("The store is not open.", cure: "Open the store first.")
    case .suspended:
      ErrorExplanation("The store is suspended.", cure: "Call resume() when the application is active again.")
    case .passive:
      ErrorExplanation("The store is in passive mode and sends no requests.", cure: "Switch it to active mode.")
    case .notCached:
      ErrorExplanation("The cache has no response to this request.", cure: "Send the request once in active mode.")
    case .alreadyOpen: ErrorExplanation("The store is open.", cure: "Close it first.")
    case .cacheNotEnabled: ErrorExplanation("The store has no technical cache.", cure: "Enable it in the options.")
    case .cacheClosed: ErrorExplanation("The technical cache is closed.", cure: "Reopen it first.")
    case .cacheNotClosed: ErrorExplanation("The technical cache is open.", cure: "Close it first.")
    case .cacheInUse(let path):
      ErrorExplanation(
        "Another store uses the cache of this service (\(path)).",
        cure: "Close that store, or give this one another name.")
    case .metadataUnreadable(let reason):
      ErrorExplanation("The cached metadata cannot be read: \(reason)", cure: "Open the store in active mode.")
    case .storage(let error): error.explanation
    }
  }

  private static func cure(status: Int) -> String {
    switch status {
    case 401: "Sign in with other credentials."
    case 403: "Request the permission from the operator of the service."
    case 404, 410: "Check the URL and the key."
    case 409, 412: "Read the resource again, and repeat the change."
    case 428: "Read the resource first, and send its ETag."
    case 408, 429, 500...599: "Try again later."
    default: "Check the URL and the request."
    }
  }
}

extension HTTPAuthenticationError: LarderError {
  /// The stable number, from 1 in the order of the cases.
  public var errorIdentity: ErrorIdentity {
    switch self {
    case .rejected: ErrorIdentity(1, "rejected", .authentication)
    case .tokenEndpoint: ErrorIdentity(2, "tokenEndpoint", .authentication)
    case .invalidGrant: ErrorIdentity(3, "invalidGrant", .authentication)
    case .deviceCodeExpired: ErrorIdentity(4, "deviceCodeExpired", .authentication)
    case .accessDenied: ErrorIdentity(5, "accessDenied", .authentication)
    case .malformedTokenResponse: ErrorIdentity(6, "malformedTokenResponse", .server)
    case .unreachable(let error): ErrorIdentity(7, "unreachable", error.errorCategory)
    case .provider: ErrorIdentity(8, "provider", .authentication)
    case .unavailable: ErrorIdentity(9, "unavailable", .server)
    }
  }

  /// What happened and what to do about it. Contains no credentials.
  public var explanation: ErrorExplanation {
    switch self {
    case .rejected: ErrorExplanation("The service rejected the credentials.", cure: "Sign in with other credentials.")
    case .tokenEndpoint: ErrorExplanation(description, cure: "Check the client's credentials and scopes.")
    case .invalidGrant(let description):
      ErrorExplanation(HTTPAuthenticationError.invalidSignIn(description), cure: "Sign in again.")
    case .deviceCodeExpired:
      ErrorExplanation("The device code expired before the user confirmed it.", cure: "Start the sign-in again.")
    case .accessDenied: ErrorExplanation(description, cure: "Sign in again, and confirm the sign-in.")
    case .malformedTokenResponse: ErrorExplanation(description, cure: "Check the URL of the token endpoint.")
    case .unreachable(let error):
      ErrorExplanation(
        "The token endpoint cannot be reached: \(error.explanation.message)", cure: error.explanation.cure)
    case .provider: ErrorExplanation(description, cure: "Report the problem to the developers of the application.")
    case .unavailable: ErrorExplanation(description, cure: "Try again later.")
    }
  }

  /// The first sentence about a grant that is no longer valid, with the server's explanation.
  private static func invalidSignIn(_ description: String?) -> String {
    ErrorExplanation.sentence("The sign-in is no longer valid" + (description.map { ": \($0)" } ?? ""))
  }
}
