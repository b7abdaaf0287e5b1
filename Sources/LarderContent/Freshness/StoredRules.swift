package import LarderHTTP

/// The parts of a stored (or just received) response that the caching rules need, parsed once.
///
/// Everything that a hit reads is a number or a bit here; texts are kept only for validation. Durations are in
/// milliseconds.
package struct StoredRules: Sendable, Hashable {
  /// The status code.
  package var status: Int
  /// The `Cache-Control` of the response.
  package var cacheControl: CacheControl
  /// How old the response was when it arrived, in milliseconds: `corrected_initial_age` (RFC 9111 §4.2.3).
  package var initialAge: Int64
  /// When the response arrived or was validated, in milliseconds since 1970.
  package var responseTime: Int64
  /// How long the response is fresh by its own fields, in milliseconds; nil if it declares no valid lifetime (§4.2.1).
  package var lifetime: Int64?
  /// True if ``lifetime`` is heuristic (§4.2.2).
  package var isHeuristic: Bool
  /// True if the response must be validated first, whatever its age (§4.4).
  package var isInvalidated: Bool
  /// True if a later 404, 410 or redirect hides the response, or hides all variants of this index.
  package var isHidden: Bool
  /// True if the response contains some ranges only (§3.3).
  package var isPartial: Bool
  /// True if the use of the response depends on records of cache groups (RFC 9875).
  package var hasGroups: Bool
  /// True if the content has a coding other than `identity` (RFC 9110 §8.4).
  package var isCoded: Bool
  /// True if this is an index of variants rather than a response.
  package var isIndex: Bool
  /// True if the response has `Set-Cookie`.
  package var setsCookie: Bool
  /// The `Date` in seconds since 1970; nil if the response has none or an invalid one.
  package var date: Int64?
  /// The `Last-Modified` in seconds since 1970; nil if the response has none or an invalid one.
  package var lastModified: Int64?
  /// The `ETag` as sent; nil if the response has none.
  package var etag: String?
  /// The `Content-Language` in lower case, if it is a single language.
  package var language: String?
  /// The `Vary`; nil if the response has none.
  package var vary: Vary?

  /// Reads a response that has just arrived; times are in milliseconds since 1970.
  package init(status: Int, fields: HTTPFields, requestTime: Int64, responseTime: Int64) {
    self.status = status
    self.responseTime = responseTime
    cacheControl = CacheControl()
    isHeuristic = false
    isInvalidated = false
    isHidden = false
    isPartial = status == 206
    hasGroups = false
    isCoded = false
    isIndex = false
    setsCookie = false
    initialAge = 0
    var fieldValues = FreshnessFields()
    for field in fields { take(field, &fieldValues) }
    initialAge = StoredRules.initialAge(
      age: fieldValues.age, date: date, requestTime: requestTime, responseTime: responseTime)
    (lifetime, isHeuristic) = serverLifetime(expires: fieldValues.expires)
  }

  /// True if the response is meant for one client (RFC 9111 §5.2.2.7), or may begin a session with one.
  package var isForOneClient: Bool { setsCookie || cacheControl.contains(.isPrivate) }

  /// Fields that are needed only while the rules are created.
  struct FreshnessFields {
    var age: Int64?
    /// Seconds since 1970; `Int64.min` for an invalid date, which counts as past (§5.3).
    var expires: Int64?
    var hasAge = false
  }

  private mutating func take(_ field: HTTPField, _ fieldValues: inout FreshnessFields) {
    let name = field.name.canonicalName
    switch name.utf8.count {
    case 3:
      if name == "age", !fieldValues.hasAge {
        fieldValues.hasAge = true
        fieldValues.age = DeltaSeconds.age(field.value)
      }
    case 4:
      if name == "etag", etag == nil, !field.value.isEmpty { etag = field.value }
      if name == "date", date == nil { date = HTTPDate.strictUnixTime(field.value, now: responseTime / 1000) }
      if name == "vary" {
        if vary == nil { vary = Vary() }
        vary?.add(field.value)
      }
    case 7:
      if name == "expires", fieldValues.expires == nil {
        fieldValues.expires = HTTPDate.strictUnixTime(field.value, now: responseTime / 1000) ?? Int64.min
      }
    case 10:
      if name == "set-cookie" { setsCookie = true }
    case 13:
      if name == "cache-control" { cacheControl.read(field.value) }
      if name == "last-modified", lastModified == nil {
        lastModified = HTTPDate.strictUnixTime(field.value, now: responseTime / 1000)
      }
    case 16:
      if name == "content-encoding", !field.value.isEmpty, field.value.lowercased() != "identity" { isCoded = true }
      if name == "content-language" {
        // A response in several languages is not used for a language preference.
        let isOne = language == nil && !field.value.utf8.contains(0x2C)
        language = isOne ? HTTPFieldName(field.value).canonicalName : ""
      }
    default: break
    }
  }
}
