import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

@Suite("larder fetch", .timeLimit(.minutes(5)))
struct FetchVerbTests {
  /// A server with one content at all its paths, and a folder for the cache.
  final class Site: Sendable {
    private final class Content: Sendable {
      let text: Mutex<String>
      init(_ text: String) { self.text = Mutex(text) }
    }

    let server: ScriptedServer
    let folder: TemporaryFolder
    private let content: Content

    init(_ text: String = "one", cacheControl: String = "max-age=60", hasTag: Bool = true) throws {
      let content = Content(text)
      self.content = content
      folder = try TemporaryFolder()
      server = try ScriptedServer { request in
        let text = content.text.withLock { $0 }
        var fields: HTTPFields = ["Content-Type": "text/plain", "Cache-Control": cacheControl]
        if hasTag { fields[.etag] = "\"\(text.prefix(9))\"" }
        if let condition = request.fields[.ifNoneMatch], condition == fields[.etag] {
          return .response(304, fields: fields)
        }
        return .response(200, fields: fields, body: text)
      }
    }

    deinit { server.stop() }

    func change(to text: String) { content.text.withLock { $0 = text } }

    func fetch(_ options: String..., rig: Rig = Rig(), path: String = "/a") async -> Outcome {
      await rig.run(["fetch", "--cache", folder.file("cache"), server.text(path)] + options)
    }

    func report(_ options: String..., path: String = "/a") async throws -> JSONNode {
      let outcome = await Rig().run(
        ["fetch", "--cache", folder.file("cache"), "--json", server.text(path)] + options)
      return try JSONNode(outcome.outputBytes)
    }
  }

  @Test(
    "With a key, the cache is encrypted and opens only with that key; clearing allows another key, or none")
  func keys() async throws {
    let text = "a text that nobody shall read"
    let site = try Site(text)
    let keyed = Rig(environment: ["LARDER_KEY": "correct horse"])
    #expect(await site.fetch(rig: keyed).output == text)
    var search = MarkerSearch(for: ["nobody shall", "text/plain", "max-age", "127.0.0.1"])
    search.look(in: site.folder.path)
    #expect(search.matches == [] && search.looks > 1)
    let file = try site.folder.write(Array("correct horse\n".utf8), to: "key")
    #expect(await site.fetch("--key-file", file).output == text)
    #expect(site.server.requests.count == 1)
    for rig in [Rig(), Rig(environment: ["LARDER_KEY": "another"])] {
      let rejected = await site.fetch(rig: rig)
      #expect(rejected.status == .storage && rejected.output.isEmpty)
      #expect(rejected.diagnostics.contains("--key-file"))
    }
    let cache = ["cache", "list", "--cache", site.folder.file("cache")]
    #expect(await keyed.run(cache).output.hasPrefix("content: 1 entries"))
    #expect(await Rig().run(cache).status == .storage)
    #expect(await Rig().run("cache", "clear", "--cache", site.folder.file("cache")).status == .done)
    for rig in [Rig(environment: ["LARDER_KEY": "another"]), keyed] {
      #expect(await site.fetch(rig: rig).output == text)
      #expect(await rig.run("cache", "clear", "--cache", site.folder.file("cache")).status == .done)
    }
    #expect(await site.fetch().output == text)
    #expect(site.server.requests.count == 4)
  }

  @Test("A part that was not requested is neither saved nor cached as the whole (RFC 9110 §15.3.7)")
  func unaskedPart() async throws {
    let folder = try TemporaryFolder()
    let server = try ScriptedServer { request in
      let fields: HTTPFields = ["Content-Range": "bytes 0-3/9", "Cache-Control": "max-age=60", "ETag": "\"1\""]
      return .response(206, fields: fields, body: "part")
    }
    defer { server.stop() }
    let cache = ["--cache", folder.file("cache")]
    let rejected = await Rig().run(["fetch", "-o", folder.file("whole")] + cache + [server.text("/a")])
    #expect(rejected.status != .done, "\(rejected.diagnostics)")
    #expect(rejected.diagnostics.contains("206"))
    #expect(!FileManager.default.fileExists(atPath: folder.file("whole")))
    #expect(await Rig().run(["fetch", "--offline"] + cache + [server.text("/a")]).status != .done)
    // A request for a part gets it.
    let condition = await Rig().run(["fetch", "--header", "Range: bytes=0-3"] + cache + [server.text("/a")])
    #expect(condition.output == "part", "\(condition.diagnostics)")
  }

  @Test("Fresh content is read from the cache without a request; expired content is confirmed or replaced")
  func fresh() async throws {
    let site = try Site()
    #expect(await site.fetch().output == "one")
    let hit = try await site.report()
    #expect(hit["origin"]?.string == "disk" && hit["stored"]?.text == "true")
    #expect((hit["age"]?.text).flatMap(Int.init).map { (0..<60).contains($0) } ?? false)
    #expect(hit["bytes"]?.text == "3" && hit["status"]?.text == "200" && hit["intermediate"]?.text == "false")
    #expect(hit["headers"]?["ETag"]?.string == "\"one\"")
    #expect(hit["cacheStatus"]?.string?.contains("hit") == true)
    #expect(site.server.requests.count == 1)
    let confirmed = try await site.report("--ttl", "0")
    #expect(confirmed["origin"]?.string == "validated" && confirmed["stored"]?.text == "true")
    #expect(site.server.requests.last?.fields[.ifNoneMatch] == "\"one\"")
    site.change(to: "two")
    let replaced = try await site.report("--refresh")
    #expect(replaced["origin"]?.string == "network" && replaced["stored"]?.text == "true")
    #expect(replaced["age"] == .null)
    #expect(await site.fetch().output == "two")
    #expect(site.server.requests.count == 3)
  }

  @Test(
    "--ttl caches content without a lifetime from the server, and never content with no-store",
    arguments: [false, true])
  func ttl(forbidden: Bool) async throws {
    let site = try Site(cacheControl: forbidden ? "no-store" : "no-cache", hasTag: false)
    let first = try await site.report("--ttl", "1h")
    #expect(first["stored"]?.text == (forbidden ? "false" : "true"))
    site.change(to: "two")
    #expect(await site.fetch("--ttl", "1h").output == (forbidden ? "two" : "one"))
    #expect(site.server.requests.count == (forbidden ? 2 : 1))
  }

  @Test("After the soft TTL, cached content is printed immediately and renewed; --wait prints the server's")
  func softTTL() async throws {
    let site = try Site()
    #expect(await site.fetch("--soft-ttl", "0", "--ttl", "1d").output == "one")
    site.change(to: "two")
    let soft = try await site.report("--soft-ttl", "0", "--ttl", "1d")
    #expect(soft["intermediate"]?.text == "true" && soft["origin"]?.string == "disk")
    #expect(site.server.requests.count == 2)
    #expect(await site.fetch().output == "two")
    #expect(site.server.requests.count == 2)
    site.change(to: "three")
    #expect(await site.fetch("--soft-ttl", "0", "--ttl", "1d", "--wait").output == "three")
  }

  @Test("If renewing fails, the status is 0 with a warning")
  func notRenewed() async throws {
    let site = try Site()
    _ = await site.fetch()
    site.server.stop()
    let outcome = await site.fetch("--soft-ttl", "0", "--ttl", "1d")
    #expect(outcome.status == .done && outcome.output == "one")
    #expect(outcome.diagnostics.contains("warning: the cached content was not renewed: "))
    let waiting = await site.fetch("--soft-ttl", "0", "--ttl", "1d", "--wait")
    #expect(waiting.status == .network && waiting.output.isEmpty)
    #expect(waiting.diagnostics.contains("--offline prints it"))
  }

  @Test("Offline, expired content is printed and nothing is sent; without cached content the status is 1")
  func offline() async throws {
    let site = try Site(cacheControl: "max-age=0, must-revalidate")
    _ = await site.fetch()
    site.change(to: "two")
    let stored = await site.fetch("--offline")
    #expect(stored.status == .done && stored.output == "one")
    #expect(site.server.requests.count == 1)
    let miss = await site.fetch("--offline", path: "/b")
    #expect(miss.status == .negative && miss.output.isEmpty)
    #expect(miss.diagnostics.contains("The cache has no response"))
    site.server.stop()
    #expect(await site.fetch("--policy", "cache-only").output == "one")
    let gone = await site.fetch()
    #expect(gone.status == .network)
    #expect(gone.diagnostics.contains("The cache has content of this URL"))
    #expect(await site.fetch(path: "/b").diagnostics.contains("--offline") == false)
    #expect(await site.fetch("--policy", "cache-else-network").output == "one")
  }

  @Test("If a server cannot be reached, cached content is printed if the policy allows it")
  func unreachable() async throws {
    let site = try Site(cacheControl: "max-age=0")
    _ = await site.fetch()
    site.server.stop()
    let outcome = await site.fetch("--policy", "stale-when-unreachable")
    #expect(outcome.status == .done && outcome.output == "one")
  }

  @Test(
    "An unsuccessful response is an error, with the corresponding status",
    arguments: [(404, 1), (410, 1), (401, 3), (403, 1), (500, 3), (503, 3)])
  func failures(status: Int, code: Int32) async throws {
    let server = try ScriptedServer { _ in .response(status, body: "sorry") }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let outcome = await Rig().run("fetch", "--cache", folder.path, server.text("/x"))
    #expect(outcome.status.code == code && outcome.output.isEmpty)
    #expect(outcome.diagnostics.contains("The server responded with status \(status)."))
    #expect(outcome.diagnostics.contains("--user-file") == [401, 403].contains(status))
  }

  @Test("An unsolicited 304 violates HTTP; one for the caller's own condition is a negative result")
  func notModified() async throws {
    let server = try ScriptedServer { _ in .response(304) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let unasked = await Rig().run("fetch", "--cache", folder.path, server.text("/x"))
    #expect(unasked.status == .network && unasked.diagnostics.contains("is not valid HTTP: the server sent 304"))
    let condition = await Rig().run("fetch", "--cache", folder.path, "-H", "If-None-Match: \"1\"", server.text("/x"))
    #expect(condition.status == .negative && condition.diagnostics.contains("is not modified"))
  }

  @Test(
    "Content in a coding that was not requested and is not decoded is rejected by name, never printed",
    arguments: ["br", "zstd", "compress", "br, gzip"], ["fetch", "get"])
  func codings(coding: String, verb: String) async throws {
    let server = try ScriptedServer { _ in
      .response(200, fields: ["Content-Encoding": coding, "Cache-Control": "max-age=60"], bytes: [0x0B, 0x05, 0x80])
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    for options in [["--cache", folder.path], verb == "get" ? [] : ["--cache", folder.path, "--refresh"]] {
      let outcome = await Rig().run([verb] + options + [server.text("/x")])
      #expect(outcome.status == .network && outcome.outputBytes.isEmpty)
      #expect(outcome.diagnostics.contains("the coding '\(coding)'"))
    }
  }

  @Test("Redirects are followed through the cache, and credentials stay with their origin")
  func redirects() async throws {
    let other = try ScriptedServer { request in
      .response(200, fields: ["Cache-Control": "max-age=60"], body: request.fields[.authorization] ?? "nobody")
    }
    defer { other.stop() }
    let server = try ScriptedServer { _ in
      .response(301, fields: ["Location": other.text("/moved"), "Cache-Control": "max-age=60"])
    }
    let folder = try TemporaryFolder()
    let rig = Rig(environment: ["LARDER_TOKEN": "T", "LARDER_USER": "u"])
    let line = ["fetch", "--cache", folder.path, server.text("/x")]
    #expect(await rig.run(line).output == "nobody")
    #expect(server.requests.first?.fields[.authorization] == "Bearer T")
    server.stop()
    other.stop()
    #expect(await rig.run(line).output == "nobody")
    let report = try JSONNode(await rig.run(line + ["--json"]).outputBytes)
    #expect(report["url"]?.string == other.text("/moved"))
  }

  @Test("Content that is cached for one caller is not used for another; a new token of the same user finds it")
  func callers() async throws {
    let site = try Site()
    let one = Rig(environment: ["LARDER_TOKEN": "1", "LARDER_USER": "u"])
    let same = Rig(environment: ["LARDER_TOKEN": "2", "LARDER_USER": "u"])
    let other = Rig(environment: ["LARDER_TOKEN": "1", "LARDER_USER": "v"])
    #expect(await one.run("fetch", "--cache", site.folder.path, site.server.text("/a")).status == .done)
    #expect(site.server.requests.first?.fields[.authorization] == "Bearer 1")
    #expect(await same.run("fetch", "--offline", "--cache", site.folder.path, site.server.text("/a")).output == "one")
    for rig in [other, Rig()] {
      let outcome = await rig.run("fetch", "--offline", "--cache", site.folder.path, site.server.text("/a"))
      #expect(outcome.status == .negative)
    }
    #expect(site.server.requests.count == 1)
  }

  @Test("--output writes a file completely or not at all")
  func output() async throws {
    let site = try Site()
    let file = site.folder.file("out")
    let outcome = await site.fetch("-o", file, "--json")
    #expect(try InputFile.read(file) == Array("one".utf8))
    #expect(try JSONNode(outcome.outputBytes)["bytes"]?.text == "3")
    let broken = try ScriptedServer { _ in .raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort") }
    defer { broken.stop() }
    let other = site.folder.file("other")
    let interrupted = await Rig().run("fetch", "--cache", site.folder.file("cache"), broken.text("/x"), "-o", other)
    #expect(interrupted.status == .network)
    #expect(!InputFile.exists(other))
    let again = await Rig().run("fetch", "--cache", site.folder.file("cache"), broken.text("/x"), "--offline")
    #expect(again.status == .negative)
  }

  @Test("--head prints status and fields only; --include prints them before the content")
  func head() async throws {
    let site = try Site()
    let head = await site.fetch("--head")
    #expect(head.output.hasPrefix("HTTP/1.1 200") && head.output.hasSuffix("\r\n\r\n"))
    #expect(site.server.requests.map(\.method) == [.head])
    let both = await site.fetch("-i")
    #expect(both.output.hasPrefix("HTTP/1.1 200\r\n") && both.output.hasSuffix("\r\n\r\none"))
    #expect(both.output.contains("Cache-Status: larder; "))
    // A HEAD is served from what a GET has stored.
    #expect(await site.fetch("--method", "HEAD").output.isEmpty)
    #expect(site.server.requests.count == 2)
  }

  @Test("Other methods are sent to the server, and resources that they may have changed are requested again")
  func unsafe() async throws {
    let site = try Site()
    _ = await site.fetch()
    let post = await Rig(input: Array("x=1".utf8)).run(
      "fetch", "--cache", site.folder.file("cache"), site.server.text("/a"), "-X", "POST", "-d", "-",
      "--content-type", "text/x")
    #expect(post.status == .done)
    #expect(site.server.requests.last?.text == "x=1")
    #expect(site.server.requests.last?.fields[.contentType] == "text/x")
    site.change(to: "two")
    #expect(await site.fetch().output == "two")
  }

  @Test("A terminal gets no binary content and a summary of each response; the content is cached anyway")
  func terminal() async throws {
    let server = try ScriptedServer { _ in .response(200, fields: ["Cache-Control": "max-age=60"], bytes: [0, 1, 2]) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let outcome = await Rig(isTerminal: true).run("fetch", "--cache", folder.path, server.text("/x"))
    #expect(outcome.status == .usage && outcome.output.isEmpty)
    #expect(outcome.diagnostics.contains("--output FILE"))
    #expect(await Rig().run("fetch", "--cache", folder.path, "--offline", server.text("/x")).outputBytes == [0, 1, 2])
  }

  @Test("Content larger than --max-size is printed and not cached")
  func tooLarge() async throws {
    let site = try Site(String(repeating: "x", count: 5000))
    let report = try await site.report("--max-size", "1k")
    #expect(report["bytes"]?.text == "5000" && report["stored"]?.text == "false")
    #expect(await site.fetch("--offline").status == .negative)
  }

  @Test("Without --cache, content is cached in the user's cache folder; if that fails, it is printed anyway")
  func usualFolder() async throws {
    let site = try Site()
    let rig = Rig(environment: ["XDG_CACHE_HOME": site.folder.path, "HOME": "/nowhere"])
    #expect(await rig.run("fetch", site.server.text("/a")).output == "one")
    #expect(InputFile.isDirectory(site.folder.file("larder/content")))
    #expect(await rig.run("fetch", site.server.text("/a"), "--offline").output == "one")
    let blocked = Rig(environment: ["HOME": "/proc"])
    let outcome = await blocked.run("fetch", site.server.text("/a"))
    #expect(outcome.status == .done && outcome.output == "one")
    #expect(outcome.diagnostics.contains("warning: responses are not cached: "))
    #expect(await blocked.run("fetch", site.server.text("/a"), "--offline").status == .storage)
    #expect(await Rig().run("fetch", site.server.text("/a")).status == .usage)
    #expect(await Rig().run("fetch", "--cache", "/proc/none", site.server.text("/a")).status == .storage)
    #expect(ContentFolder.defaultPath(["XDG_CACHE_HOME": "relative", "HOME": "/h"])?.hasPrefix("/h/") == true)
  }

  @Test("A wrong key is an error for the default folder too: content is not fetched without the cache")
  func keyOfUsualFolder() async throws {
    let site = try Site()
    func rig(_ key: String?) -> Rig {
      var environment = ["XDG_CACHE_HOME": site.folder.path]
      environment["LARDER_KEY"] = key
      return Rig(environment: environment)
    }
    #expect(await rig("right").run("fetch", site.server.text("/a")).output == "one")
    for key in ["wrong", nil] {
      let rejected = await rig(key).run("fetch", site.server.text("/a"))
      #expect(rejected.status == .storage && rejected.output.isEmpty, "\(rejected.diagnostics)")
      #expect(rejected.diagnostics.contains(KeyAccess.hint), "\(rejected.diagnostics)")
    }
    #expect(await rig("right").run("fetch", site.server.text("/a"), "--offline").output == "one")
  }

  @Test("larder cache counts and removes the entries of fetch, and says how to print them")
  func cacheVerb() async throws {
    let site = try Site()
    _ = await site.fetch()
    let folder = site.folder.file("cache")
    #expect(await Rig().run("cache", "list", "--cache", folder).output.hasPrefix("content: 1 entries, "))
    let json = try JSONNode(await Rig().run("cache", "list", "--json", "--cache", folder).outputBytes)
    #expect(json["contentEntries"]?.text == "1")
    let show = await Rig().run("cache", "show", "--cache", folder, site.server.text("/a"))
    #expect(show.status == .usage && show.diagnostics.contains("larder fetch --offline"))
    #expect(await site.fetch("--offline").output == "one")
    #expect(await Rig().run("cache", "clear", "--cache", folder).status == .done)
    #expect(await site.fetch("--offline").status == .negative)
  }

  @Test(
    "Wrong usage exits with 2",
    arguments: [
      ["fetch"], ["fetch", "ftp://h/x"], ["fetch", "http://u:p@h/x"], ["fetch", "--ttl", "soon", "http://h/x"],
      ["fetch", "--ttl=-1", "http://h/x"], ["fetch", "--soft-ttl", "2h", "--ttl", "1h", "http://h/x"],
      ["fetch", "--offline", "--refresh", "http://h/x"], ["fetch", "--offline", "--policy", "reload", "http://h/x"],
      ["fetch", "--policy", "always", "http://h/x"], ["fetch", "--offline", "-X", "POST", "http://h/x"],
      ["fetch", "-d", "-", "http://h/x"], ["fetch", "-X", "POST", "--content-type", "a/b", "http://h/x"],
      ["fetch", "--head", "-X", "GET", "http://h/x"], ["fetch", "--json", "-i", "http://h/x"],
      ["fetch", "--wait", "--offline", "http://h/x"], ["fetch", "--max-size", "big", "http://h/x"],
      ["fetch", "-H", "Authorization: Bearer T", "http://h/x"], ["fetch", "--retry", "1", "http://h/x"],
      ["fetch", "http://h/x", "http://h/y"],
    ])
  func usage(line: [String]) async throws {
    let folder = try TemporaryFolder()
    #expect(await Rig(environment: ["XDG_CACHE_HOME": folder.path]).run(line).status == .usage)
  }

  @Test(
    "Durations", arguments: [("0", 0), ("90", 90), ("90s", 90), ("15m", 900), ("12h", 43_200), ("7d", 604_800)])
  func times(text: String, seconds: Int) { #expect(TimeSpan.parse(text) == .seconds(seconds)) }

  @Test("Invalid durations", arguments: ["", "s", "-1", "1.5", "1w", "1 h", "99999999999999999999", "36526d", "٣"])
  func noTimes(text: String) { #expect(TimeSpan.parse(text) == nil) }
}
