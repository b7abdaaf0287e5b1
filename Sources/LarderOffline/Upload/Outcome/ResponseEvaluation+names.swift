import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// The names by which a service recognises repeated requests: whether it does, and whether it refuses them.
extension ResponseEvaluation {
  /// The name under which it is kept that the service recognises repeated requests.
  static let repeatableSetting = "repeatable-requests"

  func learn(_ fields: HTTPFields) async throws {
    guard UploadAttempt.result(fields) == true, !store.supportsRepeatability else { return }
    try await store.replica.set(Self.repeatableSetting, to: .integer(1))
    store.recordRepeatability()
  }

  /// What becomes of a unit that was refused for the names that its requests carried, whatever the status: it, and all
  /// behind it, go without. Nil for other answers.
  func outcomesWithoutNames(
    _ unit: PreparedUnit, _ response: UnitResponse
  ) async throws -> [(entry: QueueEntry, outcome: RequestOutcome)]? {
    var errors: [ODataServiceError] = []
    switch response {
    case .whole(let error): errors = [error]
    case .each(let responses): for case .failure(let error) in responses { errors.append(error) }
    }
    let isRefused = errors.contains { $0.response.map { UploadAttempt.result($0.fields) == false } ?? false }
    guard isRefused, unit.members.contains(where: { $0.attempt.isName(in: $0.request.fields, model.version) }) else {
      return nil
    }
    store.recordNameRejection()
    let resolver = RequestResolver(journal: journal)
    var outcomes: [(entry: QueueEntry, outcome: RequestOutcome)] = []
    for member in unit.members {
      var outcome = RequestOutcome.queued
      let last = member.entry.attempt.flatMap(UploadAttempt.init(json:))
      if last?.id == member.attempt.id, try await resolver.knowsName(of: member.entry.request) {
        // It was left to the service to tell what became of it the first time.
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
