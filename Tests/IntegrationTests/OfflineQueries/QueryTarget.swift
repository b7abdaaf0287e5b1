import Foundation
import LarderTestSupport

// Same query, same result: how the offline store is compared with the services that it copies.
//
// 1. ``QueryData``           reads the service's rows, so that queries use values that exist.
// 2. ``QueryGenerator``      generates queries from a seed, a model and the service's features (``QueryFeatures``).
//                            A query is a ``QueryNode``, a tree that can be reduced.
// 3. ``QueryTarget``         the service over HTTP, and the store after a download.
// 4. ``ResultComparison``    compares every value of both results; ``ResultShape`` removes members that only a server can know.
// 5. ``Excuse``              lists the faults of the servers, each proved by a request: how they change a query
//                            (``QueryInterpretation``), a spelling (``ServiceSpelling``) or the members of a result.
// 6. ``ComparisonRun``       sends, compares, and reduces a query with different results as far as possible.

/// A service or store that returns results in OData's JSON.
protocol QueryTarget: Sendable {
  /// The result of a path relative to the service's root, percent-encoded: `Products?$filter=ID%20eq%201`.
  func result(of path: String) async -> QueryResult
}

/// The result of a query.
enum QueryResult: Sendable, Equatable {
  /// JSON, or the text of `/$count` and `/$value`.
  case content([UInt8])
  /// There is no such thing: 204 or 404.
  case nothing
  /// The query was rejected or failed, and why.
  case rejected(String)

  /// A text for messages, of at most `limit` characters.
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

/// A service over HTTP. It is not requested by Larder's own code.
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
      let response = try await onDedicatedThread { [self] in try get(path) }
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
