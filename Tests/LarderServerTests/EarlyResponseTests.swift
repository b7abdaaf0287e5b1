import LarderHTTP
import LarderServer
import LarderTestSupport
import Testing

@Suite("Responses to requests whose content is still being sent", .timeLimit(.minutes(5)))
struct EarlyResponseTests {
  @Test(
    "Eight clients send content to a server that responds after the head: each gets a response, and the proxy survives",
    arguments: [401, 403, 307, 413])
  func eightClients(status: Int) async throws {
    var options = ScriptedServer.Options()
    options.onHead = { request in
      request.method == .post ? .response(status, fields: ["Location": "/elsewhere"], body: "early") : nil
    }
    let rig = try ProxyRig(upstreamOptions: options) { _ in .response(200, body: "whole") }
    let content = String(repeating: "x", count: 300_000)
    let statuses = try await withThrowingTaskGroup(of: [Int].self) { group in
      for _ in 0..<8 {
        group.addTask {
          var statuses: [Int] = []
          for _ in 0..<10 {
            let fields = "Content-Length: \(content.utf8.count)\r\n"
            statuses.append(try await rig.exchange("POST", "/", fields, content: content).status)
          }
          return statuses
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    // The connection that the server closes under the content may take the response with it: 502 then.
    #expect(statuses.count == 80)
    #expect(Set(statuses).isSubset(of: [status, 502]), "\(Set(statuses))")
    #expect(statuses.contains(status))
    let last = try await rig.exchange("GET", "/")
    #expect(last.text == "whole", "\(last)")
    await rig.stop()
  }

  @Test("A client that disconnects during a response can release the request's resources from any thread")
  func leavesInTheMiddle() async throws {
    let ended = Tally("responses given up")
    let server = try HTTPServer(.patient) { request in
      var iterator = request.content?.makeAsyncIterator()
      _ = try? await iterator?.next()
      // Endless; its end gives up the rest of the request's content, as a transfer to another server does.
      let content = HTTPBodyStream(
        next: { [UInt8](repeating: 0x78, count: 1 << 16) },
        abandon: { [iterator] in
          _ = iterator
          request.content?.cancel()
          ended.add()
        })
      return HTTPServerResponse(status: 200, body: .stream(content))
    }
    for number in 1...8 {
      let client = try RawClient(port: server.port)
      try await client.send("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\nabc")
      _ = try await client.read(atLeast: 100)
      client.reset()
      try await ended.wait(for: number)
    }
    await server.stop()
  }
}
