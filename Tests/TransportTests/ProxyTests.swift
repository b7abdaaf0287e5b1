import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCurl

@Suite("Proxies", .timeLimit(.minutes(5)))
struct ProxyTests {
  @Test(
    "Proxies from the environment",
    arguments: [
      ([:], "", "", ""), (["http_proxy": "http://p"], "http://p", "", ""),
      (["HTTP_PROXY": "http://p"], "http://p", "", ""),
      (["http_proxy": "http://low", "HTTP_PROXY": "http://UP"], "http://low", "", ""),
      (["HTTPS_PROXY": "http://s"], "", "http://s", ""), (["all_proxy": "http://a"], "http://a", "http://a", ""),
      (["ALL_PROXY": "http://a", "https_proxy": "http://s"], "http://a", "http://s", ""),
      (["http_proxy": "", "all_proxy": "http://a", "NO_PROXY": "x,.y"], "http://a", "http://a", "x,.y"),
      (["REQUEST_METHOD": "GET", "HTTP_PROXY": "http://evil"], "", "", ""),
      (["REQUEST_METHOD": "GET", "http_proxy": "http://p"], "http://p", "", ""),
    ] as [([String: String], String, String, String)])
  func environment(_ environment: [String: String], http: String, https: String, exceptions: String) {
    let choice = ProxyChoice(.environment, environment: environment)
    #expect(choice.proxy(forScheme: "http") == http)
    #expect(choice.proxy(forScheme: "HTTPS") == https)
    #expect(choice.exceptions == exceptions)
    let none = ProxyChoice(.none, environment: environment)
    #expect(none.proxy(forScheme: "http") == "" && none.exceptions == "")
  }

  @Test("Plain HTTP requests the whole URL from the proxy; excepted hosts are requested directly")
  func plain() async throws {
    try await withServer({ .response(200, body: "proxy saw \($0.target)") }) { proxy async throws in
      try await withServer({ _ in .response(200, body: "direct") }) { server async throws in
        let request = HTTPRequest(url: server.url("/a?b"), fields: [.authorization: "Bearer t"])
        try await Rig.curl.run({ $0.proxy = .url("http://user:pw@127.0.0.1:\(proxy.port)") }) {
          transport async throws in
          #expect(try await transport.exchange(request).content == "proxy saw \(server.url("/a?b"))")
          #expect(proxy.requests.first?.fields["Proxy-Authorization"] == "Basic dXNlcjpwdw==")
        }
        try await Rig.curl.run({ $0.proxy = .url(proxy.url.absoluteString, except: ["127.0.0.0/8"]) }) {
          transport async throws in
          #expect(try await transport.exchange(request).content == "direct")
          #expect(server.requests.first?.fields.contains("Proxy-Authorization") == false)
        }
      }
    }
  }

  @Test("A tunnel that the proxy rejects is reported", arguments: [403, 407, 502])
  func rejected(status: Int) async throws {
    try await withServer({ _ in .response(status, body: "no").closing() }) { proxy async throws in
      try await Rig.curl.run({ $0.proxy = .url(proxy.url.absoluteString) }) { transport async throws in
        let url = try #require(URL(string: "https://server.example/secret"))
        let error = await failure(of: transport, HTTPRequest(url: url, fields: [.authorization: "Bearer t"]))
        #expect(
          error
            == .cannotConnect(
              host: "server.example", reason: "the proxy rejected the tunnel with status \(status)"))
        let heard = try #require(proxy.requests.first)
        #expect(heard.method.rawValue == "CONNECT" && heard.target == "server.example:443")
        #expect(!heard.fields.contains(.authorization), "what is for the server is not for the proxy")
      }
    }
  }

  @Test("TLS uses a tunnel")
  func tunnel() async throws {
    let nginx = try Nginx.start()
    defer { nginx.stop() }
    try await withServer({ _ in .tunnel(toPort: nginx.http2Port) }) { proxy async throws in
      try await Rig.curl.run({
        $0.proxy = .url(proxy.url.absoluteString)
        $0.certificateAuthorities = [.file(nginx.path("ca.pem"))]
      }) { transport async throws in
        let url = try nginx.url(443, "/echo")
        #expect(try await transport.exchange(HTTPRequest(url: url)).content.hasPrefix("HTTP/2.0 GET"))
        #expect(proxy.requests.first?.target == "localhost:443")
      }
    }
  }

  @Test("A missing proxy")
  func missing() async throws {
    let port = try freeLoopbackPort()
    try await Rig.curl.run({ $0.proxy = .url("http://127.0.0.1:\(port)") }) { transport async throws in
      let url = try #require(URL(string: "http://server.example/"))
      #expect(name(await failure(of: transport, HTTPRequest(url: url))) == "cannotConnect")
    }
  }
}
