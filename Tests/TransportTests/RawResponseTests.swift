import Foundation
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

/// How long random responses are sent: `LARDER_SOAK_SECONDS` sets more than 20.
private enum Length {
  static let seconds = ProcessInfo.processInfo.environment["LARDER_SOAK_SECONDS"].flatMap { Int($0) } ?? 20
  static let limit: TimeLimitTrait.Duration = .minutes(5 + seconds / 30)
}

@Suite("Responses byte by byte, on reused connections and handles", .timeLimit(Length.limit))
struct RawResponseTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: String
    /// `STATUS fields | content`, or the name of an error; one of several.
    let outcomes: [String]

    init(_ description: String, _ bytes: String, _ outcomes: String...) {
      testDescription = description
      self.bytes = bytes
      self.outcomes = outcomes
    }
  }

  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let end = "Content-Length: 2\r\n\r\nok"

  static let cases = [
    // RFC 9112 §2.2: rejected, or dropped. libcurl rejects it before 8.3.0.
    Case(
      "a space before the first field", ok + " X: 1\r\n" + end, "protocolViolation", "200 Content-Length: 2 | ok"),
    Case("a tab before the first field", ok + "\tX: 1\r\n" + end, "protocolViolation", "200 Content-Length: 2 | ok"),
    Case(
      "white space alone before the first field", ok + "  \r\n" + end, "protocolViolation", "200 Content-Length: 2 | ok"
    ),
    // RFC 9112 §5.2.
    Case("a value on three lines", ok + "X: 1\r\n  2\r\n\t3\r\n" + end, "200 X: 1 2 3, Content-Length: 2 | ok"),
    Case("a line of spaces alone", ok + "X: 1\r\n   \r\nY: 2\r\n" + end, "200 X: 1, Y: 2, Content-Length: 2 | ok"),
    Case("a line of a tab alone", ok + "X: 1\r\n\t\r\n 2\r\n" + end, "200 X: 1 2, Content-Length: 2 | ok"),
    Case(
      "a line that is no field, continued", ok + "X: 1\r\nno field\r\n more\r\n" + end,
      "200 X: 1, Content-Length: 2 | ok", "protocolViolation"),
    Case("a space before the colon", ok + "X : 1\r\n" + end, "200 X: 1, Content-Length: 2 | ok"),
    Case(
      "lines that end with LF alone", "HTTP/1.1 200 OK\nX: 1\nContent-Length: 2\n\nok",
      "200 X: 1, Content-Length: 2 | ok"),
    Case("NUL in a value", ok + "X: a\0b\r\n" + end, "protocolViolation"),
    Case("a value of 200 kB", ok + "X: \(String(repeating: "x", count: 200_000))\r\n" + end, "protocolViolation"),
    Case("an end in the status line", "HTTP/1.1 20", "connectionLost", "protocolViolation"),
    Case("an end in a field", ok + "X: 1", "connectionLost", "protocolViolation"),
    Case("an end in a folded line", ok + "X: 1\r\n ", "connectionLost", "protocolViolation"),
    Case(
      "interim responses with folded fields",
      "HTTP/1.1 103 Early\r\nLink: </a>\r\n  ;rel=preload\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + ok + end,
      "200 Content-Length: 2 | ok"),
    Case(
      "a space before the first field behind an interim response",
      "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n" + ok + " X: 1\r\n" + end, "protocolViolation",
      "200 Content-Length: 2 | ok"),
    // RFC 9110 §15.2.2: another protocol was not requested.
    Case("101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes", "protocolViolation"),
    Case(
      "chunks with extensions, zeros and trailers",
      ok + "Transfer-Encoding: chunked\r\n\r\n0002;a=b\r\nok\r\n0\r\nX: 1\r\n  2\r\n \r\nY: 3\r\n\r\n",
      "200 Transfer-Encoding: chunked | ok"),
    Case(
      "a chunk's size below zero", ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\nok\r\n0\r\n\r\n", "protocolViolation"),
    Case(
      "a chunk's size beyond all numbers",
      ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\nok\r\n0\r\n\r\n",
      "protocolViolation"),
  ]

  private final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)
    var value: UInt64 { count.load(ordering: .relaxed) }
    func next() -> UInt64 { count.add(1, ordering: .relaxed).newValue }
  }

  /// What became of a request, in one line.
  private static func outcome(_ transport: CurlTransport, _ request: HTTPRequest) async -> String {
    do {
      let (response, content) = try await transport.exchange(request)
      let fields = response.fields.map { "\($0.name): \($0.value)" }.joined(separator: ", ")
      return "\(response.status) \(fields) | \(content)"
    } catch {
      return name(error as? HTTPTransportError)
    }
  }

  @Test("Each has its outcome, and the requests before and after it have theirs", arguments: cases)
  func each(_ response: Case) async throws {
    try await withServer({ $0.path == "/good" ? .response(200, body: "good") : .raw(response.bytes) }) {
      server async throws in
      let transport = try CurlTransport()
      for _ in 0..<4 {
        #expect(try await transport.exchange(HTTPRequest(url: server.url("/good"))).content == "good")
        let outcome = await Self.outcome(transport, HTTPRequest(url: server.url("/raw")))
        #expect(response.outcomes.contains(outcome), "\(outcome)")
      }
      await transport.close()
    }
  }

  @Test("A redirect to a response that begins with white space is safe", arguments: [" ", "\t"])
  func redirected(space: String) async throws {
    try await withServer({ request in
      if request.path == "/first" { return .response(302, fields: ["Location": "/raw", "X-Long": "0123456789"]) }
      return .raw(Self.ok + space + "X-Content-Type-Options: nosniff\r\n" + Self.end)
    }) { server async throws in
      let transport = try CurlTransport()
      for _ in 0..<50 {
        let outcome = await Self.outcome(transport, HTTPRequest(url: server.url("/first")))
        #expect(["protocolViolation", "200 Content-Length: 2 | ok"].contains(outcome), "\(outcome)")
      }
      await transport.close()
    }
  }

  @Test("Random responses end as expected or in an error, and the next request gets its own response")
  func random() async throws {
    let seed = PrintedSeed(for: "random responses", default: .random(in: 0 ... .max)).seed
    let handler: ScriptedServer.Handler = { request in
      guard let seed = UInt64(request.path.dropFirst()) else {
        return .response(200, body: "good \(request.query ?? "")")
      }
      let response = RawResponse(seed: seed)
      return .raw(response.bytes, closing: response.closes)
    }
    // Damaged responses have connections of their own: libcurl takes what lies behind one for the next response there.
    let damaging = try ScriptedServer(handler: handler)
    defer { damaging.stop() }
    try await withServer(handler) { server async throws in
      let transport = try CurlTransport()
      let deadline = ContinuousClock.now + .seconds(Length.seconds)
      let count = Counter()
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<4 {
          group.addTask {
            while ContinuousClock.now < deadline {
              let number = count.next()
              await Self.check(transport, server, damaging, seed &+ number &* 0x9e37_79b9, number)
            }
          }
        }
      }
      print("random responses: \(count.value)")
      #expect(count.value > 100)
      await transport.close()
    }
  }

  private static func check(
    _ transport: CurlTransport, _ server: ScriptedServer, _ damaging: ScriptedServer, _ seed: UInt64, _ number: UInt64
  ) async {
    let raw = RawResponse(seed: seed)
    let timeouts = HTTPTimeouts(total: .seconds(60))
    let result: Result<RawResponse.Content, any Error>
    do {
      let response = try await transport.send(
        HTTPRequest(
          url: (raw.expected == nil ? damaging : server).url("/\(seed)"), timeouts: timeouts, followsRedirects: false))
      let content = try await response.body.collect(upTo: 1 << 24)
      result = .success(
        RawResponse.Content(
          status: response.status, fields: response.fields.map { "\($0.name): \($0.value)" }, content: content))
    } catch { result = .failure(error) }
    switch (result, raw.expected) {
    case (.success(let content), let expected?): #expect(content == expected, "seed \(seed): \(raw.text)")
    case (.failure(let error), .some): Issue.record("seed \(seed): \(error): \(raw.text)")
    case (.failure(let error), nil):
      let error = error as? HTTPTransportError
      #expect(error != nil && error != .timeout(phase: "total"), "seed \(seed): \(raw.text)")
    case (.success, nil): break
    }
    let good = try? await transport.exchange(HTTPRequest(url: server.url("/good?\(number)"), timeouts: timeouts))
    #expect(good?.content == "good \(number)", "behind seed \(seed): \(raw.text)")
  }
}
