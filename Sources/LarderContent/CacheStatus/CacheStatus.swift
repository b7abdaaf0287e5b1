package import LarderHTTP

/// What one cache had to do with an answer: a member of the `Cache-Status` field (RFC 9211 §2).
package struct CacheStatus: Hashable, Sendable {
  /// The cache's name: a token, or any other text.
  package var cache: String
  /// True where the answer came from the cache without a word to the next server (§2.1).
  package var isHit = false
  /// Why the request went on (§2.2).
  package var forward: ForwardReason?
  /// The status that the next server answered; said where it differs from what the client gets (§2.3).
  package var forwardStatus: Int?
  /// Seconds of freshness left, negative where it is stale (§2.4).
  package var timeToLive: Int64?
  /// True where the answer is stored now (§2.5).
  package var isStored = false
  /// True where the request shared another's transfer (§2.6).
  package var isCollapsed = false
  /// What the answer is stored under (§2.7).
  package var key: String?
  /// Anything else, for people (§2.8).
  package var detail: String?

  /// The status of a cache that has done nothing yet.
  package init(_ cache: String) { self.cache = cache }

  /// The field's value of a hit, made as fast as can be: `larder; hit; ttl=123`.
  package static func hit(_ cache: String, timeToLive: Int64) -> String {
    var text = ""
    text.reserveCapacity(cache.utf8.count + 32)
    append(name: cache, to: &text)
    text += "; hit; ttl="
    text += String(min(max(timeToLive, -integerLimit), integerLimit))
    return text
  }

  /// As a list member.
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

  /// Adds the member behind those of the caches nearer to the origin (§2).
  package func append(to fields: inout HTTPFields) { fields.append(.cacheStatus, text) }

  /// Integers of structured fields have 15 digits (RFC 9651 §3.3.1).
  private static let integerLimit: Int64 = 999_999_999_999_999

  /// As a token where it is one, else as a string.
  private static func append(name: String, to text: inout String) {
    if StructuredField.isToken(name) { text += name } else { append(string: name, to: &text) }
  }

  /// A string holds visible ASCII only; anything else becomes a question mark.
  private static func append(string: String, to text: inout String) {
    text += "\""
    for byte in string.utf8 {
      switch byte {
      case 0x22, 0x5C:
        text += "\\"
        text.unicodeScalars.append(Unicode.Scalar(byte))
      case 0x20...0x7E: text.unicodeScalars.append(Unicode.Scalar(byte))
      // One mark for each character, not for each of its bytes.
      case 0x80...0xBF: break
      default: text += "?"
      }
    }
    text += "\""
  }
}

extension CacheStatus {
  /// Reads the members of a field, the origin's nearest first; what is unknown in them is passed over (§2).
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
  /// RFC 9211.
  package static let cacheStatus: HTTPFieldName = "Cache-Status"
}
