import LarderOData
import LarderService
import LarderStorage

// Conflicts of a transaction: its change set failed as a whole, and one response may apply to all its requests.
extension ConflictResolution {
  /// A request of a transaction as it was sent, with the failure for the archive if the policy archives it.
  struct Member: Sendable {
    let entry: QueueEntry
    /// The ETag condition that it was sent with.
    let condition: String?
    let failure: ArchivedFailure
    /// The status with which the transaction was rejected.
    var status = 412
    /// For a change of a link to a single entity: the result of a look-up that shows no other client's change.
    var linkOutcome: RequestOutcome?
  }

  /// The results of the requests of a transaction that failed because of a condition, or because their
  /// entities have other versions. Requests whose
  /// entities are unchanged are sent again with those that the policy changes. If the policy discards one, the whole
  /// transaction is discarded.
  ///
  /// - Returns: nil if no entity has another version than expected, so that the service rejects the transaction for
  ///   another reason.
  func outcomes(of members: [Member]) async throws -> [(entry: QueueEntry, outcome: RequestOutcome)]? {
    var outcomes: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    for member in members { outcomes.append((member.entry, try await outcome(of: member))) }
    let isOtherVersion = outcomes.contains { if case .queued = $0.outcome { false } else { true } }
    guard isOtherVersion else { return nil }
    return together(members, outcomes)
  }

  /// The results of the requests of a unit with conflicts that a download has found and the service would not detect,
  /// because no condition is sent. The policy decides before anything is sent.
  ///
  /// - Parameter initialOutcomes: the requests with their results so far. Only pending ones are decided.
  func resolvingNoticedConflicts(
    _ initialOutcomes: [(entry: QueueEntry, outcome: RequestOutcome)]
  ) async throws -> [(entry: QueueEntry, outcome: RequestOutcome)] {
    var outcomes = initialOutcomes
    let unit = initialOutcomes.map(\.entry)
    let members = unit.map { entry in
      let failure = entry.failure ?? ArchivedFailure(kind: .rejected, message: "", method: "", url: "", time: 0)
      return Member(entry: entry, condition: nil, failure: failure)
    }
    for place in unit.indices {
      guard case .queued = outcomes[place].outcome,
        let holder = unit[place].undetectableConflict(in: unit, journal.store.replica.model.version),
        let failure = holder.failure
      else { continue }
      outcomes[place].outcome = try await outcomeUnlessSame(unit[place], failure: failure)
      // Otherwise the conflict that is recorded with the link would be found again.
      guard case .again(let theirs, _) = outcomes[place].outcome, holder.id != unit[place].id else { continue }
      for link in unit.indices where unit[link].id == holder.id { outcomes[link].outcome = .again(theirs, nil) }
    }
    return together(members, outcomes)
  }

  /// The result of a request in conflict whose entity may have the values that the change is based on: then it is sent
  /// again with the current ETag.
  ///
  /// - Parameter theirs: the server's version, if it is known already.
  func outcomeUnlessSame(
    _ entry: QueueEntry, theirs: RequestOutcome.ServerVersion? = nil, failure: ArchivedFailure
  ) async throws -> RequestOutcome {
    let theirs = if let theirs { theirs } else { try await reachableVersion(for: entry) }
    // Another user may have reverted a change meanwhile, or the change may have been the store's own.
    if case .existing(let serverResponse) = theirs, try await !isOtherVersion(serverResponse, entry) {
      return .again(theirs, nil)
    }
    return try await outcome(of: entry, condition: nil, theirs: theirs, failure: failure)
  }

  /// The results of requests that belong together: if one is rejected, or discarded, all are.
  private func together(
    _ members: [Member], _ outcomes: [(entry: QueueEntry, outcome: RequestOutcome)]
  ) -> [(entry: QueueEntry, outcome: RequestOutcome)] {
    for (place, item) in outcomes.enumerated() {
      guard case .archived(let failure, let theirs) = item.outcome else { continue }
      // The other requests are rejected with it, and have no conflict of their own.
      var other = ArchivedFailure(
        kind: .rejected, message: "Rejected with request \(item.entry.id) of its transaction: \(failure.message)",
        method: failure.method, url: failure.url, time: failure.time)
      (other.httpStatus, other.code, other.domain) = (failure.httpStatus, failure.code, failure.domain)
      return outcomes.indices.map { index in
        if index == place { return (item.entry, .archived(failure, theirs: theirs)) }
        switch outcomes[index].outcome {
        case .done, .archived: return outcomes[index]
        default:
          (other.method, other.url, other.body) = (
            members[index].failure.method, members[index].failure.url, members[index].failure.body
          )
          return (outcomes[index].entry, .archived(other))
        }
      }
    }
    let isDiscarded = outcomes.contains { if case .discarded = $0.outcome { true } else { false } }
    guard isDiscarded else { return outcomes }
    return outcomes.map { entry, outcome in
      switch outcome {
      case .queued, .again: (entry, .discarded(.unknown))
      default: (entry, outcome)
      }
    }
  }

  private func outcome(of member: Member) async throws -> RequestOutcome {
    if let outcome = member.linkOutcome { return outcome }
    switch member.entry.request.operation {
    case .create, .createMedia, .createLink: return .queued
    case .updateLink, .deleteLink: guard member.condition != nil, member.condition != "*" else { return .queued }
    case .patch, .merge, .replace, .delete, .replaceProperty, .patchProperty, .deleteProperty, .replaceValue, .action,
      .updateMedia, .deleteMedia:
      guard member.entry.request.entity != nil, member.condition != "*" else { return .queued }
    }
    guard let condition = member.condition else {
      return try await unconditional(member.entry, failure: member.failure)
    }
    let theirs = try await fetched(of: member.entry)
    if case .existing(let serverResponse) = theirs, etag(serverResponse, member.entry) == condition { return .queued }
    var failure = member.failure
    (failure.kind, failure.httpStatus) = (.conflict, member.status)
    if member.entry.request.hasOldCondition { return try await outcomeUnlessSame(member.entry, failure: failure) }
    return try await outcome(of: member.entry, condition: condition, theirs: theirs, failure: failure)
  }
}

extension QueueEntry {
  /// The request with which a download has recorded a conflict of this one that the service could not detect: itself, or
  /// an earlier link of its transaction. Nil if there is none. A conflict cannot be detected if the request has no ETag,
  /// or is sent with `*` because its transaction has an earlier change of the same entity, which has no ETag itself.
  /// A link that is sent with an ETag detects its conflict itself, and a change of a stream overwrites nothing that
  /// conflicts with a link.
  func undetectableConflict(in unit: [QueueEntry], _ version: ODataVersion) -> QueueEntry? {
    guard state == .queued, request.changesEntity, request.ifMatch != "*" else { return nil }
    let earlier = unit.filter { $0.id < id && $0.request.entity == request.entity }
    // A link to one of many entities is not in the way: see ``RequestRendering``.
    let changing = earlier.first { !$0.request.isOfManyLink }
    if failure?.kind == .conflict { return request.resourceETag == nil || changing != nil ? self : nil }
    if request.isOfStream { return nil }
    let link = earlier.last {
      $0.state == .queued && $0.request.isOfLink && $0.failure?.kind == .conflict && !$0.request.guardsEntity(version)
    }
    if request.resourceETag == nil { return link }
    guard let changing else { return nil }
    return changing.request.guardsEntity(version) ? nil : link
  }
}

extension QueuedRequest {
  /// Whether it changes an entity that exists, or a stream of it, and not only a link.
  fileprivate var changesEntity: Bool {
    switch operation {
    case .create, .createMedia, .createLink, .updateLink, .deleteLink: false
    case .patch, .merge, .replace, .delete, .replaceProperty, .patchProperty, .deleteProperty, .replaceValue, .action,
      .updateMedia, .deleteMedia:
      entity != nil
    }
  }

  /// Whether it is sent with the ETag of its entity.
  fileprivate func guardsEntity(_ version: ODataVersion) -> Bool {
    guard ifMatch != "*", baseETag != nil else { return false }
    return isOfSingleLink ? version >= .v4 || wantsCondition == true : changesEntity && !isOfStream
  }
}

// Requests for which the service requires a condition (RFC 6585 §3), and no ETag was known.
extension ConflictResolution {
  /// Fetches the ETag. The request is sent again with it if the entity is unchanged; otherwise it is a conflict.
  func unconditional(_ entry: QueueEntry, failure: ArchivedFailure) async throws -> RequestOutcome {
    let theirs = try await reachableVersion(for: entry)
    var failure = failure
    switch theirs {
    case .gone:
      if entry.request.isRemoval { return .done(ServerResponse()) }
      failure.message = "The service requires a condition, and no longer has the entity. \(failure.message)"
      return .archived(failure, theirs: theirs)
    case .other(let path): return .archived(failure.seeing(path), theirs: theirs)
    case .unknown:
      failure.message =
        "The service requires a condition (If-Match), and the entity's ETag could not be read. \(failure.message)"
      return .archived(failure, theirs: theirs)
    case .existing(let serverResponse):
      guard etag(serverResponse, entry) != nil else {
        failure.message =
          "The service requires a condition (If-Match), but sends no ETag for the entity. \(failure.message)"
        return .archived(failure, theirs: theirs)
      }
      guard try await isOtherVersion(serverResponse, entry) else {
        var request = entry.request
        if request.isOfLink { request.wantsCondition = true }
        return .again(theirs, request.isOfLink ? request : nil)
      }
      (failure.kind, failure.httpStatus) = (.conflict, 412)
      return try await outcome(of: entry, condition: nil, theirs: theirs, failure: failure)
    }
  }
}
