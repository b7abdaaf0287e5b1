import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@Suite("Hits from files", .timeLimit(.minutes(5)))
struct FileHitTests {
  /// A server in the process that counts its requests.
  final class Server: HTTPTransport {
    let content: [UInt8]
    let requestCount = Atomic(0)

    init(_ content: [UInt8]) { self.content = content }

    func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
      requestCount.add(1, ordering: .relaxed)
      return HTTPResponse(
        status: 200, fields: ["Cache-Control": "max-age=60", "ETag": "\"1\""], url: request.url,
        body: HTTPBodyStream(content))
    }
  }

  /// An engine over a folder, and what it requests.
  private struct Setting {
    let rig: FileCacheRig
    let server: Server
    let engine: HTTPCache
    let request: HTTPRequest

    init(_ length: Int, checkedByteLimit: Int = 1 << 20) throws {
      rig = try FileCacheRig()
      server = Server(FileCacheRig.bytes(length))
      var options = HTTPCacheOptions()
      options.checkedByteLimit = checkedByteLimit
      engine = HTTPCache(cache: try rig.open(), transport: server, options: options)
      request = HTTPRequest(url: try #require(URL(string: "http://h/a")))
    }

    /// The content at once, or piece by piece.
    func content(_ origin: ContentOrigin, inPieces: Bool = false) async throws -> [UInt8] {
      let response = try await engine.response(to: request)
      #expect(response.origin == origin)
      if !inPieces { return try await response.response.body.collect() }
      var all: [UInt8] = []
      for try await piece in response.response.body { all += piece }
      return all
    }
  }

  @Test(
    "give the stored content, at once and in pieces, again and again",
    arguments: [0, 1, 65_536, 65_537, 131_072, 131_073, 1_000_000])
  func hits(length: Int) async throws {
    let setting = try Setting(length)
    #expect(try await setting.content(.network) == setting.server.content)
    for round in 0..<6 {
      #expect(try await setting.content(.disk, inPieces: round % 2 == 1) == setting.server.content)
    }
    #expect(setting.server.requestCount.load(ordering: .relaxed) == 1)
    await setting.engine.close()
  }

  @Test(
    "that detect damage in the first check ask the server; those that detect it later fail, and the next asks it",
    arguments: [1 << 20, 100_000])
  func damage(checkedByteLimit: Int) async throws {
    let setting = try Setting(400_000, checkedByteLimit: checkedByteLimit)
    let content = setting.server.content
    #expect(try await setting.content(.network) == content)
    var requestCount = 1
    for (place, inPieces) in [(0, false), (65_535, true), (65_536, false), (65_536, true), (399_999, false)] {
      #expect(try await setting.content(.disk) == content)
      let blob = try #require(setting.rig.blobFiles.first)
      var damaged = try setting.rig.read(blob)
      damaged[place] ^= 1
      try setting.rig.write(damaged, to: blob)
      if place < 65_536 || checkedByteLimit >= 400_000 {
        #expect(try await setting.content(.network, inPieces: inPieces) == content)
      } else {
        await #expect(throws: HTTPTransportError.self) { try await setting.content(.disk, inPieces: inPieces) }
        #expect(setting.rig.files().isEmpty)
        #expect(try await setting.content(.network) == content)
      }
      requestCount += 1
      #expect(setting.server.requestCount.load(ordering: .relaxed) == requestCount)
    }
    await setting.engine.close()
  }
}
