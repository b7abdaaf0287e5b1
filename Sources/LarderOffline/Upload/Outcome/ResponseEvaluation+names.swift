import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// The identifiers by which a service recognizes repeated requests: whether it supports them, and whether it rejects
// them.
extension ResponseEvaluation {
  /// The name of the setting that records that the service recognizes repeated requests.
  static let repeatableSetting = "repeatable-requests"

  func learn(_ fields: HTTPFields) async throws {
    guard UploadAttempt.result(fields) == true, !store.supportsRepeatability else { return }
    try await store.replica.set(Self.repeatableSetting, to: .integer(1))
    store.recordRepeatability()
  }

  /// The results of the requests of a unit that was rejected because of their identifiers, whatever the status: this
  /// unit and all later ones are sent without identifiers. Nil for other responses.
  func outcomesWithoutNames(
    _ unit: PreparedUnit, _ response: UnitResponse
  ) async throws -> [(entry: QueueEntry, outcome: RequestOutcome)]? {
    var errors: [ODataServiceError] = []
    switch response {
    case .whole(let error): errors = [error]
    case .each(let responses): for case .failure(let error) in responses { errors.append(error) }
    }
    let isRejected = errors.contains { $0.response.map { UploadAttempt.result($0.fields) == false } ?? false }
    guard isRejected, unit.members.contains(where: { $0.attempt.isName(in: $0.request.fields, model.version) }) else {
      return nil
    }
    store.recordNameRejection()
    let resolver = RequestResolver(journal: journal)
    var outcomes: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    for member in unit.members {
      var outcome = RequestOutcome.queued
      let last = member.entry.attempt.flatMap(UploadAttempt.init(json:))
      if last?.id == member.attempt.id, try await resolver.knowsName(of: member.entry.request) {
        // The first send was left to the service to recognize, so its outcome is not known.
        outcome = .inDoubt
      } else if unit.members.count > 1,
        case .done(let serverResponse) = try await lookedUp(member, acceptsServiceForms: false)
      {
        // Not taken back.
        outcome = .done(serverResponse)
      }
      outcomes.append((member.entry, outcome))
    }
    return outcomes
  }
}
