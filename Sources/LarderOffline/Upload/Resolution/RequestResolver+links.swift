import LarderOData
import LarderService

// Links of uncertain requests are compared with the service's before they are sent again. A repetition may have another
// effect than the first send, because another client may have set the link since (OData Protocol 4.01 §11.4.6).
extension RequestResolver {
  /// Compares the links in a body with the service's.
  func links(_ uncertain: UncertainRequest, _ path: String) async throws -> (isAsSent: Bool, isAsBefore: Bool?) {
    let names = uncertain.links.map(\.name).joined(separator: ",")
    guard !names.isEmpty else { return (true, true) }
    return LinkEnd.compare(
      uncertain.links, try await lookup.entity(path, of: uncertain.entry.request.entity, expand: names).response?.entity
    )
  }

  /// Whether the links in the body of an update lead where they led when the change was made; false if that is not known.
  func hasFormerLinks(_ entry: QueueEntry) async throws -> Bool {
    guard let attempt = entry.attempt.flatMap(UploadAttempt.init(json:)) else { return false }
    let uncertain = try await prepare(entry, attempt)
    guard let path = uncertain.path else { return false }
    return try await links(uncertain, path).isAsBefore == true
  }

  /// Compares the link that a request changes with the service's.
  func link(_ uncertain: UncertainRequest) async throws -> Finding {
    guard let source = uncertain.path, let end = uncertain.links.first, let sent = end.sent else {
      return Finding(.inconclusive)
    }
    let path = "\(source)/\(uncertain.entry.request.target.path)"
    if let keys = uncertain.contents.first { return try await foreignKey(keys, source, uncertain) }
    if end.isCollection {
      guard let isThere = try await isLinked(path, sent) else { return Finding(.inconclusive) }
      return Finding(isThere == (uncertain.entry.request.operation == .createLink) ? .asSent : .asBefore)
    }
    let linked: ODataEntity?
    switch try await lookup.entity(path, of: nil) {
    case .inconclusive, .other: return Finding(.inconclusive)
    case .existing(let serverResponse): linked = serverResponse.entity
    case .gone: linked = nil
    }
    if LinkEnd.isEntity(linked, sent) { return Finding(.asSent) }
    // The source shows whether only the link is gone, and has the ETag for a second attempt.
    let lookupResult = try await lookup.entity(source, of: uncertain.entry.request.entity)
    guard case .existing(let serverResponse) = lookupResult else { return missing(lookupResult, uncertain) }
    var finding = Finding(.ambiguous, .existing(serverResponse))
    if let before = end.before {
      finding.evidence = LinkEnd.isEntity(linked, before) ? .asBefore : .different
    } else if let entity = serverResponse.entity, uncertain.hasBaseOfChange, isUnchanged(entity, uncertain) {
      // The former target of the link is not known. The source, which often contains the other end's key, is unchanged.
      finding.evidence = .asBefore
    }
    // Another property of the source may have changed, but only the link counts.
    finding.hasETag = false
    return finding
  }

  /// Compares a single link that is a foreign key of its source with the service's.
  private func foreignKey(_ keys: QueuedEntity, _ source: String, _ uncertain: UncertainRequest) async throws -> Finding
  {
    let lookupResult = try await lookup.entity(source, of: uncertain.entry.request.entity)
    guard case .existing(let serverResponse) = lookupResult, let entity = serverResponse.entity else {
      return missing(lookupResult, uncertain)
    }
    let isAsBefore = isAsBefore(keys.properties.map(\.name), entity, uncertain)
    // The source's ETag also covers its other properties.
    var finding = Finding(
      .init(
        etag: nil, condition: nil, isAsSent: SentContent.matches(keys, entity), isAsBefore: isAsBefore),
      .existing(serverResponse))
    finding.hasETag = false
    return finding
  }

  /// Whether an entity is in a collection of links; nil if the service does not return it.
  private func isLinked(_ path: String, _ key: [String: ODataValue]) async throws -> Bool? {
    let dialect = store.replica.model.version.dialect
    let terms = key.sorted { $0.key < $1.key }.compactMap { name, value in
      (try? value.literal(dialect: dialect)).map { "\(name) eq \($0)" }
    }
    if terms.count == key.count,
      let linked = try await lookup.entities(path, filter: terms.joined(separator: " and "), limit: 100)
    {
      return linked.contains { LinkEnd.isEntity($0, key) }
    }
    return try await lookup.entities(path, filter: nil, limit: 1000)?.contains { LinkEnd.isEntity($0, key) }
  }
}

extension EntityLookup.LookupResult {
  /// The response, if the entity exists; otherwise nil.
  var response: ServerResponse? { if case .existing(let serverResponse) = self { serverResponse } else { nil } }
}
