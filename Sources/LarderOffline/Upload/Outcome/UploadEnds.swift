import LarderCore
import LarderOData
import LarderService
import LarderStorage

/// What becomes of the requests of a unit, by the answers to them.
struct UploadEnds: Sendable {
  let journal: UploadJournal

  var store: OpenStore { journal.store }
  var model: EdmModel { store.replica.model }
  private var time: Int64 { store.conversation.options.environment.unixSeconds }

  /// The answer to a unit.
  enum Answer: Sendable {
    /// One for each request.
    case each([ODataBatchResponse.Answer])
    /// One for all: the change set failed, or the request did.
    case whole(ODataServiceError)
  }

  /// Judges a unit's answers. `stop` is why the upload goes no further.
  func ends(
    of unit: PreparedUnit, _ answer: Answer
  ) async throws -> (UploadCommit.Unit, stop: OfflineODataError?) {
    do { return try await judged(unit, answer) } catch let stop as UploadStop {
      // What the service cannot be asked now: the next upload looks up the whole of it.
      let ends = unit.members.map { (entry: $0.entry, end: RequestEnd.inDoubt) }
      let unit = UploadCommit.Unit(id: unit.id, ends: ends, isRejected: isRejection(answer))
      return (unit, OfflineODataError(below: stop.cause))
    }
  }

  /// Whether the service has answered that the unit failed.
  private func isRejection(_ answer: Answer) -> Bool {
    func isRejection(_ error: ODataServiceError) -> Bool {
      switch UploadOutcome.of(error, isRemoval: false) {
      case .refused, .conflict, .needsCondition: true
      default: false
      }
    }
    return switch answer {
    case .whole(let error): isRejection(error)
    case .each(let answers): answers.contains { if case .failure(let error) = $0 { isRejection(error) } else { false } }
    }
  }

  private func judged(
    _ unit: PreparedUnit, _ answer: Answer
  ) async throws -> (UploadCommit.Unit, stop: OfflineODataError?) {
    var ends: [(entry: QueueEntry, end: RequestEnd)] = []
    var stop: OfflineODataError?
    if let ends = try await unnamed(unit, answer) { return (UploadCommit.Unit(id: unit.id, ends: ends), nil) }
    if let ends = try await conflicts(of: unit, answer) { return (UploadCommit.Unit(id: unit.id, ends: ends), nil) }
    switch answer {
    case .each(let answers):
      let hasFailed = answers.contains { if case .failure(let error) = $0 { !isMissing(error) } else { false } }
      for (member, answer) in zip(unit.members, answers) {
        switch answer {
        case .success(let response):
          try await learn(response.fields)
          var end = RequestEnd.done(
            await completed(ServerResponse(response, to: member.entry.request, store.replica.plan), member, in: unit))
          // Said to be done in a change set that failed: it should have been taken back.
          if hasFailed {
            switch try await lookedUp(member) {
            case .done: break
            case .archived(let failure, let theirs): end = .archived(failure, theirs: theirs)
            default: end = .archived(try await failure(of: member, takenBack(unit)))
            }
          }
          ends.append((member.entry, end))
        case .failure(let error):
          var (end, why) = try await self.end(of: member, error)
          // Without a response beside others: looked up while the later requests of the change set are still known. Beside
          // another that failed: services that do not take back what was done are found out.
          if isMissing(error), unit.members.count > 1 {
            end = try await lookedUp(member)
          } else if hasFailed {
            end = try await checked(end, member, unit)
          }
          ends.append((member.entry, end))
          stop = stop ?? why
        }
      }
    case .whole(let error):
      if goesApart(unit, error) {
        return (UploadCommit.Unit(id: unit.id, ends: unit.members.map { ($0.entry, .queued) }, goesApart: true), nil)
      }
      for member in unit.members {
        let (end, why) = try await self.end(of: member, error)
        stop = stop ?? why
        ends.append((member.entry, try await checked(end, member, unit)))
      }
    }
    return (UploadCommit.Unit(id: unit.id, ends: UploadEnds.together(UploadEnds.carriedOut(ends))), stop)
  }

  private func isMissing(_ error: ODataServiceError) -> Bool {
    UploadOutcome.of(error, isRemoval: false) == .unclear
  }

  /// The requests of a unit go together: where one is in the archive, none goes on waiting.
  static func together(_ ends: [(entry: QueueEntry, end: RequestEnd)]) -> [(entry: QueueEntry, end: RequestEnd)] {
    let failure = ends.lazy.compactMap { if case .archived(let failure, _) = $0.end { failure } else { nil } }.first
    guard let failure else { return ends }
    return ends.map { entry, end in
      switch end {
      case .queued, .again, .discarded: (entry, .archived(failure))
      // What is uncertain is held with it, and looked up when it is let go.
      case .done, .archived, .inDoubt: (entry, end)
      }
    }
  }

  /// A change set takes effect as a whole (Protocol §11.7.4): where a look-up shows that one of its requests has, so have
  /// those whose look-up could not tell, or found a later version. An entity whose key is not found stays unclear.
  static func carriedOut(_ ends: [(entry: QueueEntry, end: RequestEnd)]) -> [(entry: QueueEntry, end: RequestEnd)] {
    let isProven = ends.contains { if case .done(let answer) = $0.end { answer.entity != nil } else { false } }
    guard isProven else { return ends }
    return ends.map { entry, end in
      guard case .archived(let failure, let theirs) = end,
        failure.kind == .unknownOutcome || failure.mayHaveTakenEffect == true
      else { return (entry, end) }
      switch theirs {
      case .there(var answer):
        answer.isLaterVersion = true
        return (entry, .done(answer))
      case .unknown where !entry.request.makesEntity: return (entry, .done(ServerResponse()))
      case .unknown, .gone: return (entry, end)
      }
    }
  }

  private func end(
    of member: PreparedRequest, _ error: ODataServiceError
  ) async throws -> (RequestEnd, stop: OfflineODataError?) {
    let outcome = UploadOutcome.of(error, isRemoval: member.entry.request.isRemoval)
    switch outcome {
    case .done, .doneBefore: return (.done(ServerResponse()), nil)
    case .notSent: return (.queued, nil)
    case .unclear: return (.inDoubt, nil)
    case .stop(let mayHaveTakenEffect):
      return (mayHaveTakenEffect ? .inDoubt : .queued, OfflineODataError(below: UploadStop(error).cause))
    case .refused:
      if let end = try await doneBefore(member, error) { return (end, nil) }
      if let end = try await linkEnd(member, error) { return (end, nil) }
      return (try await refused(member, error), nil)
    case .conflict:
      if let end = try await linkEnd(member, error) { return (end, nil) }
      if let end = try await streamEnd(member) { return (end, nil) }
      if let end = try await secondConflict(member, error) { return (end, nil) }
      let failure = try await failure(of: member, error, kind: .conflict)
      let course = ConflictResolution(journal: journal)
      let condition = member.request.ifMatch
      // Some services say so where there was no condition.
      if condition == nil, wantsCondition(member.entry.request) {
        return (try await course.unconditional(member.entry, failure: failure), nil)
      }
      return (try await course.end(of: member.entry, condition: condition, failure: failure), nil)
    case .needsCondition:
      if let end = try await linkEnd(member, error) { return (end, nil) }
      let failure = try await failure(of: member, error)
      guard member.request.ifMatch == nil, wantsCondition(member.entry.request) else {
        return (.archived(failure), nil)
      }
      return (try await ConflictResolution(journal: journal).unconditional(member.entry, failure: failure), nil)
    }
  }

  /// Whether a request is one that a condition could be asked for.
  private func wantsCondition(_ request: QueuedRequest) -> Bool {
    request.entity != nil && !request.makesEntity && (!request.isOfLink || request.isOfSingleLink)
  }

  /// A creation that was sent before, looked up too early, and is refused because its entity is there.
  private func doneBefore(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestEnd? {
    guard member.entry.request.operation == .create, member.entry.attempt != nil, let status = error.httpStatus,
      [400, 409, 412, 422].contains(status),
      case .done(let answer) = try await RequestResolver(journal: journal).end(of: member.entry, isAnswered: true)
    else { return nil }
    return .done(answer)
  }

  /// A link that is refused may be set already, or its source have another ETag: the link itself tells. Nil where it
  /// does not.
  private func linkEnd(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestEnd? {
    guard member.entry.request.linkName != nil, let status = error.httpStatus, [400, 409, 412, 428].contains(status)
    else { return nil }
    switch try await lookedUp(member) {
    case .done(let answer): return .done(answer)
    case .queued where status == 412:
      let theirs = try await ConflictResolution(journal: journal).fetched(of: member.entry)
      guard case .there(let answer) = theirs, let etag = answer.etag, etag != member.request.ifMatch else { return nil }
      return .again(theirs, nil)
    default: return nil
    }
  }

  /// Some services judge a change of a stream by its entity's ETag: where the stream still has the ETag that was refused,
  /// the change goes again under the entity's. Nil where it has another.
  private func streamEnd(_ member: PreparedRequest) async throws -> RequestEnd? {
    var request = member.entry.request
    guard request.isOfStream, request.usesEntityETag != true, let condition = member.request.ifMatch, condition != "*",
      case .there(let answer) = try await ConflictResolution(journal: journal).fetched(of: member.entry),
      answer.resourceETag(of: request, store.replica.plan) == condition
    else { return nil }
    request.usesEntityETag = true
    return .again(.there(answer), request)
  }

  /// The conflict of a request that was sent before: its first send may have arrived behind its look-up. Nil where it did
  /// not.
  private func secondConflict(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestEnd? {
    guard member.entry.attempt != nil, !member.entry.request.makesEntity else { return nil }
    switch try await lookedUp(member, takesForms: false) {
    case .done(let answer): return .done(answer)
    case .archived(let judged, let theirs) where judged.mayHaveTakenEffect == true:
      var failure = try await failure(of: member, error, kind: .conflict)
      failure.mayHaveTakenEffect = true
      return try await ConflictResolution(journal: journal).end(
        of: member.entry, condition: member.request.ifMatch, theirs: theirs, failure: failure)
    default: return nil
    }
  }

  /// A refusal, with what the service has where that tells why: an entity of the key is there already, or is not.
  private func refused(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestEnd {
    var failure = try await failure(of: member, error)
    guard let status = error.httpStatus, [404, 409, 410].contains(status),
      let path = try await ownPath(member.entry.request), let found = try? await EntityLookup(store: store).entity(path)
    else { return .archived(failure) }
    switch found {
    case .there(let answer):
      failure.showsTheirs = true
      return .archived(failure, theirs: .there(answer))
    case .gone where !member.entry.request.makesEntity:
      failure.showsTheirs = true
      return .archived(failure, theirs: .gone)
    case .gone, .refused: return .archived(failure)
    }
  }

  /// Where the entity of a request is found: one that it makes under the key that the caller gave; nil where the service
  /// gives it.
  private func ownPath(_ request: QueuedRequest) async throws -> String? {
    guard let entity = request.entity else { return nil }
    return try await store.read { connection, state, plan in
      guard request.makesEntity else {
        return (try? RowPath(connection: connection, state: state, plan: plan).location(of: entity))?.path
      }
      let rows = LocalRows(plan, state, connection)
      guard case .entity(let body) = request.body, let table = plan.table(entity.table),
        table.key.allSatisfy({ number in body.properties.contains { [$0.name] == table.columns[number].path } }),
        let cells = try rows.effective(entity)
      else { return nil }
      return try rows.path(of: entity, cells)
    }
  }

  /// What a conflict found by a look-up becomes by the policy; other ends stay.
  func judged(_ end: RequestEnd, _ entry: QueueEntry, isAlone: Bool) async throws -> RequestEnd {
    if case .done(let answer) = end { return .done(await whole(answer, entry.request)) }
    guard case .archived(let failure, let theirs) = end, failure.kind == .conflict else { return end }
    let condition = entry.attempt.flatMap(UploadAttempt.init(json:))?.ifMatch
    // A transaction is judged as one when it is sent again: its condition sees to it that nothing is done. Not where its
    // changes may have taken effect: they would be applied a second time.
    if !isAlone, failure.mayHaveTakenEffect != true, condition != nil, condition != "*" { return .queued }
    return try await ConflictResolution(journal: journal).end(
      of: entry, condition: condition, theirs: theirs, failure: failure)
  }

  /// What becomes of a transaction that failed for a condition; nil for other answers.
  private func conflicts(
    of unit: PreparedUnit, _ answer: Answer
  ) async throws -> [(entry: QueueEntry, end: RequestEnd)]? {
    guard unit.members.count > 1 else { return nil }
    var errors: [ODataServiceError] = []
    switch answer {
    case .whole(let error): errors = unit.members.map { _ in error }
    case .each(let answers):
      for case .failure(let error) in answers { errors.append(error) }
      // One that is said to be done in a change set that failed is found out by itself.
      guard errors.count == answers.count else { return nil }
    }
    let outcomes = errors.map { UploadOutcome.of($0, isRemoval: false) }
    guard outcomes.contains(where: { $0 == .conflict || $0 == .needsCondition }),
      zip(outcomes, errors).allSatisfy({ $0 == .conflict || $0 == .needsCondition || $1.httpStatus == 424 })
    else { return nil }
    var done: [(entry: QueueEntry, end: RequestEnd)] = []
    var members: [ConflictResolution.Member] = []
    for (member, error) in zip(unit.members, errors) {
      let failure = try await failure(of: member, error)
      let end = try await checked(.archived(failure), member, unit)
      if case .done = end {
        done.append((member.entry, end))
      } else {
        members.append(.init(entry: member.entry, condition: member.request.ifMatch, failure: failure))
      }
    }
    guard let ends = try await ConflictResolution(journal: journal).ends(of: members) else { return nil }
    return (done + ends).sorted { $0.entry.id < $1.entry.id }
  }

  // MARK: Change sets

  /// A service that does not know the entities of a change set by their Content-IDs may know them by their keys, where the
  /// caller lets a transaction be taken apart.
  private func goesApart(_ unit: PreparedUnit, _ error: ODataServiceError) -> Bool {
    guard journal.options.splitsTransactions, unit.members.count > 1, let status = error.httpStatus else {
      return false
    }
    return [400, 404, 501].contains(status) && unit.members.contains { $0.request.refersToRequest }
  }

  /// A request of a change set that failed: services that do not take back what was done before are found out.
  private func checked(_ end: RequestEnd, _ member: PreparedRequest, _ unit: PreparedUnit) async throws -> RequestEnd {
    guard unit.members.count > 1, case .archived(let failure, _) = end else { return end }
    // Where a condition failed, or nothing was tried, what is alike is likely another's.
    let takesForms = failure.httpStatus != 412 && failure.httpStatus != 424
    guard case .done(let answer) = try await lookedUp(member, takesForms: takesForms) else { return end }
    return .done(answer)
  }

  /// What became of a request, by what the service has now: behind its answer.
  func lookedUp(_ member: PreparedRequest, takesForms: Bool = true) async throws -> RequestEnd {
    try await RequestResolver(journal: journal).end(of: journaled(member), isAnswered: true, takesForms: takesForms)
  }

  private func journaled(_ member: PreparedRequest) -> QueueEntry {
    var entry = member.entry
    entry.attempt = member.attempt.json
    return entry
  }

  private func takenBack(_ unit: PreparedUnit) -> ODataServiceError {
    ODataServiceError(.http(status: 424, payload: nil), operation: "batch")
  }

  // MARK: Answers

  /// Reads what an answer leaves out and is needed: the entity that was made with those made with it, the ETag of one that
  /// has one.
  private func completed(
    _ answer: ServerResponse, _ member: PreparedRequest, in unit: PreparedUnit
  ) async -> ServerResponse {
    let request = member.entry.request
    let later = unit.members.drop { $0.entry.id <= member.entry.id }.map(\.entry.request)
    if request.makesEntity {
      guard answer.entity == nil || !hasKey(answer, request) else {
        return await whole(answer, request, later: later)
      }
    } else {
      switch request.operation {
      case .patch, .merge, .replace, .patchProperty, .replaceProperty, .deleteProperty, .replaceValue: break
      // These, too, change the entity's ETag, or may (Protocol 4.01 §11.4.1.1, §11.4.7.2).
      case .updateMedia, .deleteMedia, .createLink, .updateLink, .deleteLink: break
      default: return answer
      }
      guard answer.etag == nil, request.baseETag != nil || request.streamETag != nil else { return answer }
    }
    guard let path = try? await path(answer, request) else {
      guard request.makesEntity, !hasKey(answer, request), case .done(let found)? = try? await lookedUp(member) else {
        return answer
      }
      return await whole(found, request, later: later)
    }
    let made = request.makesEntity ? self.made(request, later) : nil
    guard var whole = await DeepInsertReading(store: store).answer(at: path, made) else { return answer }
    whole.isGuarded = member.request.ifMatch.map { $0 != "*" } ?? request.makesEntity
    // What the response itself says of the bytes that were sent is of these; the entity may be another's since.
    whole.stream = answer.stream
    guard request.operation == .updateMedia, request.streamETag != nil else { return whole }
    return await store.withStream(whole, of: request, at: member.request.path)
  }

  /// An answer with what was made with the entity, as far as the service shows it.
  private func whole(
    _ answer: ServerResponse, _ request: QueuedRequest, later: [QueuedRequest] = []
  ) async -> ServerResponse {
    guard let made = made(request, later), !DeepInsert.isWhole(made, answer.entity),
      let path = try? await path(answer, request)
    else { return answer }
    var whole = answer
    if let found = await DeepInsertReading(store: store).answer(at: path, made) { whole = found }
    return whole
  }

  /// What a request has made with others, as the later requests of its transaction leave it; nil for other requests.
  private func made(_ request: QueuedRequest, _ later: [QueuedRequest]) -> QueuedEntity? {
    guard DeepInsert.hasChildren(request), case .entity(let body) = request.body else { return nil }
    if case .like(let made) = LaterChanges.of(body, later) { return made }
    return body
  }

  /// Whether an answer tells the key of what was made.
  private func hasKey(_ answer: ServerResponse, _ request: QueuedRequest) -> Bool {
    let plan = store.replica.plan
    guard let table = request.entity.flatMap({ plan.table($0.table) }) else { return true }
    let cells = answer.cells(in: table, plan)
    return table.key.allSatisfy { (cells?[table.columns[$0].name] ?? .null) != .null }
  }

  private func path(_ answer: ServerResponse, _ request: QueuedRequest) async throws -> String? {
    if let location = answer.location, let path = store.root.relative(location) { return path }
    guard let entity = request.entity else { return nil }
    return try await store.read { connection, state, plan in
      let rows = LocalRows(plan, state, connection)
      // It may say where it is by another name of its host.
      if request.makesEntity, hasKey(answer, request), let table = plan.table(entity.table),
        var cells = try rows.effective(entity), let told = answer.cells(in: table, plan)
      {
        cells.merge(told)
        return try rows.path(of: entity, cells)
      }
      return try RowPath(connection: connection, state: state, plan: plan).location(of: entity).path
    }
  }

  // MARK: Failures

  private func failure(
    of member: PreparedRequest, _ error: ODataServiceError, kind: ArchivedFailure.Kind = .refused
  ) async throws -> ArchivedFailure {
    ArchivedFailure(error, kind: kind, await sent(member.request), time: time)
  }

  /// A request as it goes over the wire, for people.
  func sent(_ request: ODataSingleRequest) async -> SentRequest {
    guard let preview = try? await store.conversation.preview(request) else {
      return SentRequest(method: request.operationName, url: request.path, body: nil)
    }
    return SentRequest(preview, store.root)
  }
}
