//! A caching proxy in a program of your own, on Linux.

#if canImport(LarderServer)
  import Foundation
  import LarderContent
  import LarderCurl
  import LarderServer

  func serve(_ url: URL) async throws {
    var options = CurlTransport.Options()
    options.decodesContent = false
    let engine = HTTPCache(cache: MemoryCache(), transport: try CurlTransport(options))
    let proxy = CachingProxy(engine, upstream: try Upstream(url))
    let server = try HTTPServer(atOnce: { proxy.respondAtOnce(to: $0) }) { await proxy.respond(to: $0) }
    print(server.port)
  }
#endif
