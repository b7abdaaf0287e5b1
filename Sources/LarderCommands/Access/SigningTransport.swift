internal import LarderHTTP
internal import LarderService

#if canImport(FoundationEssentials)
  internal import FoundationEssentials
#else
  internal import Foundation
#endif

/// A transport that adds credentials to requests to one origin.
///
/// It is below the cache. The cache therefore stores content by the client's identity (``identity``), not by a token
/// that changes, and finds it offline without a token.
struct SigningTransport: HTTPTransport {
  let transport: any HTTPTransport
  let authentication: any HTTPAuthentication
  /// The only origin to which credentials are sent.
  let root: ODataServiceRoot
  /// False if streamed content can be read only once: a request with such content is not repeated after a 401.
  var repeatsStreams = true

  /// The identity of the connection and of the credentials.
  var identity: String {
    transport.identity.isEmpty ? authentication.identity : transport.identity + "\n" + authentication.identity
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    guard root.isSameOrigin(request.url), !request.fields.contains(.authorization) else {
      return try await transport.send(request)
    }
    let value = try await credentials { () throws(HTTPAuthenticationError) in try await authentication.authorization() }
    let response = try await transport.send(signed(request, value))
    guard response.status == 401 else { return response }
    let challenge = response.fields[.wwwAuthenticate]
    let renewedValue = try await credentials { () throws(HTTPAuthenticationError) in
      try await authentication.authorization(after: value, challenge: challenge)
    }
    guard let renewedValue, repeatsStreams || !request.body.isStream else { return response }
    response.body.cancel()
    return try await transport.send(signed(request, renewedValue))
  }

  private func signed(_ request: HTTPRequest, _ value: String?) -> HTTPRequest {
    var request = request
    if let value { request.fields[.authorization] = value }
    return request
  }

  private func credentials(
    _ authorize: () async throws(HTTPAuthenticationError) -> String?
  ) async throws(HTTPTransportError) -> String? {
    do throws(HTTPAuthenticationError) { return try await authorize() } catch {
      if case .unreachable(let failure) = error { throw failure }
      throw .other(error.description)
    }
  }
}

extension SigningTransport: DecodingTransport {
  private var decodingTransport: (any DecodingTransport)? { transport as? any DecodingTransport }

  var decodesContent: Bool { decodingTransport?.decodesContent ?? false }

  func decoder(for fields: HTTPFields) -> (@Sendable (HTTPBodyStream) -> HTTPBodyStream)? {
    decodingTransport?.decoder(for: fields)
  }
}

extension HTTPBody {
  fileprivate var isStream: Bool { if case .stream = self { true } else { false } }
}
