import LarderCore
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

@Suite("What a proxy forwards", .timeLimit(.minutes(5)))
struct ProxyForwardingTests {
  @Test("A request is forwarded without the fields of its connection (RFC 9110 §7.6.1)")
  func requestFields() async throws {
    let rig = try ProxyRig { _ in .response(200, body: "ok") }
    _ = try await rig.exchange(
      "GET", "/a%2Fb//c;d?x=%20+&&y=|",
      """
      Connection: keep-alive, X-Private\r
      Keep-Alive: timeout=5\r
      X-Private: 1\r
      TE: trailers\r
      Upgrade: websocket\r
      Proxy-Connection: keep-alive\r
      X-Kept: 1\r
      x-kept: 2\r
      X-Empty:\r
      Via: 1.0 other\r

      """)
    let request = try #require(rig.upstream.requests.first)
    #expect(request.target == "/a%2Fb//c;d?x=%20+&&y=%7C")
    let fields = Array(request.fields).map { "\($0.name): \($0.value)" }
    #expect(
      fields.dropLast() == [
        "Host: 127.0.0.1:\(rig.upstream.port)", "X-Kept: 1", "x-kept: 2", "X-Empty: ", "Via: 1.0 other",
      ])
    #expect(try fields.last?.wholeMatch(of: Regex("Via: 1\\.1 larder-[0-9a-f]{16}")) != nil, "\(fields)")
    await rig.stop()
  }

  @Test(
    "A target is forwarded unchanged; characters that a URI must not contain are percent-encoded (RFC 3986 §2)",
    arguments: [
      ("/a%2Fb?%41|", "/a%2Fb?%41%7C"), ("/a[1]?b[]=%20", "/a%5B1%5D?b%5B%5D=%20"), ("/%zz%4", "/%zz%4"),
      ("/%25zz%", "/%25zz%"),
      ("/a^`{}\"<>\\", "/a%5E%60%7B%7D%22%3C%3E%5C"), ("//x//y/?", "//x//y/?"), ("/?a=b?c&%c3%a9", "/?a=b?c&%c3%a9"),
      ("/.well-known/./x/../y", "/.well-known/./x/../y"),
    ])
  func target(_ sent: String, _ heard: String) async throws {
    let rig = try ProxyRig { _ in .response(200) }
    #expect(try await rig.exchange("GET", sent).status == 200)
    #expect(rig.upstream.requests.map(\.target) == [heard])
    await rig.stop()
  }

  @Test("A response is forwarded unchanged: fields, several with one name, date, coded content")
  func responseFields() async throws {
    let coded: [UInt8] = [0x1F, 0x8B, 0x08, 0, 1, 2, 3]
    let rig = try ProxyRig { _ in
      .response(
        206,
        fields: HTTPFields([
          HTTPField(name: "Set-Cookie", value: "a=1"), HTTPField(name: "Set-Cookie", value: "b=2"),
          HTTPField(name: "Date", value: "Mon, 01 Jan 2024 00:00:00 GMT"),
          HTTPField(name: "Content-Encoding", value: "gzip"), HTTPField(name: "Content-Range", value: "bytes 0-6/9"),
          HTTPField(name: "Connection", value: "X-Private"), HTTPField(name: "X-Private", value: "1"),
          HTTPField(name: "Cache-Control", value: "no-store"),
        ]), bytes: coded)
    }
    let response = try await rig.exchange("GET", "/", "Accept-Encoding: gzip\r\nRange: bytes=0-6\r\n")
    #expect(response.status == 206)
    #expect(response.body == coded)
    #expect(response.fields.values(of: "Set-Cookie") == ["a=1", "b=2"])
    #expect(response.fields.values(of: "Date") == ["Mon, 01 Jan 2024 00:00:00 GMT"])
    #expect(response.fields[.contentEncoding] == "gzip")
    #expect(response.fields[.contentLength] == "7")
    for name in ["X-Private", "Connection", "Content-Type", "Transfer-Encoding"] {
      #expect(!response.fields.contains(HTTPFieldName(name)), "\(name)")
    }
    #expect(response.fields["Cache-Status"]?.hasPrefix("larder; fwd=") == true)
    let request = try #require(rig.upstream.requests.first)
    #expect(request.fields.values(of: "Accept-Encoding") == ["gzip"])
    #expect(request.fields.values(of: "User-Agent") == [])
    await rig.stop()
  }

  @Test(
    "Bytes beyond ASCII are forwarded unchanged in both directions; control characters of upstream are not (RFC 9110 §5.5)"
  )
  func opaqueFields() async throws {
    let value = Array(UInt8(0x80)...0xFF) + Array("\u{E4}".utf8)
    let rig = try ProxyRig { _ in
      .raw(
        Array("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Escape: a\u{1B}b\r\nX-Bytes: ".utf8) + value
          + Array("\r\n\r\n".utf8))
    }
    let client = try rig.client()
    try await client.send(
      Array("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nX-Bytes: ".utf8) + value + Array("\r\n\r\n".utf8)
    )
    let response = try await client.readToEnd()
    #expect(response.firstRange(of: Array("\r\nX-Bytes: ".utf8) + value + Array("\r\n".utf8)) != nil)
    #expect(response.firstRange(of: Array("\r\nX-Escape: a b\r\n".utf8)) != nil)
    let request = try #require(rig.upstream.requests.first)
    #expect(request.fields.first { $0.name == "X-Bytes" }?.bytes == value)
    await rig.stop()
  }

  @Test("A head that is too large to forward is reported to the client and the log")
  func largeHead() async throws {
    let rig = try ProxyRig { _ in .response(200, fields: ["X": String(repeating: "a", count: 40_000)], body: "content")
    }
    #expect(try await rig.exchange("GET", "/").status == 502)
    #expect(try await rig.exchange("HEAD", "/").status == 502)
    let records = try await rig.records.wait(for: 2)
    #expect(records.map(\.status) == [502, 502])
    await rig.stop()
  }

  @Test(
    "Each response that the proxy generates has a Cache-Status (RFC 9211 §2)",
    arguments: [
      ("Bad Field: x\r\n", 400), ("Content-Length: 1x\r\n", 400), ("Content-Length: 99999999999999999999\r\n", 413),
      ("X: \(String(repeating: "a", count: 40_000))\r\n", 431), ("Expect: more\r\n", 417),
      ("X: large response\r\n", 502), ("Sec-Fetch-Site: cross-site\r\n", 200),
    ])
  func ownResponses(_ fields: String, _ status: Int) async throws {
    let rig = try ProxyRig { request in
      .response(
        200, fields: request.fields["X"] == nil ? [:] : ["X": String(repeating: "a", count: 40_000)], body: "content")
    }
    let response = try await rig.exchange("GET", "/", fields)
    #expect(response.status == status)
    let cacheStatus = response.fields["Cache-Status"] ?? ""
    #expect(cacheStatus.hasPrefix("larder"))
    #expect(cacheStatus.contains("detail=proxy-error") == (status >= 400), "\(cacheStatus)")
    await rig.stop()
  }

  @Test("Content without a length is streamed in both directions")
  func streams() async throws {
    let rig = try ProxyRig { request in
      .chunked(200, pieces: ["got ", request.text, "!"])
    }
    let chunked = try await rig.exchange(
      "POST", "/", "Transfer-Encoding: chunked\r\n", content: "5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n")
    #expect(chunked.text == "got hello world!")
    #expect(chunked.fields["Transfer-Encoding"] == "chunked")
    let large = String(repeating: "x", count: 500_000)
    let sized = try await rig.exchange("PUT", "/", "Content-Length: \(large.utf8.count)\r\n", content: large)
    #expect(sized.text == "got \(large)!")
    #expect(rig.upstream.requests.last?.fields[.contentLength] == "500000")
    let small = try await rig.exchange("PATCH", "/", "Content-Length: 3\r\nExpect: 100-continue\r\n", content: "abc")
    #expect(small.status == 100)
    await rig.stop()
  }

  @Test(
    "Methods and target forms",
    arguments: [
      ("CONNECT", "/", 405), ("TRACE", "/", 405), ("OPTIONS", "*", 204), ("OPTIONS", "/x", 200), ("PURGE", "/x", 200),
      ("GET", "http://elsewhere.example/x", 421), ("GET", "http://127.0.0.1:PORT/x", 200),
      ("GET", "http://127.0.0.1:UPSTREAM/x", 200), ("GET", "http://127.0.0.1:UPSTREAM", 200), ("GET", "x", 400),
      ("GET", "/x#y", 400), ("GET", "ftp://127.0.0.1/x", 400), ("GET", "/../x", 200),
    ])
  func targets(_ method: String, _ target: String, _ status: Int) async throws {
    let rig = try ProxyRig { _ in .response(200, body: "ok") }
    let target = target.replacing("PORT", with: "\(rig.server.port)").replacing(
      "UPSTREAM", with: "\(rig.upstream.port)")
    let response = try await rig.exchange(method, target)
    #expect(response.status == status)
    #expect(rig.upstream.requests.count == (status == 200 ? 1 : 0))
    if status == 405 { #expect(response.fields["Allow"]?.contains("GET") == true) }
    await rig.stop()
  }

  @Test("OPTIONS counts Max-Forwards (RFC 9110 §7.6.2)")
  func maximumForwards() async throws {
    let rig = try ProxyRig { _ in .response(200) }
    #expect(try await rig.exchange("OPTIONS", "/", "Max-Forwards: 0\r\n").status == 204)
    #expect(try await rig.exchange("OPTIONS", "/", "Max-Forwards: 3\r\n").status == 200)
    #expect(rig.upstream.requests.map { $0.fields["Max-Forwards"] } == ["2"])
    await rig.stop()
  }

  @Test("Paths are appended to upstream's base path and stay below it; references are returned without it")
  func basePath() async throws {
    let location = Mutex("")
    let rig = try ProxyRig(base: "/base/") { _ in
      .response(302, fields: ["Location": location.withLock { $0 }, "Cache-Control": "no-store"])
    }
    let origin = "http://127.0.0.1:\(rig.upstream.port)"
    let references = [
      ("\(origin)/base/a?b#c", "/a?b#c"), ("\(origin)/base", "/"), ("\(origin)/other", "\(origin)/other"),
      ("/base/a", "/a"), ("/basement", "/basement"), ("a/b", "a/b"),
      ("HTTP://127.0.0.1:\(rig.upstream.port)/base/x", "/x"),
      ("http://elsewhere.example/base/a", "http://elsewhere.example/base/a"),
      ("//elsewhere/base/a", "//elsewhere/base/a"),
      // A reference without a scheme has that of the upstream server (RFC 3986 §5.2.2).
      ("//127.0.0.1:\(rig.upstream.port)/base/a?b#c", "/a?b#c"), ("//127.0.0.1:\(rig.upstream.port)/base", "/"),
      ("//127.0.0.1:\(rig.upstream.port)/other", "//127.0.0.1:\(rig.upstream.port)/other"),
      ("//127.0.0.1:\(rig.upstream.port)/base//elsewhere.example/x", "/.//elsewhere.example/x"),
      // Without the dot segment they would name another host (RFC 3986 §4.2).
      ("\(origin)/base//elsewhere.example/x", "/.//elsewhere.example/x"),
      ("/base//elsewhere.example/x", "/.//elsewhere.example/x"),
    ]
    for (given, expected) in references {
      location.withLock { $0 = given }
      #expect(try await rig.exchange("GET", "/x").fields[.location] == expected)
    }
    #expect(rig.upstream.requests.allSatisfy { $0.target == "/base/x" })
    for target in [
      "/../admin", "/a/../../admin", "/%2e%2E/admin", "/a/%2e./%2E%2e/x", "/..;/admin", "/..%2fadmin", "/..%5Cadmin",
      "/..\\admin",
      "/a/..%2F..%2Fadmin", "/%2e%2e%3bx/admin",
    ] {
      #expect(try await rig.exchange("GET", target).status == 400, "\(target)")
    }
    #expect(try await rig.exchange("GET", "/a/../b?..").status == 302)
    #expect(rig.upstream.requests.last?.target == "/base/a/../b?..")
    await rig.stop()
  }

  @Test("Without a base path, references to the upstream server are changed to the proxy, with or without a scheme")
  func references() async throws {
    let reference = Mutex("")
    let rig = try ProxyRig { _ in
      let text = reference.withLock { $0 }
      return .response(201, fields: ["Location": text, "Content-Location": text, "Cache-Control": "no-store"])
    }
    let authority = "127.0.0.1:\(rig.upstream.port)"
    for (given, expected) in [
      ("http://\(authority)/a?b", "/a?b"), ("//\(authority)/a?b", "/a?b"), ("//\(authority)", "/"),
      ("//\(authority)?b", "/?b"), ("/a", "/a"), ("//elsewhere.example/a", "//elsewhere.example/a"),
      ("//user@\(authority)/a", "//user@\(authority)/a"), ("https://\(authority)/a", "https://\(authority)/a"),
    ] {
      reference.withLock { $0 = given }
      let response = try await rig.exchange("GET", "/x")
      #expect(response.fields[.location] == expected)
      #expect(response.fields["Content-Location"] == expected)
    }
    await rig.stop()
  }

  @Test(
    "It accepts addresses, localhost, upstream's name and configured names as host, and no others",
    arguments: [
      ("127.0.0.1:80", 200), ("10.1.2.3", 200), ("[::1]:8080", 200), ("localhost:1", 200), ("LocalHost", 200),
      ("api.localhost", 200), ("box.lan:8080", 200), ("evil.example", 421), ("127.0.0.1.evil.example", 421),
      ("localhost.evil.example:8080", 421), ("lan", 421),
    ])
  func hosts(_ host: String, _ status: Int) async throws {
    var options = CachingProxy.Options()
    options.hosts = ["box.lan"]
    let rig = try ProxyRig(options: options) { _ in .response(200, body: "ok") }
    let request = "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n"
    let response = try await rig.client().exchange(request)
    #expect(response.status == status)
    #expect(rig.upstream.requests.count == (status == 200 ? 1 : 0))
    await rig.stop()
  }

  @Test("Forwarded is added if enabled (RFC 7239)")
  func forwarded() async throws {
    var options = CachingProxy.Options()
    options.addsForwarded = true
    let rig = try ProxyRig(options: options) { _ in .response(200) }
    _ = try await rig.exchange("GET", "/", "Forwarded: for=10.0.0.1\r\n")
    #expect(
      rig.upstream.requests.first?.fields.values(of: "Forwarded") == [
        "for=10.0.0.1", "for=127.0.0.1;host=\"127.0.0.1:\(rig.server.port)\";proto=http",
      ])
    await rig.stop()
  }

  @Test(
    "Invalid upstream servers",
    arguments: [
      "ftp://host/", "http:///x", "http://user:secret@host/", "http://host/?query", "http://host/#fragment", "/path",
    ])
  func invalidUpstream(_ text: String) throws {
    let url = try #require(URL(string: text))
    let error = #expect(throws: HTTPServerError.self) { _ = try Upstream(url) }
    #expect(error?.errorName == "invalidUpstream" && error?.errorCategory == .invalidInput)
  }
}
