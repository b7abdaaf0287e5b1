import Foundation
import LarderContent
import LarderHTTP

/// Resources of one size, a server for them in this process, and requests for them.
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

  /// Stores each resource, and checks that hits come from the expected place.
  func fill(_ engine: HTTPCache, expecting place: ContentOrigin) async throws {
    for request in requests { _ = try await engine.response(to: request).response.body.collect() }
    try await hits(engine, requests.count, expecting: place)
  }

  /// Sends `times` requests, and reads each body.
  func hits(_ engine: HTTPCache, _ times: Int, expecting place: ContentOrigin) async throws {
    for index in 0..<times {
      let response = try await engine.response(to: requests[index % requests.count])
      let body = try await response.response.body.collect()
      guard response.origin == place, body.count == origin.content.count else {
        throw BenchmarkError(
          "a measured request was not a hit from \(place), but \(body.count) bytes from \(response.origin)")
      }
    }
  }
}

/// A server in this process that responds at once.
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
