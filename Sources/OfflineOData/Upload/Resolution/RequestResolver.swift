import HTTPCore
import OData
import ODataService
import Storage

/// Finds out what became of a request that was sent and whose answer was lost.
struct RequestResolver: Sendable {
  let journal: UploadJournal

  var store: OpenStore { journal.store }
  var lookup: EntityLookup { EntityLookup(store: store) }

  /// What is known of a request before the service is asked.
  struct Case: Sendable {
    var entry: QueueEntry
    let attempt: UploadAttempt
    /// Where the service has the entity; nil where it gives the key.
    var path: String?
    /// The collection that a creation goes to.
    var collection = ""
    /// The entity's server image before the change.
    var base: EntityCells?
    /// The names of the links that an update sets, and the keys of their entities, empty for none; nil where these
    /// cannot be told.
    var ends: [(name: String, key: [String: ODataValue])]?
    /// Whether something was answered.
    var isAnswered = false
    /// Whether a form of the service's own counts as what was sent.
    var takesForms = true

    /// Whether a download has noticed that the entity is another one: this change may have made it so.
    var isNoticed: Bool { entry.failure?.kind == .conflict }
  }

  /// Looks a request up. Throws ``UploadStop`` where the service cannot be asked.
  ///
  /// - Parameters:
  ///   - isAnswered: the service has ended with it, for it has answered something: it need not be waited for.
  ///   - takesForms: what it may have made of the values that were sent counts as these.
  func end(of entry: QueueEntry, isAnswered: Bool = false, takesForms: Bool = true) async throws -> RequestEnd {
    guard let attempt = entry.attempt.flatMap(UploadAttempt.init(json:)) else { return .queued }
    var known = try await prepare(entry, attempt)
    (known.isAnswered, known.takesForms) = (isAnswered, takesForms)
    switch entry.request.operation {
    case .create: return try await creation(known)
    case .patch, .merge, .replace: return try await update(known)
    case .patchProperty, .replaceProperty, .deleteProperty, .replaceValue: return try await property(known)
    case .delete: return try await deletion(known)
    case .updateMedia, .deleteMedia: return try await media(known)
    // A second time has the effect of the first (OData Protocol 4.01 §11.4.6); what is gone counts as removed.
    case .createLink, .updateLink, .deleteLink: return .queued
    case .action, .createMedia: return unknown(known)
    }
  }

  private func prepare(_ entry: QueueEntry, _ attempt: UploadAttempt) async throws(OfflineODataError) -> Case {
    try await store.read { connection, state, plan in
      var known = Case(entry: entry, attempt: attempt)
      let paths = RowPath(connection: connection, state: state, plan: plan)
      if let entity = entry.request.entity {
        known.path = (try? paths.location(of: entity))?.path
        // A download may have brought what this has made of it.
        known.base = try entry.failure?.base ?? LocalRows(plan, state, connection).base(of: entity)
        if entry.request.operation == .create {
          known.collection = attempt.url.prefix { $0 != "?" }.description
          known.path = try clientKey(entry, entity, plan, paths).map { "\(known.collection)(\($0))" }
        } else {
          known.entry.request.body = paths.asSent(entry.request.body, of: entity)
          if case .entity(let body) = known.entry.request.body { known.ends = paths.ends(of: body.links) }
        }
      } else if let row = entry.request.target.row {
        known.path = (try? paths.location(of: row))?.path
      }
      return known
    }
  }

  /// The key of a creation, where the caller gave it whole.
  private func clientKey(
    _ entry: QueueEntry, _ entity: RowReference, _ plan: ReplicaPlan, _ paths: RowPath
  ) throws -> String? {
    guard case .entity(let body) = entry.request.body, let table = plan.table(entity.table) else { return nil }
    let names = table.type.key.map(\.name)
    var parts: [String] = []
    for name in names {
      guard let property = body.properties.first(where: { $0.name == name }) else { return nil }
      var value = property.value.value
      if let key = property.key {
        guard let given = paths.given(key) else { return nil }
        value = given
      }
      let type = table.column([name])?.type.name
      let literal = try value.urlLiteral(dialect: plan.model.version.dialect, enumerationType: type)
      parts.append(names.count > 1 ? "\(name)=\(literal)" : literal)
    }
    return parts.isEmpty ? nil : parts.joined(separator: ",")
  }

  // MARK: Each operation

  private func update(_ known: Case) async throws -> RequestEnd {
    guard let path = known.path, case .entity(let body) = known.entry.request.body else { return .queued }
    let found = try await lookup.entity(path)
    guard let theirs = theirs(found) else { return unknown(known) }
    let entity = found.answer?.entity
    let isBase = isBase(body.properties, entity, known)
    var isMine = isMine(body, entity, known)
    // An update is done as a whole: properties that are others now tell of the links, too.
    if isMine, !body.links.isEmpty, isBase != false { isMine = try await hasLinks(known, path) }
    let judgement = LookupJudgement.ofUpdate(
      found.answer, ifMatch: known.attempt.ifMatch, isMine: isMine, isBase: isBase)
    return end(judgement, known, theirs)
  }

  /// Whether the entity has the links that were sent; false where the service does not show them.
  private func hasLinks(_ known: Case, _ path: String) async throws -> Bool {
    guard let ends = known.ends,
      let found = try await lookup.entity(path, expand: ends.map(\.name).joined(separator: ",")).answer?.entity
    else { return false }
    return ends.allSatisfy { name, key in
      switch found.navigationLink(name)?.content {
      case .entity(let end)?:
        !key.isEmpty && key.allSatisfy { name, value in end[name].map { SentContent.equal(value, $0) } ?? false }
      case .null?: key.isEmpty
      default: false
      }
    }
  }

  private func deletion(_ known: Case) async throws -> RequestEnd {
    guard let path = known.path else { return .queued }
    let found = try await lookup.entity(path)
    guard let theirs = theirs(found) else { return .queued }
    return end(LookupJudgement.ofDeletion(found.answer, ifMatch: known.attempt.ifMatch), known, theirs)
  }

  func theirs(_ found: EntityLookup.Found) -> RequestEnd.Theirs? {
    switch found {
    case .there(let answer): .there(answer)
    case .gone: .gone
    case .refused: nil
    }
  }

  /// Whether the entity has what was sent, also in a form of the service's own; what it had before is not that, nor what
  /// another has made of it.
  func isMine(_ sent: QueuedEntity, _ found: ODataEntity?, _ known: Case) -> Bool {
    guard let found else { return false }
    if SentContent.matches(sent, found) { return true }
    let plan = store.replica.plan
    guard known.takesForms, let base = known.base,
      let table = known.entry.request.entity.flatMap({ plan.table($0.table) })
    else { return false }
    return sent.properties.allSatisfy { property in
      guard let value = found[property.name] else { return property.value.value == .null }
      if SentContent.equal(property.value.value, value) { return true }
      guard SentContent.isForm(value, of: property.value.value),
        let column = table.column([property.name]), column.storage != .complex,
        let before = try? column.value(of: base[column.name] ?? .null, model: plan.model)
      else { return false }
      return !SentContent.isForm(value, of: before)
    }
  }

  /// Whether the entity still has the values that it had before, of those that were sent.
  private func isBase(_ sent: [QueuedProperty], _ found: ODataEntity?, _ known: Case) -> Bool? {
    let plan = store.replica.plan
    guard let found, let base = known.base, let entity = known.entry.request.entity,
      let table = plan.table(entity.table),
      let cells = try? EntityCells(entity: found, in: table, plan: plan)
    else { return nil }
    return sent.allSatisfy { property in
      table.column([property.name]).map { (base[$0.name] ?? .null) == (cells[$0.name] ?? .null) } ?? true
    }
  }

  // MARK: Ends

  func end(_ judgement: LookupJudgement, _ known: Case, _ theirs: RequestEnd.Theirs) -> RequestEnd {
    switch judgement {
    case .done:
      if case .there(let answer) = theirs { return .done(answer) }
      return .done(ServerAnswer())
    case .notDone: return .queued
    case .conflict:
      var failure = failure(
        .conflict, "The entity has changed at the service, and the answer to this change was lost.", known)
      failure.httpStatus = 412
      return .archived(failure, theirs: theirs)
    case .unknown: return unknown(known)
    }
  }

  func unknown(_ known: Case) -> RequestEnd {
    .archived(
      failure(
        .unknownOutcome,
        "The answer was lost, and whether the service has done it cannot be told. Look it up there, then requeue or discard it.",
        known))
  }

  private func failure(_ kind: ArchivedFailure.Kind, _ message: String, _ known: Case) -> ArchivedFailure {
    ArchivedFailure(
      kind: kind, message: message, method: known.attempt.method, url: known.attempt.url,
      time: Double(store.conversation.options.clock.unixTime()))
  }
}

extension EntityLookup.Found {
  /// What was found; nil for nothing.
  var answer: ServerAnswer? { if case .there(let answer) = self { answer } else { nil } }
}

extension RequestResolver {
  /// Whether the service is known to recognise a request by its name: by the metadata, else by an answer.
  func knowsName(of request: QueuedRequest) async throws -> Bool {
    if let isSaid = store.replica.model.saysRepeatable(request) { return isSaid }
    return try await store.replica.setting(UploadEnds.repeatableSetting) != nil
  }

  /// Whether a request can be sent again as it was, under its name: the service recognises it then.
  func isRepeatable(_ entry: QueueEntry, in unit: [QueueEntry]) async throws -> Bool {
    guard journal.options.namesRequests, !store.refusesNames, try await knowsName(of: entry.request),
      let last = entry.attempt.flatMap(UploadAttempt.init(json:))
    else { return false }
    return try await store.read { connection, state, plan in
      var set = RequestRendering.ChangeSet()
      set.hasReferences = unit.count > 1
      let rendering = journal.rendering(connection, state, plan)
      for other in unit {
        guard let request = try? rendering.request(other.request, contentID: String(other.id), in: &set) else {
          return false
        }
        if other.id == entry.id { return UploadAttempt(request, after: last, now: 0, random: { 0 }).id == last.id }
      }
      return false
    }
  }
}
