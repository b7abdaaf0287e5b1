package import LarderHTTP

/// How one cache handled a request: a member of the `Cache-Status` field (RFC 9211 §2).
package struct CacheStatus: Hashable, Sendable {
  /// The cache's name: a token, or any other text.
  package var cache: String
  /// True if the response came from the cache without a request to the next server (§2.1).
  package var isHit = false
  /// Why the request was forwarded (§2.2).
  package var forward: ForwardReason?
  /// The status of the next server's response; set if it differs from the client's (§2.3).
  package var forwardStatus: Int?
  /// Seconds of freshness left, negative if the response is stale (§2.4).
  package var timeToLive: Int64?
  /// True if the response is stored now (§2.5).
  package var isStored = false
  /// True if the request shared another request's transfer (§2.6).
  package var isCollapsed = false
  /// The key that the response is stored under (§2.7).
  package var key: String?
  /// Any other information, for people (§2.8).
  package var detail: String?

  /// The status of a cache that has done nothing yet.
  package init(_ cache: String) { self.cache = cache }

  /// The field's value for a hit, created as fast as possible: `larder; hit; ttl=123`.
  package static func hit(_ cache: String, timeToLive: Int64) -> String {
    var text = ""
    text.reserveCapacity(cache.utf8.count + 32)
    append(name: cache, to: &text)
    text += "; hit; ttl="
    text += String(min(max(timeToLive, -integerLimit), integerLimit))
    return text
  }

  /// The status as a list member.
  package var text: String {
    var text = ""
    CacheStatus.append(name: cache, to: &text)
    if isHit { text += "; hit" }
    if let forward { text += "; fwd=" + forward.rawValue }
    if let forwardStatus { text += "; fwd-status=" + String(forwardStatus) }
    if let timeToLive {
      text += "; ttl=" + String(min(max(timeToLive, -CacheStatus.integerLimit), CacheStatus.integerLimit))
    }
    if isStored { text += "; stored" }
    if isCollapsed { text += "; collapsed" }
    if let key {
      text += "; key="
      CacheStatus.append(string: key, to: &text)
    }
    if let detail {
      text += "; detail="
      CacheStatus.append(name: detail, to: &text)
    }
    return text
  }

  /// Appends the member after those of the caches nearer to the origin (§2).
  package func append(to fields: inout HTTPFields) { fields.append(.cacheStatus, text) }

  /// Integers of structured fields have 15 digits (RFC 9651 §3.3.1).
  private static let integerLimit: Int64 = 999_999_999_999_999

  /// Appends a name as a token if it is one, otherwise as a string.
  private static func append(name: String, to text: inout String) {
    if StructuredField.isToken(name) { text += name } else { append(string: name, to: &text) }
  }

  /// Appends a string of visible ASCII; every other character becomes `?`.
  private static func append(string: String, to text: inout String) {
    text += "\""
    for byte in string.utf8 {
      switch byte {
      case 0x22, 0x5C:
        text += "\\"
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
      // One `?` for each character, not for each of its bytes.
      case 0x80...0xBF: break
      default: text += "?"
      }
    }
    text += "\""
  }
}

extension CacheStatus {
  /// Parses the members of a field, the origin's nearest first. Unknown parts of them are ignored (§2).
  package static func list(_ text: String) throws(StructuredFieldError) -> [CacheStatus] {
    try StructuredField.list(text).compactMap { member in
      guard case .item(let item) = member else { return nil }
      return CacheStatus(item)
    }
  }

  private init?(_ item: StructuredField.Item) {
    switch item.value {
    case .token(let name), .string(let name): self.init(name)
    default: return nil
    }
    let parameters = item.parameters
    isHit = parameters["hit"] == .boolean(true)
    isStored = parameters["stored"] == .boolean(true)
    isCollapsed = parameters["collapsed"] == .boolean(true)
    if case .token(let reason)? = parameters["fwd"] { forward = ForwardReason(rawValue: reason) }
    if case .integer(let status)? = parameters["fwd-status"] { forwardStatus = Int(exactly: status) }
    if case .integer(let seconds)? = parameters["ttl"] { timeToLive = seconds }
    if case .string(let text)? = parameters["key"] { key = text }
    switch parameters["detail"] {
    case .string(let text), .token(let text): detail = text
    default: break
    }
  }
}

extension HTTPFieldName {
  /// The field name of RFC 9211.
  package static let cacheStatus: HTTPFieldName = "Cache-Status"
}
