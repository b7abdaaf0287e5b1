package import LarderHTTP

/// What the caching rules need of a stored (or just received) response, parsed once.
///
/// All that a hit asks for is a number or a bit here; texts are kept only for validation. Durations are milliseconds.
package struct StoredRules: Sendable, Hashable {
  /// The status code.
  package var status: Int
  /// Its `Cache-Control`.
  package var cacheControl: CacheControl
  /// How old the response was when it arrived, in milliseconds: `corrected_initial_age` (RFC 9111 §4.2.3).
  package var initialAge: Int64
  /// When it arrived or was validated, in milliseconds since 1970.
  package var responseTime: Int64
  /// How long it is fresh by its own words, in milliseconds; nil where it says nothing that counts (§4.2.1).
  package var lifetime: Int64?
  /// True where ``lifetime`` is a guess (§4.2.2).
  package var isHeuristic: Bool
  /// True where it must be validated first, whatever its age (§4.4).
  package var isInvalidated: Bool
  /// True where a later 404, 410 or redirect hides it, or hides all variants of the index that this is.
  package var isHidden: Bool
  /// True where it holds some ranges only (§3.3).
  package var isPartial: Bool
  /// True where its use depends on records of cache groups (RFC 9875).
  package var hasGroups: Bool
  /// True where this is an index of variants and no response.
  package var isIndex: Bool
  /// True where it has `Set-Cookie`.
  package var setsCookie: Bool
  /// Its `Date` in seconds since 1970; nil where it has none or an invalid one.
  package var date: Int64?
  /// Its `Last-Modified` in seconds since 1970; nil where it has none or an invalid one.
  package var lastModified: Int64?
  /// Its `ETag` as sent; nil where it has none.
  package var etag: String?
  /// Its `Content-Language` in lower case, where that is one language.
  package var language: String?
  /// Its `Vary`; nil where it has none.
  package var vary: Vary?

  /// Reads what is stored.
  package init(_ metadata: CacheMetadata) {
    self.init(
      status: metadata.status, fields: metadata.fields, requestTime: metadata.requestTime,
      responseTime: metadata.responseTime)
    isInvalidated = metadata.isInvalidated
    isHidden = metadata.hiddenBy != nil
    isPartial = metadata.content != .whole
    hasGroups = !metadata.groups.isEmpty
    isIndex = !metadata.variants.isEmpty
  }

  /// Reads what has just arrived; times in milliseconds since 1970.
  package init(status: Int, fields: HTTPFields, requestTime: Int64, responseTime: Int64) {
    self.status = status
    self.responseTime = responseTime
    cacheControl = CacheControl()
    isHeuristic = false
    isInvalidated = false
    isHidden = false
    isPartial = status == 206
    hasGroups = false
    isIndex = false
    setsCookie = false
    initialAge = 0
    var found = FreshnessFields()
    for field in fields { take(field, &found) }
    initialAge = StoredRules.initialAge(
      age: found.age, date: date, requestTime: requestTime, responseTime: responseTime)
    (lifetime, isHeuristic) = serverLifetime(expires: found.expires)
  }

  /// True where it is meant for one client (RFC 9111 §5.2.2.7), or may begin a session with one.
  package var isForOneClient: Bool { setsCookie || cacheControl.contains(.isPrivate) }

  /// Fields that are used up while the rules are made.
  struct FreshnessFields {
    var age: Int64?
    /// Seconds since 1970; `Int64.min` for an invalid date, which lies in the past (§5.3).
    var expires: Int64?
    var hasAge = false
  }

  private mutating func take(_ field: HTTPField, _ found: inout FreshnessFields) {
    let name = field.name.canonicalName
    switch name.utf8.count {
    case 3:
      if name == "age", !found.hasAge {
        found.hasAge = true
        found.age = DeltaSeconds.age(field.value)
      }
    case 4:
      if name == "etag", etag == nil, !field.value.isEmpty { etag = field.value }
      if name == "date", date == nil { date = HTTPDate.strictUnixTime(field.value, now: responseTime / 1000) }
      if name == "vary" {
        if vary == nil { vary = Vary() }
        vary?.add(field.value)
      }
    case 7:
      if name == "expires", found.expires == nil {
        found.expires = HTTPDate.strictUnixTime(field.value, now: responseTime / 1000) ?? Int64.min
      }
    case 10:
      if name == "set-cookie" { setsCookie = true }
    case 13:
      if name == "cache-control" { cacheControl.read(field.value) }
      if name == "last-modified", lastModified == nil {
        lastModified = HTTPDate.strictUnixTime(field.value, now: responseTime / 1000)
      }
    case 16:
      if name == "content-language" {
        // Several languages at once are nobody's first choice.
        let isOne = language == nil && !field.value.utf8.contains(0x2C)
        language = isOne ? HTTPFieldName(field.value).canonicalName : ""
      }
    default: break
    }
  }
}
