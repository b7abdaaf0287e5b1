public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A transport without a network, which reports every resource as unchanged.
///
/// It returns 304 for every conditional GET and HEAD, so that expired content is used offline as if the server had just
/// confirmed it. Any other request fails with `HTTPTransportError.cannotConnect`.
///
/// The cache renews confirmed content, and shows content again that a 404, 410 or redirect hid. So give it a ``Cache``
/// that may store this, or use ``ContentPolicy/cacheOnly`` if stored responses must keep their age.
public struct NotModifiedTransport: HTTPTransport {
  /// Creates the transport.
  public init() {}

  /// Returns 304, or throws the error of a network without connection.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try request.validate()
    let isConditional = request.fields.contains(.ifNoneMatch) || request.fields.contains(.ifModifiedSince)
    guard isConditional, request.method == .get || request.method == .head else {
      throw .cannotConnect(
        host: request.url.host(percentEncoded: true) ?? "",
        reason: "this transport only revalidates stored responses")
    }
    return HTTPResponse(status: 304, fields: confirmed(request.fields), url: request.url)
  }

  /// The entity tag to confirm: the first of several, which is that of the stored response.
  ///
  /// The response has no `Vary`, so that responses stored for other requests are not considered valid for this one.
  private func confirmed(_ fields: HTTPFields) -> HTTPFields {
    guard case .tags(let tags)? = fields[.ifNoneMatch].map({ EntityTagList($0) }), let tag = tags.first else {
      return [:]
    }
    return [.etag: tag]
  }
}

/// A transport without a network: every request fails with `HTTPTransportError.cannotConnect`.
///
/// For an application's offline mode, and for tests of it.
public struct OfflineTransport: HTTPTransport {
  /// Creates the transport.
  public init() {}

  /// Always throws the error.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host(percentEncoded: true) ?? "", reason: "the application is offline")
  }
}
