import Foundation
import LarderTestSupport

// Same question, same answer: how the offline store is held against the services that it copies.
//
// 1. ``QueryData``        takes the service's rows: questions ask for values that are there.
// 2. ``QueryGenerator``      makes questions from a seed, a model and what the service understands (``QueryFeatures``).
//                            A question is a ``QueryNode``, a tree that can be made smaller.
// 3. ``QueryTarget``    the service over HTTP, and the store after a download.
// 4. ``ResultComparison``    every value of both answers; ``ResultShape`` takes away what only a server can say.
// 5. ``Excuse``              the faults of the servers, each proved by a request: what they make of a question
//                            (``QueryInterpretation``), of a spelling (``ServiceSpelling``) or of a member that is there or not.
// 6. ``ComparisonRun``       asks, compares, and makes a question with different answers as small as it can.

/// Something that answers questions in OData's JSON.
protocol QueryTarget: Sendable {
  /// The answer to a path from the service's root, percent-encoded: `Products?$filter=ID%20eq%201`.
  func result(of path: String) async -> QueryResult
}

/// What came back.
enum QueryResult: Sendable, Equatable {
  /// JSON, or the text of `/$count` and `/$value`.
  case content([UInt8])
  /// There is no such thing: 204 or 404.
  case nothing
  /// It could not or would not answer, and why.
  case rejected(String)

  /// For people, not longer than so many characters.
  func text(_ limit: Int) -> String {
    switch self {
    case .content(let bytes):
      let text = String(decoding: bytes, as: UTF8.self)
      return text.count <= limit ? text : "\(text.prefix(limit))… (\(bytes.count) bytes)"
    case .nothing: return "nothing"
    case .rejected(let why): return "refused: \(why.prefix(limit))"
    }
  }
}

/// A service over HTTP, asked by none of Larder's own code.
struct ServiceTarget: QueryTarget {
  let port: Int
  /// The path of the service's root, without a slash at its end.
  let root: String
  /// Fields of every request.
  var fields: [String: String] = ["Accept": "application/json, text/plain;q=0.9, */*;q=0.5"]

  func get(_ path: String) throws -> PlainResponse {
    try PlainHTTP.send(port: port, target: root + "/" + path, fields: fields)
  }

  func result(of path: String) async -> QueryResult {
    do {
      let response = try await onOwnThread { [self] in try get(path) }
      switch response.status {
      // The raw value of an empty text and of null are alike here.
      case 200: return response.body.isEmpty ? .nothing : .content(response.body)
      case 204, 404: return .nothing
      default: return .rejected("\(response.status) \(response.text.prefix(300))")
      }
    } catch {
      return .rejected("\(error)")
    }
  }
}
