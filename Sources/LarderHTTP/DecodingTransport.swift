/// A transport that decodes the content of responses to requests without `Accept-Encoding`.
///
/// A cache on such a transport decodes stored content in the same way: another client of the cache, such as a proxy, may
/// have stored it coded.
package protocol DecodingTransport: HTTPTransport {
  /// False if all content is passed on as received.
  var decodesContent: Bool { get }
  /// A function that decodes content with the `Content-Encoding` of these fields; nil if one of its codings is unknown.
  func decoder(for fields: HTTPFields) -> (@Sendable (HTTPBodyStream) -> HTTPBodyStream)?
}
