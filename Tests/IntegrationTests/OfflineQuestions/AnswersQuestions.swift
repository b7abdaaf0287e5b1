import Foundation
import LarderTestSupport

// Same question, same answer: how the offline store is held against the services that it copies.
//
// 1. ``QuestionData``        takes the service's rows: questions ask for values that are there.
// 2. ``QuestionWriter``      makes questions from a seed, a model and what the service understands (``QuestionReach``).
//                            A question is a ``QuestionNode``, a tree that can be made smaller.
// 3. ``AnswersQuestions``    the service over HTTP, and the store after a download.
// 4. ``AnswerComparison``    every value of both answers; ``AnswerShape`` takes away what only a server can say.
// 5. ``Excuse``              the faults of the servers, each proved by a request: what they make of a question
//                            (``QuestionReading``), of a spelling (``ServiceSpelling``) or of a member that is there or not.
// 6. ``SameAnswerRun``       asks, compares, and makes a question with different answers as small as it can.

/// Something that answers questions in OData's JSON.
protocol AnswersQuestions: Sendable {
  /// The answer to a path from the service's root, percent-encoded: `Products?$filter=ID%20eq%201`.
  func answer(_ path: String) async -> QuestionAnswer
}

/// What came back.
enum QuestionAnswer: Sendable, Equatable {
  /// JSON, or the text of `/$count` and `/$value`.
  case content([UInt8])
  /// There is no such thing: 204 or 404.
  case nothing
  /// It could not or would not answer, and why.
  case refused(String)

  /// For people, not longer than so many characters.
  func text(_ limit: Int) -> String {
    switch self {
    case .content(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      return text.count <= limit ? text : "\(text.prefix(limit))… (\(bytes.count) bytes)"
    case .nothing: return "nothing"
    case .refused(let why): return "refused: \(why.prefix(limit))"
    }
  }
}

/// A service over HTTP, asked by none of Larder's own code.
struct ServiceAnswers: AnswersQuestions {
  let port: Int
  /// The path of the service's root, without a slash at its end.
  let root: String
  /// Fields of every request.
  var fields: [String: String] = ["Accept": "application/json, text/plain;q=0.9, */*;q=0.5"]

  func get(_ path: String) throws -> PlainResponse {
    try PlainHTTP.send(port: port, target: root + "/" + path, fields: fields)
  }

  func answer(_ path: String) async -> QuestionAnswer {
    do {
      let answer = try await onOwnThread { [self] in try get(path) }
      switch answer.status {
      // The raw value of an empty text and of null are alike here.
      case 200: return answer.body.isEmpty ? .nothing : .content(answer.body)
      case 204, 404: return .nothing
      default: return .refused("\(answer.status) \(answer.text.prefix(300))")
      }
    } catch {
      return .refused("\(error)")
    }
  }
}
