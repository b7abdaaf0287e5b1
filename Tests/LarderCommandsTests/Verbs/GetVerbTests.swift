import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder get", .timeLimit(.minutes(5)))
struct GetVerbTests {
  @Test("A pipe gets the payload byte for byte, and only the URL is requested")
  func pipe() async throws {
    let bytes = (0..<100_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let server = try ScriptedServer { _ in
      .response(200, fields: ["Content-Type": "application/octet-stream"], bytes: bytes)
    }
    defer { server.stop() }
    let outcome = await Rig().run("get", server.text("/svc/Photos(1)/$value"))
    #expect(outcome.status == .done)
    #expect(outcome.outputBytes == bytes)
    #expect(outcome.diagnostics.isEmpty)
    #expect(server.requests.map(\.target) == ["/svc/Photos(1)/$value"])
    #expect(server.requests.map(\.method) == [.get])
  }

  @Test("On a terminal, JSON is indented and binary content is rejected")
  func terminal() async throws {
    let server = try ScriptedServer { request in
      request.path == "/json"
        ? .response(200, fields: ["Content-Type": "application/json"], body: #"{"a":[1.50]}"#)
        : .response(200, bytes: [0x1B, 0x5B, 0x32, 0x4A])
    }
    defer { server.stop() }
    let rig = Rig(isTerminal: true)
    let json = await rig.run("get", server.text("/json"))
    #expect(json.output == "{\n  \"a\": [\n    1.50\n  ]\n}\n")
    let binary = await rig.run("get", server.text("/binary"))
    #expect(binary.status == .usage)
    #expect(binary.outputBytes.isEmpty)
    #expect(binary.diagnostics.contains("--output FILE"))
  }

  @Test("A URL with spaces and quotes is sent encoded, and cached with the same text")
  func spaces() async throws {
    let server = try ScriptedServer { _ in .response(200, body: "[]") }
    defer { server.stop() }
    let root = server.text("/svc/")
    let outcome = await Rig().run("get", root + "Articles('myuserid')?$top=30&$orderby=Date desc")
    #expect(outcome.status == .done)
    #expect(server.requests.map(\.target) == ["/svc/Articles('myuserid')?$top=30&$orderby=Date%20desc"])
  }

  @Test("--header is sent, an Accept replaces the default; --include prints status and fields")
  func headers() async throws {
    let server = try ScriptedServer { _ in .response(200, fields: ["X-A": "b"], body: "x") }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let file = try folder.write(Array("X-Key: secret\r\n\nX-Two:  2 \n".utf8), to: "headers")
    let outcome = await Rig().run([
      "get", "-H", "Accept: text/csv", "--header", "X-One: 1", "--header=@\(file)", "-i",
      server.text("/x"),
    ])
    let fields = try #require(server.requests.first).fields
    #expect(fields.values(of: .accept) == ["text/csv"])
    #expect(fields["X-One"] == "1" && fields["X-Two"] == "2" && fields["X-Key"] == "secret")
    #expect(outcome.output.hasPrefix("HTTP/1.1 200\r\n"))
    #expect(outcome.output.contains("X-A: b\r\n"))
    #expect(outcome.output.hasSuffix("\r\n\r\nx"))
  }

  @Test(
    "The exit status distinguishes a failure of the client from one of the server",
    arguments: [
      (400, CommandStatus.negative), (401, .network), (403, .negative), (404, .negative), (410, .negative),
      (412, .negative), (408, .network), (425, .network), (429, .network), (500, .network), (503, .network),
    ])
  func statuses(status: Int, expected: CommandStatus) async throws {
    let error = #"{"error":{"code":"X/1","message":"No \u001b[31mluck","details":[{"code":"D","message":"a detail"}]}}"#
    let server = try ScriptedServer { _ in .response(status, fields: ["Content-Type": "application/json"], body: error)
    }
    defer { server.stop() }
    let outcome = await Rig().run("get", server.text("/x"))
    #expect(outcome.status == expected)
    #expect(outcome.outputBytes.isEmpty)
    #expect(outcome.diagnostics.hasPrefix("larder: "))
    #expect(!outcome.diagnostics.contains("\u{1B}"))
    #expect(server.requests.count == 1)
    if status != 401 { #expect(outcome.diagnostics.contains("a detail")) }
  }

  @Test("A missing server and a truncated response exit with 3; no incomplete file is left")
  func network() async throws {
    let server = try ScriptedServer { _ in .response(200, body: "0123456789").truncated(to: 5) }
    let folder = try TemporaryFolder()
    let url = server.text("/x")
    let broken = await Rig().run("get", url, "--output", folder.file("out"))
    #expect(broken.status == .network)
    #expect(!InputFile.exists(folder.file("out")))
    server.stop()
    #expect(await Rig().run("get", url).status == .network)
  }

  @Test("--output writes the complete file; a missing folder exits with 4")
  func output() async throws {
    let server = try ScriptedServer { _ in .response(200, body: "content") }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let url = server.text("/x")
    let outcome = await Rig(directory: folder.path).run("get", url, "-o", "out")
    #expect(outcome.status == .done && outcome.output.isEmpty)
    #expect(try InputFile.read(folder.file("out")) == Array("content".utf8))
    let missing = await Rig(directory: folder.path).run("get", url, "-o", "no/out")
    #expect(missing.status == .storage)
    #expect(missing.diagnostics == "larder: \(folder.file("no/out")) cannot be written: No such file or directory\n")
  }

  @Test("--timeout ends a silent server with 3")
  func timeout() async throws {
    let server = try ScriptedServer { _ in .hang }
    defer { server.stop() }
    let outcome = await Rig().run("get", "--timeout", "0.2", server.text("/x"))
    #expect(outcome.status == .network)
    #expect(outcome.diagnostics.contains("timed out"))
  }

  @Test("--retry repeats requests; without it nothing is repeated")
  func retry() async throws {
    let server = try ScriptedServer(responses: [.response(503), .response(200, body: "late"), .response(503)])
    defer { server.stop() }
    let late = await Rig().run("get", "--retry", "2", server.text("/x"))
    #expect(late.output == "late")
    #expect(await Rig().run("get", server.text("/x")).status == .network)
    #expect(server.requests.count == 3)
  }

  @Test(
    "Atom is requested from a service without JSON, unless --header sets Accept",
    arguments: [([] as [String], 2, CommandStatus.done), (["--header", "Accept: application/json"], 1, .negative)])
  func atom(options: [String], requests: Int, status: CommandStatus) async throws {
    let server = try ScriptedServer { request in
      request.fields[.accept]?.contains("atom") == true ? .response(200, body: "<feed/>") : .response(406)
    }
    defer { server.stop() }
    let outcome = await Rig().run(["get", server.text("/svc/Products")] + options)
    #expect(outcome.status == status)
    #expect(server.requests.count == requests)
  }

  @Test(
    "Wrong usage exits with 2 and sends nothing",
    arguments: [
      ["get"], ["get", "Products"], ["get", "ftp://h/x"], ["get", "http://"], ["get", "http:///x"],
      ["get", "http://user:hunter2@h/"], ["get", "http://user@h/"], ["get", "http://h/\u{7}"],
      ["get", "--passive", "http://h/x"], ["get", "--timeout", "soon", "http://h/x"],
      ["get", "--timeout", "-1", "http://h/x"], ["get", "--timeout", "nan", "http://h/x"],
      ["get", "--retry", "many", "http://h/x"], ["get", "--header", "nonsense", "http://h/x"],
      ["get", "--header", "A b: c", "http://h/x"], ["get", "--header", "Authorization: Basic eA==", "http://h/x"],
      ["get", "--header", "PRIVATE-TOKEN: hunter2", "http://h/x"],
      ["get", "-H", "x-login-session: hunter2", "http://h/x"], ["get", "-H", "XApiKey: hunter2", "http://h/x"],
      ["get", "-H", "X_API_Key: hunter2", "http://h/x"], ["get", "-H", "Password: hunter2", "http://h/x"],
      ["get", "--credential-header", "X-Who", "-H", "X-Who: hunter2", "http://h/x"],
      ["get", "--no-credential-header", "X Who", "http://h/x"],
      ["get", "--key", "k", "http://h/x"], ["get", "--service", "http://other/", "http://h/x"],
      ["get", "http://h:99999/x"], ["get", "http://h/a", "http://h/b"],
    ])
  func usage(line: [String]) async {
    let outcome = await Rig().run(line)
    #expect(outcome.status == .usage, "\(outcome.diagnostics)")
    #expect(outcome.outputBytes.isEmpty)
    #expect(!outcome.diagnostics.contains("hunter2"))
  }

  @Test("A header field that only looks like a secret is sent with --no-credential-header")
  func noSecret() async throws {
    let server = try ScriptedServer { request in .response(200, body: request.fields["X-Build-Key"] ?? "-") }
    defer { server.stop() }
    let outcome = await Rig().run(
      "get", "--no-credential-header", "x-build-key", "-H", "X-Build-Key: 7", "-H", "X-CSRF-Token: Fetch",
      server.text("/x"))
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(outcome.output == "7")
  }

  @Test("Missing certificate files exit with 4", arguments: ["--cacert", "--cert"])
  func certificates(option: String) async {
    let outcome = await Rig().run("get", option, "/no/such.pem", "https://localhost/")
    #expect(outcome.status == .storage)
    #expect(outcome.diagnostics.hasPrefix("larder: /no/such.pem cannot be read"))
  }
}
