package import LarderHTTP

/// Shows whether two responses have the same representation, byte for byte (RFC 9110 §8.8.1).
package enum StrongValidator: Hashable, Sendable {
  /// A strong entity tag, including its quotes.
  case tag(String)
  /// A `Last-Modified` that is at least a second before `Date`: the representation cannot have changed again within
  /// that second (§8.8.2.2). If `Date` may come from this cache's clock, it must be more than a minute before. Seconds
  /// since 1970.
  case date(Int64)

  /// The strong validator of a response; nil if it has none.
  ///
  /// A weak entity tag excludes the date as well, because the server declares that equal content may not be identical.
  /// So does a tag without quotes, because its server is not reliable.
  package init?(_ rules: StoredRules) {
    if let tag = rules.etag {
      guard StrongValidator.isStrong(tag) else { return nil }
      self = .tag(tag)
    } else {
      guard let changed = rules.lastModified, let date = rules.date else { return nil }
      // A `Date` that the server did not send is the second of arrival (§6.6.1): it comes from another clock, which may
      // be fast.
      guard changed < (date == rules.responseTime / 1000 ? date - StrongValidator.skew : date) else { return nil }
      self = .date(changed)
    }
  }

  /// The maximum assumed difference of two clocks, in seconds.
  private static let skew: Int64 = 60

  /// True for one entity tag in quotes that is not marked as weak.
  static func isStrong(_ tag: String) -> Bool {
    let bytes = tag.utf8
    guard bytes.count >= 2, bytes.first == 0x22, bytes.last == 0x22 else { return false }
    return !bytes.dropFirst().dropLast().contains(0x22)
  }

  /// The value of an `If-Range` field (RFC 9110 §13.1.5).
  package var ifRange: String {
    switch self {
    case .tag(let tag): tag
    case .date(let seconds): HTTPDate.text(seconds)
    }
  }
}

/// The precondition of a range (RFC 9110 §13.1.5).
package enum IfRange {
  /// True if a range may be sent: the field is absent, or contains a strong validator of the stored response.
  package static func holds(_ request: HTTPFields, _ stored: StoredRules) -> Bool {
    guard let text = request[.ifRange] else { return true }
    guard let validator = StrongValidator(stored) else { return false }
    switch validator {
    case .tag(let tag): return tag == text
    case .date(let changed): return HTTPDate.strictUnixTime(text, now: stored.responseTime / 1000) == changed
    }
  }
}

extension HTTPFieldName {
  /// The field name of RFC 9110 §14.4.
  package static let contentRange: HTTPFieldName = "Content-Range"
  /// The field name of RFC 9110 §13.1.5.
  package static let ifRange: HTTPFieldName = "If-Range"
  /// The field name of RFC 9110 §13.1.4.
  package static let ifUnmodifiedSince: HTTPFieldName = "If-Unmodified-Since"
  /// The field name of RFC 9110 §14.2.
  package static let range: HTTPFieldName = "Range"
}
