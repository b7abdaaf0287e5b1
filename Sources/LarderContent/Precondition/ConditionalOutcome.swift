package import LarderHTTP

/// The result of the client's own preconditions for a stored response that is about to be sent (RFC 9110 §13.2.2, RFC
/// 9111 §4.3.2).
package enum ConditionalOutcome: Hashable, Sendable {
  /// Send the response: there is no precondition, or it is met. A range is evaluated next: ``RangeOutcome``.
  case serve
  /// Send 304 with these fields; the caller must add `Age` and `Cache-Status`.
  case notModified(HTTPFields)

  /// Evaluates `If-None-Match`, otherwise `If-Modified-Since`, of a GET or HEAD.
  ///
  /// They apply if the stored status is 200, or 206 of a response stored in parts (RFC 9110 §13.2.1). `If-Match` and
  /// `If-Unmodified-Since` do not apply to a cache: see ``isForOrigin(_:)``.
  package static func of(
    _ request: HTTPFields, _ metadata: CacheMetadata, _ rules: StoredRules
  ) -> ConditionalOutcome {
    guard metadata.status == 200 || metadata.content != .whole else { return .serve }
    let isUnchanged: Bool
    if let text = request[.ifNoneMatch] {
      isUnchanged = text == rules.etag || EntityTagList(text).matchesWeakly(rules.etag)
    } else if let text = request[.ifModifiedSince],
      let since = HTTPDate.strictUnixTime(text, now: rules.responseTime / 1000)
    {
      // RFC 9111 §4.3.2: Last-Modified, otherwise Date, otherwise the time of arrival.
      isUnchanged = (rules.lastModified ?? rules.date ?? rules.responseTime / 1000) <= since
    } else {
      return .serve
    }
    return isUnchanged ? .notModified(fieldsOf304(metadata.fields)) : .serve
  }

  /// True if there is a precondition that only the origin server may evaluate, so that the request must be forwarded
  /// (RFC 9110 §13.1.1, §13.1.4).
  package static func isForOrigin(_ request: HTTPFields) -> Bool {
    request.contains(.ifMatch) || request.contains(.ifUnmodifiedSince)
  }

  /// The stored fields that a 304 contains (RFC 9110 §15.4.5): those that the standard lists, `Last-Modified` if it is
  /// the only validator, and the targeted variants of `Cache-Control`. Other fields would only repeat what the client
  /// has.
  package static func fieldsOf304(_ stored: HTTPFields) -> HTTPFields {
    let hasTag = stored.contains(.etag)
    return HTTPFields(
      stored.filter { field in
        switch field.name.canonicalName {
        case "cache-control", "content-location", "date", "etag", "expires", "vary": true
        case "last-modified": !hasTag
        default: false
        }
      })
  }
}
