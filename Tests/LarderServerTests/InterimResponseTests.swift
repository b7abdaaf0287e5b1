import LarderHTTP
import LarderServer
import LarderTestSupport
import Testing

@Suite("Interim responses through the proxy (RFC 9110 §15.2)", .timeLimit(.minutes(5)))
struct InterimResponseTests {
  private static let link = HTTPField(name: "Link", value: "</style.css>; rel=preload; as=style")

  private func rig() throws -> ProxyRig {
    try ProxyRig { request in
      .response(200, body: "whole \(request.text)")
        .after(
          interim: 103,
          fields: [
            "Link": Self.link.value, "Connection": "X-Private", "X-Private": "1", "Transfer-Encoding": "chunked",
          ]
        )
        .after(interim: 100).after(interim: 102)
    }
  }

  @Test("103 and others reach the client before the response, without the fields of the connection; 100 does not")
  func forwarded() async throws {
    let rig = try rig()
    let client = try rig.client()
    for round in 0..<3 {
      let first = try await client.exchange("GET /\(round) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
      #expect(first.status == 103)
      #expect(Array(first.fields) == [Self.link])
      #expect(try await client.response().status == 102)
      let final = try await client.response()
      #expect(final.status == 200 && final.text == "whole ")
    }
    await rig.stop()
  }

  @Test("They arrive while the request's content is being sent, too")
  func withContent() async throws {
    let rig = try rig()
    let client = try rig.client()
    let first = try await client.exchange("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\n\r\nabc")
    #expect(first.status == 103)
    #expect(try await client.response().status == 102)
    #expect(try await client.response().text == "whole abc")
    await rig.stop()
  }

  @Test("A client of HTTP/1.0 gets only the response")
  func oldClient() async throws {
    let rig = try rig()
    let client = try rig.client()
    try await client.send("GET / HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n")
    let all = String(decoding: try await client.readToEnd(), as: UTF8.self)
    #expect(all.hasPrefix("HTTP/1.1 200") || all.hasPrefix("HTTP/1.0 200"), "\(all)")
    #expect(!all.contains(" 103 "))
    await rig.stop()
  }

  @Test("A stored response is sent without its interim responses")
  func stored() async throws {
    let rig = try ProxyRig { _ in
      .response(200, fields: ["Cache-Control": "max-age=60"], body: "kept").after(
        interim: 103, fields: ["Link": "</a>"])
    }
    let client = try rig.client()
    #expect(try await client.exchange("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").status == 103)
    #expect(try await client.response().text == "kept")
    #expect(try await client.exchange("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").text == "kept")
    await rig.stop()
  }
}
