import Foundation
import LarderContent
import LarderHTTP

/// Resources of one size, a server of them in the process, and requests in turn.
struct Resources {
  let requests: [HTTPRequest]
  let origin: Origin

  init(count: Int, bytes: Int) throws {
    requests = try (0..<count).map { index in
      guard let url = URL(string: "http://origin.test/images/\(bytes)/resource-\(index).png?size=large") else {
        throw BenchmarkError("no URL")
      }
      return HTTPRequest(url: url, fields: ["Accept": "image/png", "User-Agent": "benchmark"])
    }
    origin = Origin(content: [UInt8](repeating: 0x78, count: bytes))
  }

  func cycle(_ times: Int) -> some Sequence<HTTPRequest> {
    (0..<times).lazy.map { requests[$0 % requests.count] }
  }

  /// Stores each, and makes sure that hits come from where they should.
  func fill(_ engine: HTTPCache, expecting place: ContentOrigin) async throws {
    for request in requests { _ = try await engine.answer(request).response.body.collect() }
    try await hits(engine, requests.count, expecting: place)
  }

  /// Asks so often, and reads each body.
  func hits(_ engine: HTTPCache, _ times: Int, expecting place: ContentOrigin) async throws {
    for index in 0..<times {
      let answer = try await engine.answer(requests[index % requests.count])
      let body = try await answer.response.body.collect()
      guard answer.origin == place, body.count == origin.content.count else {
        throw BenchmarkError("a timed call was no hit from \(place): \(answer.origin), \(body.count) bytes")
      }
    }
  }
}

/// A server in the process that answers at once.
struct Origin: HTTPTransport {
  let content: [UInt8]

  func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
    let fields: HTTPFields = [
      "Content-Type": "image/png", "Cache-Control": "max-age=3600", "ETag": "\"1\"",
      "Content-Length": "\(content.count)",
    ]
    return HTTPResponse(status: 200, fields: fields, url: request.url, body: HTTPBodyStream(content))
  }
}
