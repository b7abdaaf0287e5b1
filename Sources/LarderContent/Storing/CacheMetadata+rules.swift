package import LarderHTTP

extension CacheMetadata {
  /// Creates the metadata of a response for storing: its own fields without those that are not stored, and the
  /// request's selecting fields.
  package init(
    url: String, request: HTTPFields, response: StoredRules, fields: HTTPFields, requestTime: Int64,
    content: StoredContent = .whole, groups: [CacheGroup] = []
  ) {
    self.init(
      url: url, status: response.status, fields: StoredFields.toStore(fields, response.cacheControl),
      requestTime: requestTime, responseTime: response.responseTime,
      selecting: response.vary?.selecting(request) ?? [:], content: content, groups: groups)
  }

  /// The metadata after a 304, a response to HEAD or a further part confirmed the response (RFC 9111 §3.2, §3.4,
  /// §4.3.4, §4.3.5).
  ///
  /// - Parameter response: the confirming response's metadata, as it would be stored. If it has `Vary`, its request
  ///   selects the response from then on. If it has `Cache-Groups`, or generations of groups, they become the
  ///   response's.
  package func confirmed(by response: CacheMetadata) -> CacheMetadata {
    var updated = self
    updated.fields = StoredFields.updated(fields, by: response.fields, isPartial: content != .whole)
    updated.requestMilliseconds = response.requestMilliseconds
    updated.responseMilliseconds = response.responseMilliseconds
    if response.fields.contains(.vary) { updated.selecting = response.selecting }
    if CacheGroups.areNamed(in: response.fields) || !response.groups.isEmpty { updated.groups = response.groups }
    updated.isInvalidated = false
    return updated.hidden(by: nil)
  }

  /// The metadata of a success that a later response of this status hides; nil means that none does.
  package func hidden(by status: Int?) -> CacheMetadata {
    var updated = self
    updated.hiddenBy = status
    return updated
  }

  /// The metadata of a response that must be validated before it is used (RFC 9111 §4.4).
  package var invalidated: CacheMetadata {
    var updated = self
    updated.isInvalidated = true
    return updated
  }
}
