import LarderContent
import LarderCurl
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

@Suite("Proxies whose upstream server leads back to them (RFC 9110 §7.6.3)", .timeLimit(.minutes(5)))
struct ProxyLoopTests {
  /// A server whose proxy is made when the ports of all servers are known.
  private final class LateProxy: Sendable {
    let server: HTTPServer
    private let engine: HTTPCache
    private let transport: CurlTransport
    private let proxy: Proxy

    private final class Proxy: Sendable {
      let value = Mutex<CachingProxy?>(nil)
    }

    init() throws {
      var options = CurlTransport.Options()
      options.decodesContent = false
      transport = try CurlTransport(options)
      engine = HTTPCache(cache: MemoryCache(), transport: transport)
      let proxy = Proxy()
      self.proxy = proxy
      server = try HTTPServer(.patient) { request in
        guard let proxy = proxy.value.withLock({ $0 }) else { return HTTPServerResponse(status: 500) }
        return await proxy.respond(to: request)
      }
    }

    func lead(to port: Int) throws {
      var options = CachingProxy.Options()
      // Only a proxy that takes part in a loop meets the deadline.
      options.timeouts.idle = .seconds(5)
      let url = try #require(URL(string: "http://127.0.0.1:\(port)"))
      let created = CachingProxy(engine, upstream: try Upstream(url), options: options)
      proxy.value.withLock { $0 = created }
    }

    func exchange(_ method: String, _ fields: String = "") async throws -> RawClient.Response {
      try await RawClient(port: server.port).exchange("\(method) /a HTTP/1.1\r\nHost: 127.0.0.1\r\n\(fields)\r\n")
    }

    func stop() async {
      await server.stop()
      await engine.close()
      await transport.close()
    }
  }

  @Test(
    "A proxy whose upstream is itself, or two that point at each other, respond with 508 and a hint",
    arguments: [1, 2, 3])
  func loop(_ count: Int) async throws {
    let proxies = try (0..<count).map { _ in try LateProxy() }
    for place in 0..<count { try proxies[place].lead(to: proxies[(place + 1) % count].server.port) }
    for (method, fields) in [
      ("GET", ""), ("POST", "Content-Length: 0\r\n"), ("GET", "Cache-Control: no-store\r\n"),
    ] {
      let response = try await proxies[0].exchange(method, fields)
      #expect(response.status == 508, "\(method)")
      #expect(response.text.hasPrefix("Loop Detected: "), "\(response.text)")
      #expect(response.text.contains("upstream"))
    }
    for proxy in proxies { await proxy.stop() }
  }

  @Test("A chain of proxies is not a loop, nor is a request that has passed a proxy of the same name")
  func chain() async throws {
    let origin = try ScriptedServer { .response(200, body: $0.fields.values(of: "Via").joined(separator: ", ")) }
    let proxies = try (0..<3).map { _ in try LateProxy() }
    for place in 0..<2 { try proxies[place].lead(to: proxies[place + 1].server.port) }
    try proxies[2].lead(to: origin.port)
    let response = try await proxies[0].exchange("GET", "Via: 1.1 larder, HTTP/1.0 larder:80 (a comment)\r\n")
    #expect(response.status == 200)
    let passed = response.text.split(separator: ", ").map(String.init)
    #expect(passed.prefix(2) == ["1.1 larder", "HTTP/1.0 larder:80 (a comment)"])
    #expect(passed.count == 5 && Set(passed).count == 5)
    #expect(passed.suffix(3).allSatisfy { $0.hasPrefix("1.1 larder-") }, "\(passed)")
    for proxy in proxies { await proxy.stop() }
    origin.stop()
  }
}
