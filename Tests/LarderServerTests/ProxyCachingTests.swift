import LarderContent
import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization
import Testing

@Suite("A proxy's cache, and an upstream server that fails", .timeLimit(.minutes(5)))
struct ProxyCachingTests {
  @Test("Fresh content is requested once, on any client connection")
  func hit() async throws {
    let rig = try ProxyRig { _ in
      .response(200, fields: ["Cache-Control": "max-age=100", "ETag": "\"1\""], body: "content")
    }
    let miss = try await rig.exchange("GET", "/a?b")
    #expect(miss.text == "content")
    #expect(miss.fields["Cache-Status"]?.contains("fwd=uri-miss") == true)
    // A client has its response before the exchange is recorded, and the next may be recorded first.
    _ = try await rig.records.wait(for: 1)
    let hit = try await rig.exchange("GET", "/a?b")
    #expect(hit.text == "content")
    #expect(hit.fields["Cache-Status"]?.contains("; hit") == true)
    #expect(hit.fields["Age"] != nil)
    #expect(hit.fields[.contentLength] == "7")
    _ = try await rig.records.wait(for: 2)
    let head = try await rig.exchange("HEAD", "/a?b")
    #expect(head.fields[.contentLength] == "7")
    _ = try await rig.records.wait(for: 3)
    let unchanged = try await rig.exchange("GET", "/a?b", "If-None-Match: \"1\"\r\n")
    #expect(unchanged.status == 304)
    #expect(rig.upstream.requests.count == 1)
    let records = try await rig.records.wait(for: 4)
    #expect(records.map(\.cacheStatus) == ["uri-miss", "hit", "hit", "hit"])
    #expect(records.map(\.status) == [200, 200, 200, 304])
    #expect(records.map(\.contentBytes) == [7, 7, 0, 0])
    #expect(records.allSatisfy { $0.isComplete && $0.client == "127.0.0.1" && $0.target == "/a?b" })
    await rig.stop()
  }

  @Test("A persistent connection carries hits, also 304")
  func persistentConnection() async throws {
    let rig = try ProxyRig { _ in
      .response(200, fields: ["Cache-Control": "max-age=100", "ETag": "\"1\""], body: "content")
    }
    let client = try rig.client()
    for index in 0..<100 {
      let condition = index % 2 == 1 ? "If-None-Match: \"1\"\r\n" : ""
      let response = try await client.exchange("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\(condition)\r\n")
      #expect(response.status == (index % 2 == 1 ? 304 : 200))
      #expect(!response.fields.contains("Connection"))
    }
    #expect(rig.upstream.requests.count == 1)
    await rig.stop()
  }

  @Test(
    "An upstream server that fails",
    arguments: [
      ("/close", 502), ("/reset", 502), ("/rubbish", 502), ("/hang", 504), ("/cut-head", 502),
    ])
  func failures(_ target: String, _ status: Int) async throws {
    var options = CachingProxy.Options()
    // Only who waits in vain meets the deadline.
    options.timeouts.idle = target == "/hang" ? .milliseconds(300) : .seconds(3600)
    let rig = try ProxyRig(options: options) { request in
      switch request.path {
      case "/close": .close
      case "/reset": .reset
      case "/rubbish": .raw("nonsense\r\n\r\n")
      case "/cut-head": .raw("HTTP/1.1 200 OK\r\nContent-")
      default: .hang
      }
    }
    let response = try await rig.exchange("GET", target)
    #expect(response.status == status)
    #expect(response.fields[.contentType] == "text/plain; charset=utf-8")
    #expect(response.text.hasPrefix(status == 504 ? "Gateway Timeout: " : "Bad Gateway: "))
    #expect(response.fields["Cache-Status"] == "larder; fwd=uri-miss; detail=proxy-error")
    let records = try await rig.records.wait(for: 1)
    #expect(records.map(\.cacheStatus) == ["uri-miss"])
    await rig.stop()
  }

  @Test("The proxy's own errors report whether, and why, the request was forwarded (RFC 9211 §2.2)")
  func ownErrors() async throws {
    let rig = try ProxyRig { _ in .response(200, fields: ["Cache-Control": "max-age=0, must-revalidate"], body: "kept")
    }
    #expect(try await rig.exchange("GET", "/kept").text == "kept")
    rig.upstream.stop()
    let forwarded = [("GET", "/kept", "stale"), ("GET", "/other", "uri-miss"), ("POST", "/kept", "method")]
    for (method, path, reason) in forwarded {
      let response = try await rig.exchange(method, path, method == "POST" ? "Content-Length: 0\r\n" : "")
      #expect(response.status == 502)
      #expect(response.fields["Cache-Status"] == "larder; fwd=\(reason); detail=proxy-error")
    }
    let rejected = try await rig.exchange("TRACE", "/kept")
    #expect(rejected.status == 405)
    #expect(rejected.fields["Cache-Status"] == "larder; detail=proxy-error")
    await rig.stop()
  }

  @Test("A missing upstream server: 502, only-if-cached: 504, and stored content if that is allowed")
  func unreachable() async throws {
    let rig = try ProxyRig { request in
      request.path == "/kept"
        ? .response(200, fields: ["Cache-Control": "max-age=0, stale-if-error=1000"], body: "kept")
        : .response(200, fields: ["Cache-Control": "max-age=0, must-revalidate"], body: "strict")
    }
    #expect(try await rig.exchange("GET", "/kept").text == "kept")
    #expect(try await rig.exchange("GET", "/strict").text == "strict")
    rig.upstream.stop()
    #expect(try await rig.exchange("GET", "/unknown").status == 502)
    #expect(try await rig.exchange("GET", "/unknown", "Cache-Control: only-if-cached\r\n").status == 504)
    #expect(try await rig.exchange("GET", "/kept").text == "kept")
    #expect(try await rig.exchange("GET", "/strict").status >= 500)
    await rig.stop()
  }

  @Test(
    "stale-if-error limits the use of stale content, unless the proxy's policy allows any age (RFC 5861 §4)",
    arguments: [nil, .staleWhenUnreachable] as [ContentPolicy?])
  func staleIfError(policy: ContentPolicy?) async throws {
    var options = CachingProxy.Options()
    options.policy = policy
    let rig = try ProxyRig(options: options) { request in
      let limit = request.path == "/none" ? "" : ", stale-if-error=\(request.path.dropFirst())"
      return .response(200, fields: ["Age": "100", "Cache-Control": "max-age=1\(limit)"], body: "kept")
    }
    let served = [("/none", true), ("/0", policy != nil), ("/50", policy != nil), ("/1000", true)]
    for (path, _) in served { #expect(try await rig.exchange("GET", path).text == "kept") }
    rig.upstream.stop()
    for (path, isServed) in served {
      #expect(try await rig.exchange("GET", path).status == (isServed ? 200 : 502), "\(path)")
    }
    await rig.stop()
  }

  @Test("Content that breaks off upstream breaks off at the client", arguments: [true, false])
  func truncation(_ isChunked: Bool) async throws {
    let rig = try ProxyRig { _ in
      isChunked
        ? .chunked(200, pieces: ["first", "second", "third"]).truncated(to: 20)
        : .response(200, fields: ["Content-Length": "100"], body: "first").closing(silently: true)
    }
    let client = try rig.client()
    try await client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
    let response = String(decoding: try await client.readToEnd(), as: UTF8.self)
    #expect(response.hasPrefix("HTTP/1.1 200 "))
    #expect(response.contains("first"))
    #expect(!response.hasSuffix("0\r\n\r\n"))
    let records = try await rig.records.wait(for: 1)
    #expect(records.map(\.isComplete) == [false])
    await rig.stop()
  }

  @Test("A client that disconnects ends the upstream request that only it uses")
  func departure() async throws {
    let rig = try ProxyRig { _ in .hang }
    let client = try rig.client()
    try await client.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCache-Control: no-store\r\n\r\n")
    try await rig.upstream.waitForRequests(1)
    client.close()
    try await rig.upstream.waitForClosedConnections(1)
    await rig.stop()
  }

  @Test("Stale content that may be used is renewed in the background (RFC 5861 §3)")
  func backgroundRenewal() async throws {
    let rig = try ProxyRig { request in
      .response(200, fields: ["Cache-Control": "max-age=0, stale-while-revalidate=1000"], body: "\(request.index)")
    }
    #expect(try await rig.exchange("GET", "/").text == "0")
    #expect(try await rig.exchange("GET", "/").text == "0")
    try await rig.upstream.waitForRequests(2)
    await rig.stop()
  }

  @Test("Hits and misses under load, and a shutdown meanwhile")
  func load() async throws {
    let rig = try ProxyRig { request in
      .response(200, fields: ["Cache-Control": "max-age=100"], body: "content of \(request.target)")
    }
    let failures = await withTaskGroup(of: [String].self) { group in
      for worker in 0..<16 {
        group.addTask {
          var wrong: [String] = []
          do {
            let client = try rig.client()
            for index in 0..<50 {
              let path = "/\((worker + index) % 20)"
              let response = try await client.exchange("GET \(path) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
              if response.text != "content of \(path)" { wrong.append(response.text) }
            }
          } catch { wrong.append("\(error)") }
          return wrong
        }
      }
      return await group.reduce(into: []) { $0 += $1 }
    }
    #expect(failures == [])
    #expect(rig.upstream.requests.count == 20)
    await rig.stop()
  }
}
