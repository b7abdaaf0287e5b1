@_spi(Stores) import LarderHTTP

#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// The root URL of a service. It converts resource paths to URLs.
package struct ODataServiceRoot: Sendable, Hashable {
  /// The root with a trailing slash, without user information, query and fragment.
  package let url: URL
  /// The query options of the given root (`sap-client=100`): every relative request carries them.
  package let query: String?
  /// Scheme, host and port, to which credentials are sent.
  package let origin: HTTPOrigin

  private let text: String

  /// Creates a root from an absolute `http` or `https` URL; a missing trailing slash is added.
  ///
  /// Throws ``ODataServiceError`` (`invalidRequest`) for other URLs and for one that contains a user name or password.
  package init(_ url: URL) throws(ODataServiceError) {
    let givenText = url.absoluteString
    let parts = URLParts(givenText)
    guard let origin = parts.origin else {
      throw ODataServiceError(
        .invalidRequest("a service root must be an absolute http or https URL"), operation: "root", url: givenText)
    }
    guard !parts.hasUserInformation else {
      throw ODataServiceError(
        .invalidRequest("a service root must not contain a user name; use an HTTPAuthentication instead"),
        operation: "root", url: givenText)
    }
    var path = parts.path.isEmpty ? "/" : parts.path
    if !path.hasSuffix("/") { path += "/" }
    text = parts.prefix + PercentEncoding.encode(path, in: .path)
    guard let root = URL(string: text) else {
      throw ODataServiceError(.invalidRequest("this is not a URL"), operation: "root", url: givenText)
    }
    self.url = root
    query = parts.query.flatMap { $0.isEmpty ? nil : PercentEncoding.encode($0, in: .query) }
    self.origin = origin
  }

  /// The root as it was given, with its query options.
  package var givenURL: URL { query.flatMap { URL(string: url.absoluteString + "?" + $0) } ?? url }

  /// The absolute URL of a resource path as text, which is sent and used as a key by caches.
  ///
  /// Relative paths continue the root, a leading `/` starts at the host, and absolute URLs are used unchanged (RFC 3986
  /// §5.2). Illegal characters, including `#`, are percent-encoded once; valid escapes stay. Throws
  /// ``ODataServiceError`` (`invalidRequest`) if the result is not valid.
  package func absoluteText(_ path: String) throws(ODataServiceError) -> String {
    let parts = URLParts(path)
    if parts.prefix.isEmpty {
      let start = path.hasPrefix("/") ? origin.text : text
      return start + encoded(parts.path, joining(parts.query))
    }
    if parts.isNetworkPath { return try absoluteText(origin.scheme + ":" + path) }
    guard parts.origin != nil else {
      throw ODataServiceError(
        .invalidRequest("the URL must have the scheme http or https and a valid host"), operation: "resolve", url: path
      )
    }
    guard !parts.hasUserInformation else {
      throw ODataServiceError(
        .invalidRequest("the URL must not contain a user name or password"), operation: "resolve", url: path)
    }
    // After a host without a path, other text (a `#`) must not become part of the host.
    let path = parts.path.isEmpty || parts.path.hasPrefix("/") ? parts.path : "/" + parts.path
    return parts.prefix + encoded(path, parts.query)
  }

  /// The absolute URL of a resource path; see ``absoluteText(_:)``.
  package func resolve(_ path: String) throws(ODataServiceError) -> URL {
    let text = try absoluteText(path)
    guard let url = URL(string: text), url.host() != nil else {
      throw ODataServiceError(.invalidRequest("this is not a URL"), operation: "resolve", url: path)
    }
    return url
  }

  /// True if the URL has the service's own scheme, host and port: only there credentials, cookies and tokens are sent.
  package func isSameOrigin(_ url: URL) -> Bool { URLParts(url.absoluteString).origin == origin }

  /// The part of an absolute URL behind the root, as written in batches; nil if the URL is not under the root.
  package func relative(_ absolute: String) -> String? {
    absolute.hasPrefix(text) ? String(absolute.dropFirst(text.count)) : nil
  }

  private func joining(_ query: String?) -> String? {
    guard let rootQuery = self.query else { return query }
    guard let query, !query.isEmpty else { return rootQuery }
    return query + "&" + rootQuery
  }

  private func encoded(_ path: String, _ query: String?) -> String {
    let path = PercentEncoding.encode(path, in: .path)
    guard let query else { return path }
    return path + "?" + PercentEncoding.encode(query, in: .query)
  }
}

/// An origin: scheme, host and port (RFC 6454), in lower case and with the scheme's default port written out.
package struct HTTPOrigin: Sendable, Hashable {
  /// `http` or `https`.
  package let scheme: String
  /// The host as in a URL: brackets around an IPv6 address.
  package let host: String
  /// The port.
  package let port: Int

  /// The origin as the beginning of a URL, without a slash.
  package var text: String {
    let usual = scheme == "https" ? 443 : 80
    return port == usual ? "\(scheme)://\(host)" : "\(scheme)://\(host):\(port)"
  }

  /// Whether a text is a host: letters, digits, `-`, `.`, `_`, `~`, or an address in brackets (RFC 3986 §3.2.2); other
  /// names use punycode.
  private static func isHost(_ text: Substring) -> Bool {
    let isAddress = text.hasPrefix("[") && text.hasSuffix("]")
    let name = isAddress ? text.dropFirst().dropLast() : text
    return !name.isEmpty
      && name.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        case 0x3A: isAddress
        default: false
        }
      }
  }

  init?(scheme: String, authority: Substring) {
    let scheme = scheme.lowercased()
    guard scheme == "http" || scheme == "https" else { return nil }
    let hostAndPort = authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority
    var host = hostAndPort
    var port = scheme == "https" ? 443 : 80
    let hostEnd = hostAndPort.lastIndex(of: "]") ?? hostAndPort.startIndex
    if let colon = hostAndPort[hostEnd...].lastIndex(of: ":") {
      host = hostAndPort[..<colon]
      let digits = hostAndPort[hostAndPort.index(after: colon)...]
      if !digits.isEmpty {
        guard let number = UInt16(digits) else { return nil }
        port = Int(number)
      }
    }
    guard HTTPOrigin.isHost(host) else { return nil }
    self.scheme = scheme
    self.host = host.lowercased()
    self.port = port
  }
}

/// A URL reference split at its delimiters, without decoding (RFC 3986 appendix B).
struct URLParts {
  /// Scheme and authority, `https://host:1`; `//host` for a network path; empty for a relative one. The host is in ASCII.
  let prefix: String
  /// The path as written; a `#` stays in it.
  let path: String
  /// The text after the first `?`; nil if there is none.
  let query: String?
  /// The origin; nil for relative references and for schemes other than http and https.
  let origin: HTTPOrigin?
  let hasUserInformation: Bool

  var isNetworkPath: Bool { prefix.hasPrefix("//") }

  init(_ text: String) {
    let head = text.prefix { $0 != "?" }
    query = head.endIndex == text.endIndex ? nil : String(text[text.index(after: head.endIndex)...])
    let scheme = URLParts.scheme(of: head)
    let rest = scheme.map { head[head.index(after: $0.endIndex)...] } ?? head
    guard rest.hasPrefix("//") else {
      prefix = scheme.map { $0 + ":" } ?? ""
      path = String(rest)
      origin = nil
      hasUserInformation = false
      return
    }
    let givenAuthority = rest.dropFirst(2).prefix { $0 != "/" && $0 != "#" }
    let authority = URLReference.ascii(authority: givenAuthority).map { $0[...] } ?? givenAuthority
    prefix = String(head[..<givenAuthority.startIndex]) + authority
    path = String(head[givenAuthority.endIndex...])
    origin = scheme.flatMap { HTTPOrigin(scheme: String($0), authority: authority) }
    hasUserInformation = authority.contains("@")
  }

  /// A scheme counts only before the first slash, and only with letters: keys such as `Days('12:30')` contain colons
  /// too.
  private static func scheme(of text: Substring) -> Substring? {
    guard let colon = text.firstIndex(of: ":") else { return nil }
    let scheme = text[..<colon]
    guard let first = scheme.utf8.first, first | 0x20 >= 0x61, first | 0x20 <= 0x7A else { return nil }
    let legal = scheme.utf8.allSatisfy {
      ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2B || $0 == 0x2D || $0 == 0x2E
    }
    return legal ? scheme : nil
  }
}
