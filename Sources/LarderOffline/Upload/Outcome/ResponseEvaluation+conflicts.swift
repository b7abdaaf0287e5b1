import LarderOData
import LarderService

// Requests and transactions that the service rejects because another client has changed an entity.
extension ResponseEvaluation {
  /// What a rejection means if the entity of the request has another ETag by now; nil if it says nothing of the ETag.
  func conflictSign(_ error: ODataServiceError, _ member: PreparedRequest) -> ConflictSign? {
    guard let condition = member.request.ifMatch, condition != "*", let sign = ConflictSign.of(status: error.httpStatus)
    else { return nil }
    // The ETag was replaced after the first rejection, so it is not the reason for the second one.
    return sign == .possible && store.isSentOnTop(member.entry.id) ? nil : sign
  }

  /// The server's version of the entity of a request that was rejected and whose ETag may be the reason; nil if it
  /// cannot be.
  func versionAfterRejection(
    _ member: PreparedRequest, _ error: ODataServiceError
  ) async throws -> RequestOutcome.ServerVersion? {
    guard conflictSign(error, member) != nil else { return nil }
    return try await ConflictResolution(journal: journal).fetched(of: member.entry)
  }

  /// Whether a version of the entity has another ETag than the one that the request was sent with.
  func hasOtherETag(_ theirs: RequestOutcome.ServerVersion, _ member: PreparedRequest) -> Bool {
    guard case .existing(let serverResponse) = theirs,
      let etag = ConflictResolution(journal: journal).etag(serverResponse, member.entry)
    else { return false }
    return etag != member.request.ifMatch
  }

  /// The result of a request that was rejected because its entity has another version.
  ///
  /// - Parameter theirs: the server's version, if it is known already.
  func conflictOutcome(
    _ member: PreparedRequest, _ error: ODataServiceError, theirs: RequestOutcome.ServerVersion? = nil
  ) async throws -> RequestOutcome {
    let isKnown = theirs != nil
    if member.entry.request.setsLink, let outcome = try await formerLinkOutcome(member) { return outcome }
    if !isKnown, let outcome = try await streamOutcome(member) { return outcome }
    if let outcome = try await secondConflict(member, error) { return outcome }
    let failure = try await failure(of: member, error, kind: .conflict)
    let resolution = ConflictResolution(journal: journal)
    let condition = member.request.ifMatch
    // Some services respond with 412 to a request without a condition.
    if condition == nil, wantsCondition(member.entry.request) {
      return try await resolution.unconditional(member.entry, failure: failure)
    }
    if member.entry.request.hasOldCondition {
      return try await resolution.outcomeUnlessSame(member.entry, theirs: theirs, failure: failure)
    }
    return try await resolution.outcome(of: member.entry, condition: condition, theirs: theirs, failure: failure)
  }

  /// The result of a rejected request whose entity may have another version; nil if that is not the reason.
  ///
  /// - Parameter theirs: the server's version after the rejection.
  func conflictOutcome(
    ofRejected member: PreparedRequest, _ error: ODataServiceError, theirs: RequestOutcome.ServerVersion
  ) async throws -> RequestOutcome? {
    guard hasOtherETag(theirs, member) else { return nil }
    let outcome = try await conflictOutcome(member, error, theirs: theirs)
    if case .again = outcome, conflictSign(error, member) == .possible { store.noteSentOnTop([member.entry.id]) }
    return outcome
  }

  /// The result of a rejected request for a link, which may be set already, or whose source may have another ETag. The
  /// link itself is looked up; nil if that is inconclusive.
  func linkOutcome(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestOutcome? {
    let sign = conflictSign(error, member)
    guard member.entry.request.linkName != nil, let status = error.httpStatus,
      sign != nil || [400, 409, 412, 428].contains(status)
    else { return nil }
    switch try await lookedUp(member) {
    case .done(let serverResponse): return .done(serverResponse)
    case .queued where sign != nil || status == 412:
      let theirs = try await ConflictResolution(journal: journal).fetched(of: member.entry)
      guard hasOtherETag(theirs, member) else { return nil }
      if sign == .possible { store.noteSentOnTop([member.entry.id]) }
      return .again(theirs, nil)
    default: return nil
    }
  }

  /// The result of a change of single links whose condition failed: it is sent again with the current ETag if its
  /// entity has the same values, because the ETag also protects later changes of its transaction, and the links lead
  /// where they led when the change was made. Nil if not.
  private func formerLinkOutcome(_ member: PreparedRequest) async throws -> RequestOutcome? {
    let resolution = ConflictResolution(journal: journal)
    // The ETag is read before the links: those that another client sets in between have a later one.
    guard member.request.ifMatch != nil, member.request.ifMatch != "*",
      case .existing(let serverResponse) = try await resolution.fetched(of: member.entry),
      let etag = serverResponse.etag, etag != member.request.ifMatch,
      try await !resolution.isOtherVersion(serverResponse, member.entry),
      try await hasFormerLinks(member)
    else { return nil }
    return .again(.existing(serverResponse), nil)
  }

  private func hasFormerLinks(_ member: PreparedRequest) async throws -> Bool {
    if member.entry.request.setsLink {
      return try await RequestResolver(journal: journal).hasFormerLinks(sentEntry(member))
    }
    return if case .queued = try await lookedUp(member) { true } else { false }
  }

  /// Some services check a change of a stream against its entity's ETag. If the stream still has the ETag that was
  /// rejected, the change is sent again with the entity's. Nil if the stream has another ETag.
  private func streamOutcome(_ member: PreparedRequest) async throws -> RequestOutcome? {
    var request = member.entry.request
    guard request.isOfStream, request.usesEntityETag != true, let condition = member.request.ifMatch, condition != "*",
      case .existing(let serverResponse) = try await ConflictResolution(journal: journal).fetched(of: member.entry),
      serverResponse.resourceETag(of: request, store.replica.plan) == condition
    else { return nil }
    request.usesEntityETag = true
    return .again(.existing(serverResponse), request)
  }

  /// The result of a conflict of a request that was sent before: its first send may have reached the service after the
  /// look-up. Nil if it did not.
  private func secondConflict(_ member: PreparedRequest, _ error: ODataServiceError) async throws -> RequestOutcome? {
    guard member.entry.attempt != nil, !member.entry.request.makesEntity else { return nil }
    switch try await lookedUp(member, acceptsServiceForms: false) {
    case .done(let serverResponse): return .done(serverResponse)
    case .archived(let applyingPolicy, let theirs) where applyingPolicy.mayHaveTakenEffect == true:
      var failure = try await failure(of: member, error, kind: .conflict)
      failure.mayHaveTakenEffect = true
      return try await ConflictResolution(journal: journal).outcome(
        of: member.entry, condition: member.request.ifMatch, theirs: theirs, failure: failure)
    default: return nil
    }
  }

  /// The results of a transaction that failed because of a condition, or because one of its entities may have another
  /// version; nil for other responses.
  func conflicts(
    of unit: PreparedUnit, _ response: UnitResponse
  ) async throws -> [(entry: QueueEntry, outcome: RequestOutcome)]? {
    guard unit.members.count > 1 else { return nil }
    // A request that is reported as done in a change set that failed is looked up separately.
    guard let errors = errors(of: unit, response) else { return nil }
    let rejected = Array(zip(unit.members, errors))
    guard let reason = errors.first(where: { ConflictSign.of(status: $0.httpStatus) != nil }),
      errors.allSatisfy({ ConflictSign.of(status: $0.httpStatus) != nil || $0.httpStatus == 424 }),
      try await failsByCondition(rejected)
    else { return nil }
    var done: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    var members: [ConflictResolution.Member] = []
    for (member, error) in rejected {
      let failure = try await failure(of: member, error)
      let outcome = try await verifyingRollback(.archived(failure), member, unit)
      if case .done = outcome {
        done.append((member.entry, outcome))
      } else {
        members.append(
          .init(
            entry: member.entry, condition: member.request.ifMatch, failure: failure, status: reason.httpStatus ?? 412,
            linkOutcome: member.entry.request.changesSingleLink ? try await formerLinkOutcome(member) : nil))
      }
    }
    guard let outcomes = try await ConflictResolution(journal: journal).outcomes(of: members) else { return nil }
    if ConflictSign.of(status: reason.httpStatus) == .possible { store.noteSentOnTop(unit.members.map(\.entry.id)) }
    return (done + outcomes).sorted { $0.entry.id < $1.entry.id }
  }

  /// The error of each request of a unit; nil if one of them has none.
  func errors(of unit: PreparedUnit, _ response: UnitResponse) -> [ODataServiceError]? {
    switch response {
    case .whole(let error): return unit.members.map { _ in error }
    case .each(let responses):
      let errors = responses.compactMap { if case .failure(let error) = $0 { error } else { nil } }
      return errors.count == responses.count ? errors : nil
    }
  }

  /// Whether a rejected transaction failed because of a condition: the service says so, or an entity has another ETag
  /// than the one that its request was sent with.
  private func failsByCondition(_ rejected: [(PreparedRequest, ODataServiceError)]) async throws -> Bool {
    if rejected.contains(where: { [412, 428].contains($1.httpStatus) }) { return true }
    for (member, error) in rejected {
      if let theirs = try await versionAfterRejection(member, error), hasOtherETag(theirs, member) { return true }
    }
    return false
  }
}
