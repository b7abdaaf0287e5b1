package import LarderCore

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The rules for redirects (RFC 9110 §15.4), which all transports share.
///
/// 303 becomes GET (HEAD stays), 301 and 302 turn POST into GET; all other requests are repeated unchanged. Data meant
/// for one origin (`Authorization`, cookies, tokens, the client certificate) is not sent to another, and neither are the
/// conditions of a read, which are about stored content of the first (§8.8). A redirect from
/// `https` to `http`, to another scheme, or to a URL with credentials in it is not followed. At most ``limit``
/// redirects are followed in a row.
package struct HTTPRedirection {
  /// The number of redirects that are followed for one request.
  package static let limit = 20

  private var followedCount = 0

  /// Creates the state of a request that has not been redirected yet.
  package init() {}

  /// Returns the request that follows from the response to `request`, or `nil` if the response is not a redirect.
  package mutating func next(
    after request: HTTPRequest, status: Int, fields: HTTPFields
  ) throws(HTTPTransportError) -> HTTPRequest? {
    guard [301, 302, 303, 307, 308].contains(status), let location = fields.values(of: .location).first else {
      return nil
    }
    let target = try resolve(location, against: request.url)
    followedCount += 1
    if followedCount > HTTPRedirection.limit { throw .tooManyRedirects }
    var next = request
    next.url = target
    if case .requested = request.certificateAudience { next.certificateAudience = .origin(request.url) }
    if becomesGet(request.method, status) {
      next.method = .get
      next.body = .none
      for name in HTTPRedirection.contentFields { next.fields[name] = nil }
    }
    if HTTPRedirection.origin(target) != HTTPRedirection.origin(request.url) {
      next.fields = HTTPFields(next.fields.filter { HTTPRedirection.isSentToAnyOrigin($0.name) })
    }
    if next.method.isSafe, !HTTPRedirection.mayAnswer(for: request.url, target) {
      for name in HTTPRedirection.validatorFields { next.fields[name] = nil }
    }
    next.validators?.setFields(&next.fields, of: target)
    return next
  }

  private func becomesGet(_ method: HTTPMethod, _ status: Int) -> Bool {
    switch status {
    case 303: method != .get && method != .head
    case 301, 302: method == .post
    default: false
    }
  }

  private func resolve(_ location: String, against base: URL) throws(HTTPTransportError) -> URL {
    guard let reference = URLReference.ascii(location),
      let target = URL(string: reference, relativeTo: base)?.absoluteURL, let scheme = target.scheme?.lowercased()
    else { throw .redirectRejected("the Location field is not a URL") }
    guard scheme == "http" || scheme == "https" else { throw .redirectRejected("the new URL has the scheme \(scheme)") }
    if scheme == "http" && base.scheme?.lowercased() == "https" {
      throw .redirectRejected("the new URL uses http instead of https")
    }
    guard let host = target.host(percentEncoded: true), !host.isEmpty else {
      throw .redirectRejected("the Location field has no host")
    }
    if let port = target.port, !(1...65_535).contains(port) {
      throw .redirectRejected("the Location field has the port \(port)")
    }
    if target.user() != nil || target.password() != nil {
      throw .redirectRejected("the Location field contains credentials")
    }
    return withFragment(of: base, target)
  }

  /// Copies the fragment of the old URL if the new one has none (RFC 9110 §10.2.2).
  private func withFragment(of base: URL, _ target: URL) -> URL {
    guard target.fragment() == nil, let fragment = base.fragment() else { return target }
    return URL(string: "\(target.absoluteString)#\(fragment)") ?? target
  }

  /// Scheme, host and port, by which two URLs are of one origin (RFC 9110 §4.3.1); nil if a URL has none.
  package static func origin(_ url: URL) -> String? {
    guard let scheme = url.scheme?.lowercased(), let name = url.host(percentEncoded: true),
      scheme == "http" || scheme == "https"
    else { return nil }
    let host = (HostName.ascii(name) ?? name).lowercased()
    return "\(scheme)://\(host):\(url.port ?? (scheme == "https" ? 443 : 80))"
  }

  /// Whether a response from a URL may be stored as that of the requested URL: both are of one origin, or they differ only
  /// in the scheme, which is `https` instead of `http`. Another origin may be a captive portal or a log-in service.
  package static func mayAnswer(for requested: URL, _ sender: URL) -> Bool {
    guard let origin = origin(sender) else { return false }
    if origin == HTTPRedirection.origin(requested) { return true }
    return requested.scheme?.lowercased() == "http" && sender.scheme?.lowercased() == "https"
      && requested.host(percentEncoded: true)?.lowercased() == sender.host(percentEncoded: true)?.lowercased()
      && requested.path(percentEncoded: true) == sender.path(percentEncoded: true)
      && requested.query(percentEncoded: true) == sender.query(percentEncoded: true)
  }

  /// The conditions of a read. Other conditions protect a change, or make a part fit to other parts: they stay.
  private static let validatorFields: [HTTPFieldName] = [.ifNoneMatch, .ifModifiedSince]

  private static let contentFields: [HTTPFieldName] = [
    .contentType, .contentLength, .contentEncoding, "Content-Language", "Content-Location", "Content-Disposition",
    "Content-Digest", "Digest",
  ]

  /// Whether a field may be sent to another origin. Any other may be a credential (`X-API-Key`,
  /// `Ocp-Apim-Subscription-Key`, …).
  private static func isSentToAnyOrigin(_ name: HTTPFieldName) -> Bool {
    let name = name.canonicalName
    if contentFields.contains(where: { $0.canonicalName == name }) { return true }
    return name.hasPrefix("accept") || name.hasPrefix("if-")
      || [
        "range", "user-agent", "prefer", "cache-control", "pragma", "odata-version", "odata-maxversion",
        "dataserviceversion", "maxdataserviceversion",
      ].contains(name)
  }
}

extension HTTPRequest {
  /// Sends with a function that follows no redirects, and follows them if the request allows it.
  ///
  /// The total time-out covers all requests together.
  package func followingRedirects(
    environment: LarderEnvironment = .system, _ send: (HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse
  ) async throws(HTTPTransportError) -> HTTPResponse {
    guard followsRedirects else { return try await send(self) }
    return try await followingRedirects(response: { $0 }, environment: environment, send)
  }

  /// Sends with a function that follows no redirects, and follows them whatever ``followsRedirects`` says. The function
  /// may return any type that contains a response.
  ///
  /// - Parameters:
  ///   - response: returns the response that a returned value contains.
  ///   - passed: called with each redirect response that is followed, after its content was discarded.
  package func followingRedirects<Result>(
    response: (Result) -> HTTPResponse, passed: (Result) -> Void = { _ in }, environment: LarderEnvironment = .system,
    _ send: (HTTPRequest) async throws(HTTPTransportError) -> Result
  ) async throws(HTTPTransportError) -> Result {
    let deadline = timeouts.total.map { environment.uptime() + $0 }
    var redirection = HTTPRedirection()
    var request = self
    var isRedirected = false
    while true {
      let result: Result
      do throws(HTTPTransportError) { result = try await send(request) } catch {
        // The caller did not write this URL. Content that cannot be sent again is the caller's.
        guard isRedirected, request.body.length == 0, case .invalidRequest(let reason) = error else { throw error }
        throw .redirectRejected("the new URL cannot be requested: \(reason)")
      }
      isRedirected = true
      let received = response(result)
      guard let next = try redirection.next(after: request, status: received.status, fields: received.fields) else {
        return result
      }
      await received.body.drainWhereShort()
      if Task.isCancelled { throw .cancelled }
      passed(result)
      request = next
      if let deadline {
        let remaining = deadline - environment.uptime()
        if remaining <= .zero { throw .timeout(phase: "total") }
        request.timeouts.total = remaining
      }
    }
  }
}

extension HTTPBodyStream {
  /// Reads up to 64 KiB, after which the connection can be reused for the next request; cancels content that is longer.
  package func drainWhereShort() async {
    do { _ = try await collect(upTo: 1 << 16) } catch { cancel() }
  }
}
