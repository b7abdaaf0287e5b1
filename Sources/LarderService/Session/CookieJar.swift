import LarderHTTP

/// The session cookies of one service, as a value. They are lost with the conversation (RFC 6265).
///
/// The jar serves one origin, so the domain decides only whether a cookie is accepted, never where it is sent.
struct CookieJar: Sendable, Equatable {
  /// One cookie (RFC 6265 §5.3).
  struct Cookie: Sendable, Equatable {
    var name: String
    var value: String
    var domain: String
    var path: String
    var isSecure: Bool
    /// Seconds since 1970; nil for a cookie that lives as long as the session.
    var expires: Int64?
    /// The order of creation.
    var serial: UInt64
  }

  /// The host of the jar, in lower case.
  let host: String
  private(set) var cookies: [Cookie] = []
  private var nextSerial: UInt64 = 0

  /// The largest number of cookies, so that a server cannot make the jar grow without limit (RFC 6265 §6.1).
  static let maximumCount = 100
  static let maximumBytes = 8192

  init(host: String) { self.host = host.lowercased() }

  /// Stores the cookies of a response's `Set-Cookie` fields.
  ///
  /// - Parameters:
  ///   - path: the path of the requested URL, percent-encoded.
  ///   - now: seconds since 1970.
  /// - Returns: true if a session cookie got another value or was removed: the session has changed.
  mutating func storeCookies(_ fields: [String], path: String, now: Int64) -> Bool {
    var isNewSession = false
    for field in fields {
      guard let cookie = SetCookie(field, host: host, requestPath: path, now: now) else { continue }
      if store(cookie, now: now) { isNewSession = true }
    }
    return isNewSession
  }

  private mutating func store(_ new: SetCookie, now: Int64) -> Bool {
    let old = cookies.firstIndex { $0.name == new.name && $0.domain == new.domain && $0.path == new.path }
    let isExpired = new.expires.map { $0 <= now } ?? false
    var isNewSession = false
    if let old {
      isNewSession = cookies[old].expires == nil && (isExpired || cookies[old].value != new.value)
    }
    if isExpired {
      if let old { cookies.remove(at: old) }
      return isNewSession
    }
    var cookie = Cookie(
      name: new.name, value: new.value, domain: new.domain, path: new.path, isSecure: new.isSecure,
      expires: new.expires, serial: nextSerial)
    if let old {
      cookie.serial = cookies[old].serial
      cookies[old] = cookie
    } else {
      nextSerial += 1
      cookies.append(cookie)
      if cookies.count > CookieJar.maximumCount { evict(now: now) }
    }
    return isNewSession
  }

  private mutating func evict(now: Int64) {
    cookies.removeAll { cookie in cookie.expires.map { $0 <= now } ?? false }
    if cookies.count > CookieJar.maximumCount { cookies.removeFirst(cookies.count - CookieJar.maximumCount) }
  }

  /// The `Cookie` field for a request; nil if no cookie is sent there (RFC 6265 §5.4).
  func field(path: String, isSecure: Bool, now: Int64) -> String? {
    let sent = cookies.filter { cookie in
      (!cookie.isSecure || isSecure) && CookieJar.matches(path, cookie.path)
        && (cookie.expires.map { $0 > now } ?? true)
    }
    guard !sent.isEmpty else { return nil }
    let ordered = sent.sorted {
      $0.path.utf8.count != $1.path.utf8.count ? $0.path.utf8.count > $1.path.utf8.count : $0.serial < $1.serial
    }
    return ordered.map { $0.name.isEmpty ? $0.value : "\($0.name)=\($0.value)" }.joined(separator: "; ")
  }

  /// Removes all cookies.
  mutating func removeAll() { cookies = [] }

  /// Whether a path matches a cookie's path (RFC 6265 §5.1.4).
  static func matches(_ path: String, _ cookiePath: String) -> Bool {
    guard path.hasPrefix(cookiePath) else { return false }
    return path.utf8.count == cookiePath.utf8.count || cookiePath.hasSuffix("/")
      || path.utf8.dropFirst(cookiePath.utf8.count).first == 0x2F
  }
}

/// One `Set-Cookie` field, parsed as RFC 6265 §5.2 and §5.3 define.
struct SetCookie: Equatable {
  var name: String
  var value: String
  var domain: String
  var path: String
  var isSecure = false
  var expires: Int64?

  /// Parses a field; nil if the cookie must be ignored: no name, too long, control characters, another host's domain.
  init?(_ field: String, host: String, requestPath: String, now: Int64) {
    guard field.utf8.count <= CookieJar.maximumBytes, !field.utf8.contains(where: { $0 < 0x20 && $0 != 0x09 }) else {
      return nil
    }
    let parts = field.split(separator: ";", omittingEmptySubsequences: false)
    guard let pair = parts.first, let equals = pair.firstIndex(of: "=") else { return nil }
    name = SetCookie.trimmed(pair[..<equals])
    value = SetCookie.trimmed(pair[pair.index(after: equals)...])
    guard !name.isEmpty else { return nil }
    domain = host
    path = SetCookie.defaultPath(requestPath)
    var maximumAge: Int64?
    for part in parts.dropFirst() {
      let equals = part.firstIndex(of: "=")
      let attribute = SetCookie.trimmed(part[..<(equals ?? part.endIndex)]).lowercased()
      let text = equals.map { SetCookie.trimmed(part[part.index(after: $0)...]) } ?? ""
      switch attribute {
      case "expires": expires = HTTPDate.unixTime(text) ?? expires
      case "max-age": maximumAge = SetCookie.seconds(text) ?? maximumAge
      case "domain":
        guard let accepted = SetCookie.domain(text, host: host) else { return nil }
        domain = accepted
      case "path": path = text.hasPrefix("/") ? text : SetCookie.defaultPath(requestPath)
      case "secure": isSecure = true
      default: break
      }
    }
    if let maximumAge { expires = maximumAge <= 0 ? Int64.min : now.addingReportingOverflow(maximumAge).partialValue }
  }

  private static func trimmed(_ text: Substring) -> String {
    let start = text.drop { $0 == " " || $0 == "\t" }
    guard let last = start.lastIndex(where: { $0 != " " && $0 != "\t" }) else { return "" }
    return String(start[...last])
  }

  /// The `Max-Age` in seconds (§5.2.2), limited to a century so that it cannot overflow.
  private static func seconds(_ text: String) -> Int64? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }) else { return nil }
    if text.hasPrefix("-") { return 0 }
    let century: Int64 = 100 * 366 * 86_400
    return min(Int64(digits) ?? century, century)
  }

  /// The domain (§5.2.3 and §5.1.3): the host itself or a domain above it; an empty one is ignored.
  private static func domain(_ text: String, host: String) -> String? {
    let domain = (text.hasPrefix(".") ? String(text.dropFirst()) : text).lowercased()
    if domain.isEmpty || domain == host { return host }
    let isAddress = host.hasPrefix("[") || host.utf8.allSatisfy { ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2E }
    return !isAddress && host.hasSuffix("." + domain) ? domain : nil
  }

  /// The default path (§5.1.4).
  private static func defaultPath(_ path: String) -> String {
    guard path.hasPrefix("/"), let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return "/" }
    return String(path[..<slash])
  }
}
