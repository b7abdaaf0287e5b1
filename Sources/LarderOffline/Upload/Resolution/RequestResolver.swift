import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// Finds out what became of an uncertain request: looks up what the service has now, and asks ``UncertainOutcome`` what that
/// means.
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
    /// A download has brought the entity that a creation makes.
    var wasSeen = false
    /// What the request's body may have become: as it was sent, and with the later changes of its transaction over it.
    var contents: [QueuedEntity] = []
    /// A later request of its transaction deletes the entity.
    var isDeletedLater = false
    /// The single links that an update or a creation sets.
    var links: [LinkEnd] = []
    /// Whether something was answered.
    var isAnswered = false
    /// Whether a form of the service's own counts as what was sent.
    var takesForms = true

    /// The ETag that the request was sent under; nil for none and for `*`.
    var condition: String? { attempt.ifMatch == "*" ? nil : attempt.ifMatch }

    /// Whether the server image is the version that the change was made on: a download may have brought another with the
    /// same values and other links.
    var hasBaseOfChange: Bool { entry.request.baseETag.map { $0 == base?.text(.etag) } ?? true }
  }

  /// What a look-up found.
  struct Found: Sendable {
    var evidence: UncertainOutcome.Evidence
    var theirs = RequestEnd.ServerVersion.unknown
    /// The service gives what it found an ETag.
    var hasETag = false

    init(_ evidence: UncertainOutcome.Evidence, _ theirs: RequestEnd.ServerVersion = .unknown) {
      (self.evidence, self.theirs) = (evidence, theirs)
      if case .there(let answer) = theirs { hasETag = answer.etag != nil }
    }
  }

  /// Looks a request up. Throws ``UploadStop`` where the service cannot be asked.
  ///
  /// - Parameters:
  ///   - isAnswered: the service has ended with it, for it has answered something: it need not be waited for.
  ///   - takesForms: what it may have made of the values that were sent counts as these.
  ///   - made: where the service has entities that earlier requests of the same transaction were found to have made.
  func end(
    of entry: QueueEntry, isAnswered: Bool = false, takesForms: Bool = true, made: [RowReference: String] = [:]
  ) async throws -> RequestEnd {
    guard let attempt = entry.attempt.flatMap(UploadAttempt.init(json:)) else { return .queued }
    var known = try await prepare(entry, attempt)
    (known.isAnswered, known.takesForms) = (isAnswered, takesForms)
    if let entity = entry.request.entity, !entry.request.makesEntity, known.path == nil {
      // The entity was not created: nor was it changed.
      guard let path = made[entity] else { return .queued }
      known.path = path
    }
    let found: Found
    do { found = try await find(known) } catch is UnreadableLookup { found = Found(.unanswered) }
    return end(kind(known), found, known)
  }

  private func kind(_ known: Case) -> UncertainOutcome.Kind {
    switch known.entry.request.operation {
    case .create: known.path == nil ? .creationWithoutKey : .creation
    case .patch, .merge, .replace, .patchProperty, .replaceProperty, .deleteProperty, .replaceValue, .updateMedia,
      .deleteMedia, .createLink, .updateLink, .deleteLink:
      .change
    case .delete: .deletion
    case .action, .createMedia: .call
    }
  }

  private func find(_ known: Case) async throws -> Found {
    switch known.entry.request.operation {
    case .create: try await creation(known)
    case .patch, .merge, .replace: try await update(known)
    case .patchProperty, .replaceProperty, .deleteProperty, .replaceValue: try await property(known)
    case .delete: try await deletion(known)
    case .updateMedia, .deleteMedia: try await media(known)
    case .createLink, .updateLink, .deleteLink: try await link(known)
    case .action, .createMedia: Found(.ambiguous)
    }
  }

  // MARK: Entities

  private func update(_ known: Case) async throws -> Found {
    guard let path = known.path, let body = known.contents.first else { return Found(.unanswered) }
    let looked = try await lookup.entity(path)
    guard case .there(let answer) = looked, let entity = answer.entity else { return missing(looked, known) }
    var isAsSent = known.contents.contains { isMine($0, entity, known) }
    var isAsBefore = isAsBefore(body.properties.map(\.name), entity, known)
    if !body.links.isEmpty, isAsSent || isAsBefore != false {
      // An update is done as a whole: its links tell where its properties do not.
      let links = try await links(known, path)
      isAsSent = isAsSent && links.isAsSent
      let isUnchanged = known.hasBaseOfChange && isUnchanged(entity, known)
      if isAsBefore == true { isAsBefore = links.isAsBefore ?? (isUnchanged ? true : nil) }
    }
    return Found(
      .init(etag: answer.etag, condition: known.condition, isAsSent: isAsSent, isAsBefore: isAsBefore), .there(answer))
  }

  private func deletion(_ known: Case) async throws -> Found {
    guard let path = known.path else { return Found(.unanswered) }
    let looked = try await lookup.entity(path)
    guard case .there(let answer) = looked, let entity = answer.entity else { return missing(looked, known) }
    return Found(
      .init(
        etag: answer.etag, condition: known.condition, isAsSent: false,
        isAsBefore: isUnchanged(entity, known)), .there(answer))
  }

  /// Whether an entity has all the values that the store knew before the change.
  func isUnchanged(_ entity: ODataEntity, _ known: Case) -> Bool {
    if let before = known.base?.text(.etag), let etag = entity.etag, before != etag { return false }
    // What a query leaves out is null in the store.
    let before = known.base.flatMap { baseEntity($0, known) }?.properties.filter { $0.value != .null } ?? []
    return !before.isEmpty && isAsBefore(before.map(\.name), entity, known) == true
  }

  /// The evidence where no entity was found.
  func missing(_ looked: EntityLookup.Found, _ known: Case) -> Found {
    switch looked {
    case .gone: Found(known.isDeletedLater ? .asSent : .gone, .gone)
    case .there, .refused: Found(.unanswered)
    }
  }

  // MARK: Values

  /// Whether the entity has what was sent, also in a form of the service's own; what it had before is not that, nor what
  /// another has made of it.
  func isMine(_ sent: QueuedEntity, _ found: ODataEntity, _ known: Case) -> Bool {
    if SentContent.matches(sent, found) { return true }
    guard known.takesForms, let base = known.base.flatMap({ baseEntity($0, known) }) else { return false }
    return sent.properties.allSatisfy { property in
      guard let value = found[property.name] else { return property.value.value == .null }
      if SentContent.equal(property.value.value, value) { return true }
      guard SentContent.isForm(value, of: property.value.value), let before = base[property.name] else { return false }
      return !SentContent.isForm(value, of: before)
    }
  }

  /// Whether some properties of an entity have the values that they had before; nil where those are not known.
  func isAsBefore(_ names: [String], _ found: ODataEntity, _ known: Case) -> Bool? {
    guard let base = known.base.flatMap({ baseEntity($0, known) }) else { return nil }
    for name in names {
      guard let before = base[name] else { return nil }
      if let value = found[name] {
        guard SentContent.equal(before, value) else { return false }
      } else if before != .null {
        // What the service does not show tells nothing.
        return nil
      }
    }
    return true
  }

  private func baseEntity(_ cells: EntityCells, _ known: Case) -> ODataEntity? {
    let plan = store.replica.plan
    return known.entry.request.entity.flatMap { plan.table($0.table) }.map { cells.entity(in: $0, plan) }
  }

  // MARK: Ends

  private func end(_ kind: UncertainOutcome.Kind, _ found: Found, _ known: Case) -> RequestEnd {
    let isConditional = known.condition != nil && (found.hasETag || found.evidence == .unanswered)
    switch UncertainOutcome.of(kind, found.evidence, isConditional: isConditional) {
    case .done:
      if case .there(let answer) = found.theirs { return .done(answer) }
      return .done(ServerResponse())
    case .notDone: return .queued
    case .conflict(let mayHaveTakenEffect):
      var failure = failure(
        .conflict,
        mayHaveTakenEffect
          ? "The response was lost, and another client has changed the entity: the change may have taken effect before that."
          : "The response was lost. The change did not take effect, and another client has changed the entity.",
        known.attempt)
      failure.httpStatus = 412
      failure.mayHaveTakenEffect = mayHaveTakenEffect
      return .archived(failure, theirs: found.theirs)
    case .unclear: return unclear(known.attempt)
    }
  }

  private func unclear(_ attempt: UploadAttempt) -> RequestEnd {
    .archived(
      failure(
        .unknownOutcome,
        "The response was lost, and a look-up could not determine whether the request took effect. Check the service, then retry or discard the request.",
        attempt))
  }

  private func failure(_ kind: ArchivedFailure.Kind, _ message: String, _ attempt: UploadAttempt) -> ArchivedFailure {
    ArchivedFailure(
      kind: kind, message: message, method: attempt.method, url: attempt.url,
      time: Double(store.conversation.options.environment.unixSeconds))
  }

  /// What became of the requests of a change set, which has one outcome: a creation whose entity is not found, where
  /// another request has taken effect or may have, is unclear. Another client may have deleted the entity since.
  ///
  /// - Parameter sent: the requests that were looked up, by their numbers.
  func together(
    _ ends: [(entry: QueueEntry, end: RequestEnd)], sent: Set<Int64>
  ) -> [(entry: QueueEntry, end: RequestEnd)] {
    // One that the service has said to have failed has no outcome of its own: what took effect all the same was looked up.
    let isRejected = ends.contains { $0.entry.attempt.flatMap(UploadAttempt.init(json:))?.isRejected == true }
    if isRejected { return ends }
    let ends = UploadEnds.carriedOut(ends)
    let mayBeDone = ends.contains { _, end in
      switch end {
      case .done(let answer): answer.entity != nil
      case .archived(let failure, _): failure.mayHaveTakenEffect == true
      default: false
      }
    }
    guard mayBeDone else { return ends }
    return ends.map { entry, end in
      guard case .queued = end, entry.state == .queued, sent.contains(entry.id), entry.request.makesEntity,
        let attempt = entry.attempt.flatMap(UploadAttempt.init(json:))
      else { return (entry, end) }
      return (entry, unclear(attempt))
    }
  }
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
