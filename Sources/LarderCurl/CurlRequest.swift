import LarderHTTP

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A validated request in libcurl's terms: plain texts and numbers.
struct CurlRequest: Sendable {
  let method: HTTPMethod
  let url: String
  let host: String
  /// True for https.
  let isSecure: Bool
  /// Whether the client certificate is shown to the server.
  let showsCertificate: Bool
  /// The field lines in the form of `CURLOPT_HTTPHEADER`.
  let fieldLines: [String]
  /// Whether content is sent, even if empty.
  let hasContent: Bool
  /// The content's length; `nil` if it is not known.
  let contentLength: Int?
  /// Whether a content coding is requested and decoded here.
  let decodes: Bool
  let proxy: String
  let timeouts: HTTPTimeouts
  let onInterim: (@Sendable (HTTPInterimResponse) -> Void)?

  init(_ request: HTTPRequest, _ settings: TransportSettings) throws(HTTPTransportError) {
    var url = request.url.absoluteString
    if let fragment = url.firstIndex(of: "#") { url = String(url[..<fragment]) }
    guard let ascii = URLReference.ascii(url) else {
      throw .invalidRequest("its host has no form in ASCII (RFC 5891)")
    }
    url = URLReference.sent(ascii)
    guard url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
      throw .invalidRequest("its URL contains characters that must be percent-encoded (RFC 3986 §2)")
    }
    self.url = url
    let name = request.url.host(percentEncoded: true) ?? ""
    host = HostName.ascii(name) ?? name
    isSecure = request.url.scheme?.lowercased() == "https"
    showsCertificate = request.showsCertificate
    method = request.method
    timeouts = request.timeouts
    onInterim = request.onInterim
    decodes = settings.options.decodesContent && !request.fields.contains("Accept-Encoding")
    proxy = settings.proxies.proxy(forScheme: request.url.scheme)
    if proxy.utf8.contains(0) { throw .invalidRequest("the proxy's URL contains NUL") }
    let declaredLength = request.fields[.contentLength].flatMap { Int($0) }
    contentLength = request.body.length ?? declaredLength
    hasContent = contentLength != 0 || CurlRequest.announcesEmptyContent(request.method)
    fieldLines = CurlRequest.lines(request.fields, settings.options)
  }

  /// Whether a request without content sends `Content-Length: 0`: methods that anticipate content do (RFC 9110 §8.6).
  private static func announcesEmptyContent(_ method: HTTPMethod) -> Bool {
    [.post, .put, .patch, .merge].contains(method)
  }

  private static func lines(_ fields: HTTPFields, _ options: CurlTransport.Options) -> [String] {
    var lines: [String] = []
    for field in fields where field.name != .contentLength && field.name != "Expect" {
      // `Name;` is libcurl's way to send a field without a value; `Name:` would leave the field out.
      lines.append(field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)")
    }
    // Keeps libcurl from adding `Expect: 100-continue`, and `Accept` if the caller does not set it.
    lines.append("Expect:")
    if !fields.contains(.accept) { lines.append("Accept:") }
    if options.decodesContent && !fields.contains("Accept-Encoding") {
      // A range counts encoded bytes (RFC 9110 §14.1.2), and a part of them cannot be decoded.
      lines.append("Accept-Encoding: \(fields.contains("Range") ? "identity" : ContentCoding.accepted)")
    }
    if let userAgent = options.userAgent, !fields.contains(.userAgent) { lines.append("User-Agent: \(userAgent)") }
    return lines
  }
}
