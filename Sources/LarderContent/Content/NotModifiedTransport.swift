public import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A network that is not there, and says of everything that it has not changed.
///
/// It answers 304 to every GET and HEAD that asks whether something has changed, so that expired content is used offline
/// as if the server had just confirmed it. Anything else fails with `HTTPTransportError.cannotConnect`.
///
/// The cache renews what is confirmed, and shows content again that a 404, 410 or redirect hid: give it a ``Cache`` that may keep it, or use ``ContentPolicy/cacheOnly`` where what
/// is stored must stay as old as it is.
public struct NotModifiedTransport: HTTPTransport {
  /// Makes it.
  public init() {}

  /// 304, or the error of a network without connection.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    try request.validate()
    let asks = request.fields.contains(.ifNoneMatch) || request.fields.contains(.ifModifiedSince)
    guard asks, request.method == .get || request.method == .head else {
      throw .cannotConnect(
        host: request.url.host(percentEncoded: true) ?? "",
        reason: "this network confirms what is stored, and has no more")
    }
    return HTTPResponse(status: 304, fields: confirmed(request.fields), url: request.url)
  }

  /// The tag that was asked about: with several, the first, which is that of the stored response.
  ///
  /// Without `Vary`, so that what is stored for other requests is not taken to be right for this one.
  private func confirmed(_ fields: HTTPFields) -> HTTPFields {
    guard case .tags(let tags)? = fields[.ifNoneMatch].map({ EntityTagList($0) }), let tag = tags.first else {
      return [:]
    }
    return [.etag: tag]
  }
}

/// A network that is not there: every request fails with `HTTPTransportError.cannotConnect`.
///
/// For an application's offline mode, and for tests of it.
public struct OfflineTransport: HTTPTransport {
  /// Makes it.
  public init() {}

  /// Always the error.
  public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    throw .cannotConnect(host: request.url.host(percentEncoded: true) ?? "", reason: "the application is offline")
  }
}
