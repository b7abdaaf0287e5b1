package import LarderHTTP

/// Validation: the conditions of the request, and which stored response a 304 confirms (RFC 9111 §4.3).
package enum Validation {
  /// The request's fields with the cache's own preconditions (§4.3.1): `If-None-Match` with the entity tags of the
  /// stored responses, and `If-Modified-Since` with the `Last-Modified` of the one that matches the request. For a
  /// stored response without both, `If-Modified-Since` is the second before its `Date`, or before its arrival, so that
  /// a change within that second counts.
  ///
  /// The caller's own `If-None-Match` and `If-Modified-Since` are replaced; its other fields stay.
  ///
  /// - Parameter selected: the stored response that matches the request; nil if only others are stored. A response that
  ///   consists of some ranges, and does not contain the requested ones, must not be named here (§4.3.2).
  /// - Parameter tags: entity tags of the URL's other variants, each as sent.
  package static func fields(
    _ request: HTTPFields, selected: StoredRules?, tags: [String] = []
  ) -> HTTPFields {
    var fields = request
    fields[.ifNoneMatch] = nil
    fields[.ifModifiedSince] = nil
    var entityTags: [String] = []
    if let tag = selected?.etag, EntityTag.canBeSent(tag) { entityTags.append(tag) }
    for tag in tags where !entityTags.contains(tag) && EntityTag.canBeSent(tag) { entityTags.append(tag) }
    if !entityTags.isEmpty { fields[.ifNoneMatch] = entityTags.joined(separator: ", ") }
    // With several tags it would be unclear which one a date belongs to.
    guard let selected, entityTags.isEmpty || entityTags == [selected.etag] else { return fields }
    if let changed = selected.lastModified {
      fields[.ifModifiedSince] = HTTPDate.text(changed)
    } else if entityTags.isEmpty {
      fields[.ifModifiedSince] = HTTPDate.text((selected.date ?? selected.responseTime / 1000) - 1)
    }
    return fields
  }

  /// The fields of a request that no cache on the network path may serve from its store without validation (§5.2.1.1):
  /// with `Cache-Control: max-age=0`, unless the caller has set `max-age` or `no-cache`.
  package static func endToEnd(_ request: HTTPFields) -> HTTPFields {
    var fields = request
    let said = CacheControl(request)
    if said.maxAge == nil, !said.contains(.noCache) { fields.append(.cacheControl, "max-age=0") }
    return fields
  }

  /// Which of several stored responses a 304 confirms (§4.3.4): indices into `stored`.
  ///
  /// With a strong entity tag: all that have it. With a weak one, or with `Last-Modified` alone: the latest that has
  /// it. With neither: the stored response if there is only one, because the request was about nothing else. An empty
  /// result means that the 304 must not be used; the request must be sent again without preconditions.
  package static func confirmed(_ stored: [StoredRules], by response: StoredRules) -> [Int] {
    if let tag = response.etag {
      if !EntityTag.isWeak(tag) {
        return stored.indices.filter { stored[$0].etag.map { EntityTag.matchesStrongly($0, tag) } ?? false }
      }
      return latest(stored) { $0.etag.map { EntityTag.matchesWeakly($0, tag) } ?? false }
    }
    if let changed = response.lastModified {
      return latest(stored) { $0.lastModified == changed }
    }
    return stored.count == 1 ? [0] : []
  }

  /// True if a 304 lets a stored response be used although it does not update it (§4.3.4): its tag is the strong form of
  /// the stored weak tag, and the request asked about exactly this tag. Servers that compress behind their entity tags
  /// respond like this: the tag becomes weak in the 200, and stays strong in the 304.
  package static func isUsable(_ stored: StoredRules, after response: StoredRules, sent request: HTTPFields) -> Bool {
    guard let tag = stored.etag, let other = response.etag, EntityTag.isWeak(tag), !EntityTag.isWeak(other) else {
      return false
    }
    return request[.ifNoneMatch] == tag && EntityTag.matchesWeakly(tag, other)
  }

  private static func latest(_ stored: [StoredRules], _ fits: (StoredRules) -> Bool) -> [Int] {
    let fitting = stored.indices.filter { fits(stored[$0]) }
    return fitting.max { age(stored[$0]) < age(stored[$1]) }.map { [$0] } ?? []
  }

  private static func age(_ rules: StoredRules) -> Int64 {
    rules.date.map(StoredRules.milliseconds) ?? rules.responseTime
  }
}
