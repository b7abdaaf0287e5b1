import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

@Suite("larder get --cache and larder cache", .timeLimit(.minutes(5)))
struct CachedGetTests {
  /// One entity with an ETag, and 404 for everything else.
  static func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      guard request.path == "/svc/Products(1)" else { return .response(404) }
      if request.fields[.ifNoneMatch] == "\"7\"" { return .response(304, fields: ["ETag": "\"7\""]) }
      return .response(200, fields: ["ETag": "\"7\"", "Content-Type": "application/json"], body: #"{"ID":1}"#)
    }
  }

  static func lines(_ outcome: Outcome) -> [String] { outcome.output.split(separator: "\n").map(String.init) }

  @Test("Events: a miss, then a hit and a 304; only the URL is requested, conditionally the second time")
  func events() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let line = ["get", "--cache", folder.path, "--events", server.text("/svc/Products(1)")]
    let first = await Rig().run(line)
    #expect(first.status == .done)
    #expect(
      Self.lines(first) == [
        #"{"event":"requestStarted","status":"initialized","payloadBytes":null,"httpStatus":null,"notModified":false}"#,
        #"{"event":"requestCacheResponse","status":"inProgress","payloadBytes":null,"httpStatus":null,"notModified":false}"#,
        #"{"event":"requestServerResponse","status":"inProgress","payloadBytes":8,"httpStatus":200,"notModified":false}"#,
        #"{"event":"requestFinished","status":"completed","payloadBytes":8,"httpStatus":200,"notModified":false}"#,
      ])
    let second = await Rig().run(line)
    #expect(
      Self.lines(second) == [
        #"{"event":"requestStarted","status":"initialized","payloadBytes":null,"httpStatus":null,"notModified":false}"#,
        #"{"event":"requestCacheResponse","status":"inProgress","payloadBytes":8,"httpStatus":200,"notModified":false}"#,
        #"{"event":"requestServerResponse","status":"inProgress","payloadBytes":8,"httpStatus":304,"notModified":true}"#,
        #"{"event":"requestFinished","status":"completed","payloadBytes":8,"httpStatus":304,"notModified":true}"#,
      ])
    #expect(server.requests.map(\.target) == ["/svc/Products(1)", "/svc/Products(1)"])
    #expect(server.requests.map { $0.fields[.ifNoneMatch] } == [nil, "\"7\""])
  }

  @Test("A confirmed read prints the cached response with its status; a 304 has no content (RFC 9110 §15.4.5)")
  func confirmedHead() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    for _ in 0..<2 {
      let outcome = await Rig().run("get", "-i", "--cache", folder.path, server.text("/svc/Products(1)"))
      #expect(outcome.output.hasPrefix("HTTP/1.1 200"))
      #expect(outcome.output.hasSuffix("{\"ID\":1}"))
    }
  }

  @Test(
    "A 304 to a condition of the caller's own is a negative result with a message",
    arguments: [[], ["--events"], ["--cache", "DIR"], ["--cache", "DIR", "--events"]])
  func ownCondition(options: [String]) async throws {
    let server = try Self.server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let url = server.text("/svc/Products(1)")
    _ = await Rig().run("get", "--cache", folder.path, url)
    let given = options.map { $0 == "DIR" ? folder.path : $0 }
    let outcome = await Rig().run(["get", "-H", "If-None-Match: \"7\""] + given + [url])
    #expect(outcome.status == .negative)
    #expect(outcome.diagnostics.contains("is not modified"))
    #expect(outcome.output.isEmpty == !options.contains("--events"))
  }

  @Test(
    "A part that nobody requested is an error, whatever the cache holds (RFC 9110 §15.3.7)",
    arguments: [[], ["--cache", "DIR"], ["--cache", "DIR", "--events"], ["--cache", "DIR", "--output", "OUT"]])
  func unrequestedPart(options: [String]) async throws {
    let isWhole = Mutex(true)
    let server = try ScriptedServer { _ in
      isWhole.withLock { $0 }
        ? .response(200, fields: ["Content-Type": "application/json"], body: #"{"value":1}"#)
        : .response(206, fields: ["Content-Type": "application/json", "Content-Range": "bytes 0-2/11"], body: #"{"v"#)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let url = server.text("/svc/x")
    _ = await Rig().run("get", "--cache", folder.file("cache"), url)
    isWhole.withLock { $0 = false }
    let given = options.map { $0 == "DIR" ? folder.file("cache") : $0 == "OUT" ? folder.file("out") : $0 }
    let outcome = await Rig().run(["get"] + given + [url])
    #expect(outcome.status == .network)
    #expect(options.contains("--events") || outcome.output.isEmpty)
    #expect(!FileManager.default.fileExists(atPath: folder.file("out")))
    #expect(await Rig().run("get", "--passive", "--cache", folder.file("cache"), url).output == #"{"value":1}"#)
  }

  @Test("Without --cache the events are those of a store without one")
  func eventsWithoutCache() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let good = await Rig().run("get", "--events", server.text("/svc/Products(1)"))
    #expect(
      Self.lines(good).map { $0.split(separator: "\"")[3] } == [
        "requestStarted", "requestServerResponse", "requestFinished",
      ])
    let bad = await Rig().run("get", "--events", server.text("/svc/Nothing"))
    #expect(
      Self.lines(bad).map { $0.split(separator: "\"")[3] } == ["requestStarted", "requestFailed", "requestFinished"])
    #expect(bad.status == .negative)
  }

  @Test("Without the server, passive prints the last response, active fails with 3 and a hint; a miss is 1")
  func gone() async throws {
    let server = try Self.server()
    let folder = try TemporaryFolder()
    let url = server.text("/svc/Products(1)")
    #expect(await Rig().run("get", "--cache", folder.path, url).output == #"{"ID":1}"#)
    server.stop()
    let passive = await Rig().run("get", "--cache", folder.path, "--passive", url)
    #expect(passive.status == .done)
    #expect(passive.output == #"{"ID":1}"#)
    let active = await Rig().run("get", "--cache", folder.path, url)
    #expect(active.status == .network)
    #expect(active.output.isEmpty)
    #expect(active.diagnostics.contains("--passive prints it"))
    let miss = await Rig().run("get", "--cache", folder.path, "--passive", url + "?x=1")
    #expect(miss.status == .negative)
    let events = await Rig().run("get", "--cache", folder.path, "--passive", "--events", url)
    #expect(
      Self.lines(events).map { $0.split(separator: "\"")[3] } == [
        "requestStarted", "requestCacheResponse", "requestFinished",
      ])
  }

  @Test("Responses are cached for each user, and in the same cache with and without a root")
  func users() async throws {
    let server = try Self.server()
    let folder = try TemporaryFolder()
    let url = server.text("/svc/Products(1)")
    let one = Rig(environment: ["LARDER_USER": "one", "LARDER_PASSWORD": "p"])
    let two = Rig(environment: ["LARDER_USER": "two", "LARDER_PASSWORD": "p"])
    #expect(
      await one.run("get", "--cache", folder.path, "--service", server.text("/svc/"), url).status == .done
    )
    server.stop()
    #expect(await one.run("get", "--cache", folder.path, "--passive", url).status == .done)
    #expect(await two.run("get", "--cache", folder.path, "--passive", url).status == .negative)
  }

  @Test("list, show and clear work without a network")
  func cacheVerb() async throws {
    let server = try Self.server()
    let folder = try TemporaryFolder()
    let url = server.text("/svc/Products(1)")
    _ = await Rig().run("get", "--cache", folder.path, url)
    server.stop()
    let json = await Rig().run("cache", "list", "--cache", folder.path, "--json")
    let entry = try #require(try JSONNode(json.outputBytes).items?.first)
    #expect(entry["url"]?.string == url)
    #expect(entry["bytes"]?.text == "8")
    #expect(entry["status"]?.text == "200")
    #expect(entry["etag"]?.string == "\"7\"")
    #expect(entry["stored"]?.string?.hasSuffix("Z") == true)
    let list = await Rig().run("cache", "list", "--cache", folder.path)
    #expect(list.output.contains(url))
    let show = await Rig().run("cache", "show", "--cache", folder.path, url)
    #expect(show.output == #"{"ID":1}"#)
    #expect(await Rig().run("cache", "show", "--cache", folder.path, url + "2").status == .negative)
    #expect(await Rig().run("cache", "clear", "--cache", folder.path).status == .done)
    #expect(await Rig().run("cache", "show", "--cache", folder.path, url).status == .negative)
    #expect(await Rig().run("cache", "list", "--cache", folder.path, "--json").output == "[]\n")
    #expect(await Rig().run("cache", "list").status == .usage)
    #expect(await Rig().run("cache", "list", "--cache", folder.file("none")).status == .storage)
  }

  @Test("A passive read does not wait for a process that uses the cache, and changes nothing for it")
  func besideAnother() async throws {
    let server = try Self.server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let url = server.text("/svc/Products(1)")
    _ = await Rig().run("get", "--cache", folder.path, url)
    let context = Rig().context(Collector(), Collector())
    guard case .run(_, let arguments) = try ArgumentParser.parse(["get", url], root: CommandLineTool.syntax) else {
      Issue.record("the arguments are a command's")
      return
    }
    let access = try ServiceAccess(arguments, context)
    let cache = CacheAccess(folder: folder.path, key: nil, context)
    let origin = try RequestTarget(url, in: arguments).origin
    let other = try await cache.open(origin: origin, access: access, isPassive: false)
    for _ in 0..<2 {
      let passive = await Rig().run("get", "--passive", "--cache", folder.path, url)
      #expect(passive.status == .done && passive.output == #"{"ID":1}"#)
      #expect(await Rig().run("get", "--passive", "--cache", folder.path, url + "?x=1").status == .negative)
    }
    // The other store still has its claim.
    await #expect(throws: CommandFailure.self) {
      _ = try await cache.open(origin: origin, access: access, isPassive: false, busyTimeout: .milliseconds(150))
    }
    withExtendedLifetime(other) {}
  }

  @Test("A cache that another process uses is waited for, then the status is 4")
  func locked() async throws {
    let folder = try TemporaryFolder()
    let context = Rig().context(Collector(), Collector())
    guard
      case .run(_, let arguments) = try ArgumentParser.parse(
        ["get", "http://127.0.0.1:1/x"], root: CommandLineTool.syntax)
    else {
      Issue.record("the arguments are a command's")
      return
    }
    let access = try ServiceAccess(arguments, context)
    let target = try RequestTarget("http://127.0.0.1:1/x", in: arguments)
    let cache = CacheAccess(folder: folder.path, key: nil, context)
    let first = try await cache.open(origin: target.origin, access: access, isPassive: false)
    let failure = await #expect(throws: CommandFailure.self) {
      _ = try await cache.open(origin: target.origin, access: access, isPassive: false, busyTimeout: .milliseconds(150))
    }
    #expect(failure?.status == .storage)
    #expect(failure?.message.hasPrefix("another process has used the cache") == true)
    withExtendedLifetime(first) {}
  }

  @Test("A file of another kind in place of the cache exits with 4 and is not changed")
  func foreign() async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write(Array("hello".utf8), to: "file")
    let outcome = await Rig().run("get", "--cache", file, "http://127.0.0.1:1/x")
    #expect(outcome.status == .storage)
    #expect(try InputFile.read(file) == Array("hello".utf8))
  }
}
