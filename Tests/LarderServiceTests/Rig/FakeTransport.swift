import Foundation
import LarderHTTP
import Synchronization

/// A transport in memory. A closure creates the responses, and every request is recorded.
final class FakeTransport: HTTPTransport {
  typealias Handler = @Sendable (_ request: HTTPRequest, _ index: Int) async throws(HTTPTransportError) -> FakeResponse

  private let handler: Handler
  private let log = Mutex<[HTTPRequest]>([])

  init(_ handler: @escaping Handler) { self.handler = handler }

  /// Returns the responses in their order, then 599.
  convenience init(_ responses: [FakeResponse]) {
    self.init { _, index throws(HTTPTransportError) in
      guard index < responses.count else { return FakeResponse(599) }
      if let failure = responses[index].failure { throw failure }
      return responses[index]
    }
  }

  var requests: [HTTPRequest] { log.withLock { $0 } }

  /// The sent requests, one line each: method, path and query, and the given fields that are present.
  func trace(_ names: HTTPFieldName...) -> [String] {
    requests.map { request in
      let parts = request.url.absoluteString.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
      let target = "/" + (parts.dropFirst(3).first ?? "")
      let fields = names.compactMap { name in request.fields[name].map { "\(name): \($0)" } }
      return (["\(request.method) \(target)"] + fields).joined(separator: " | ")
    }
  }

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let index = log.withLock { log in
      log.append(request)
      return log.count - 1
    }
    let response = try await handler(request, index)
    if let failure = response.failure { throw failure }
    return HTTPResponse(
      status: response.status, fields: response.fields, url: response.url ?? request.url,
      body: HTTPBodyStream(Array(response.body.utf8)))
  }
}

struct FakeResponse: Sendable {
  var status: Int
  var fields: HTTPFields
  var body: String
  var failure: HTTPTransportError?
  /// The URL after redirects; nil for that of the request.
  var url: URL?

  init(_ status: Int, _ fields: HTTPFields = [:], _ body: String = "") {
    self.status = status
    self.fields = fields
    self.body = body
  }

  static func json(_ body: String, status: Int = 200, _ fields: HTTPFields = [:]) -> FakeResponse {
    var fields = fields
    fields.setDefault(.contentType, "application/json")
    return FakeResponse(status, fields, body)
  }

  static func failure(_ error: HTTPTransportError) -> FakeResponse {
    var response = FakeResponse(0)
    response.failure = error
    return response
  }
}

extension HTTPBody {
  var text: String {
    if case .bytes(let bytes) = self { String(decoding: bytes, as: UTF8.self) } else { "" }
  }
}
