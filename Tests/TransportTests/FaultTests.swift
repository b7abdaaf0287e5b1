import Foundation
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Faults", .timeLimit(.minutes(5)))
struct FaultTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: ScriptedServer.Response
    let errors: [String]

    init(_ description: String, _ response: ScriptedServer.Response, _ errors: String...) {
      testDescription = description
      self.response = response
      self.errors = errors
    }
  }

  static let faults = [
    Fault("closed before a response", .close, "connectionLost"),
    Fault("reset before a response", .reset, "connectionLost"),
    Fault("closed in the head", .raw("HTTP/1.1 200 OK\r\nContent-"), "connectionLost", "protocolViolation"),
    Fault("closed in the content", .response(200, body: "abcdef").truncated(to: 3), "connectionLost"),
    Fault("closed in a chunk", .chunked(pieces: ["abcdef"]).truncated(to: 5), "connectionLost"),
    Fault("closed before the last chunk", .chunked(pieces: ["abcdef"]).truncated(to: 11), "connectionLost"),
    Fault(
      "too long a Content-Length", .response(200, fields: ["Content-Length": "9"], body: "x").closing(),
      "connectionLost"),
    Fault("no HTTP", .raw("220 smtp.example ESMTP\r\n"), "protocolViolation"),
    Fault("rubbish", .raw([0, 1, 2, 255, 254, 13, 10, 13, 10]), "protocolViolation"),
    Fault("a bad status", .raw("HTTP/1.1 abc OK\r\n\r\n"), "protocolViolation"),
    Fault("only an interim response", .raw("HTTP/1.1 100 Continue\r\n\r\n"), "connectionLost", "protocolViolation"),
    Fault("bad chunks", .raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), "protocolViolation"),
    Fault("broken gzip", .response(200, fields: ["Content-Encoding": "gzip"], body: "no gzip"), "protocolViolation"),
    Fault(
      "a head of 2 MiB",
      .raw("HTTP/1.1 200 OK\r\n" + String(repeating: "A: \(String(repeating: "x", count: 1000))\r\n", count: 2100)),
      "protocolViolation", "connectionLost"),
    Fault(
      "a header field of 5 MB", .raw("HTTP/1.1 200 OK\r\nA: \(String(repeating: "x", count: 5_000_000))\r\n\r\n"),
      "protocolViolation"),
  ]

  @Test("The total time-out ends a request even while others use all connections")
  func queued() async throws {
    var options = CurlTransport.Options()
    options.connectionLimitPerHost = 1
    let transport = try CurlTransport(options)
    let server = try ScriptedServer { _ in .hang }
    let first = Task { await failure(of: transport, HTTPRequest(url: server.url)) }
    _ = try await server.waitForRequests(1)
    let timeouts = HTTPTimeouts(total: .milliseconds(200))
    #expect(await failure(of: transport, HTTPRequest(url: server.url, timeouts: timeouts)) == .timeout(phase: "total"))
    first.cancel()
    #expect(await first.value == .cancelled)
    #expect(server.requests.count == 1)
    await transport.close()
    server.stop()
  }

  @Test("Each fault has its error", arguments: faults)
  func curl(fault: Fault) async throws {
    try await withServer({ _ in fault.response }) { server async throws in
      try await Rig.curl.run { transport async throws in
        let error = await failure(of: transport, HTTPRequest(url: server.url))
        #expect(fault.errors.contains(name(error)), "\(String(describing: error))")
      }
    }
  }

  // Without those where Foundation on Linux ends the process itself: a connection closed within the head.
  @Test("Each fault is an error on URLSession too", arguments: faults.prefix(2) + faults[3..<7])
  func urlSession(fault: Fault) async throws {
    try await withServer({ _ in fault.response }) { server async throws in
      try await Rig.urlSession.run { transport async throws in
        let error = await failure(of: transport, HTTPRequest(url: server.url))
        #expect(error != nil && error != .cancelled, "\(fault.testDescription)")
      }
    }
  }

  @Test("Content that arrived before the fault is read first", arguments: Rig.allCases)
  func contentBeforeFault(rig: Rig) async throws {
    try await withServer({ _ in .response(200, body: "abcdef").truncated(to: 3) }) { server async throws in
      try await rig.run { transport async throws in
        var iterator = try await transport.send(HTTPRequest(url: server.url)).body.makeAsyncIterator()
        #expect(try await iterator.next() == Array("abc".utf8))
        await #expect(throws: HTTPTransportError.self) { try await iterator.next() }
      }
    }
  }

  @Test("No server listens", arguments: Rig.allCases)
  func cannotConnect(rig: Rig) async throws {
    let url = try #require(URL(string: "http://127.0.0.1:\(freeLoopbackPort())/"))
    try await rig.run { transport async throws in
      let error = await failure(of: transport, HTTPRequest(url: url))
      #expect(name(error) == "cannotConnect")
      #expect(error?.isTransient == true)
    }
  }

  @Test("No such host", arguments: [Rig.curl])
  func noHost(rig: Rig) async throws {
    try await rig.run { transport async throws in
      let url = try #require(URL(string: "http://no-such-host.invalid/"))
      #expect(await failure(of: transport, HTTPRequest(url: url)) == .hostNotFound(host: "no-such-host.invalid"))
    }
  }

  @Test("The three time-outs name their phase", arguments: [Rig.curl])
  func timeouts(rig: Rig) async throws {
    let slow = HTTPField(name: "Slow", value: "head")
    try await withServer({ request in
      switch request.path {
      case "/hang": .hang
      case "/half": .response(200, fields: ["Content-Length": "9"], body: "half")
      default:
        .response(200, fields: HTTPFields(Array(repeating: slow, count: 20)), body: "x")
          .drippingHead(every: .milliseconds(8))
      }
    }) { server async throws in
      try await rig.run { transport async throws in
        let silence = HTTPTimeouts(idle: .milliseconds(1500))
        for path in ["/hang", "/half"] {
          #expect(
            await failure(of: transport, HTTPRequest(url: server.url(path), timeouts: silence))
              == .timeout(phase: "idle"))
        }
        let total = HTTPTimeouts(idle: .seconds(20), total: .milliseconds(400))
        for path in ["/hang", "/half", "/drip"] {
          #expect(
            await failure(of: transport, HTTPRequest(url: server.url(path), timeouts: total))
              == .timeout(phase: "total"))
        }
        #expect(try await transport.exchange(HTTPRequest(url: server.url("/drip"), timeouts: silence)).content == "x")
      }
    }
  }

  @Test("Idle and total time-outs", arguments: [Rig.urlSession])
  func sessionTimeouts(rig: Rig) async throws {
    try await withServer({ _ in .hang }) { server async throws in
      try await rig.run { transport async throws in
        let idle = HTTPTimeouts(idle: .milliseconds(200))
        #expect(await failure(of: transport, HTTPRequest(url: server.url, timeouts: idle)) == .timeout(phase: "idle"))
        let total = HTTPTimeouts(total: .milliseconds(200))
        #expect(await failure(of: transport, HTTPRequest(url: server.url, timeouts: total)) == .timeout(phase: "total"))
      }
    }
  }

  @Test("A waiting reader is not an idle connection", arguments: Rig.allCases)
  func slowReader(rig: Rig) async throws {
    try await withServer({ request in
      request.target == "/hang" ? .hang : .large(pattern: Array(repeating: 7, count: 1 << 16), times: 64)
    }) { server async throws in
      try await rig.run { transport async throws in
        let request = HTTPRequest(url: server.url, timeouts: HTTPTimeouts(idle: .milliseconds(100)))
        let response = try await transport.send(request)
        // A longer time-out of another request shows that the reader's own limit has passed.
        let silent = HTTPRequest(url: server.url("/hang"), timeouts: HTTPTimeouts(idle: .milliseconds(400)))
        #expect(await failure(of: transport, silent) == .timeout(phase: "idle"))
        #expect(try await response.body.collect().count == 4 << 20)
      }
    }
  }
}
