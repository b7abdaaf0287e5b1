package import LarderHTTP

/// A validation that contains the client's preconditions as well as the cache's own (RFC 9111 §4.3.1, §4.3.3).
package struct ForwardedConditions: Hashable, Sendable {
  /// The meaning of a 304.
  package enum NotModified: Hashable, Sendable {
    /// The stored response is the server's: update its metadata, then evaluate the client's preconditions by
    /// ``ConditionalOutcome``.
    case stored
    /// The client's copy is the server's, and the stored one is not: the client gets the 304, and the stored response
    /// needs validation.
    case client
    /// It is unclear which copy is the server's: send the client's own request.
    case unclear
  }

  /// The request's fields with both preconditions.
  package let fields: HTTPFields
  /// True if the server evaluates all of the client's preconditions: none was replaced by the cache's own.
  package let areComplete: Bool
  /// The client's entity tags that are not stored here.
  private let added: [String]

  /// True if a request has conditions that the cache's own would replace.
  package static func areThere(_ request: HTTPFields) -> Bool {
    request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince)
  }

  /// Adds the client's entity tags to a validation.
  ///
  /// - Parameters:
  ///   - request: the client's fields.
  ///   - validation: the fields with the cache's preconditions in place of the client's, see ``Validation``.
  ///   - stored: the response that is validated.
  package init(_ request: HTTPFields, validation: HTTPFields, stored: StoredRules) {
    var fields = validation
    var added: [String] = []
    var areComplete = !ForwardedConditions.areThere(request)
    // Without an entity tag of the cache, its date would be ignored next to the client's tags (RFC 9110 §13.1.3).
    if let cacheTagText = validation[.ifNoneMatch], stored.etag != nil, let text = request[.ifNoneMatch],
      case .tags(let tags) = EntityTagList(text)
    {
      let cacheTags = EntityTagList(cacheTagText)
      for tag in tags.prefix(ForwardedConditions.limit)
      where !cacheTags.matchesWeakly(tag) && !added.contains(tag) {
        added.append(EntityTag.wellFormed(tag))
      }
      if !added.isEmpty { fields[.ifNoneMatch] = ([cacheTagText] + added).joined(separator: ", ") }
      areComplete = tags.count <= ForwardedConditions.limit
    }
    self.areComplete = areComplete
    self.fields = fields
    self.added = added
  }

  /// The maximum number of forwarded entity tags of the client. For a tag beyond it, the client only gets a full
  /// response.
  package static let limit = 32

  /// Decides whose validator a 304 has confirmed.
  package func notModified(_ responseRules: StoredRules, stored: StoredRules) -> NotModified {
    guard !added.isEmpty else { return .stored }
    guard let tag = responseRules.etag else { return .unclear }
    if let cacheTags = stored.etag, EntityTag.matchesWeakly(tag, cacheTags) { return .stored }
    return added.contains { EntityTag.matchesWeakly(tag, $0) } ? .client : .unclear
  }
}
