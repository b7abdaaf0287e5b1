import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// Determines the results of a unit's requests from the responses to them.
struct ResponseEvaluation: Sendable {
  let journal: UploadJournal

  var store: OpenStore { journal.store }
  var model: EdmModel { store.replica.model }
  private var time: Int64 { store.conversation.options.environment.unixSeconds }

  /// The response to a unit.
  enum UnitResponse: Sendable {
    /// One for each request.
    case each([ODataBatchResponse.RequestResult])
    /// One error for all requests: the change set failed, or the single request did.
    case whole(ODataServiceError)
  }

  /// Determines the results of a unit's requests. `stop` is the reason why the upload stops.
  func outcomes(
    of unit: PreparedUnit, _ response: UnitResponse
  ) async throws -> (UploadCommit.Unit, stop: UploadStop?) {
    do { return try await evaluate(unit, response) } catch let stop as UploadStop {
      // The service cannot be reached now. The next upload looks up the whole unit.
      let outcomes = unit.members.map { (entry: $0.entry, outcome: RequestOutcome.inDoubt) }
      let unit = UploadCommit.Unit(id: unit.id, outcomes: outcomes, isRejected: isRejection(response))
      return (unit, stop)
    }
  }

  /// Whether the service responded that the unit failed.
  private func isRejection(_ response: UnitResponse) -> Bool {
    func isRejection(_ error: ODataServiceError) -> Bool {
      switch UploadOutcome.of(error, isRemoval: false) {
      case .rejected, .failed, .conflict, .needsCondition: true
      default: false
      }
    }
    return switch response {
    case .whole(let error): isRejection(error)
    case .each(let responses):
      responses.contains { if case .failure(let error) = $0 { isRejection(error) } else { false } }
    }
  }

  private func evaluate(
    _ unit: PreparedUnit, _ response: UnitResponse
  ) async throws -> (UploadCommit.Unit, stop: UploadStop?) {
    var outcomes: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    var stop: UploadStop?
    if let outcomes = try await outcomesWithoutNames(unit, response) {
      return (UploadCommit.Unit(id: unit.id, outcomes: outcomes), nil)
    }
    if let outcomes = try await outcomesWithoutAnyVersion(unit, response) {
      return (UploadCommit.Unit(id: unit.id, outcomes: outcomes), nil)
    }
    if let outcomes = try await conflicts(of: unit, response) {
      return (UploadCommit.Unit(id: unit.id, outcomes: outcomes), nil)
    }
    switch response {
    case .each(let responses):
      let hasFailed = responses.contains { if case .failure(let error) = $0 { !isMissing(error) } else { false } }
      for (member, response) in zip(unit.members, responses) {
        switch response {
        case .success(let response):
          try await learn(response.fields)
          if response.httpStatus == 202, member.entry.request.makesEntity {
            outcomes.append((member.entry, .accepted))
            continue
          }
          let serverResponse = ServerResponse(response, to: member.entry.request, store.replica.plan)
          if !hasFailed, let outcome = try await unexpectedOutcome(response, serverResponse, member, in: unit) {
            outcomes.append((member.entry, outcome))
            continue
          }
          if !hasFailed { try await learnAnyVersion(member) }
          var outcome = RequestOutcome.done(await complete(serverResponse, member, in: unit))
          // The request is reported as done in a change set that failed, so the service should have rolled it back.
          if hasFailed, try await !hasCreated(serverResponse, member) {
            switch try await lookedUp(member) {
            case .done: break
            case .archived(let failure, let theirs): outcome = .archived(failure, theirs: theirs)
            default: outcome = .archived(try await failure(of: member, rolledBackError(unit)))
            }
          }
          outcomes.append((member.entry, outcome))
        case .failure(let error):
          var (outcome, stopReason) = try await self.outcome(of: member, error)
          // A request without a response, beside others that have one, is looked up now, while the later requests of
          // the change set are still known. If another request failed, it is looked up to detect services that do not
          // roll back.
          if isMissing(error), unit.members.count > 1 {
            outcome = try await lookedUp(member)
          } else if hasFailed {
            outcome = try await verifyingRollback(outcome, member, unit)
          }
          outcomes.append((member.entry, outcome))
          stop = stop ?? stopReason
        }
      }
    case .whole(let error):
      if isSplit(unit, error) {
        return (UploadCommit.Unit(id: unit.id, outcomes: unit.members.map { ($0.entry, .queued) }, isSplit: true), nil)
      }
      for member in unit.members {
        let (outcome, stopReason) = try await self.outcome(of: member, error, isOwn: unit.members.count == 1)
        stop = stop ?? stopReason
        outcomes.append((member.entry, try await verifyingRollback(outcome, member, unit)))
      }
    }
    return (
      UploadCommit.Unit(
        id: unit.id, outcomes: ResponseEvaluation.together(ResponseEvaluation.propagatingSuccess(outcomes))), stop
    )
  }

  /// The result of a successful response that contradicts the request; nil for the others.
  private func unexpectedOutcome(
    _ response: ODataSingleResponse, _ serverResponse: ServerResponse, _ member: PreparedRequest, in unit: PreparedUnit
  ) async throws -> RequestOutcome? {
    if let outcome = try await recreatedOutcome(response, serverResponse, member) { return outcome }
    return try await otherEntityOutcome(serverResponse, member, in: unit)
  }

  private func isMissing(_ error: ODataServiceError) -> Bool {
    UploadOutcome.of(error, isRemoval: false) == .unclear
  }

  /// The requests of a unit belong together: if one is archived, the others cannot stay pending.
  static func together(_ outcomes: [(entry: QueueEntry, outcome: RequestOutcome)]) -> [(
    entry: QueueEntry, outcome: RequestOutcome
  )] {
    let failure = outcomes.lazy.compactMap { if case .archived(let failure, _) = $0.outcome { failure } else { nil } }
      .first
    guard let failure else { return outcomes }
    return outcomes.map { entry, outcome in
      switch outcome {
      case .queued, .again, .discarded: (entry, .archived(failure))
      // An uncertain request is held with them, and looked up when it is released.
      case .done, .archived, .inDoubt, .accepted: (entry, outcome)
      }
    }
  }

  /// A change set takes effect as a whole (Protocol §11.7.4). If a look-up proves that one of its requests took effect,
  /// so did those whose look-up was inconclusive, or found a later version. A creation whose entity is not found by its
  /// key stays unclear.
  static func propagatingSuccess(_ outcomes: [(entry: QueueEntry, outcome: RequestOutcome)]) -> [(
    entry: QueueEntry, outcome: RequestOutcome
  )] {
    let isProven = outcomes.contains {
      if case .done(let response) = $0.outcome { response.entity != nil } else { false }
    }
    guard isProven else { return outcomes }
    return outcomes.map { entry, outcome in
      guard case .archived(let failure, let theirs) = outcome,
        failure.kind == .unknownOutcome && !failure.isOfService || failure.mayHaveTakenEffect == true
      else { return (entry, outcome) }
      switch theirs {
      case .existing(var serverResponse):
        serverResponse.isLaterVersion = true
        return (entry, .done(serverResponse))
      case .unknown where !entry.request.makesEntity: return (entry, .done(ServerResponse()))
      case .unknown, .gone, .other: return (entry, outcome)
      }
    }
  }

  /// - Parameter isOwn: whether the error is the response to this request, and not the one that a change set got as a
  ///   whole: then another request may be the one whose entity does not exist.
  private func outcome(
    of member: PreparedRequest, _ error: ODataServiceError, isOwn: Bool = true
  ) async throws -> (RequestOutcome, stop: UploadStop?) {
    if let outcome = try await anyVersionOutcome(member, error) { return (outcome, nil) }
    let meaning = UploadOutcome.of(error, isRemoval: isOwn && member.entry.request.isRemoval)
    switch meaning {
    case .done, .doneBefore: return (.done(ServerResponse()), nil)
    case .notSent: return (.queued, nil)
    case .unclear: return (.inDoubt, nil)
    case .stop(let mayHaveTakenEffect):
      return (mayHaveTakenEffect ? .inDoubt : .queued, UploadStop(error))
    case .rejected:
      if let outcome = try await earlierSuccess(member, error) { return (outcome, nil) }
      if let outcome = try await unacceptableOutcome(member, error) { return (outcome, nil) }
      if let outcome = try await linkOutcome(member, error) { return (outcome, nil) }
      return (try await rejection(member, error), nil)
    case .failed: return (.archived(try await failure(of: member, error, kind: .unknownOutcome)), nil)
    case .conflict:
      if let outcome = try await linkOutcome(member, error) { return (outcome, nil) }
      return (try await conflictOutcome(member, error), nil)
    case .needsCondition:
      if let outcome = try await linkOutcome(member, error) { return (outcome, nil) }
      guard member.request.ifMatch == nil, wantsCondition(member.entry.request) else {
        return (try await rejection(member, error), nil)
      }
      let failure = try await failure(of: member, error)
      return (try await ConflictResolution(journal: journal).unconditional(member.entry, failure: failure), nil)
    }
  }

  /// Whether the service can demand a condition for a request.
  func wantsCondition(_ request: QueuedRequest) -> Bool {
    request.entity != nil && !request.makesEntity && !request.isOfManyLink
  }

  /// The result of a creation that was sent before, looked up too early, and is rejected now because its entity exists.
  /// Nil if it was not created before.
  private func earlierSuccess(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestOutcome? {
    guard member.entry.request.operation == .create, member.entry.attempt != nil, let status = error.httpStatus,
      [400, 409, 412, 422].contains(status),
      case .done(let serverResponse) = try await RequestResolver(journal: journal).outcome(
        of: member.entry, hasResponse: true)
    else { return nil }
    return .done(serverResponse)
  }

  /// The result of a creation or action that is rejected with 406. This is about the form of the response: the service
  /// may have executed it (RFC 9110 §15.5.7). Nil if it has not.
  private func unacceptableOutcome(
    _ member: PreparedRequest, _ error: ODataServiceError
  ) async throws -> RequestOutcome? {
    let request = member.entry.request
    guard error.httpStatus == 406, request.makesEntity || request.operation == .action else { return nil }
    switch try await lookedUp(member) {
    case .queued: return nil
    case .done(let serverResponse): return .done(await whole(serverResponse, request))
    case .archived(let lookUpFailure, let theirs):
      var failure = try await failure(of: member, error, kind: lookUpFailure.kind)
      failure.mayHaveTakenEffect = lookUpFailure.mayHaveTakenEffect
      return .archived(failure, theirs: theirs)
    case let outcome: return outcome
    }
  }

  /// The result of a rejected request, with the server's version if that is the reason: the entity has another version,
  /// an entity with the key exists, or does not exist.
  private func rejection(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestOutcome {
    var theirs = try await versionAfterRejection(member, error)
    if let theirs, let outcome = try await conflictOutcome(ofRejected: member, error, theirs: theirs) { return outcome }
    var failure = try await failure(of: member, error)
    if case .other(let other) = theirs { return .archived(failure.seeing(other)) }
    guard let status = error.httpStatus, [404, 409, 410].contains(status),
      let path = try await entityPath(member.entry.request)
    else { return .archived(failure) }
    if theirs == nil {
      let lookupResult = await store.lookUp(path) {
        try await EntityLookup(store: store).entity(path, of: member.entry.request.entity)
      }
      theirs = lookupResult.map(RequestOutcome.ServerVersion.init)
    }
    switch theirs {
    case .existing(let serverResponse):
      failure.showsTheirs = true
      return .archived(failure, theirs: .existing(serverResponse))
    case .gone where !member.entry.request.makesEntity:
      failure.showsTheirs = true
      return .archived(failure, theirs: .gone)
    case .other(let other): return .archived(failure.seeing(other))
    case .gone, .unknown, nil: return .archived(failure)
    }
  }

  /// The path of the entity of a request. For a created entity, this is the path by the key that the caller set; nil if
  /// the service assigns the key.
  private func entityPath(_ request: QueuedRequest) async throws -> String? {
    guard let entity = request.entity else { return nil }
    return try await store.read { snapshot in
      guard request.makesEntity else {
        return (try? RowPath(snapshot: snapshot).location(of: entity))?.path
      }
      let rows = LocalRows(snapshot)
      guard case .entity(let body) = request.body, let table = snapshot.plan.table(entity.table),
        table.key.allSatisfy({ number in body.properties.contains { [$0.name] == table.columns[number].path } }),
        let cells = try rows.effective(entity)
      else { return nil }
      return try rows.path(of: entity, cells)
    }
  }

  /// Applies the conflict policy to a conflict that a look-up found. Other results are unchanged.
  func applyingPolicy(_ outcome: RequestOutcome, _ entry: QueueEntry, isAlone: Bool) async throws -> RequestOutcome {
    if case .done(let serverResponse) = outcome {
      return .done(await whole(await withSource(serverResponse, entry.request), entry.request))
    }
    guard case .archived(let failure, let theirs) = outcome, failure.kind == .conflict else { return outcome }
    let condition = entry.attempt.flatMap(UploadAttempt.init(json:))?.ifMatch
    // A transaction is sent again, and decided as a whole: its condition prevents it from taking effect. This does not
    // apply if its changes may have taken effect, because they would be applied a second time.
    if !isAlone, failure.mayHaveTakenEffect != true, condition != nil, condition != "*" { return .queued }
    return try await ConflictResolution(journal: journal).outcome(
      of: entry, condition: condition, theirs: theirs, failure: failure)
  }

  /// The entity of a link or stream, whose ETag later changes need: a look-up reads only the link's target, or the
  /// bytes. An unchanged response for other requests, or if the entity cannot be read now.
  private func withSource(_ serverResponse: ServerResponse, _ request: QueuedRequest) async -> ServerResponse {
    guard request.isOfLink || request.isOfStream, request.baseETag != nil, serverResponse.etag == nil,
      let path = try? await path(serverResponse, request),
      var source = await DeepInsertReading(store: store).response(at: path, of: request.entity, nil)
    else { return serverResponse }
    source.stream = serverResponse.stream
    return source
  }

  // MARK: Change sets

  /// Whether the unit is sent again as single requests. A service that does not resolve Content-IDs in a change set may
  /// find the entities by their keys, if the caller allows splitting transactions.
  private func isSplit(_ unit: PreparedUnit, _ error: ODataServiceError) -> Bool {
    guard journal.options.splitsTransactions, unit.members.count > 1, let status = error.httpStatus else {
      return false
    }
    return [400, 404, 501].contains(status) && unit.members.contains { $0.request.refersToRequest }
  }

  /// The result of a request of a change set that failed. A look-up detects services that do not roll back.
  func verifyingRollback(_ outcome: RequestOutcome, _ member: PreparedRequest, _ unit: PreparedUnit)
    async throws -> RequestOutcome
  {
    guard unit.members.count > 1, case .archived(let failure, _) = outcome else { return outcome }
    // If a condition failed, or nothing was executed, a similar entity is probably another user's.
    let acceptsServiceForms = failure.httpStatus != 412 && failure.httpStatus != 424
    guard case .done(let serverResponse) = try await lookedUp(member, acceptsServiceForms: acceptsServiceForms) else {
      return outcome
    }
    return .done(serverResponse)
  }

  /// Whether the service has the entity that a response in a failed change set reports as created: under the key in the
  /// response, with the values in it. The service may have changed those that were sent. A response without values says
  /// nothing of the entity, so the values that were sent are compared: one of them must be distinctive, because the key
  /// may be another client's by now.
  private func hasCreated(_ serverResponse: ServerResponse, _ member: PreparedRequest) async throws -> Bool {
    let request = member.entry.request
    guard request.makesEntity, let path = try await path(serverResponse, request),
      let received = try await EntityLookup(store: store).entity(path, of: nil).response?.entity
    else { return false }
    let plan = store.replica.plan
    let table = request.entity.flatMap { plan.table($0.table) }
    let keys = table?.type.key.map(\.name) ?? []
    let values = serverResponse.entity?.properties.filter { $0.value != .null && !keys.contains($0.name) } ?? []
    if let created = serverResponse.entity, !values.isEmpty {
      return created.properties.allSatisfy { property in
        received[property.name].map { SentContent.equal(property.value, $0) } ?? (property.value == .null)
      }
    }
    guard case .entity(let body) = request.body else { return false }
    let own = RequestResolver(journal: journal).ownValues(body, of: request)
    let hasOwn = own.properties.contains { property in
      !keys.contains(property.name) && SentContent.canBeRare(property.value.value)
        && received[property.name] ?? .null != .null
    }
    return hasOwn && (SentContent.matches(body, received) || SentContent.isForm(received, of: body))
  }

  /// The result of a request from a look-up after the response.
  func lookedUp(_ member: PreparedRequest, acceptsServiceForms: Bool = true) async throws -> RequestOutcome {
    try await RequestResolver(journal: journal).outcome(
      of: sentEntry(member), hasResponse: true, acceptsServiceForms: acceptsServiceForms)
  }

  func sentEntry(_ member: PreparedRequest) -> QueueEntry {
    var entry = member.entry
    entry.attempt = member.attempt.json
    return entry
  }

  private func rolledBackError(_ unit: PreparedUnit) -> ODataServiceError {
    ODataServiceError(.http(status: 424, payload: nil), operation: "batch")
  }

  // MARK: Answers

  /// Reads what the response lacks and the store needs: a created entity with those created together with it, or the
  /// ETag of an entity that has one.
  func complete(
    _ serverResponse: ServerResponse, _ member: PreparedRequest, in unit: PreparedUnit
  ) async -> ServerResponse {
    let request = member.entry.request
    let later = unit.members.drop { $0.entry.id <= member.entry.id }.map(\.entry.request)
    if request.makesEntity {
      guard serverResponse.entity == nil || !hasKey(serverResponse, request) else {
        return await whole(serverResponse, request, later: later)
      }
    } else {
      switch request.operation {
      case .patch, .merge, .replace, .patchProperty, .replaceProperty, .deleteProperty, .replaceValue: break
      // These operations also change the entity's ETag, or may change it (Protocol 4.01 §11.4.1.1, §11.4.7.2).
      case .updateMedia, .deleteMedia, .createLink, .updateLink, .deleteLink: break
      default: return serverResponse
      }
      guard serverResponse.etag == nil, request.baseETag != nil || request.streamETag != nil else {
        return serverResponse
      }
    }
    guard let path = try? await path(serverResponse, request) else {
      guard request.makesEntity, !hasKey(serverResponse, request),
        case .done(let lookedUpResponse)? = await store.lookUp(member.request.path, { try await lookedUp(member) })
      else {
        return serverResponse
      }
      return await whole(lookedUpResponse, request, later: later)
    }
    let createdEntity = request.makesEntity ? self.createdEntity(request, later) : nil
    let row = request.makesEntity ? nil : request.entity
    guard var whole = await DeepInsertReading(store: store).response(at: path, of: row, createdEntity) else {
      return serverResponse
    }
    whole.isGuarded = member.request.ifMatch.map { $0 != "*" } ?? request.makesEntity
    // The stream version in the response belongs to the bytes that were sent. The entity may have been changed by
    // another user since.
    whole.stream = serverResponse.stream
    guard request.operation == .updateMedia, request.streamETag != nil else { return whole }
    return await store.withStream(whole, of: request, at: member.request.path)
  }

  /// A response with the entities that were created together with the entity, as far as the service returns them.
  private func whole(
    _ serverResponse: ServerResponse, _ request: QueuedRequest, later: [QueuedRequest] = []
  ) async -> ServerResponse {
    guard let createdEntity = createdEntity(request, later), !DeepInsert.isWhole(createdEntity, serverResponse.entity),
      let path = try? await path(serverResponse, request)
    else { return serverResponse }
    var whole = serverResponse
    if let lookedUpResponse = await DeepInsertReading(store: store).response(at: path, of: nil, createdEntity) {
      whole = lookedUpResponse
    }
    return whole
  }

  /// The entity that a request has created together with others, as the later requests of its transaction leave it; nil
  /// for other requests.
  private func createdEntity(_ request: QueuedRequest, _ later: [QueuedRequest]) -> QueuedEntity? {
    guard DeepInsert.hasChildren(request), case .entity(let body) = request.body else { return nil }
    if case .like(let createdEntity) = LaterChanges.of(body, later) { return createdEntity }
    return body
  }

  /// Whether a response contains the key of the created entity.
  private func hasKey(_ serverResponse: ServerResponse, _ request: QueuedRequest) -> Bool {
    let plan = store.replica.plan
    guard let table = request.entity.flatMap({ plan.table($0.table) }) else { return true }
    let cells = serverResponse.cells(in: table, plan)
    return table.key.allSatisfy { (cells?[table.columns[$0].name] ?? .null) != .null }
  }

  private func path(_ serverResponse: ServerResponse, _ request: QueuedRequest) async throws -> String? {
    if let location = serverResponse.location, let path = store.root.relative(location) { return path }
    guard let entity = request.entity else { return nil }
    return try await store.read { snapshot in
      let rows = LocalRows(snapshot)
      // The response may contain a URL with another name of the host.
      if request.makesEntity, hasKey(serverResponse, request), let table = snapshot.plan.table(entity.table),
        var cells = try rows.effective(entity), let responseCells = serverResponse.cells(in: table, snapshot.plan)
      {
        cells.merge(responseCells)
        return try rows.path(of: entity, cells)
      }
      return try RowPath(snapshot: snapshot).location(of: entity).path
    }
  }

  // MARK: Failures

  func failure(
    of member: PreparedRequest, _ error: ODataServiceError, kind: ArchivedFailure.Kind = .rejected
  ) async throws -> ArchivedFailure {
    ArchivedFailure(error, kind: kind, await sent(member.request), time: time)
  }

  /// A request as it is sent, in readable form.
  func sent(_ request: ODataSingleRequest) async -> SentRequest {
    guard let preview = try? await store.conversation.preview(request) else {
      return SentRequest(method: request.operationName, url: request.path, body: nil)
    }
    return SentRequest(preview, store.root)
  }
}
