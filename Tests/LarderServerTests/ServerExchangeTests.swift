import LarderCurl
import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// Responds with what was requested, after a suspension if the target says so.
private func echo(_ request: HTTPServerRequest) async -> HTTPServerResponse {
  let content = (try? await request.content?.collect(upTo: 1 << 20)) ?? []
  if request.target.contains("suspend") { await Task.yield() }
  return HTTPServerResponse(
    status: 200, fields: ["X-Target": request.target, "X-Client": request.client],
    body: .bytes(Array("\(request.method) ".utf8) + content))
}

@Suite("The server's exchanges", .timeLimit(.minutes(5)))
struct ServerExchangeTests {
  @Test("A request is passed on as it was sent", arguments: ["/", "/suspend"])
  func plain(_ path: String) async throws {
    let seen = Mutex<HTTPServerRequest?>(nil)
    let server = try HTTPServer(.patient) { request in
      seen.withLock { $0 = request }
      return await echo(request)
    }
    let client = try RawClient(port: server.port)
    let target = "\(path)a%2Fb//../c;d?x=%20+&&y"
    let response = try await client.exchange(
      "GET \(target) HTTP/1.1\r\nHost: a\r\nX-One: 1\r\nx-one:  2 \r\nX-Empty:\r\n\r\n")
    #expect(response.status == 200)
    #expect(response.text == "GET ")
    #expect(response.fields["X-Target"] == target)
    #expect(response.fields["X-Client"] == "127.0.0.1")
    #expect(response.fields["Date"] != nil)
    let request = try #require(seen.withLock { $0 })
    #expect(Array(request.fields).map { "\($0.name)=\($0.value)" } == ["Host=a", "X-One=1", "x-one=2", "X-Empty="])
    #expect(request.content == nil)
    await server.stop()
    #expect(server.connectionCount == 0)
  }

  @Test("A connection carries many exchanges, pipelined ones in order", arguments: ["/now", "/suspend"])
  func pipelining(_ path: String) async throws {
    let server = try HTTPServer(.patient) { await echo($0) }
    let client = try RawClient(port: server.port)
    var text = ""
    for index in 0..<50 {
      text += "POST \(path)/\(index) HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"
      text += "GET \(path)/\(index) HTTP/1.1\r\nHost: a\r\n\r\n"
    }
    try await client.send(text)
    for index in 0..<50 {
      let post = try await client.response()
      #expect(post.fields["X-Target"] == "\(path)/\(index)")
      #expect(post.text == "POST hello")
      #expect(try await client.response().text == "GET ")
    }
    await server.stop()
  }

  @Test("Content in chunks, an unknown method, and an expectation of 100 (Continue)")
  func content() async throws {
    let server = try HTTPServer(.patient) { await echo($0) }
    let client = try RawClient(port: server.port)
    let chunked = try await client.exchange(
      "PURGE /x HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;ext=1\r\nde\r\n0\r\nT: 1\r\n\r\n"
    )
    #expect(chunked.text == "PURGE abcde")
    try await client.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    let interim = try await client.response()
    #expect(interim.status == 100)
    #expect(try await client.exchange("late").text == "PUT late")
    await server.stop()
  }

  @Test("A response that does not need the content replaces 100 (Continue)")
  func rejectedExpectation() async throws {
    let server = try HTTPServer(.patient) { _ in HTTPServerResponse(status: 403, text: "no") }
    let client = try RawClient(port: server.port)
    let response = try await client.exchange(
      "PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nExpect: 100-continue\r\n\r\n")
    #expect(response.status == 403)
    #expect(response.fields["Connection"] == "close")
    #expect(try await client.readToEnd() == [])
    await server.stop()
  }

  @Test("Content that is not read is dropped, and the connection stays open")
  func unreadContent() async throws {
    let server = try HTTPServer(.patient) { _ in HTTPServerResponse(status: 200, text: "ok") }
    let client = try RawClient(port: server.port)
    for _ in 0..<3 {
      try await client.send("PUT /x HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n")
      try await client.send([UInt8](repeating: 65, count: 1_000_000))
      #expect(try await client.response().text == "ok")
    }
    await server.stop()
  }

  @Test("HTTP/1.0 gets a response, a persistent connection only on request, and never chunks")
  func oldVersion() async throws {
    let server = try HTTPServer(.patient) { request in
      let pieces = Mutex(["one", "two"])
      let stream = HTTPBodyStream(next: { pieces.withLock { $0.isEmpty ? nil : Array($0.removeFirst().utf8) } })
      return request.target == "/stream"
        ? HTTPServerResponse(status: 200, body: .stream(stream)) : HTTPServerResponse(status: 200, text: "ok")
    }
    let client = try RawClient(port: server.port)
    let persistent = try await client.exchange("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
    #expect(persistent.text == "ok")
    let last = try await client.exchange("GET /stream HTTP/1.0\r\n\r\n")
    #expect(last.text == "onetwo")
    #expect(last.fields["Transfer-Encoding"] == nil)
    #expect(last.fields["Connection"] == "close")
    await server.stop()
  }

  @Test("HEAD, 204 and 304 have no content, and the connection stays open", arguments: [true, false])
  func withoutContent(_ suspends: Bool) async throws {
    let server = try HTTPServer(.patient) { request in
      if suspends { await Task.yield() }
      switch request.target {
      case "/204": return HTTPServerResponse(status: 204, body: .bytes([1, 2, 3]))
      case "/304": return HTTPServerResponse(status: 304, fields: ["ETag": "\"x\"", "Content-Length": "77"])
      case "/bytes": return HTTPServerResponse(status: 200, body: .bytes(Array("hello".utf8)))
      case "/none": return HTTPServerResponse(status: 200)
      default: return HTTPServerResponse(status: 200, fields: ["Content-Length": "123456789"])
      }
    }
    let client = try RawClient(port: server.port)
    func send(_ method: String, _ target: String) async throws -> RawClient.Response {
      try await client.exchange("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\r\n", isHead: method == "HEAD")
    }
    let noContent = try await send("GET", "/204")
    #expect(noContent.status == 204)
    #expect(noContent.fields[.contentLength] == nil)
    let notModified = try await send("GET", "/304")
    #expect(notModified.fields[.contentLength] == "77")
    #expect(notModified.fields[.etag] == "\"x\"")
    #expect(try await send("HEAD", "/bytes").fields[.contentLength] == "5")
    #expect(try await send("HEAD", "/said").fields[.contentLength] == "123456789")
    #expect(try await send("GET", "/none").fields[.contentLength] == "0")
    #expect(try await send("GET", "/bytes").text == "hello")
    // Nothing is known of the length: it is not invented.
    let unknown = try await send("HEAD", "/none")
    #expect(unknown.fields[.contentLength] == nil)
    #expect(unknown.fields["Transfer-Encoding"] == nil)
    #expect(unknown.fields["Connection"] == "close")
    await server.stop()
  }

  @Test("Fields are sent unchanged, also several with one name and empty ones; the server sets the framing")
  func responseFields() async throws {
    let server = try HTTPServer(.patient) { _ in
      HTTPServerResponse(
        status: 299,
        fields: HTTPFields([
          HTTPField(name: "Set-Cookie", value: "a=1"), HTTPField(name: "Set-Cookie", value: "b=2"),
          HTTPField(name: "X-Empty", value: ""), HTTPField(name: "X-Bad", value: "a\r\nX-Injected: 1"),
          HTTPField(name: "Date", value: "Mon, 01 Jan 2024 00:00:00 GMT"),
          HTTPField(name: "Content-Length", value: "9"),
          HTTPField(name: "Transfer-Encoding", value: "gzip"), HTTPField(name: "Keep-Alive", value: "timeout=5"),
        ]), body: .bytes([0x41]))
    }
    let client = try RawClient(port: server.port)
    let response = try await client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(response.status == 299)
    #expect(response.fields.values(of: "Set-Cookie") == ["a=1", "b=2"])
    #expect(response.fields.values(of: "X-Empty") == [""])
    #expect(response.fields.values(of: "Date") == ["Mon, 01 Jan 2024 00:00:00 GMT"])
    #expect(response.fields.values(of: "Content-Length") == ["1"])
    for name in ["X-Bad", "X-Injected", "Transfer-Encoding", "Keep-Alive", "Content-Type", "Connection"] {
      #expect(!response.fields.contains(HTTPFieldName(name)))
    }
    await server.stop()
  }

  @Test("An IPv6 address works, and a busy port is reported")
  func addresses() async throws {
    var options = HTTPServer.Options.patient
    options.host = "::1"
    let server = try HTTPServer(options) { HTTPServerResponse(status: 200, text: $0.client) }
    let url = try #require(URL(string: "http://[::1]:\(server.port)/"))
    let transport = try CurlTransport()
    let response = try await transport.send(HTTPRequest(url: url))
    #expect(String(decoding: try await response.body.collect(), as: UTF8.self) == "::1")
    options.port = server.port
    #expect(throws: HTTPServerError.addressInUse(host: "::1", port: server.port)) {
      _ = try HTTPServer(options) { _ in HTTPServerResponse(status: 200) }
    }
    options.host = "localhost.example"
    #expect(throws: HTTPServerError.invalidAddress("localhost.example")) {
      _ = try HTTPServer(options) { _ in HTTPServerResponse(status: 200) }
    }
    await server.stop()
    await transport.close()
  }

  @Test(
    "An early response does not end the request's content for its reader",
    arguments: [true, false])
  func earlyResponse(_ isChunked: Bool) async throws {
    let responded = Tally("answers")
    let read = Tally("bytes read")
    let server = try HTTPServer(.patient) { request in
      let content = request.content
      Task { read.add((try? await content?.collect().count) ?? 0) }
      responded.add()
      return HTTPServerResponse(status: 200, text: "early")
    }
    let half = String(repeating: "x", count: 500_000)
    let piece = isChunked ? "7a120\r\n\(half)\r\n" : half
    let client = try RawClient(port: server.port)
    let framing = isChunked ? "Transfer-Encoding: chunked" : "Content-Length: 1000000"
    try await client.send("PUT / HTTP/1.1\r\nHost: a\r\n\(framing)\r\n\r\n" + piece)
    try await responded.wait(for: 1)
    try await client.send(piece + (isChunked ? "0\r\n\r\n" : ""))
    #expect(try await client.response().text == "early")
    try await read.wait(for: 1_000_000)
    await server.stop()
  }

  @Test("The reported end equals what was sent", arguments: [(200, 0, 200), (99, 0, 500), (200, 40_000, 502)])
  func end(_ status: Int, _ fieldBytes: Int, _ sent: Int) async throws {
    let ended = Tally("ends")
    let ends = Mutex<[HTTPServerResponse.End]>([])
    let server = try HTTPServer(.patient) { _ in
      HTTPServerResponse(
        status: status, fields: ["X": String(repeating: "x", count: fieldBytes)],
        onEnd: { end in
          ends.withLock { $0.append(end) }
          ended.add()
        })
    }
    let client = try RawClient(port: server.port)
    let response = try await client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(response.status == sent)
    try await ended.wait(for: 1)
    #expect(ends.withLock { $0.map(\.status) } == [sent])
    #expect(ends.withLock { $0.map(\.isComplete) } == [true])
    await server.stop()
  }
}
