import LarderHTTP
import LarderOData
import LarderService
import LarderStorage

// The names by which a service recognises repeated requests: whether it does, and whether it refuses them.
extension UploadEnds {
  /// The name under which it is kept that the service recognises repeated requests.
  static let repeatableSetting = "repeatable-requests"

  func learn(_ fields: HTTPFields) async throws {
    guard UploadAttempt.result(fields) == true, !store.knowsRepeatable else { return }
    try await store.replica.set(Self.repeatableSetting, to: .integer(1))
    store.learnedRepeatable()
  }

  /// What becomes of a unit that was refused for the names that its requests carried, whatever the status: it, and all
  /// behind it, go without. Nil for other answers.
  func unnamed(
    _ unit: PreparedUnit, _ answer: Answer
  ) async throws -> [(entry: QueueEntry, end: RequestEnd)]? {
    var errors: [ODataServiceError] = []
    switch answer {
    case .whole(let error): errors = [error]
    case .each(let answers): for case .failure(let error) in answers { errors.append(error) }
    }
    let isRefused = errors.contains { $0.response.map { UploadAttempt.result($0.fields) == false } ?? false }
    guard isRefused, unit.members.contains(where: { $0.attempt.isName(in: $0.request.fields, model.version) }) else {
      return nil
    }
    store.refuseNames()
    let resolver = RequestResolver(journal: journal)
    var ends: [(entry: QueueEntry, end: RequestEnd)] = []
    for member in unit.members {
      var end = RequestEnd.queued
      let last = member.entry.attempt.flatMap(UploadAttempt.init(json:))
      if last?.id == member.attempt.id, try await resolver.knowsName(of: member.entry.request) {
        // It was left to the service to tell what became of it the first time.
        end = .inDoubt
      } else if unit.members.count > 1, case .done(let answer) = try await lookedUp(member, takesForms: false) {
        // Not taken back.
        end = .done(answer)
      }
      ends.append((member.entry, end))
    }
    return ends
  }
}
