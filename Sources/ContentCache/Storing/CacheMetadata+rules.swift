package import HTTPCore

extension CacheMetadata {
  /// The metadata of a response as it is stored: its own fields without those that are not kept, and the request's
  /// selecting fields.
  package init(
    url: String, request: HTTPFields, response: StoredRules, fields: HTTPFields, requestTime: Int64,
    content: StoredContent = .whole, groups: [CacheGroup] = []
  ) {
    self.init(
      url: url, status: response.status, fields: StoredFields.toStore(fields, response.cacheControl),
      requestTime: requestTime, responseTime: response.responseTime,
      selecting: response.vary?.selecting(request) ?? [:], content: content, groups: groups)
  }

  /// The metadata after a 304, or an answer to HEAD, that confirmed the response (RFC 9111 §3.2, §4.3.4, §4.3.5).
  package func confirmed(by answer: HTTPFields, requestTime: Int64, responseTime: Int64) -> CacheMetadata {
    var updated = self
    updated.fields = StoredFields.updated(fields, by: answer, isPartial: content != .whole)
    updated.requestTime = requestTime
    updated.responseTime = responseTime
    updated.isInvalidated = false
    return updated
  }

  /// The metadata of a response that must be validated before it is used (RFC 9111 §4.4).
  package var invalidated: CacheMetadata {
    var updated = self
    updated.isInvalidated = true
    return updated
  }
}
