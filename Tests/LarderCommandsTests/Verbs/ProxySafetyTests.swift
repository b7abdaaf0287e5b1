import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder proxy with other programs and users", .timeLimit(.minutes(5)))
struct ProxySafetyTests {
  @Test("A folder that is deleted while the proxy runs is created again, and later responses are cached in it")
  func deletedFolder() async throws {
    let server = try ScriptedServer { .response(200, fields: ["Cache-Control": "max-age=600"], body: "\($0.target)") }
    let folder = try TemporaryFolder()
    let options = ["--upstream", server.text(""), "--cache", folder.file("cache")]
    for memory in ["0", "1M"] {
      let proxy = try await RunningProxy(options + ["--memory", memory])
      #expect(try await proxy.get("before").text == "/before")
      try FileManager.default.removeItem(atPath: folder.file("cache"))
      #expect(try await proxy.get("after\(memory)").text == "/after\(memory)")
      #expect(await proxy.end() == .done)
      #expect(proxy.diagnostics.text.isEmpty, "\(proxy.diagnostics.text)")
      let stored = await Rig().run(
        "fetch", "--offline", "--cache", folder.file("cache"), server.text("/after\(memory)"))
      #expect(stored.output == "/after\(memory)", "\(stored.diagnostics)")
    }
    server.stop()
  }

  @Test(
    "If cached content is damaged, the complete content is requested from the server", arguments: [200_000, 900_000])
  func damage(length: Int) async throws {
    let content = String(repeating: "0123456789", count: length / 10)
    let server = try ScriptedServer { _ in .response(200, fields: ["Cache-Control": "max-age=600"], body: content) }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let proxy = try await RunningProxy(
      ["--upstream", server.text(""), "--cache", folder.path, "--memory", "0"],
      environment: ["LARDER_KEY": "a passphrase"])
    #expect(try await proxy.get("a").text == content)
    #expect(try await proxy.get("a").text == content)
    #expect(server.requests.count == 1)
    let below = folder.file("larder.entries")
    let name = try #require(try FileManager.default.subpathsOfDirectory(atPath: below).first { $0.contains(".") })
    var bytes = try Data(contentsOf: URL(filePath: below + "/" + name))
    bytes[bytes.count - 1] ^= 1
    let file = try FileHandle(forWritingTo: URL(filePath: below + "/" + name))
    try file.write(contentsOf: bytes)
    try file.close()
    #expect(try await proxy.get("a").text == content)
    #expect(server.requests.count == 2)
    #expect(await proxy.end() == .done)
  }

  @Test("A proxy whose upstream is itself responds with 508")
  func loop() async throws {
    // Another program may take the port meanwhile.
    for attempt in 0..<5 {
      let port = try LoopbackPort.free()
      guard
        let proxy = try? await RunningProxy([
          "--upstream", "http://127.0.0.1:\(port)", "--port", "\(port)", "--timeout", "5",
        ])
      else {
        if attempt == 4 { Issue.record("no port was free") }
        continue
      }
      let response = try await proxy.get("a")
      #expect(response.status == 508 && response.text.contains("Loop Detected"), "\(response.text)")
      #expect(await proxy.end() == .done)
      return
    }
  }

  // MARK: Requests of pages in a browser

  private static let site: HTTPFieldName = "Sec-Fetch-Site"
  private static let origin: HTTPFieldName = "Origin"

  /// Fields of a request as a browser sends it, and whether it is of another site. `HOST` stands for the proxy.
  static let requests: [(fields: HTTPFields, isCrossSite: Bool)] = [
    ([:], false),
    ([site: "same-origin", origin: "http://HOST:8080"], false), ([site: "none"], false),
    ([site: "cross-site"], true), ([site: "cross-site", origin: "http://HOST"], true),
    // The same machine with another port is no other host.
    ([site: "same-site", origin: "http://HOST:3000"], false), ([site: "same-site"], false),
    ([site: "same-site", origin: "http://other.HOST"], true),
    // Browsers send no Sec-Fetch-Site to an address that they do not trust.
    ([origin: "http://HOST:3000"], false), ([origin: "https://evil.example"], true), ([origin: "null"], true),
    ([origin: "http://HOST.evil.example"], true), ([origin: "http://evil.example:8080/HOST"], true),
    ([origin: ""], true), ([origin: "HOST"], true), ([origin: "http://HOST, http://evil.example"], true),
    // An unknown value decides nothing.
    ([site: "something-new", origin: "https://evil.example"], true), ([site: "something-new"], false),
    ([site: "CROSS-SITE"], true),
  ]

  @Test(
    "Cross-site requests that may change something are rejected if the proxy has its own credentials",
    arguments: requests, ["POST", "PUT", "PATCH", "DELETE", "PURGE"])
  func crossSite(request: (fields: HTTPFields, isCrossSite: Bool), method: String) async throws {
    let server = try ScriptedServer { .response(200, body: $0.fields[.authorization] ?? "nobody") }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let users = try folder.write(Array("user:password\n".utf8), to: "user")
    chmod(users, 0o600)
    let options = ["--upstream", server.text(""), "--user-file", users]
    let fields = HTTPFields(
      request.fields.map { HTTPField(name: $0.name, value: $0.value.replacing("HOST", with: "127.0.0.1")) })
    let proxy = try await RunningProxy(options)
    let response = try await proxy.send(HTTPMethod(rawValue: method), "a", fields: fields, body: .text("x"))
    #expect(response.status == (request.isCrossSite ? 403 : 200), "\(fields)")
    #expect(response.text.contains("--allow-cross-site") == request.isCrossSite, "\(response.text)")
    #expect(server.requests.count == (request.isCrossSite ? 0 : 1))
    #expect(await proxy.end() == .done)
    guard request.isCrossSite, method == "POST" else { return }
    let open = try await RunningProxy(options + ["--allow-cross-site"])
    #expect(try await open.send(.post, "a", fields: fields, body: .text("x")).status == 200)
    #expect(await open.end() == .done)
    let anonymous = try await RunningProxy("--upstream", server.text(""))
    #expect(try await anonymous.send(.post, "a", fields: fields, body: .text("x")).status == 200)
    #expect(await anonymous.end() == .done)
  }

  @Test("Requests that only read are forwarded, from any site", arguments: ["GET", "HEAD", "OPTIONS"])
  func reading(method: String) async throws {
    let server = try ScriptedServer { _ in .response(200, body: "ok") }
    defer { server.stop() }
    let proxy = try await RunningProxy(
      ["--upstream", server.text("")], environment: ["LARDER_TOKEN": "T", "LARDER_USER": "u"])
    let response = try await proxy.send(
      HTTPMethod(rawValue: method), "a", fields: [Self.site: "cross-site", Self.origin: "https://evil.example"])
    #expect(response.status == 200)
    #expect(server.requests.first?.fields[.authorization] == "Bearer T")
    #expect(await proxy.end() == .done)
  }

  @Test("A 401 for content that cannot be repeated is returned, even if the proxy has a newer token")
  func streamedContent() async throws {
    let tokens = try ScriptedServer { request in
      .response(
        200, fields: ["Content-Type": "application/json"],
        body: "{\"access_token\":\"t\(request.index)\",\"token_type\":\"Bearer\",\"expires_in\":3600}")
    }
    defer { tokens.stop() }
    let server = try ScriptedServer { request in
      request.fields[.authorization] == "Bearer t0"
        ? .response(401, body: "no") : .response(200, body: "\(request.text.utf8.count)")
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let users = try folder.write(
      Array(#"{"tokenURL":"\#(tokens.text("/token"))","clientID":"me","clientSecret":"s"}"#.utf8), to: "user")
    chmod(users, 0o600)
    let proxy = try await RunningProxy("--upstream", server.text(""), "--user-file", users)
    // Longer than what the proxy reads before it forwards.
    let content = HTTPBody.bytes([UInt8](repeating: 0x61, count: 200_000))
    #expect(try await proxy.send(.post, "a", body: content).status == 401)
    let second = try await proxy.send(.post, "a", body: content)
    #expect(second.status == 200 && second.text == "200000", "\(second.text)")
    #expect(await proxy.end() == .done)
  }

  // MARK: Several people

  @Test(
    "Beyond loopback, clients are separated also by cookies; on loopback only with --by-cookie",
    arguments: [
      (nil, false, true), ("localhost", false, true), ("127.0.0.1", true, true), ("127.1.2.3", false, true),
      ("::1", false, true), ("0:0:0:0:0:0:0:1", false, true), ("::ffff:127.0.0.1", false, true),
      ("0.0.0.0", false, false), ("::", false, false), ("192.168.1.5", false, false), ("128.0.0.1", true, false),
      ("fe80::1", false, false), ("::ffff:10.0.0.1", false, false),
    ] as [(String?, Bool, Bool)])
  func beyondLoopback(host: String?, byCookie: Bool, isLoopback: Bool) throws {
    var options = ["--upstream": ["http://127.0.0.1:1"]]
    if let host { options["--host"] = [host] }
    if byCookie { options["--by-cookie"] = [""] }
    let arguments = ParsedArguments(path: ["larder", "proxy"], options: options, operands: [:])
    let command = try ProxyCommand(arguments, Rig().context(Collector(), Collector()))
    #expect(command.isShared == !isLoopback)
    #expect(command.credentialFields.contains(.cookie) == (byCookie || !isLoopback))
  }

  @Test(
    "Fields that every client uses to identify itself cannot be removed if several clients share the proxy",
    arguments: [
      ("Authorization", "0.0.0.0", true), ("proxy-authorization", "192.168.1.5", true), ("COOKIE", "::", true),
      ("Authorization", "127.0.0.1", false), ("X-Build-Key", "0.0.0.0", false),
    ])
  func removedIdentity(name: String, host: String, isRejected: Bool) throws {
    let arguments = ParsedArguments(
      path: ["larder", "proxy"],
      options: ["--upstream": ["http://127.0.0.1:1"], "--host": [host], "--no-credential-header": [name]],
      operands: [:])
    let context = Rig().context(Collector(), Collector())
    if isRejected {
      let error = #expect(throws: UsageError.self) { try ProxyCommand(arguments, context) }
      #expect(error.map { "\($0)".lowercased().contains("--no-credential-header \(name)".lowercased()) } == true)
    } else {
      #expect(try !ProxyCommand(arguments, context).credentialFields.contains(HTTPFieldName(name)))
    }
  }

  @Test("A page of another site cannot make changes with a client certificate")
  func certificate() async throws {
    let server = try ScriptedServer { _ in .response(200, body: "ok") }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    // An http server requires none, so any text will do.
    let text = "-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n"
    let file = try folder.write(Array(text.utf8), to: "cert.pem")
    let proxy = try await RunningProxy("--upstream", server.text(""), "--cert", file)
    #expect(try await proxy.send(.post, "a", fields: [Self.site: "cross-site"], body: .text("x")).status == 403)
    #expect(try await proxy.send(.post, "a", fields: [Self.site: "same-origin"], body: .text("x")).status == 200)
    #expect(await proxy.end() == .done)
  }
}
