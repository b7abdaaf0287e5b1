/// What became of one part of a `$batch`, in the place of the part.
public enum BatchAnswer: Sendable, Hashable {
  /// The answer to a request of its own.
  case single(BatchResponse)
  /// The answers to a change set, in the order of its requests.
  case changeSet([BatchResponse])
  /// A change set failed as a whole, with this answer.
  case changeSetFailed(BatchResponse)
  /// The service stopped at an earlier error and did not come to this part (Protocol 4.01 §11.7.2).
  case notProcessed
}

extension BatchAnswer {
  /// Finds the answer to each part of a multipart batch: parts by their order, members of a change set by Content-ID
  /// where every answer has one, else by their order.
  ///
  /// - Throws: ``BatchError/Problem/countMismatch(expected:found:)`` naming the first part without its answers.
  public static func match(
    _ responses: [BatchResponsePart], to requests: [BatchRequestPart]
  ) throws(BatchError) -> [BatchAnswer] {
    guard responses.count <= requests.count else {
      throw BatchError(.countMismatch(expected: requests.count, found: responses.count), part: "\(requests.count + 1)")
    }
    var answers: [BatchAnswer] = []
    for (index, request) in requests.enumerated() {
      guard index < responses.count else {
        // Without continue-on-error a service stops at the first error.
        guard responses.last?.responses.contains(where: \.isError) == true else {
          throw BatchError(.countMismatch(expected: requests.count, found: responses.count), part: "\(index + 1)")
        }
        answers.append(.notProcessed)
        continue
      }
      answers.append(try match(responses[index], to: request, part: index + 1))
    }
    return answers
  }

  private static func match(
    _ response: BatchResponsePart, to request: BatchRequestPart, part: Int
  ) throws(BatchError) -> BatchAnswer {
    let found = response.responses
    switch request {
    case .single:
      guard found.count == 1, let answer = found.first else {
        throw BatchError(.countMismatch(expected: 1, found: found.count), part: "\(part)")
      }
      return .single(answer)
    case .changeSet(let members):
      // A failed change set has one answer: instead of the multipart, or alone inside it.
      if found.count == 1, let answer = found.first, answer.isError { return .changeSetFailed(answer) }
      guard found.count == members.count else {
        if let answer = found.first(where: \.isError) { return .changeSetFailed(answer) }
        let first = min(found.count, members.count) + 1
        throw BatchError(.countMismatch(expected: members.count, found: found.count), part: "\(part).\(first)")
      }
      return .changeSet(inOrder(found, of: members))
    }
  }

  /// By id, where ids tell all apart; services number answers anew at times, and then the order tells.
  private static func inOrder(_ found: [BatchResponse], of members: [BatchRequest]) -> [BatchResponse] {
    var byID: [String: BatchResponse] = [:]
    for response in found { if let id = response.id { byID[id] = response } }
    let ordered = members.compactMap { $0.id.flatMap { byID[$0] } }
    return ordered.count == found.count && byID.count == found.count ? ordered : found
  }

  /// Finds the answer to each part of a JSON batch by id; the parts are those that were written, with their ids.
  ///
  /// - Throws: ``BatchError/Problem/unknownID(_:)`` and ``BatchError/Problem/countMismatch(expected:found:)``.
  public static func match(
    json responses: [BatchResponse], to requests: [BatchRequestPart]
  ) throws(BatchError) -> [BatchAnswer] {
    let answers = try slots(json: responses, in: requests)
    let total = requests.reduce(0) { $0 + $1.requests.count }
    let hasError = responses.contains(where: \.isError)
    var all: [BatchAnswer] = []
    for (index, answer) in answers.enumerated() {
      guard answer != nil || hasError else {
        throw BatchError(.countMismatch(expected: total, found: responses.count), part: "\(index + 1)")
      }
      all.append(answer ?? .notProcessed)
    }
    return all
  }

  /// The answer to each part of a JSON batch, nil where there is none.
  private static func slots(
    json responses: [BatchResponse], in requests: [BatchRequestPart]
  ) throws(BatchError) -> [BatchAnswer?] {
    var byID: [String: BatchResponse] = [:]
    for response in responses {
      guard let id = response.id, byID.updateValue(response, forKey: id) == nil else {
        throw BatchError(.unknownID(response.id ?? ""))
      }
    }
    var answers: [BatchAnswer?] = []
    for request in requests {
      let members = request.requests
      let found = members.compactMap { $0.id.flatMap { byID.removeValue(forKey: $0) } }
      switch request {
      case .single: answers.append(found.first.map(BatchAnswer.single))
      case .changeSet:
        if found.count == members.count {
          answers.append(.changeSet(found))
        } else {
          answers.append(found.first(where: \.isError).map(BatchAnswer.changeSetFailed))
        }
      }
    }
    if let id = byID.keys.min() { throw BatchError(.unknownID(id)) }
    return answers
  }
}

// Answers of which something is missing.
extension BatchAnswer {
  /// The answers that a multipart batch has for its parts; nil from the first part on that has none.
  static func whole(_ responses: [BatchResponsePart], in requests: [BatchRequestPart]) -> [BatchAnswer?] {
    requests.enumerated().map { index, request in
      index < responses.count ? try? match(responses[index], to: request, part: index + 1) : nil
    }
  }

  /// The answers that a JSON batch has for its parts; nil for parts that have none.
  static func whole(json responses: [BatchResponse], in requests: [BatchRequestPart]) -> [BatchAnswer?] {
    (try? slots(json: responses, in: requests)) ?? requests.map { _ in nil }
  }
}
