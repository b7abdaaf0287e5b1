import LarderOData
import LarderService
import LarderStorage

// The conflicts of a transaction: its change set failed as one, and one answer may stand for all.
extension ConflictResolution {
  /// A request of a transaction, as it was sent, with what goes to the archive where the policy sends it there.
  struct Member: Sendable {
    let entry: QueueEntry
    /// The condition that it was sent under.
    let condition: String?
    let failure: ArchivedFailure
  }

  /// What becomes of the requests of a transaction that failed for a condition (412, 428): those whose entities are what
  /// they were based on go again with those that the policy changes; what the policy gives up, it gives up whole.
  ///
  /// - Returns: nil where no entity is another one than expected: the service refuses for something else.
  func ends(of members: [Member]) async throws -> [(entry: QueueEntry, end: RequestEnd)]? {
    var ends: [(entry: QueueEntry, end: RequestEnd)] = []
    for member in members { ends.append((member.entry, try await end(of: member))) }
    let isAnother = ends.contains { if case .queued = $0.end { false } else { true } }
    guard isAnother else { return nil }
    return together(members, ends)
  }

  /// What becomes of the requests of a unit of which some have conflicts that a download has noticed, and no condition
  /// would tell the service: the policy decides before anything is sent.
  ///
  /// - Parameter found: the requests with what is known of them so far. It is those that wait that are decided.
  func noticed(
    _ found: [(entry: QueueEntry, end: RequestEnd)]
  ) async throws -> [(entry: QueueEntry, end: RequestEnd)] {
    var ends = found
    var members: [Member] = []
    for (place, (entry, end)) in found.enumerated() {
      let failure = entry.failure ?? ArchivedFailure(kind: .refused, message: "", method: "", url: "", time: 0)
      members.append(Member(entry: entry, condition: nil, failure: failure))
      if case .queued = end, entry.isConflictUntold(in: found.map(\.entry)) {
        ends[place].end = try await noticed(entry, failure)
      }
    }
    return together(members, ends)
  }

  private func noticed(_ entry: QueueEntry, _ failure: ArchivedFailure) async throws -> RequestEnd {
    let theirs = try await asked(for: entry)
    // Another may have taken it back meanwhile.
    if case .there(let answer) = theirs, try await !isAnother(answer, entry) { return .again(theirs, nil) }
    return try await end(of: entry, condition: nil, theirs: theirs, failure: failure)
  }

  /// The ends of requests that go together: what is refused is refused whole, what is given up is given up whole.
  private func together(
    _ members: [Member], _ ends: [(entry: QueueEntry, end: RequestEnd)]
  ) -> [(entry: QueueEntry, end: RequestEnd)] {
    for (place, item) in ends.enumerated() {
      guard case .archived(let failure, let theirs) = item.end else { continue }
      // The others are refused with it, and have no conflict of their own.
      var other = ArchivedFailure(
        kind: .refused, message: "Rejected with request \(item.entry.id) of its transaction: \(failure.message)",
        method: failure.method, url: failure.url, time: failure.time)
      (other.httpStatus, other.code, other.domain) = (failure.httpStatus, failure.code, failure.domain)
      return ends.indices.map { index in
        if index == place { return (item.entry, .archived(failure, theirs: theirs)) }
        switch ends[index].end {
        case .done, .archived: return ends[index]
        default:
          (other.method, other.url, other.body) = (
            members[index].failure.method, members[index].failure.url, members[index].failure.body
          )
          return (ends[index].entry, .archived(other))
        }
      }
    }
    let isGivenUp = ends.contains { if case .discarded = $0.end { true } else { false } }
    guard isGivenUp else { return ends }
    return ends.map { entry, end in
      switch end {
      case .queued, .again: (entry, .discarded(.unknown))
      default: (entry, end)
      }
    }
  }

  private func end(of member: Member) async throws -> RequestEnd {
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
    if case .there(let answer) = theirs, etag(answer, member.entry) == condition { return .queued }
    var failure = member.failure
    (failure.kind, failure.httpStatus) = (.conflict, 412)
    return try await end(of: member.entry, condition: condition, theirs: theirs, failure: failure)
  }
}

extension QueueEntry {
  /// Whether it has a noticed conflict that the service could not notice. That is so where the request has no ETag, and
  /// where it goes under `*` because its transaction has an earlier change of the same entity.
  func isConflictUntold(in unit: [QueueEntry]) -> Bool {
    guard state == .queued, failure?.kind == .conflict, request.ifMatch != "*" else { return false }
    let isBehind = unit.contains { $0.id < id && $0.request.entity == request.entity }
    guard request.resourceETag == nil || isBehind else { return false }
    switch request.operation {
    case .create, .createMedia, .createLink, .updateLink, .deleteLink: return false
    case .patch, .merge, .replace, .delete, .replaceProperty, .patchProperty, .deleteProperty, .replaceValue, .action,
      .updateMedia, .deleteMedia:
      return request.entity != nil
    }
  }
}

// Requests that the service takes under a condition alone (RFC 6585 §3), where no ETag was known.
extension ConflictResolution {
  /// Fetches the ETag: the request goes again under it where the entity is what it was based on; else it is a conflict.
  func unconditional(_ entry: QueueEntry, failure: ArchivedFailure) async throws -> RequestEnd {
    let theirs = try await asked(for: entry)
    var failure = failure
    switch theirs {
    case .gone:
      if entry.request.isRemoval { return .done(ServerResponse()) }
      failure.message = "The service requires a condition, and no longer has the entity. \(failure.message)"
      return .archived(failure, theirs: theirs)
    case .unknown:
      failure.message =
        "The service requires a condition (If-Match), and the entity's ETag could not be read. \(failure.message)"
      return .archived(failure, theirs: theirs)
    case .there(let answer):
      guard etag(answer, entry) != nil else {
        failure.message =
          "The service requires a condition (If-Match), but sends no ETag for the entity. \(failure.message)"
        return .archived(failure, theirs: theirs)
      }
      guard try await isAnother(answer, entry) else {
        var request = entry.request
        if request.isOfLink { request.wantsCondition = true }
        return .again(theirs, request.isOfLink ? request : nil)
      }
      (failure.kind, failure.httpStatus) = (.conflict, 412)
      return try await end(of: entry, condition: nil, theirs: theirs, failure: failure)
    }
  }
}
