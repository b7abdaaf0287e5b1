import Foundation
import LarderContent
import LarderHTTP
import LarderTestSupport
import Testing

@Suite("Content manager", .timeLimit(.minutes(5)))
struct ContentManagerTests {
  /// Responds to each request with its number, and never with a lifetime of its own.
  private static let counting: @Sendable (HTTPRequest, Int) -> ManualNetwork.Scripted? = { _, index in
    .init(200, ["ETag": "\"\(index)\""], "v\(index)")
  }

  @Test(
    "one final response, or an intermediate and a final one, by what is stored",
    arguments: [
      // seconds since it was stored, what comes
      (nil, ["final v0 network"]),
      (5, ["final v0 memory"]),
      (15, ["intermediate v0 memory", "final v1 network"]),
      (25, ["final v1 network"]),
    ] as [(Int64?, [String])])
  func table(age: Int64?, expected: [String]) async throws {
    let rig = ManagerRig(Self.counting)
    let query = rig.query(soft: 10, ttl: 20)
    if let age {
      _ = try await rig.manager.content(of: query)
      rig.rig.clock.pass(seconds: age)
    }
    #expect(await rig.trace(query) == expected)
  }

  @Test("after an intermediate response the error of the network follows")
  func intermediateThenError() async throws {
    let rig = ManagerRig { _, index in index == 0 ? .init(200, [:], "old") : .failure(.timeout(phase: "idle")) }
    let query = rig.query(soft: 10, ttl: 20)
    _ = try await rig.manager.content(of: query)
    rig.rig.clock.pass(seconds: 15)
    let trace = await rig.trace(query)
    #expect(trace.count == 2)
    #expect(trace.first == "intermediate old memory")
    #expect(trace.last?.hasPrefix("error transport(") == true)
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    #expect(error?.isTimeoutError == true)
    #expect(error?.isNetworkError == true)
  }

  @Test("stale-while-revalidate makes the soft TTL the lifetime, and the TTL that plus its seconds (RFC 5861 §3)")
  func staleWhileRevalidate() async throws {
    let rig = ManagerRig { request, index in
      request.fields.contains(.ifNoneMatch)
        ? .init(304, ["Cache-Control": "max-age=10, stale-while-revalidate=10"])
        : .init(200, ["ETag": "\"1\"", "Cache-Control": "max-age=10, stale-while-revalidate=10"], "one")
    }
    #expect(await rig.trace(rig.query()) == ["final one network"])
    rig.rig.clock.pass(seconds: 15)
    #expect(await rig.trace(rig.query()) == ["intermediate one memory", "final one validated"])
    #expect(await rig.trace(rig.query()) == ["final one memory"])
  }

  @Test("overrides win over the server's freshness, and never over no-store")
  func overrides() async throws {
    let rig = ManagerRig { request, index in
      .init(200, ["Cache-Control": request.url.path == "/a" ? "max-age=0" : "no-store"], "v\(index)")
    }
    #expect(await rig.trace(rig.query("/a", ttl: 60)) == ["final v0 network"])
    #expect(await rig.trace(rig.query("/a", ttl: 60)) == ["final v0 memory"])
    #expect(await rig.trace(rig.query("/b", ttl: 60)) == ["final v1 network"])
    #expect(await rig.trace(rig.query("/b", ttl: 60)) == ["final v2 network"])
  }

  @Test("A listener receives the same responses in order, and none after it is cancelled")
  func listener() async throws {
    let rig = ManagerRig(Self.counting)
    let query = rig.query(soft: 10, ttl: 20)
    let heard = ReceivedResponses()
    await rig.manager.schedule(query, listener: heard.listener).finished()
    rig.rig.clock.pass(seconds: 15)
    await rig.manager.schedule(query, listener: heard.listener).finished()
    #expect(heard.all == ["final v0 network", "intermediate v0 memory", "final v1 network"])
    let silent = ManagerRig()
    let execution = silent.manager.schedule(silent.query(), listener: heard.listener)
    let exchange = await silent.rig.network.exchange(0)
    execution.cancel()
    await execution.finished()
    await exchange.headGivenUp()
    #expect(heard.all.count == 3)
  }

  @Test("closing ends the queries of listeners, and notifies them")
  func closing() async throws {
    let rig = ManagerRig()
    let heard = ReceivedResponses()
    let execution = rig.manager.schedule(rig.query(), listener: heard.listener)
    _ = await rig.rig.network.exchange(0)
    await rig.manager.close()
    await execution.finished()
    #expect(heard.all.count == 1)
    #expect(heard.all.first?.contains("cancelled") == true)
  }

  @Test("JSON, text and bytes come as values")
  func values() async throws {
    let rig = ManagerRig { _, _ in .init(200, [:], "[1,2]") }
    let url = rig.rig.request("/a").url
    #expect(try await rig.manager.content(of: ContentQuery<[Int]>.json(url)).value == [1, 2])
    #expect(try await rig.manager.content(of: ContentQuery<Data>(url)).value == Data("[1,2]".utf8))
    let text = try await rig.manager.content(of: ContentQuery<String>(url))
    #expect(text.value == "[1,2]")
    #expect(text.data == Data("[1,2]".utf8))
    #expect(text.cacheStatus?.hasPrefix("larder; fwd=") == true)
  }

  @Test("redirects are followed through the cache, each by its own rules")
  func redirects() async throws {
    let rig = ManagerRig { request, index in
      request.url.path == "/a"
        ? .init(301, ["Location": "/b", "Cache-Control": "max-age=100"])
        : .init(200, ["Cache-Control": "max-age=10"], "v\(index)")
    }
    #expect(try await rig.manager.content(of: rig.query()).url.path == "/b")
    rig.rig.clock.pass(seconds: 20)
    #expect(await rig.trace(rig.query()) == ["final v2 network"])
    #expect(rig.rig.network.requests.map(\.url.path) == ["/a", "/b", "/b"])
    var query = rig.query()
    query.followsRedirects = false
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    #expect(error?.httpStatus == 301)
  }

  @Test("content that the parser rejects is not stored, although a redirect to another origin removed the credentials")
  func rejectedElsewhere() async throws {
    struct Rejection: Error {}
    let rig = ManagerRig { request, _ in
      request.url.path == "/a"
        ? .init(302, ["Location": "http://other/b"]) : .init(200, ["Cache-Control": "max-age=10"], "b")
    }
    var query = ContentQuery<String>(rig.query().url) { _ in throw Rejection() }
    query.fields[.authorization] = "Bearer anna"
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: query) }
    #expect(error?.isParseError == true)
    #expect(rig.rig.shelf.keys.filter { $0.hasPrefix("http") } == [])
  }

  @Test("A redirect loop ends")
  func circle() async throws {
    let rig = ManagerRig { _, _ in .init(302, ["Location": "/a"]) }
    let error = await #expect(throws: ContentError.self) { try await rig.manager.content(of: rig.query()) }
    #expect(error?.cause as? HTTPTransportError == .tooManyRedirects)
    #expect(error?.isNetworkError == false)
  }

  @Test("content can be streamed, fetched ahead, and forgotten")
  func withoutValue() async throws {
    let rig = ManagerRig { _, index in .init(200, ["Cache-Control": "max-age=100"], "v\(index)") }
    try await rig.manager.prefetch(rig.query())
    #expect(await rig.trace(rig.query()) == ["final v0 memory"])
    let streamed = try await rig.manager.stream(rig.query())
    #expect(try await EngineRig.line(streamed) == "200 v0 memory")
    try await rig.manager.removeContent(of: rig.query().url)
    #expect(await rig.trace(rig.query()) == ["final v1 network"])
    try await rig.manager.removeAll()
    #expect(await rig.trace(rig.query()) == ["final v2 network"])
  }
}

@Suite("Downloads", .timeLimit(.minutes(5)))
struct DownloadTests {
  @Test("content comes into a file when all of it is there")
  func download() async throws {
    let folder = try TemporaryFolder()
    let rig = ManagerRig { _, index in .init(200, ["Cache-Control": "max-age=100"], "v\(index)") }
    let path = folder.file("a")
    try await rig.manager.download(rig.query(), toFile: path)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "v0")
    #expect(try await rig.manager.download(rig.query(), toFile: path).origin == .memory)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["a"])
  }

  @Test("a file that is replaced keeps its permissions, and a link is written through")
  func places() async throws {
    let folder = try TemporaryFolder()
    let rig = ManagerRig { _, _ in .init(200, ["Cache-Control": "max-age=100"], "new") }
    let path = try folder.write(Array("old".utf8), to: "a")
    try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    try FileManager.default.createSymbolicLink(atPath: folder.file("link"), withDestinationPath: path)
    for name in ["a", "link"] {
      try await rig.manager.download(rig.query(), toFile: folder.file(name))
      #expect(try String(contentsOfFile: path, encoding: .utf8) == "new")
      #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
      #expect(try FileManager.default.destinationOfSymbolicLink(atPath: folder.file("link")) == path)
      try Data("old".utf8).write(to: URL(filePath: path))
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }
  }

  @Test("content that breaks off leaves no file, and a folder that is not there is an error with its reason")
  func failures() async throws {
    let folder = try TemporaryFolder()
    let rig = ManagerRig()
    let path = folder.file("a")
    let task = immediately { try await rig.manager.download(rig.query(), toFile: path) }
    let exchange = await rig.rig.network.exchange(0)
    exchange.respond(200, length: 6)
    exchange.send("one")
    exchange.breakOff()
    let error = await #expect(throws: ContentError.self) { try await task.value }
    #expect(error?.isNetworkError == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).isEmpty)
    let other = ManagerRig { _, _ in .init(200, [:], "x") }
    let second = await #expect(throws: ContentError.self) {
      try await other.manager.download(other.query(), toFile: folder.file("no/such/folder"))
    }
    guard case .file? = second?.category else {
      Issue.record("\(String(describing: second))")
      return
    }
  }
}
