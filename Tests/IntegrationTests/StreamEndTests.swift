import Foundation
import LarderContent
import LarderCurl
import LarderHTTP
import LarderObjects
import LarderOnline
import LarderService
import LarderTestSupport
import Testing

@Suite("A reader that is cancelled ends its transfer", .timeLimit(.minutes(5)))
struct StreamEndTests {
  /// How far the server's response is when the reader is cancelled.
  enum Progress: CaseIterable { case nothing, part }

  /// One of the streams of the package that a transfer stands behind.
  struct Reader: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let read: @Sendable (CurlTransport, URL) async throws -> Void

    init(_ description: String, _ read: @escaping @Sendable (CurlTransport, URL) async throws -> Void) {
      testDescription = description
      self.read = read
    }
  }

  static let readers = [
    Reader("the content of a response") { transport, url in
      for try await _ in try await transport.send(HTTPRequest(url: url)).body {}
    },
    Reader("the responses to a content query") { transport, url in
      let manager = ContentManager(cache: MemoryCache(), transport: transport)
      for try await _ in manager.responses(to: ContentQuery<String>(url)) {}
    },
    Reader("the content of a content query") { transport, url in
      let manager = ContentManager(cache: MemoryCache(), transport: transport)
      for try await _ in try await manager.stream(ContentQuery<String>(url)).response.body {}
    },
    Reader("the steps of an object stream") { transport, url in
      let folder = try TemporaryFolder()
      let store = try await ObjectStore(path: folder.file("objects"))
      let steps = store.stream([UInt8].self, forKey: "key") {
        try await transport.send(HTTPRequest(url: url)).body.collect()
      }
      for try await _ in steps {}
    },
    Reader("the content of a media resource") { transport, url in
      let conversation = try ODataConversation(root: url, transport: transport)
      for try await _ in try await conversation.stream(.readMedia("Photos(1)/$value")).body {}
    },
    Reader("the events of a request") { transport, url in
      var options = OnlineStoreOptions()
      options.loadsMetadata = false
      let store = try OnlineODataStore(serviceRoot: url, transport: transport, options: options)
      try await store.open()
      for await _ in store.schedule(.read("Products")).events {}
    },
  ]

  @Test("The server sees each connection end", arguments: readers, Progress.allCases)
  func ends(reader: Reader, progress: Progress) async throws {
    let server = try ScriptedServer { _ in
      switch progress {
      case .nothing: .hang
      case .part: .response(200, fields: ["Content-Length": "100000000"], body: "a part")
      }
    }
    defer { server.stop() }
    let transport = try CurlTransport()
    let reading = Task { try await reader.read(transport, server.url("/S/")) }
    try await server.waitForRequests(1)
    #expect(server.closedConnectionCount == 0)
    reading.cancel()
    try await server.waitForClosedConnections(1, within: .seconds(20))
    _ = await reading.result
    #expect(server.connectionCount == 1)
    await transport.close()
  }
}
