package import LarderHTTP

/// What tells that two responses are of one representation, byte for byte (RFC 9110 §8.8.1).
package enum StrongValidator: Hashable, Sendable {
  /// A strong entity tag, quotes included.
  case tag(String)
  /// A `Last-Modified` that is at least a second before `Date`: the representation cannot have changed again within that
  /// second (§8.8.2.2). More than a minute before a `Date` that may be of this cache's clock. Seconds since 1970.
  case date(Int64)

  /// The validator of a response; nil where it has none that is strong.
  ///
  /// A weak entity tag rules the date out as well: the server says that equal is not identical. So does one without
  /// quotes, whose server cannot be taken at its word.
  package init?(_ rules: StoredRules) {
    if let tag = rules.etag {
      guard StrongValidator.isStrong(tag) else { return nil }
      self = .tag(tag)
    } else {
      guard let changed = rules.lastModified, let date = rules.date else { return nil }
      // A `Date` that the server did not send is the second of arrival (§6.6.1): another clock, which may be fast.
      guard changed < (date == rules.responseTime / 1000 ? date - StrongValidator.skew : date) else { return nil }
      self = .date(changed)
    }
  }

  /// How many seconds two clocks are taken to differ at most.
  private static let skew: Int64 = 60

  /// True for one entity tag in quotes, without the mark of weakness.
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
  /// True where a range may be sent: the field is absent, or names what is stored by a strong validator.
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
  /// RFC 9110 §14.4.
  package static let contentRange: HTTPFieldName = "Content-Range"
  /// RFC 9110 §13.1.5.
  package static let ifRange: HTTPFieldName = "If-Range"
  /// RFC 9110 §13.1.4.
  package static let ifUnmodifiedSince: HTTPFieldName = "If-Unmodified-Since"
  /// RFC 9110 §14.2.
  package static let range: HTTPFieldName = "Range"
}
