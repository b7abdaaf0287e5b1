import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("The length of a response's content (RFC 9112 §6.3)", .timeLimit(.minutes(5)))
struct ContentLengthTests {
  private func head(_ lines: String...) -> ScriptedServer.Response {
    .raw("HTTP/1.1 200 OK\r\n" + lines.map { $0 + "\r\n" }.joined() + "\r\nhello")
  }

  @Test(
    "an invalid or repeated length is an error without content", arguments: Rig.allCases,
    [
      ["Content-Length: 99999999999999999999"], ["Content-Length: 5, 6"], ["Content-Length: five"],
      ["Content-Length: -5"], ["Content-Length: +5"], ["Content-Length: 5 5"], ["Content-Length: 0x5"],
    ])
  func invalid(rig: Rig, lines: [String]) async throws {
    let scripted = head(lines[0])
    try await withServer({ _ in scripted }) { server async throws in
      try await rig.run { transport async throws in
        let error = await failure(of: transport, HTTPRequest(url: server.url))
        // Foundation on Linux rejects some itself, with an unspecific error.
        #expect(
          ["protocolViolation", rig == .curl ? "-" : "other"].contains(name(error)), "\(String(describing: error))")
      }
    }
  }

  // Foundation on Linux keeps one of several lines of a name, and that there were more is not known.
  @Test("two different lines are the same error")
  func twoLines() async throws {
    let scripted = head("Content-Length: 5", "Content-Length: 6")
    try await withServer({ _ in scripted }) { server async throws in
      try await Rig.curl.run { transport async throws in
        let error = await failure(of: transport, HTTPRequest(url: server.url))
        #expect(name(error) == "protocolViolation", "\(String(describing: error))")
      }
    }
  }

  @Test("the same length twice is accepted")
  func same() async throws {
    for scripted in [head("Content-Length: 5", "Content-Length: 5"), head("Content-Length: 5, 5")] {
      try await withServer({ _ in scripted }) { server async throws in
        try await Rig.curl.run { transport async throws in
          let (response, content) = try await transport.exchange(HTTPRequest(url: server.url))
          #expect(content == "hello" && response.fields.values(of: .contentLength) == ["5"])
        }
      }
    }
  }

  @Test("chunks override a length, which is removed from the fields")
  func chunked() async throws {
    let scripted = ScriptedServer.Response.raw(
      "HTTP/1.1 200 OK\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    try await withServer({ _ in scripted }) { server async throws in
      try await Rig.curl.run { transport async throws in
        let (response, content) = try await transport.exchange(HTTPRequest(url: server.url))
        #expect(content == "hello" && !response.fields.contains(.contentLength) && response.body.length == nil)
      }
    }
  }
}
