import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@Suite("An exchange", .timeLimit(.minutes(5)))
struct ExchangeTests {
  @Test(
    "Every method is sent unchanged (RFC 9110 §9.1)", arguments: Rig.allCases,
    [HTTPMethod.get, .post, .put, .patch, .merge, .delete, .options, HTTPMethod(rawValue: "REPORT")])
  func methods(rig: Rig, method: HTTPMethod) async throws {
    try await withServer({ .response(200, body: "\($0.method) \($0.target) \($0.text)") }) { server async throws in
      try await rig.run { transport async throws in
        let hasContent = method != .get && method != .options
        let request = HTTPRequest(
          method: method, url: server.url("/a%20b?$filter=x%20eq%201"), body: hasContent ? .text("content") : .none)
        let (response, content) = try await transport.exchange(request)
        #expect(response.status == 200)
        #expect(content == "\(method) /a%20b?$filter=x%20eq%201 \(hasContent ? "content" : "")")
        let length = server.requests.first?.fields[.contentLength]
        // Foundation says "0" with OPTIONS.
        #expect(length == (hasContent ? "7" : nil) || rig == .urlSession && length == "0")
        #expect(server.requests.first?.fields.contains("Expect") == false)
        #expect(server.faults.isEmpty)
      }
    }
  }

  @Test("HEAD has fields and no content", arguments: Rig.allCases)
  func head(rig: Rig) async throws {
    try await withServer({ _ in .response(200, fields: ["X-CSRF-Token": "t"], body: "never sent") }) {
      server async throws in
      try await rig.run { transport async throws in
        for _ in 0..<2 {
          let (response, content) = try await transport.exchange(HTTPRequest(method: .head, url: server.url))
          #expect(response.status == 200 && content.isEmpty && response.fields[.csrfToken] == "t")
        }
        #expect(server.connectionCount == 1)
      }
    }
  }

  @Test("A response without content leaves the connection usable", arguments: Rig.allCases, [204, 304, 200])
  func bodiless(rig: Rig, status: Int) async throws {
    try await withServer({ _ in .response(status, fields: [.etag: "\"1\""]) }) { server async throws in
      try await rig.run { transport async throws in
        for _ in 0..<3 {
          let response = try await transport.send(HTTPRequest(url: server.url))
          #expect(response.status == status && response.fields[.etag] == "\"1\"")
          #expect(try await response.body.collect().isEmpty)
        }
        #expect(server.connectionCount == 1)
      }
    }
  }

  @Test("A POST without content has Content-Length 0 (RFC 9110 §8.6)", arguments: [Rig.curl])
  func emptyPost(rig: Rig) async throws {
    try await withServer({ _ in .response(204) }) { server async throws in
      try await rig.run { transport async throws in
        _ = try await transport.exchange(HTTPRequest(method: .post, url: server.url))
        _ = try await transport.exchange(HTTPRequest(method: .delete, url: server.url))
        #expect(server.requests.map { $0.fields[.contentLength] } == ["0", nil])
      }
    }
  }

  @Test("Request fields arrive as given, without added fields that affect the server", arguments: Rig.allCases)
  func requestFields(rig: Rig) async throws {
    try await withServer({ _ in .response(204) }) { server async throws in
      try await rig.run { transport async throws in
        _ = try await transport.exchange(
          HTTPRequest(
            method: .post, url: server.url,
            fields: ["If-Match": "W/\"1\"", "X-Empty": "", "X-Umlaut": "Gr\u{FC}\u{DF}e", "Cookie": "a=1; b=2"],
            body: .text("x")))
        let request = try #require(server.requests.first)
        #expect(request.fields[.ifMatch] == "W/\"1\"")
        #expect(request.fields["X-Umlaut"] == "Gr\u{FC}\u{DF}e")
        #expect(request.fields[.cookie] == "a=1; b=2")
        if rig == .curl {
          #expect(request.fields["X-Empty"] == "")
          #expect(!request.fields.contains(.contentType) && !request.fields.contains(.accept))
          #expect(request.fields[.userAgent] == "Larder")
        }
      }
    }
  }

  @Test("Repeated fields arrive one by one", arguments: Rig.allCases)
  func repeatedFields(rig: Rig) async throws {
    let cookies = ["a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Path=/", "b=2", "c=x,y; HttpOnly"]
    let fields = HTTPFields(cookies.map { HTTPField(name: .setCookie, value: $0) })
    try await withServer({ _ in .response(200, fields: fields) }) { server async throws in
      try await rig.run { transport async throws in
        let (response, _) = try await transport.exchange(HTTPRequest(url: server.url))
        #expect(response.fields.values(of: .setCookie) == cookies)
        _ = try await transport.exchange(HTTPRequest(url: server.url))
        #expect(server.requests.allSatisfy { !$0.fields.contains(.cookie) }, "no cookie engine")
      }
    }
  }

  @Test("Response fields keep order, folded lines and bytes that are not UTF-8", arguments: [Rig.curl])
  func responseFields(rig: Rig) async throws {
    let head = Array("HTTP/1.1 200 OK\r\nB: 1\r\nA:2 \r\nB: 3\r\nFold: a\r\n b\r\nLatin: ".utf8) + [0xE4]
    let bytes = head + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
    try await withServer({ _ in .raw(bytes) }) { server async throws in
      try await rig.run { transport async throws in
        let (response, _) = try await transport.exchange(HTTPRequest(url: server.url))
        #expect(
          response.fields.map { "\($0.name)=\($0.value)" } == [
            "B=1", "A=2", "B=3", "Fold=a b", "Latin=\u{10FEE4}", "Content-Length=0",
          ])
      }
    }
  }

  @Test("Content arrives as it is sent, not when it is complete", arguments: Rig.allCases)
  func streaming(rig: Rig) async throws {
    let gate = ScriptedServer.Gate()
    try await withServer({ _ in .chunked(pieces: ["one", "two", "three"], gate: gate) }) { server async throws in
      try await rig.run { transport async throws in
        gate.release()
        let response = try await transport.send(HTTPRequest(url: server.url))
        var iterator = response.body.makeAsyncIterator()
        for expected in ["one", "two", "three"] {
          #expect(try await iterator.next().map { String(decoding: $0, as: UTF8.self) } == expected)
          gate.release()
        }
        #expect(try await iterator.next() == nil)
      }
    }
  }

  @Test("Interim responses are skipped", arguments: [Rig.curl])
  func interim(rig: Rig) async throws {
    try await withServer({ _ in
      .response(200, body: "final").after(interim: 103, fields: ["Link": "<a>"]).after(interim: 100)
    }) { server async throws in
      try await rig.run { transport async throws in
        let (response, content) = try await transport.exchange(HTTPRequest(url: server.url))
        #expect(response.status == 200 && content == "final" && !response.fields.contains("Link"))
      }
    }
  }

  @Test("HTTP/1.0, with and without a length", arguments: Rig.allCases)
  func http10(rig: Rig) async throws {
    try await withServer({
      $0.path == "/length" ? .response(200, body: "known").http10() : .chunked(pieces: ["un", "known"]).http10()
    }) { server async throws in
      try await rig.run { transport async throws in
        #expect(try await transport.exchange(HTTPRequest(url: server.url("/length"))).content == "known")
        #expect(try await transport.exchange(HTTPRequest(url: server.url)).content == "unknown")
      }
    }
  }

  @Test("64 concurrent requests, each with its own response", arguments: Rig.allCases)
  func concurrent(rig: Rig) async throws {
    try await withServer({ .response(200, body: $0.target) }) { server async throws in
      try await rig.run { transport async throws in
        try await withThrowingTaskGroup(of: Bool.self) { group in
          for index in 0..<64 {
            group.addTask {
              let path = "/\(index)"
              return try await transport.exchange(HTTPRequest(url: server.url(path))).content == path
            }
          }
          for try await isRight in group { #expect(isRight) }
        }
        #expect(server.requests.count == 64)
        if rig == .curl { #expect(server.connectionCount <= 32) }
      }
    }
  }

  @Test("Requests that cannot be sent safely are rejected before a byte is sent", arguments: Rig.allCases)
  func rejected(rig: Rig) async throws {
    try await withServer({ _ in .response(200) }) { server async throws in
      try await rig.run { transport async throws in
        let url = server.url
        let requests = [
          HTTPRequest(url: url, fields: ["A": "x\r\nInjected: 1"]), HTTPRequest(url: url, fields: ["A b": "x"]),
          HTTPRequest(method: HTTPMethod(rawValue: "GET / HTTP/1.1\r\nX:"), url: url),
          HTTPRequest(url: try #require(URL(string: "ftp://127.0.0.1/"))),
          HTTPRequest(url: try #require(URL(string: "file:///etc/passwd"))),
          HTTPRequest(url: try #require(URL(string: "http://user:secret@127.0.0.1:\(server.port)/"))),
        ]
        for request in requests {
          #expect(name(await failure(of: transport, request)) == "invalidRequest")
        }
        #expect(server.connectionCount == 0)
      }
    }
  }

  @Test("Interim responses except 100 are reported in order, before the response (RFC 9110 §15.2)")
  func interim() async throws {
    let scripted = ScriptedServer.Response.response(200, body: "x").after(interim: 103, fields: ["Link": "</a>"])
      .after(interim: 100).after(interim: 102)
    try await withServer({ _ in scripted }) { server async throws in
      try await Rig.curl.run { transport async throws in
        let reported = Mutex<[HTTPInterimResponse]>([])
        var request = HTTPRequest(url: server.url)
        request.onInterim = { response in reported.withLock { $0.append(response) } }
        #expect(try await transport.exchange(request).content == "x")
        #expect(reported.withLock { $0 } == [.init(status: 103, fields: ["Link": "</a>"]), .init(status: 102)])
      }
    }
  }
}
