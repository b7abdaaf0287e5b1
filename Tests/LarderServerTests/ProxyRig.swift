import LarderContent
import LarderCurl
import LarderHTTP
import LarderServer
import LarderTestSupport
import Synchronization

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// A proxy with a memory cache before a scripted upstream server.
final class ProxyRig: Sendable {
  let upstream: ScriptedServer
  let engine: HTTPCache
  let server: HTTPServer
  /// What the proxy reported of each exchange.
  let records: Records
  private let transport: CurlTransport

  final class Records: Sendable {
    private let list = Mutex<[ProxyRecord]>([])
    private let count = Tally("records")

    func add(_ record: ProxyRecord) {
      list.withLock { $0.append(record) }
      count.add()
    }

    /// The first so many, once they are there.
    func wait(for count: Int) async throws -> [ProxyRecord] {
      try await self.count.wait(for: count)
      return list.withLock { $0 }
    }
  }

  init(
    base: String = "", options: CachingProxy.Options = CachingProxy.Options(),
    upstreamOptions: ScriptedServer.Options = ScriptedServer.Options(), handler: @escaping ScriptedServer.Handler
  ) throws {
    upstream = try ScriptedServer(upstreamOptions, handler: handler)
    var transportOptions = CurlTransport.Options()
    transportOptions.decodesContent = false
    transportOptions.userAgent = nil
    transport = try CurlTransport(transportOptions)
    engine = HTTPCache(cache: MemoryCache(), transport: transport)
    var options = options
    let records = Records()
    options.onExchange = { records.add($0) }
    self.records = records
    let proxy = CachingProxy(engine, upstream: try Upstream(upstream.url(base)), options: options)
    var serverOptions = HTTPServer.Options.patient
    serverOptions.rejectionFields = proxy.rejectionFields
    server = try HTTPServer(serverOptions) { await proxy.respond(to: $0) }
  }

  func client() throws -> RawClient { try RawClient(port: server.port) }

  /// One exchange on a connection of its own.
  func exchange(
    _ method: String = "GET", _ target: String, _ fields: String = "", content: String = ""
  ) async throws -> RawClient.Response {
    try await client().exchange(
      "\(method) \(target) HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n\(fields)\r\n\(content)",
      isHead: method == "HEAD")
  }

  func stop() async {
    await server.stop()
    await engine.close()
    await transport.close()
    upstream.stop()
  }
}
