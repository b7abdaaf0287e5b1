import LarderCore
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

/// Determines the outcome of an uncertain request: it looks up the current state at the service, and
/// ``UncertainOutcome`` decides.
struct RequestResolver: Sendable {
  let journal: UploadJournal

  var store: OpenStore { journal.store }
  var lookup: EntityLookup { EntityLookup(store: store) }

  /// The local data about a request, read before the look-up.
  struct UncertainRequest: Sendable {
    var entry: QueueEntry
    let attempt: UploadAttempt
    /// The path of the entity at the service; nil if the service assigns the key.
    var path: String?
    /// The collection to which a creation is sent.
    var collection = ""
    /// The server's version of the entity before the change.
    var base: EntityCells?
    /// Whether a download has stored the entity of the creation.
    var wasDownloaded = false
    /// The possible contents after the request: as it was sent, and with the later changes of its transaction.
    var contents: [QueuedEntity] = []
    /// Whether a later request of its transaction deletes the entity.
    var isDeletedLater = false
    /// The single links that an update or a creation sets.
    var links: [LinkEnd] = []
    /// Whether the service has responded to the request.
    var hasResponse = false
    /// Whether a form of a value that the service has changed (`isForm`) counts as the value that was sent.
    var acceptsServiceForms = true

    /// The ETag that the request was sent with; nil for none, for `*`, and for an old one, which says nothing of other
    /// clients.
    var condition: String? { attempt.ifMatch == "*" || entry.request.hasOldCondition ? nil : attempt.ifMatch }

    /// Whether the stored server version is the one that the change was based on. A download may have stored another
    /// with the same values and other links.
    var hasBaseOfChange: Bool { entry.request.baseETag.map { $0 == base?.text(.etag) } ?? true }
  }

  /// What a look-up found.
  struct Finding: Sendable {
    var evidence: UncertainOutcome.Evidence
    var theirs = RequestOutcome.ServerVersion.unknown
    /// Whether the service returned an ETag with it.
    var hasETag = false

    init(_ evidence: UncertainOutcome.Evidence, _ theirs: RequestOutcome.ServerVersion = .unknown) {
      (self.evidence, self.theirs) = (evidence, theirs)
      if case .existing(let serverResponse) = theirs { hasETag = serverResponse.etag != nil }
    }
  }

  /// Looks up the outcome of a request. Throws ``UploadStop`` if the service cannot be reached.
  ///
  /// - Parameters:
  ///   - hasResponse: whether the service has responded to the request, so that it is no longer processing it.
  ///   - acceptsServiceForms: whether a form of a value that the service has changed counts as the value that was sent.
  ///   - createdPaths: the paths of entities that earlier requests of the transaction have created, as look-ups have found.
  func outcome(
    of entry: QueueEntry, hasResponse: Bool = false, acceptsServiceForms: Bool = true,
    createdPaths: [RowReference: String] = [:]
  ) async throws -> RequestOutcome {
    guard let attempt = entry.attempt.flatMap(UploadAttempt.init(json:)) else { return .queued }
    var uncertain = try await prepare(entry, attempt)
    (uncertain.hasResponse, uncertain.acceptsServiceForms) = (hasResponse, acceptsServiceForms)
    if let entity = entry.request.entity, !entry.request.makesEntity, uncertain.path == nil {
      // The entity was not created, so it was not changed either.
      guard let path = createdPaths[entity] else { return .queued }
      uncertain.path = path
    }
    let finding: Finding
    do { finding = try await find(uncertain) } catch is UnreadableLookup { finding = Finding(.inconclusive) }
    return outcome(kind(uncertain), finding, uncertain)
  }

  private func kind(_ uncertain: UncertainRequest) -> UncertainOutcome.Kind {
    switch uncertain.entry.request.operation {
    case .create: uncertain.path == nil ? .creationWithoutKey : .creation
    case .patch, .merge, .replace, .patchProperty, .replaceProperty, .deleteProperty, .replaceValue, .updateMedia,
      .deleteMedia, .createLink, .updateLink, .deleteLink:
      .change
    case .delete: .deletion
    case .action, .createMedia: .call
    }
  }

  private func find(_ uncertain: UncertainRequest) async throws -> Finding {
    switch uncertain.entry.request.operation {
    case .create: try await creation(uncertain)
    case .patch, .merge, .replace: try await update(uncertain)
    case .patchProperty, .replaceProperty, .deleteProperty, .replaceValue: try await property(uncertain)
    case .delete: try await deletion(uncertain)
    case .updateMedia, .deleteMedia: try await media(uncertain)
    case .createLink, .updateLink, .deleteLink: try await link(uncertain)
    case .action, .createMedia: Finding(.ambiguous)
    }
  }

  // MARK: Entities

  private func update(_ uncertain: UncertainRequest) async throws -> Finding {
    guard let path = uncertain.path, let body = uncertain.contents.first else { return Finding(.inconclusive) }
    let lookupResult = try await lookup.entity(path, of: uncertain.entry.request.entity)
    guard case .existing(let serverResponse) = lookupResult, let entity = serverResponse.entity else {
      return missing(lookupResult, uncertain)
    }
    var isAsSent = uncertain.contents.contains { isMine($0, entity, uncertain) }
    var isAsBefore = isAsBefore(body.properties.map(\.name), entity, uncertain)
    if !body.links.isEmpty, isAsSent || isAsBefore != false {
      // An update takes effect as a whole, so its links are conclusive if its properties are not.
      let links = try await links(uncertain, path)
      isAsSent = isAsSent && links.isAsSent
      let isUnchanged = uncertain.hasBaseOfChange && isUnchanged(entity, uncertain)
      if isAsBefore == true { isAsBefore = links.isAsBefore ?? (isUnchanged ? true : nil) }
    }
    return Finding(
      .init(etag: serverResponse.etag, condition: uncertain.condition, isAsSent: isAsSent, isAsBefore: isAsBefore),
      .existing(serverResponse))
  }

  private func deletion(_ uncertain: UncertainRequest) async throws -> Finding {
    guard let path = uncertain.path else { return Finding(.inconclusive) }
    let lookupResult = try await lookup.entity(path, of: uncertain.entry.request.entity)
    guard case .existing(let serverResponse) = lookupResult, let entity = serverResponse.entity else {
      return missing(lookupResult, uncertain)
    }
    return Finding(
      .init(
        etag: serverResponse.etag, condition: uncertain.condition, isAsSent: false,
        isAsBefore: isUnchanged(entity, uncertain)), .existing(serverResponse))
  }

  /// Whether an entity has all the values that the store knew before the change.
  func isUnchanged(_ entity: ODataEntity, _ uncertain: UncertainRequest) -> Bool {
    if let before = uncertain.base?.text(.etag), let etag = entity.etag, before != etag { return false }
    // Properties that a query leaves out are null in the store.
    let before = uncertain.base.flatMap { baseEntity($0, uncertain) }?.properties.filter { $0.value != .null } ?? []
    return !before.isEmpty && isAsBefore(before.map(\.name), entity, uncertain) == true
  }

  /// The evidence if no entity was found.
  func missing(_ lookupResult: EntityLookup.LookupResult, _ uncertain: UncertainRequest) -> Finding {
    switch lookupResult {
    case .gone: Finding(uncertain.isDeletedLater ? .asSent : .gone, .gone)
    case .other(let path): Finding(.ambiguous, .other(path))
    case .existing, .inconclusive: Finding(.inconclusive)
    }
  }

  // MARK: Values

  /// Whether the entity has the values that were sent, also in a form that the service has changed. A value that it had
  /// before, or that another user has set, does not count.
  func isMine(_ sent: QueuedEntity, _ received: ODataEntity, _ uncertain: UncertainRequest) -> Bool {
    if SentContent.matches(sent, received) { return true }
    guard uncertain.acceptsServiceForms, let base = uncertain.base.flatMap({ baseEntity($0, uncertain) }) else {
      return false
    }
    return sent.properties.allSatisfy { property in
      guard let value = received[property.name] else { return property.value.value == .null }
      if SentContent.equal(property.value.value, value) { return true }
      guard SentContent.isForm(value, of: property.value.value), let before = base[property.name] else { return false }
      return !SentContent.isForm(value, of: before)
    }
  }

  /// Whether some properties of an entity have their former values; nil if those are not known.
  func isAsBefore(_ names: [String], _ received: ODataEntity, _ uncertain: UncertainRequest) -> Bool? {
    guard let base = uncertain.base.flatMap({ baseEntity($0, uncertain) }) else { return nil }
    for name in names {
      guard let before = base[name] else { return nil }
      if let value = received[name] {
        guard SentContent.equal(before, value) else { return false }
      } else if before != .null {
        // A property that the service does not return is inconclusive.
        return nil
      }
    }
    return true
  }

  private func baseEntity(_ cells: EntityCells, _ uncertain: UncertainRequest) -> ODataEntity? {
    let plan = store.replica.plan
    return uncertain.entry.request.entity.flatMap { plan.table($0.table) }.map { cells.entity(in: $0, plan) }
  }

  // MARK: Ends

  private func outcome(_ kind: UncertainOutcome.Kind, _ finding: Finding, _ uncertain: UncertainRequest)
    -> RequestOutcome
  {
    let isConditional = uncertain.condition != nil && (finding.hasETag || finding.evidence == .inconclusive)
    switch UncertainOutcome.of(kind, finding.evidence, isConditional: isConditional) {
    case .done:
      if case .existing(let serverResponse) = finding.theirs { return .done(serverResponse) }
      return .done(ServerResponse())
    case .notDone:
      guard uncertain.attempt.isAccepted == true else { return .queued }
      return .archived(
        failure(
          .unknownOutcome,
          "The service has accepted the request (202), and a look-up does not find its entity. Check the service, then retry or discard the request.",
          uncertain.attempt))
    case .conflict(let mayHaveTakenEffect):
      var failure = failure(
        .conflict,
        mayHaveTakenEffect
          ? "The response was lost, and another client has changed the entity: the change may have taken effect before that."
          : "The response was lost. The change did not take effect, and another client has changed the entity.",
        uncertain.attempt)
      failure.httpStatus = 412
      failure.mayHaveTakenEffect = mayHaveTakenEffect
      return .archived(failure, theirs: finding.theirs)
    case .unclear:
      let outcome = unclear(uncertain.attempt)
      guard case .archived(let failure, _) = outcome, case .other(let path) = finding.theirs else { return outcome }
      return .archived(failure.seeing(path))
    }
  }

  private func unclear(_ attempt: UploadAttempt) -> RequestOutcome {
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

  /// The results of the requests of a change set, which has one outcome. A creation whose entity is not found is
  /// unclear if another request has taken effect or may have: another client may have deleted the entity since.
  ///
  /// - Parameter sent: the numbers of the requests that were looked up.
  func together(
    _ outcomes: [(entry: QueueEntry, outcome: RequestOutcome)], sent: Set<Int64>
  ) -> [(entry: QueueEntry, outcome: RequestOutcome)] {
    // A change set that the service has reported as failed has no common outcome. Requests that took effect anyway were
    // looked up.
    let isRejected = outcomes.contains { $0.entry.attempt.flatMap(UploadAttempt.init(json:))?.isRejected == true }
    if isRejected { return outcomes }
    let outcomes = ResponseEvaluation.propagatingSuccess(outcomes)
    let mayBeDone = outcomes.contains { _, outcome in
      switch outcome {
      case .done(let serverResponse): serverResponse.entity != nil
      case .archived(let failure, _): failure.mayHaveTakenEffect == true
      default: false
      }
    }
    guard mayBeDone else { return outcomes }
    return outcomes.map { entry, outcome in
      guard case .queued = outcome, entry.state == .queued, sent.contains(entry.id), entry.request.makesEntity,
        let attempt = entry.attempt.flatMap(UploadAttempt.init(json:))
      else { return (entry, outcome) }
      return (entry, unclear(attempt))
    }
  }
}

extension RequestResolver {
  /// Whether the service is known to recognize a request by its identifier: by the metadata, otherwise by an earlier
  /// response.
  func knowsName(of request: QueuedRequest) async throws -> Bool {
    if let isSaid = store.replica.model.declaresRepeatability(request) { return isSaid }
    return try await store.replica.setting(ResponseEvaluation.repeatableSetting) != nil
  }

  /// Whether a request can be sent again unchanged, with its identifier, by which the service recognizes it.
  func isRepeatable(_ entry: QueueEntry, in unit: [QueueEntry]) async throws -> Bool {
    guard journal.options.namesRequests, !store.rejectsRequestNames, try await knowsName(of: entry.request),
      let last = entry.attempt.flatMap(UploadAttempt.init(json:))
    else { return false }
    return try await store.read { snapshot in
      var set = RequestRendering.ChangeSet()
      set.hasReferences = unit.count > 1
      let rendering = journal.rendering(snapshot)
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
