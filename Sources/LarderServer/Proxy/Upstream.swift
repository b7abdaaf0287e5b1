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
    guard let host = url.host(percentEncoded: true), !host.isEmpty else { throw .invalidUpstream("it has no host") }
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
    return base + Upstream.encoded(target)
  }

  /// The target with characters that a URI must not contain percent-encoded (RFC 3986 §2), and all else unchanged. If
  /// such a character were left to the URL parser, the parser would encode existing escapes again.
  private static func encoded(_ target: String) -> String {
    if target.utf8.allSatisfy(isPlain) { return target }
    let bytes = Array(target.utf8)
    func isDigit(_ index: Int) -> Bool {
      guard index < bytes.count else { return false }
      switch bytes[index] {
      case 0x30...0x39, 0x41...0x46, 0x61...0x66: return true
      default: return false
      }
    }
    func isKept(_ index: Int) -> Bool {
      switch bytes[index] {
      case 0x25: isDigit(index + 1) && isDigit(index + 2)
      // Quotation mark, less-than, greater-than, brackets, backslash, circumflex, grave accent, braces and bar.
      case 0x22, 0x3C, 0x3E, 0x5B...0x5E, 0x60, 0x7B...0x7D: false
      default: true
      }
    }
    if bytes.indices.allSatisfy(isKept) { return target }
    var encoded: [UInt8] = []
    let digits = Array("0123456789ABCDEF".utf8)
    for index in bytes.indices {
      if isKept(index) {
        encoded.append(bytes[index])
      } else {
        encoded += [0x25, digits[Int(bytes[index] >> 4)], digits[Int(bytes[index] & 15)]]
      }
    }
    return String(decoding: encoded, as: UTF8.self)
  }

  /// True for bytes that need no look at their neighbours: neither the percent sign nor bytes that a URI must not
  /// contain.
  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x22, 0x25, 0x3C, 0x3E, 0x5B...0x5E, 0x60, 0x7B...0x7D: false
    default: true
    }
  }

  /// The path under which clients of the proxy find a reference to this server, with what follows the path. Nil if the
  /// reference leads elsewhere, or is relative to a path that both share.
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
