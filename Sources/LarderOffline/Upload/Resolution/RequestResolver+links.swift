import LarderOData
import LarderService

// Links of uncertain requests, compared with what the service has before they are sent again. A second time need not have
// the effect of the first: another client may have set the link since (OData Protocol 4.01 §11.4.6).
extension RequestResolver {
  /// What the service has of the links in a body.
  func links(_ uncertain: UncertainRequest, _ path: String) async throws -> (isAsSent: Bool, isAsBefore: Bool?) {
    let names = uncertain.links.map(\.name).joined(separator: ",")
    guard !names.isEmpty else { return (true, true) }
    return LinkEnd.compare(uncertain.links, try await lookup.entity(path, expand: names).response?.entity)
  }

  /// What the service has of the link that a request is about.
  func link(_ uncertain: UncertainRequest) async throws -> Finding {
    guard let source = uncertain.path, let end = uncertain.links.first, let sent = end.sent else {
      return Finding(.unanswered)
    }
    let path = "\(source)/\(uncertain.entry.request.target.path)"
    if let keys = uncertain.contents.first { return try await foreignKey(keys, source, uncertain) }
    if end.isCollection {
      guard let isThere = try await isLinked(path, sent) else { return Finding(.unanswered) }
      return Finding(isThere == (uncertain.entry.request.operation == .createLink) ? .asSent : .asBefore)
    }
    let linked: ODataEntity?
    switch try await lookup.entity(path) {
    case .unanswered: return Finding(.unanswered)
    case .existing(let serverResponse): linked = serverResponse.entity
    case .gone: linked = nil
    }
    if LinkEnd.isEntity(linked, sent) { return Finding(.asSent) }
    // The source tells whether it is the link that is gone, and has the ETag that a second try goes under.
    let lookupResult = try await lookup.entity(source)
    guard case .existing(let serverResponse) = lookupResult else { return missing(lookupResult, uncertain) }
    var finding = Finding(.ambiguous, .existing(serverResponse))
    if let before = end.before {
      finding.evidence = LinkEnd.isEntity(linked, before) ? .asBefore : .different
    } else if let entity = serverResponse.entity, uncertain.hasBaseOfChange, isUnchanged(entity, uncertain) {
      // Where the link led before is not known; nobody has changed its source, which often has the other end's key.
      finding.evidence = .asBefore
    }
    // Another property of the source may have changed: it is the link that counts.
    finding.hasETag = false
    return finding
  }

  /// What the service has of a single link that is a foreign key of its source.
  private func foreignKey(_ keys: QueuedEntity, _ source: String, _ uncertain: UncertainRequest) async throws -> Finding
  {
    let lookupResult = try await lookup.entity(source)
    guard case .existing(let serverResponse) = lookupResult, let entity = serverResponse.entity else {
      return missing(lookupResult, uncertain)
    }
    let isAsBefore = isAsBefore(keys.properties.map(\.name), entity, uncertain)
    // The source's ETag tells of its other properties, too.
    var finding = Finding(
      .init(
        etag: nil, condition: nil, isAsSent: SentContent.matches(keys, entity), isAsBefore: isAsBefore),
      .existing(serverResponse))
    finding.hasETag = false
    return finding
  }

  /// Whether an entity is among those of a collection of links; nil where the service does not say.
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
  /// What was found; nil for nothing.
  var response: ServerResponse? { if case .existing(let serverResponse) = self { serverResponse } else { nil } }
}
