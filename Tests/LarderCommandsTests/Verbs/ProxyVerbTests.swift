import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands

/// A proxy that runs in this process until it is stopped.
final class RunningProxy: Sendable {
  let url: String
  private let work: Task<CommandStatus, Never>
  private let lines: Lines
  /// What it warns of.
  let diagnostics = Collector()

  /// What it writes, line by line.
  final class Lines: Sendable {
    private let bytes = Mutex<[UInt8]>([])
    private let count = Tally("lines of the proxy")

    var port: OutputPort {
      OutputPort { (bytes) throws(OutputError) in
        self.bytes.withLock { $0 += bytes }
        self.count.add(bytes.count { $0 == 0x0A })
      }
    }

    func wait(for count: Int) async throws -> [String] {
      try await self.count.wait(for: count)
      return String(decoding: bytes.withLock { $0 }, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  convenience init(_ arguments: String...) async throws { try await self.init(arguments) }

  init(_ arguments: [String], environment: [String: String] = [:]) async throws {
    let lines = Lines()
    self.lines = lines
    var context = Rig(environment: environment).context(Collector(), diagnostics)
    context.output = lines.port
    let running = context
    let port = arguments.contains("--port") ? [] : ["--port", "0"]
    work = Task { await CommandLineTool.run(["proxy"] + port + arguments, in: running) }
    let first = try #require(try await lines.wait(for: 1).first)
    url = first.replacing("Listening on ", with: "").replacing("{\"listening\":\"", with: "").replacing("\"}", with: "")
  }

  func get(_ path: String, fields: HTTPFields = [:]) async throws -> (status: Int, fields: HTTPFields, text: String) {
    try await send(.get, path, fields: fields)
  }

  func send(
    _ method: HTTPMethod, _ path: String, fields: HTTPFields = [:], body: HTTPBody = .none
  ) async throws -> (status: Int, fields: HTTPFields, text: String) {
    let transport = try CommandTransport.make(ConnectionSettings())
    let response = try await transport.send(
      HTTPRequest(method: method, url: try #require(URL(string: url + path)), fields: fields, body: body))
    let text = String(decoding: try await response.body.collect(), as: UTF8.self)
    return (response.status, response.fields, text)
  }

  /// Sends a request without content, and reads the response to its end.
  func send(_ method: HTTPMethod, _ path: String) async throws -> Int {
    let transport = try CommandTransport.make(ConnectionSettings())
    let response = try await transport.send(
      HTTPRequest(method: method, url: try #require(URL(string: url + path))))
    _ = try await response.body.collect()
    return response.status
  }

  func lines(_ count: Int) async throws -> [String] { try await lines.wait(for: count) }

  func end() async -> CommandStatus {
    work.cancel()
    return await work.value
  }
}

@Suite("larder proxy", .timeLimit(.minutes(5)))
struct ProxyVerbTests {
  private func server() throws -> ScriptedServer {
    try ScriptedServer { request in
      .response(200, fields: ["Cache-Control": "max-age=60"], body: "\(request.target) \(request.index)")
    }
  }

  @Test("Serves through the cache, logs one line per request, and exits with 0 on a signal")
  func serves() async throws {
    let server = try server()
    defer { server.stop() }
    let proxy = try await RunningProxy("--upstream", server.text("/base"))
    #expect(try await proxy.get("a?b").text == "/base/a?b 0")
    let hit = try await proxy.get("a?b")
    #expect(hit.text == "/base/a?b 0")
    #expect(hit.fields["Cache-Status"]?.contains("hit") == true)
    let lines = try await proxy.lines(3)
    let line = try Regex(
      #"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z 127\.0\.0\.1 GET /a\?b 200 11 \d+\.\d{3}ms (uri-miss|hit)"#)
    #expect(lines.dropFirst().allSatisfy { $0.wholeMatch(of: line) != nil }, "\(lines)")
    #expect(await proxy.end() == .done)
  }

  @Test("Log lines as JSON, or none")
  func json() async throws {
    let server = try server()
    defer { server.stop() }
    let proxy = try await RunningProxy("--upstream", server.text(""), "--json")
    _ = try await proxy.get("a%22?\"")
    let line = try #require(try await proxy.lines(2).last)
    let object = try #require(JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(object["target"] as? String == "/a%22?%22" || object["target"] as? String == "/a%22?\"")
    #expect(object["status"] as? Int == 200 && object["complete"] as? Bool == true)
    #expect(object["cache"] as? String == "uri-miss" && object["method"] as? String == "GET")
    #expect(await proxy.end() == .done)
    let quiet = try await RunningProxy("--upstream", server.text(""), "--quiet")
    _ = try await quiet.get("a")
    #expect(await quiet.end() == .done)
    #expect(try await quiet.lines(1).count == 1)
  }

  @Test("A cache folder is shared with a second proxy, and with later ones")
  func folder() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let first = try await RunningProxy("--upstream", server.text(""), "--cache", folder.path, "--max-size", "10M")
    #expect(try await first.get("a").text == "/a 0")
    let second = try await RunningProxy("--upstream", server.text(""), "--cache", folder.path, "--memory", "0")
    #expect(try await second.get("a").text == "/a 0")
    #expect(await first.end() == .done)
    #expect(await second.end() == .done)
    let third = try await RunningProxy("--upstream", server.text(""), "--cache", folder.path)
    #expect(try await third.get("a").text == "/a 0")
    #expect(await third.end() == .done)
  }

  @Test("Content that is changed through one proxy is requested again by the other; clearing is noticed")
  func changedThroughTheOther() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let options = ["--upstream", server.text(""), "--cache", folder.path]
    let first = try await RunningProxy(options)
    let second = try await RunningProxy(options)
    #expect(try await first.get("a").text == "/a 0")
    for _ in 0..<2 { #expect(try await second.get("a").text == "/a 0") }
    _ = try await first.send(.post, "a")
    #expect(try await second.get("a").text == "/a 2")
    for proxy in [first, second] { #expect(try await proxy.get("a").text == "/a 2") }
    #expect(await Rig().run("cache", "clear", "--cache", folder.path).status == .done)
    #expect(try await first.get("a").text == "/a 3")
    #expect(await first.end() == .done)
    #expect(await second.end() == .done)
  }

  @Test("Credential fields are added and removed")
  func credentialFields() async throws {
    let server = try server()
    defer { server.stop() }
    let proxy = try await RunningProxy(
      "--upstream", server.text(""), "--credential-header", "X-Who", "--no-credential-header", "X-Build-Key")
    #expect(try await proxy.get("a").text == "/a 0")
    for (fields, response) in [
      (["X-Who": "1"], "/a 1"), (["X-Who": "2"], "/a 2"), (["PRIVATE-TOKEN": "1"], "/a 3"),
      (["PRIVATE-TOKEN": "2"], "/a 4"),
      (["X-Build-Key": "1"], "/a 0"), (["X-Who": "1"], "/a 1"), (["Cookie": "1"], "/a 0"),
    ] as [(HTTPFields, String)] {
      #expect(try await proxy.get("a", fields: fields).text == response)
    }
    #expect(await proxy.end() == .done)
    let invalid = await Rig().run("proxy", "--upstream", server.text(""), "--credential-header", "X Who")
    #expect(invalid.status == .usage)
    #expect(invalid.diagnostics.contains("--credential-header must be the name of a header field"))
  }

  @Test("With a key, a cache folder is encrypted, and usable for the next proxy with the key")
  func encryptedFolder() async throws {
    let server = try server()
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let key = try folder.write(Array("a passphrase\n".utf8), to: "key")
    let options = ["--upstream", server.text(""), "--cache", folder.file("cache"), "--key-file", key]
    for _ in 0..<2 {
      let proxy = try await RunningProxy(options)
      #expect(try await proxy.get("Markierung-4411").text == "/Markierung-4411 0")
      #expect(await proxy.end() == .done)
    }
    var search = MarkerSearch(for: ["Markierung-4411", "max-age", "127.0.0.1"])
    search.look(in: folder.file("cache"))
    #expect(search.matches == [] && search.looks > 1)
    let without = await Rig().run(
      "proxy", "--port", "0", "--upstream", server.text(""), "--cache", folder.file("cache"))
    #expect(without.status == .storage)
    #expect(without.diagnostics.contains("LARDER_KEY"))
  }

  @Test("Limits of content and time")
  func limits() async throws {
    let server = try ScriptedServer { $0.path == "/hang" ? .hang : .response(200, body: "ok") }
    defer { server.stop() }
    let proxy = try await RunningProxy("--upstream", server.text(""), "--max-body", "1k", "--timeout", "0.2")
    #expect(try await proxy.get("hang").status == 504)
    let transport = try CommandTransport.make(ConnectionSettings())
    let url = try #require(URL(string: proxy.url))
    let large = try await transport.send(
      HTTPRequest(method: .post, url: url, body: .bytes(Array(repeating: 65, count: 2000))))
    #expect(large.status == 413)
    #expect(await proxy.end() == .done)
  }

  @Test(
    "Wrong usage exits with 2",
    arguments: [
      [], ["--upstream", "ftp://host"], ["--upstream", "http://user:x@host"], ["--upstream", "http://host/?a"],
      ["--upstream", "http://host", "--port", "65536"], ["--upstream", "http://host", "--port", "x"],
      ["--upstream", "http://host", "--host", "no.address"], ["--upstream", "http://host", "--max-size", "1G"],
      ["--upstream", "http://host", "--key-file", "/dev/null"],
      ["--upstream", "http://host", "--memory", "1T"], ["--upstream", "http://host", "--memory", "9999999999G"],
      ["--upstream", "http://host", "--timeout", "0"], ["--upstream", "http://host", "--max-connections", "0"],
      ["--upstream", "http://host", "--max-body", "-1"],
    ])
  func usage(_ arguments: [String]) async {
    let outcome = await Rig().run(["proxy"] + arguments)
    #expect(outcome.status == .usage)
    #expect(outcome.diagnostics.hasPrefix("larder: "))
  }

  @Test("A port in use exits with 3, an unusable folder with 4")
  func failures() async throws {
    let server = try server()
    defer { server.stop() }
    let busy = await Rig().run("proxy", "--upstream", server.text(""), "--port", "\(server.port)")
    #expect(busy.status == .network)
    #expect(busy.diagnostics.contains("Port \(server.port) of 127.0.0.1 is in use."))
    let folder = try TemporaryFolder()
    let file = try folder.write([1], to: "file")
    let outcome = await Rig().run("proxy", "--upstream", server.text(""), "--port", "0", "--cache", file + "/cache")
    #expect(outcome.status == .storage)
    #expect(outcome.diagnostics.contains("file"))
    let certificate = await Rig().run("proxy", "--upstream", "https://host", "--port", "0", "--cacert", file)
    #expect(certificate.status == .storage)
  }

  @Test("No message shows the upstream server's URL: it may contain a password")
  func secrets() async {
    for url in [
      "http://user:secret@host", "http://host/?key=secret", "http://host/#secret", "secret://host", "http://[secret",
    ] {
      let outcome = await Rig().run("proxy", "--upstream", url)
      #expect(outcome.status == .usage)
      #expect(!outcome.diagnostics.contains("secret"), "\(outcome.diagnostics)")
    }
  }

  @Test(
    "Numbers of bytes",
    arguments: [
      ("0", 0), ("1", 1), ("64k", 65_536), ("64K", 65_536), ("2M", 2 << 20), ("3G", 3 << 30), ("", nil), ("k", nil),
      ("-1", nil), ("1.5M", nil), ("1T", nil), ("9223372036854775807", Int.max), ("9223372036854775808", nil),
      ("9007199254740993k", nil),
    ] as [(String, Int?)])
  func byteCounts(_ text: String, _ count: Int?) { #expect(ByteCountArgument.parse(text) == count) }

  @Test(
    "Times of the log",
    arguments: [
      (0, 0, "1970-01-01T00:00:00.000Z"), (951_782_399, 7, "2000-02-28T23:59:59.007Z"),
      (951_782_400, 999, "2000-02-29T00:00:00.999Z"), (4_102_444_800, 40, "2100-01-01T00:00:00.040Z"),
    ])
  func times(_ seconds: Int, _ milliseconds: Int, _ text: String) {
    #expect(LogTime(seconds: seconds, milliseconds: milliseconds).text == text)
  }
}
