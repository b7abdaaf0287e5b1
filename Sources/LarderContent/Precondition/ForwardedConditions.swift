package import LarderHTTP

/// A validation that carries the client's preconditions as well as the cache's own (RFC 9111 §4.3.1, §4.3.3).
package struct ForwardedConditions: Hashable, Sendable {
  /// What a 304 means.
  package enum NotModified: Hashable, Sendable {
    /// The stored response is the server's: bring its metadata up to date, then evaluate the client's preconditions by
    /// ``ConditionalOutcome``.
    case stored
    /// The client's copy is the server's, and the stored one is not: the client gets the 304, the stored response needs
    /// validation.
    case client
    /// Nobody can tell whose it is: send the client's own request.
    case unclear
  }

  /// The request's fields with both.
  package let fields: HTTPFields
  /// True where the server evaluates all that the client asked: nothing of it gave way to the cache's own conditions.
  package let areComplete: Bool
  /// Entity tags of the client that are not stored here.
  private let added: [String]

  /// True where a request has conditions that the cache's own would take the place of.
  package static func areThere(_ request: HTTPFields) -> Bool {
    request.contains(.ifNoneMatch) || request.contains(.ifModifiedSince)
  }

  /// Adds the client's entity tags to a validation.
  ///
  /// - Parameters:
  ///   - request: the client's fields.
  ///   - validation: those with the cache's preconditions in place of the client's, see ``Validation``.
  ///   - stored: the response that is validated.
  package init(_ request: HTTPFields, validation: HTTPFields, stored: StoredRules) {
    var fields = validation
    var added: [String] = []
    var areComplete = !ForwardedConditions.areThere(request)
    // Without an entity tag of the cache's, its date would not count beside the client's tags (RFC 9110 §13.1.3).
    if let own = validation[.ifNoneMatch], stored.etag != nil, let text = request[.ifNoneMatch],
      case .tags(let tags) = EntityTagList(text)
    {
      let known = EntityTagList(own)
      for tag in tags.prefix(ForwardedConditions.limit)
      where !known.matchesWeakly(tag) && !added.contains(tag) {
        added.append(EntityTag.wellFormed(tag))
      }
      if !added.isEmpty { fields[.ifNoneMatch] = ([own] + added).joined(separator: ", ") }
      areComplete = tags.count <= ForwardedConditions.limit
    }
    self.areComplete = areComplete
    self.fields = fields
    self.added = added
  }

  /// Entity tags of the client that are taken along; what it sent beyond that only costs it a full answer.
  package static let limit = 32

  /// Tells whose validator a 304 has confirmed.
  package func notModified(_ answer: StoredRules, stored: StoredRules) -> NotModified {
    guard !added.isEmpty else { return .stored }
    guard let tag = answer.etag else { return .unclear }
    if let known = stored.etag, EntityTag.matchesWeakly(tag, known) { return .stored }
    return added.contains { EntityTag.matchesWeakly(tag, $0) } ? .client : .unclear
  }
}
