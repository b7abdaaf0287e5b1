import LarderOData
import LarderService

// Links of uncertain requests, compared with what the service has before they are sent again. A second time need not have
// the effect of the first: another client may have set the link since (OData Protocol 4.01 §11.4.6).
extension RequestResolver {
  /// What the service has of the links in a body.
  func links(_ known: Case, _ path: String) async throws -> (isAsSent: Bool, isAsBefore: Bool?) {
    let names = known.links.map(\.name).joined(separator: ",")
    guard !names.isEmpty else { return (true, true) }
    return LinkEnd.compare(known.links, try await lookup.entity(path, expand: names).answer?.entity)
  }

  /// What the service has of the link that a request is about.
  func link(_ known: Case) async throws -> Found {
    guard let source = known.path, let end = known.links.first, let sent = end.sent else { return Found(.unanswered) }
    let path = "\(source)/\(known.entry.request.target.path)"
    if let keys = known.contents.first { return try await foreignKey(keys, source, known) }
    if end.isCollection {
      guard let isThere = try await isLinked(path, sent) else { return Found(.unanswered) }
      return Found(isThere == (known.entry.request.operation == .createLink) ? .asSent : .asBefore)
    }
    let linked: ODataEntity?
    switch try await lookup.entity(path) {
    case .refused: return Found(.unanswered)
    case .there(let answer): linked = answer.entity
    case .gone: linked = nil
    }
    if LinkEnd.isEntity(linked, sent) { return Found(.asSent) }
    // The source tells whether it is the link that is gone, and has the ETag that a second try goes under.
    let looked = try await lookup.entity(source)
    guard case .there(let answer) = looked else { return missing(looked, known) }
    var found = Found(.ambiguous, .there(answer))
    if let before = end.before {
      found.evidence = LinkEnd.isEntity(linked, before) ? .asBefore : .different
    } else if let entity = answer.entity, known.hasBaseOfChange, isUnchanged(entity, known) {
      // Where the link led before is not known; nobody has changed its source, which often has the other end's key.
      found.evidence = .asBefore
    }
    // Another property of the source may have changed: it is the link that counts.
    found.hasETag = false
    return found
  }

  /// What the service has of a single link that is a foreign key of its source.
  private func foreignKey(_ keys: QueuedEntity, _ source: String, _ known: Case) async throws -> Found {
    let looked = try await lookup.entity(source)
    guard case .there(let answer) = looked, let entity = answer.entity else { return missing(looked, known) }
    let isAsBefore = isAsBefore(keys.properties.map(\.name), entity, known)
    // The source's ETag tells of its other properties, too.
    var found = Found(
      .init(
        etag: nil, condition: nil, isAsSent: SentContent.matches(keys, entity), isAsBefore: isAsBefore), .there(answer))
    found.hasETag = false
    return found
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

extension EntityLookup.Found {
  /// What was found; nil for nothing.
  var answer: ServerResponse? { if case .there(let answer) = self { answer } else { nil } }
}
