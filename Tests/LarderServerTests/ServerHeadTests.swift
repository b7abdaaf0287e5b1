import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

@Suite("The heads of requests and responses", .timeLimit(.minutes(5)))
struct ServerHeadTests {
  /// A head near the limit of its 32 KiB, or past it.
  struct Load: Sendable, CustomTestStringConvertible {
    var requestFields: Int
    var requestBytes: Int
    /// Bytes of requests that wait behind it.
    var pipelined: Int
    var fields: Int
    var bytes: Int
    var fits: Bool

    var testDescription: String {
      "\(requestFields) fields, \(requestBytes) bytes requested, \(pipelined) behind; \(fields), \(bytes) returned"
    }

    static let all: [Load] = [(0, 0), (0, 31_000), (250, 0)].flatMap { requestFields, requestBytes in
      [0, 60_000].flatMap { pipelined in
        [
          (0, 0, true), (1, 20_000, true), (1, 31_000, true), (1000, 0, true), (1, 33_000, false), (1, 400_000, false),
          (1100, 0, false),
        ].map { fields, bytes, fits in
          Load(
            requestFields: requestFields, requestBytes: requestBytes, pipelined: pipelined, fields: fields,
            bytes: bytes,
            fits: fits)
        }
      }
    }
  }

  @Test(
    "The head of a response is sent completely, or the client gets an error", arguments: Load.all)
  func largeHeads(_ load: Load) async throws {
    let responded = Mutex<[HTTPServerResponse.End]>([])
    let ended = Tally("ends")
    let server = try HTTPServer(.patient) { request in
      guard request.target == "/large" else { return HTTPServerResponse(status: 200, text: "next") }
      var fields: HTTPFields = load.bytes > 0 ? ["X-Large": String(repeating: "a", count: load.bytes)] : [:]
      for _ in 0..<load.fields { fields.append("X", "12345678901234567890123456") }
      return HTTPServerResponse(
        status: request.method == .put ? 304 : 200, fields: fields, body: .bytes(Array("content".utf8)),
        onEnd: { end in
          responded.withLock { $0.append(end) }
          ended.add()
        })
    }
    let requestHead =
      String(repeating: "X: 1\r\n", count: load.requestFields)
      + "Y: \(String(repeating: "b", count: load.requestBytes))\r\n"
    let next = "GET /next HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "c", count: 20_000))\r\n\r\n"
    let behind = load.pipelined / 20_000
    for method in ["GET", "HEAD", "PUT"] {
      let client = try RawClient(port: server.port)
      try await client.send(
        "\(method) /large HTTP/1.1\r\nHost: a\r\n\(requestHead)\r\n" + String(repeating: next, count: behind))
      let response = try await client.response(isHead: method == "HEAD")
      #expect(response.status == (load.fits ? method == "PUT" ? 304 : 200 : 502))
      #expect(response.fields["X-Large"]?.utf8.count == (load.fits && load.bytes > 0 ? load.bytes : nil))
      #expect(response.fields.values(of: "X").count == (load.fits ? load.fields : 0))
      for _ in 0..<behind { #expect(try await client.response().text == "next") }
    }
    // The client may have all before the server has noted it.
    try await ended.wait(for: 3)
    await server.stop()
    // Each came on a connection of its own: their ends may be noted in another order.
    #expect(responded.withLock { $0 }.map(\.status).sorted() == (load.fits ? [200, 200, 304] : [502, 502, 502]))
    #expect(responded.withLock { $0 }.allSatisfy { $0.isComplete })
  }

  @Test("Many cookies are one field, as it was sent", arguments: [0, 1, 10_000])
  func cookies(_ count: Int) async throws {
    let seen = Mutex<[HTTPFields]>([])
    let server = try HTTPServer(.patient) { request in
      seen.withLock { $0.append(request.fields) }
      return HTTPServerResponse(status: 200)
    }
    let client = try RawClient(port: server.port)
    let cookies = String(repeating: "a;", count: count)
    for _ in 0..<2 {
      let response = try await client.exchange("GET /?a HTTP/1.1\r\nHost: a\r\nCookie: \(cookies)\r\n\r\n")
      #expect(response.status == 200)
      let bare = try await client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
      #expect(bare.status == 200)
    }
    let pair: [HTTPFields] = [["Host": "a", "Cookie": cookies], ["Host": "a"]]
    #expect(seen.withLock { $0 } == pair + pair)
    await server.stop()
  }

  @Test("Bytes beyond ASCII are unchanged in both directions (RFC 9110 §5.5)")
  func opaqueBytes() async throws {
    let value = Array(UInt8(0x80)...0xFF) + Array("\u{E4}\u{10FEE4}".utf8)
    let seen = Mutex<[UInt8]?>(nil)
    let server = try HTTPServer(.patient) { request in
      seen.withLock { $0 = request.fields.first { $0.name == "X" }?.bytes }
      return HTTPServerResponse(status: 200, fields: ["X": request.fields["X"] ?? ""])
    }
    let client = try RawClient(port: server.port)
    try await client.send(
      Array("GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ".utf8) + value + Array("\r\n\r\n".utf8))
    let response = try await client.readToEnd()
    #expect(seen.withLock { $0 } == value)
    #expect(response.firstRange(of: Array("\r\nX: ".utf8) + value + Array("\r\n".utf8)) != nil)
    await server.stop()
  }

  @Test("Control characters in a response's fields become spaces; an invalid field is not sent")
  func controlCharacters() async throws {
    let server = try HTTPServer(.patient) { _ in
      HTTPServerResponse(
        status: 200,
        fields: HTTPFields([
          HTTPField(name: "X-Escape", value: "a\u{1B}[31mb\u{7F}c"), HTTPField(name: "X-Tab", value: "a\tb"),
          HTTPField(name: "X-NUL", value: "a\u{0}b"), HTTPField(name: "X-CR", value: "a\rb"),
          HTTPField(name: "X-LF", value: "a\nX: 1"), HTTPField(name: "X Space", value: "1"),
          HTTPField(name: "", value: "1"), HTTPField(name: "X-\u{E4}", value: "1"),
        ]))
    }
    let client = try RawClient(port: server.port)
    let response = try await client.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
    #expect(
      response.fields.filter { $0.name.canonicalName.hasPrefix("x") } == [
        HTTPField(name: "X-Escape", value: "a [31mb c"), HTTPField(name: "X-Tab", value: "a b"),
      ])
    await server.stop()
  }
}
