@_spi(Stores) import LarderHTTP

#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// The upstream server of a proxy: an `http` or `https` URL. Every forwarded path is appended to its path.
public struct Upstream: Sendable {
  /// The scheme and authority in lower case, without a default port.
  let origin: String
  /// The path before all forwarded paths: empty, or `/…` without a slash at its end.
  let basePath: String
  private let base: String

  /// Creates an upstream server from a URL, or throws ``HTTPServerError/invalidUpstream(_:)``.
  public init(_ url: URL) throws(HTTPServerError) {
    guard let scheme = url.scheme?.lowercased(), scheme == "http" || scheme == "https" else {
      throw .invalidUpstream("its scheme must be http or https")
    }
    guard let givenHost = url.host(percentEncoded: true), !givenHost.isEmpty else {
      throw .invalidUpstream("it has no host")
    }
    let host = HostName.ascii(givenHost) ?? givenHost
    guard url.user() == nil, url.password() == nil else {
      throw .invalidUpstream("it contains credentials: clients send them in Authorization")
    }
    guard url.query() == nil, url.fragment() == nil else {
      throw .invalidUpstream("it has a query or a fragment, so a path cannot be appended")
    }
    if let port = url.port, !(1...65_535).contains(port) { throw .invalidUpstream("its port is out of range") }
    let isDefault = url.port == nil || url.port == (scheme == "https" ? 443 : 80)
    let name = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    origin = "\(scheme)://\(name.lowercased())\(isDefault ? "" : ":\(url.port ?? 0)")"
    var path = url.path(percentEncoded: true)
    while path.hasSuffix("/") { path.removeLast() }
    basePath = path
    base = origin + path
  }

  /// The upstream URL, as text, of a request target in origin form. Nil if the target has another form, or leads out of
  /// the base path.
  func address(target: String) -> String? {
    guard target.utf8.first == UInt8(ascii: "/"), !target.utf8.contains(UInt8(ascii: "#")) else { return nil }
    if !basePath.isEmpty && Upstream.leavesBasePath(target) { return nil }
    // If a character that a URI must not contain were left to the URL parser, it would encode existing escapes again.
    return base + PercentEncoding.encode(URLReference.markingInvalidEscapes(target), in: .query)
  }

  /// A reference to this server as clients of the proxy must write it: path, query and fragment. Nil if the reference
  /// leads elsewhere, or is relative, so that it is valid unchanged.
  func proxyReference(_ reference: String) -> String? {
    var rest = Substring(reference)
    // A reference without a scheme has the scheme of the server that sent it (RFC 3986 §5.2.2).
    let absolute = reference.hasPrefix("//") ? origin.prefix { $0 != "/" } + reference : reference
    if let authority = Upstream.splitOrigin(absolute) {
      guard authority.origin == origin else { return nil }
      rest = authority.rest
    } else if basePath.isEmpty || !reference.hasPrefix("/") {
      return nil
    }
    guard rest.hasPrefix(basePath) else { return nil }
    rest = rest.dropFirst(basePath.count)
    if rest.isEmpty || rest.first == "?" || rest.first == "#" { return "/" + rest }
    // A path that begins with two slashes would name another host (RFC 3986 §4.2); the added dot segment changes
    // nothing else.
    if rest.hasPrefix("//") { return "/." + rest }
    return rest.first == "/" ? String(rest) : nil
  }

  /// The host alone, as written in ``origin``.
  var host: Substring { Upstream.host(ofAuthority: origin.drop { $0 != "/" }.dropFirst(2)) }

  /// An authority's host; an IPv6 address keeps its brackets.
  static func host(ofAuthority authority: Substring) -> Substring {
    if authority.utf8.first == UInt8(ascii: "["), let end = authority.utf8.firstIndex(of: UInt8(ascii: "]")) {
      return authority[...end]
    }
    return authority[..<(authority.utf8.firstIndex(of: UInt8(ascii: ":")) ?? authority.endIndex)]
  }

  /// Splits an absolute reference into its origin, in the form of ``origin``, and the text that follows.
  static func splitOrigin(_ reference: String) -> (origin: String, rest: Substring)? {
    guard let colon = reference.firstIndex(of: ":") else { return nil }
    let scheme = reference[..<colon].lowercased()
    let hierarchy = reference[colon...]
    guard scheme == "http" || scheme == "https", hierarchy.hasPrefix("://") else { return nil }
    let afterScheme = hierarchy.dropFirst(3)
    let end =
      afterScheme.firstIndex(where: { (character: Character) in "/?#".contains(character) }) ?? afterScheme.endIndex
    var authority = afterScheme[..<end].lowercased()
    let defaultPort = scheme == "https" ? ":443" : ":80"
    if authority.hasSuffix(defaultPort) { authority.removeLast(defaultPort.count) }
    return ("\(scheme)://\(authority)", afterScheme[end...])
  }

  /// True if the path's dot segments (RFC 3986 §5.2.4) climb above its beginning. Also covers servers that decode
  /// first, treat backslashes as slashes, or ignore text after a semicolon.
  private static func leavesBasePath(_ target: String) -> Bool {
    let path = target.prefix { $0 != "?" }.dropFirst()
    guard path.contains("..") || path.contains("%") else { return false }
    let decoded = path.lowercased().replacing("%2e", with: ".").replacing("%2f", with: "/").replacing("%5c", with: "/")
      .replacing("\\", with: "/").replacing("%3b", with: ";")
    var depth = 0
    for segment in decoded.split(separator: "/", omittingEmptySubsequences: false) {
      switch segment.prefix(while: { $0 != ";" }) {
      case "..": depth -= 1
      case ".", "": break
      default: depth += 1
      }
      if depth < 0 { return true }
    }
    return false
  }
}
