import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Redirects over the wire", .timeLimit(.minutes(5)))
struct RedirectTests {
  private static let secrets: HTTPFields = [
    .authorization: "Bearer secret", .cookie: "session=1", .csrfToken: "t", .accept: "text/plain",
  ]

  @Test("Within the origin, credentials are sent, and the response has its URL", arguments: Rig.allCases)
  func sameOrigin(rig: Rig) async throws {
    try await withServer({
      $0.path == "/new" ? .response(200, body: "here") : .response(302, fields: [.location: "new?x=1"], body: "moved")
    }) { server async throws in
      try await rig.run { transport async throws in
        let (response, content) = try await transport.exchange(
          HTTPRequest(url: server.url("/old"), fields: Self.secrets))
        #expect(content == "here" && response.url == server.url("/new?x=1"))
        #expect(server.requests.last?.fields[.authorization] == "Bearer secret")
        #expect(server.connectionCount == 1)
      }
    }
  }

  @Test("To another origin, they are not sent", arguments: Rig.allCases)
  func otherOrigin(rig: Rig) async throws {
    try await withServer({ _ in .response(200, body: "there") }) { other in
      try await withServer({ _ in .response(307, fields: [.location: other.url("/x").absoluteString]) }) {
        server async throws in
        try await rig.run { transport async throws in
          let request = HTTPRequest(method: .put, url: server.url, fields: Self.secrets, body: .text("content"))
          #expect(try await transport.exchange(request).content == "there")
          let heard = try #require(other.requests.first)
          for name in [HTTPFieldName.authorization, .cookie, .csrfToken] { #expect(!heard.fields.contains(name)) }
          #expect(heard.fields[.accept] == "text/plain" && heard.text == "content" && heard.method == .put)
        }
      }
    }
  }

  @Test("Method and content after each status", arguments: Rig.allCases, [301, 302, 303, 307, 308])
  func semantics(rig: Rig, status: Int) async throws {
    try await withServer({
      $0.path == "/new" ? .response(200) : .response(status, fields: [.location: "/new"])
    }) { server async throws in
      try await rig.run { transport async throws in
        _ = try await transport.exchange(HTTPRequest(method: .post, url: server.url("/old"), body: .text("content")))
        let heard = try #require(server.requests.last)
        #expect(heard.method == (status < 307 ? .get : .post))
        #expect(heard.text == (status < 307 ? "" : "content"))
      }
    }
  }

  @Test("Streamed content is opened again", arguments: Rig.allCases)
  func streamed(rig: Rig) async throws {
    try await withServer({
      $0.path == "/new" ? .response(200) : .response(308, fields: [.location: "/new"])
    }) { server async throws in
      try await rig.run { transport async throws in
        let body = HTTPBody.stream(length: nil, open: { HTTPBodyStream(Array("again".utf8)) })
        _ = try await transport.exchange(HTTPRequest(method: .post, url: server.url("/old"), body: body))
        #expect(server.requests.map(\.text) == ["again", "again"])
      }
    }
  }

  @Test("Loops end, other schemes are rejected, and a caller can handle redirects itself", arguments: Rig.allCases)
  func rejected(rig: Rig) async throws {
    try await withServer({
      switch $0.path {
      case "/circle": .response(302, fields: [.location: "/circle"])
      case "/file": .response(302, fields: [.location: "file:///etc/passwd"])
      default: .response(302, fields: [.location: "http://u:p@127.0.0.1/"])
      }
    }) { server async throws in
      try await rig.run { transport async throws in
        #expect(await failure(of: transport, HTTPRequest(url: server.url("/circle"))) == .tooManyRedirects)
        #expect(server.requests.count == 21)
        for path in ["/file", "/user"] {
          #expect(name(await failure(of: transport, HTTPRequest(url: server.url(path)))) == "redirectRejected")
        }
        let (response, _) = try await transport.exchange(
          HTTPRequest(url: server.url("/circle"), followsRedirects: false))
        #expect(response.status == 302 && response.fields[.location] == "/circle")
      }
    }
  }
}
