import Foundation
import LarderContent
import LarderCurl
import LarderHTTP
import LarderTestSupport
import Testing

/// A proxy and a client on one cache. The proxy passes content on as received; the client's transport decodes it.
@Suite("Content that is stored in a coding (RFC 9110 §8.4)", .timeLimit(.minutes(5)))
struct ContentCodingTests {
  /// `plain text plain text` as gzip.
  static let zipped: [UInt8] = [
    0x1F, 0x8B, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0x2B, 0xC8, 0x49, 0xCC, 0xCC, 0x53,
    0x28, 0x49, 0xAD, 0x28, 0x51, 0x28, 0x80, 0x33, 0x01, 0x74, 0xCF, 0x5B, 0x71, 0x15, 0x00, 0x00,
    0x00,
  ]
  static let text = "plain text plain text"

  private struct Rig {
    let server: ScriptedServer
    let proxy: HTTPCache
    let client: HTTPCache

    init(over cache: any Cache = MemoryCache(), _ handler: @escaping ScriptedServer.Handler) throws {
      server = try ScriptedServer(handler: handler)
      var options = CurlTransport.Options()
      options.decodesContent = false
      proxy = HTTPCache(cache: cache, transport: try CurlTransport(options))
      client = HTTPCache(cache: cache, transport: try CurlTransport())
    }

    /// What a client of the proxy gets, which accepts any coding.
    func throughProxy(_ path: String = "/a") async throws -> (coding: String?, bytes: [UInt8]) {
      let request = HTTPRequest(url: server.url(path), fields: ["Accept-Encoding": "gzip, br"])
      let response = try await proxy.response(to: request).response
      return (response.fields["Content-Encoding"], try await response.body.collect())
    }

    func read(
      _ path: String = "/a", _ fields: HTTPFields = [:], policy: ContentPolicy = .standard
    ) async throws -> (line: String, fields: HTTPFields) {
      let response = try await client.response(to: HTTPRequest(url: server.url(path), fields: fields), policy: policy)
      return (try await EngineRig.line(response), response.response.fields)
    }

    func stop() async {
      await proxy.close()
      await client.close()
      server.stop()
    }
  }

  private static func response(_ coding: String, _ bytes: [UInt8] = zipped, age: Int = 600) -> ScriptedServer.Response {
    .response(
      200, fields: ["Content-Encoding": coding, "Cache-Control": "max-age=\(age)", "ETag": "\"1\""], bytes: bytes)
  }

  @Test("is decoded for a client that did not ask for it, offline too", arguments: [false, true])
  func decoded(inFiles: Bool) async throws {
    let folder = try TemporaryFolder()
    let cache: any Cache = inFiles ? try FileCache(path: folder.file("cache")) : MemoryCache()
    let rig = try Rig(over: cache) { _ in Self.response("gzip") }
    #expect(try await rig.throughProxy().bytes == Self.zipped)
    for policy in [ContentPolicy.standard, .cacheOnly] {
      let read = try await rig.read(policy: policy)
      #expect(read.line == "200 \(Self.text) \(inFiles ? "disk" : "memory")")
      #expect(!read.fields.contains(.contentEncoding) && !read.fields.contains(.contentLength))
    }
    #expect(try await rig.throughProxy().bytes == Self.zipped)
    #expect(rig.server.requests.count == 1)
    let part = try await rig.read("/a", ["Range": "bytes=0-1"])
    #expect(part.line.hasPrefix("200 \(Self.text)"))
    let coded = try await rig.client.response(
      to: HTTPRequest(url: rig.server.url("/a"), fields: ["Accept-Encoding": "gzip"]))
    #expect(try await coded.response.body.collect() == Self.zipped)
    await rig.stop()
  }

  @Test("is decoded after the server has confirmed it")
  func confirmed() async throws {
    let rig = try Rig { request in
      request.fields["If-None-Match"] == "\"1\""
        ? .response(304, fields: ["ETag": "\"1\""]) : Self.response("gzip", age: 0)
    }
    #expect(try await rig.throughProxy().coding == "gzip")
    #expect(try await rig.read().line == "200 \(Self.text) validated")
    #expect(try await rig.throughProxy().bytes == Self.zipped)
    await rig.stop()
  }

  @Test("is no match if it cannot be decoded, and is rejected by name offline", arguments: ["br", "zstd", "gzip, br"])
  func unknown(coding: String) async throws {
    let rig = try Rig { request in
      request.fields["Accept-Encoding"] == "gzip, br"
        ? Self.response(coding, [1, 2, 3]) : .response(200, fields: ["Cache-Control": "max-age=600"], body: "plain")
    }
    #expect(try await rig.throughProxy().coding == coding)
    await #expect(throws: HTTPTransportError.notSupported("stored content in the coding '\(coding)'")) {
      try await rig.read(policy: .cacheOnly)
    }
    #expect(try await rig.read().line == "200 plain network")
    #expect(try await rig.read(policy: .cacheOnly).line == "200 plain memory")
    await rig.stop()
  }

  @Test("is rejected by name if it was sent unasked, and not stored", arguments: ["br", "compress", "br, gzip"])
  func unasked(coding: String) async throws {
    let rig = try Rig { _ in Self.response(coding, [1, 2, 3]) }
    for fields in [[:], ["Range": "bytes=0-1"], ["Cache-Control": "no-store"]] as [HTTPFields] {
      await #expect(
        throws: HTTPTransportError.notSupported("content in the coding '\(coding)', which was not requested")
      ) {
        try await rig.read("/a", fields)
      }
    }
    #expect(try await rig.read(policy: .cacheOnly).line == "504  generated")
    // Whoever asks for it gets it.
    let asked = try await rig.client.response(
      to: HTTPRequest(url: rig.server.url("/a"), fields: ["Accept-Encoding": "br"]))
    #expect(try await asked.response.body.collect() == [1, 2, 3])
    await rig.stop()
  }

  @Test("the status of an error is returned whatever the coding of its content")
  func errors() async throws {
    let rig = try Rig { _ in .response(403, fields: ["Content-Encoding": "br"], bytes: [1, 2, 3]) }
    let response = try await rig.client.response(to: HTTPRequest(url: rig.server.url("/a")))
    #expect(response.response.status == 403)
    response.response.body.cancel()
    await rig.stop()
  }
}
