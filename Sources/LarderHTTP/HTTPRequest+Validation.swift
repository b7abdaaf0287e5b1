#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

extension HTTPRequest {
  /// Throws ``HTTPTransportError/invalidRequest(_:)`` if no transport could send this request safely.
  ///
  /// The URL must be `http` or `https`, with a host and without user information (RFC 9110 §4.2.4). The method must be
  /// a token other than `CONNECT`, which is for proxies. The fields must contain no byte that could end their line;
  /// framing fields are the transport's. `HEAD` must have no content, and content must have the length in a
  /// `Content-Length` field.
  package func validate() throws(HTTPTransportError) {
    try validateURL()
    guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(HTTPFieldName.isTokenByte) else {
      throw .invalidRequest("the method is not a token (RFC 9110 §9.1)")
    }
    if method.rawValue == "CONNECT" { throw .invalidRequest("CONNECT is reserved for the transport") }
    if method == .head && body.length != 0 { throw .invalidRequest("a HEAD request cannot have content") }
    for field in fields {
      if !field.name.isValid { throw .invalidRequest("a field name is not a token (RFC 9110 §5.6.2)") }
      if !field.isValid { throw .invalidRequest("the value of \(field.name) contains CR, LF or NUL") }
    }
    if fields.contains("Transfer-Encoding") {
      throw .invalidRequest("only the transport can set Transfer-Encoding; remove the field")
    }
    if let length = body.length, length < 0 { throw .invalidRequest("the content's length is negative") }
    if let text = fields[.contentLength] {
      guard let length = Int(text), length >= 0, length == body.length ?? length else {
        throw .invalidRequest(
          "Content-Length does not match the content; remove the field, because the transport sets it")
      }
    }
  }

  private func validateURL() throws(HTTPTransportError) {
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
      throw .invalidRequest("the URL must be absolute and have the scheme http or https")
    }
    guard let host = url.host(percentEncoded: true), !host.isEmpty else {
      throw .invalidRequest("the URL has no host")
    }
    if url.user() != nil || url.password() != nil {
      throw .invalidRequest("the URL contains credentials; move them to the Authorization field")
    }
  }
}
