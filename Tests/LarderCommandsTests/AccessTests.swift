import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("Roots and credentials", .timeLimit(.minutes(5)))
struct AccessTests {
  @Test(
    "The root is judged by the URL's shape",
    arguments: [
      ("http://h/svc/Products", "http://h/svc/"), ("http://h/svc/Products(1)/Category", "http://h/svc/"),
      ("http://h/svc/", "http://h/svc/"), ("http://h", "http://h/"), ("http://h/", "http://h/"),
      ("http://h/a/b/$metadata", "http://h/a/b/"), ("http://h/a/b/$batch", "http://h/a/b/"),
      ("http://h/svc/Products/$count", "http://h/svc/"), ("http://h/svc/Products(1)/$value", "http://h/svc/"),
      ("http://h/svc/Articles('a/b')", "http://h/svc/"), ("http://h/svc/Articles%28'x'%29", "http://h/svc/"),
      ("http://h/(S(abc))/svc/People", "http://h/(S(abc))/svc/"),
      ("http://h/svc/P?$filter=a/b eq '('", "http://h/svc/"),
      (
        "https://h:8443/sap/opu/odata/IWFND/CATALOGSERVICE;v=2/Services",
        "https://h:8443/sap/opu/odata/IWFND/CATALOGSERVICE;v=2/"
      ),
      ("http://h/$count", "http://h/"), ("http://h/svc/Products/%24count", "http://h/svc/"),
      ("http://h/svc/Products(1)/Category/%24ref", "http://h/svc/"), ("http://h/svc/%24metadata", "http://h/svc/"),
    ])
  func roots(url: String, root: String) { #expect(RequestTarget.root(of: url) == root) }

  @Test(
    "A user file contains user:password, a token or OAuth",
    arguments: [
      ("me:pass:word\n", Credentials.basic(user: "me", password: "pass:word")),
      ("me:\n", .basic(user: "me", password: "")), ("Bearer abc.def", .bearer(token: "abc.def", user: nil)),
      ("\nbearer x\r\n\n", .bearer(token: "x", user: nil)),
    ])
  func files(text: String, credentials: Credentials) throws {
    #expect(try Credentials.read(Array(text.utf8), file: "f") == credentials)
  }

  @Test(
    "An unusable user file is rejected without showing its contents",
    arguments: [
      "", "\n", "secret", ":secret", "a:secret\nb:secret", "{", "[]", #"{"tokenURL":"https://h/t"}"#,
      #"{"tokenURL":"https://h/t","clientID":"secret"}"#, #"{"tokenURL":"x","clientID":"c","clientSecret":"secret"}"#,
      #"{"tokenURL":"https://h/t","clientID":"c","clientSecret":"secret","grant":"password"}"#,
      #"{"tokenURL":"https://h/t","clientID":"c","clientSecret":"secret","grant":"device_code"}"#,
      #"{"tokenURL":"https://h/t","clientID":"c","clientSecrt":"secret"}"#, #"{"tokenURL":1}"#, "\u{0}",
    ])
  func badFiles(text: String) throws {
    let failure = #expect(throws: CommandFailure.self) { try Credentials.read(Array(text.utf8), file: "f") }
    #expect(failure?.status == .storage)
    #expect(failure?.message.contains("secret") == false)
  }

  @Test(
    "clientAuthentication is one of two names, and needs a secret",
    arguments: [
      (#""clientSecret":"s","clientAuthentication":"post""#, "client_secret_basic, client_secret_post, not 'post'"),
      (#""refreshToken":"R","clientAuthentication":"client_secret_post""#, "'clientSecret' is missing"),
    ])
  func badClientAuthentication(members: String, reason: String) throws {
    let text = #"{"tokenURL":"https://h/t","clientID":"c",\#(members)}"#
    let failure = #expect(throws: CommandFailure.self) { try Credentials.read(Array(text.utf8), file: "f") }
    #expect(failure?.status == .storage)
    #expect(failure?.message.contains(reason) == true, "\(failure?.message ?? "")")
  }

  @Test("Incomplete credentials in the environment exit with 2", arguments: ["LARDER_USER", "LARDER_PASSWORD"])
  func environment(name: String) async {
    #expect(await Rig(environment: [name: "x"]).run("get", "http://127.0.0.1:1/x").status == .usage)
  }

  @Test("Client credentials get a token first; a new refresh token is saved in the file")
  func oauth() async throws {
    let server = try ScriptedServer { request in
      guard request.path == "/token" else { return .response(200, body: request.fields[.authorization] ?? "none") }
      let next = request.text.contains("refresh_token") ? #","refresh_token":"R2""# : ""
      return .response(
        200, fields: ["Content-Type": "application/json"],
        body: #"{"access_token":"A1","token_type":"Bearer","expires_in":3600\#(next)}"#)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let token = server.text("/token")
    let url = server.text("/x")
    let client = #"{"tokenURL":"\#(token)","clientID":"c","clientSecret":"s"}"#
    let file = try folder.write(Array(client.utf8), to: "client")
    #expect(await Rig().run("get", "--user-file", file, url).output == "Bearer A1")
    let refresh = #"{"tokenURL":"\#(token)","clientID":"c","refreshToken":"R1","user":"me"}"#
    let tokenFile = try folder.write(Array(refresh.utf8), to: "refresh")
    #expect(await Rig().run("get", "--user-file", tokenFile, url).output == "Bearer A1")
    let node = try JSONNode(try InputFile.read(tokenFile))
    #expect(node["refreshToken"]?.string == "R2")
    #expect(node["user"]?.string == "me")
    #expect(!InputFile.isReadableByOthers(tokenFile))
  }

  @Test(
    "The secret is sent in a header field or in the form (RFC 6749 §2.3.1)",
    arguments: [
      ("", "Basic Yzpz", "grant_type=client_credentials"),
      (#","clientAuthentication":"client_secret_basic""#, "Basic Yzpz", "grant_type=client_credentials"),
      (
        #","clientAuthentication":"client_secret_post""#, nil,
        "grant_type=client_credentials&client_id=c&client_secret=s"
      ),
    ] as [(String, String?, String)])
  func clientAuthentication(member: String, field: String?, form: String) async throws {
    let server = try ScriptedServer { request in
      request.path == "/token"
        ? .response(
          200, fields: ["Content-Type": "application/json"], body: #"{"access_token":"A1","token_type":"Bearer"}"#)
        : .response(200, body: request.fields[.authorization] ?? "none")
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let text = #"{"tokenURL":"\#(server.text("/token"))","clientID":"c","clientSecret":"s"\#(member)}"#
    let file = try folder.write(Array(text.utf8), to: "client")
    #expect(await Rig().run("get", "--user-file", file, server.text("/x")).output == "Bearer A1")
    let request = try #require(server.requests.first { $0.path == "/token" })
    #expect(request.fields[.authorization] == field)
    #expect(request.text == form)
  }

  @Test(
    "A token endpoint that is overloaded or unavailable exits with 3 and the time, and blames no credentials",
    arguments: [408, 425, 429, 500, 503])
  func tokenUnavailable(status: Int) async throws {
    let server = try ScriptedServer { _ in
      .response(
        status, fields: ["Content-Type": "application/json", "Retry-After": "3600"],
        body: #"{"error":"invalid_grant"}"#)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let text = #"{"tokenURL":"\#(server.text("/token"))","clientID":"c","refreshToken":"R"}"#
    let file = try folder.write(Array(text.utf8), to: "client")
    let outcome = await Rig().run("get", "--user-file", file, server.text("/x"))
    #expect(outcome.status == .network)
    #expect(outcome.diagnostics.contains("3600"), "\(outcome.diagnostics)")
    #expect(!outcome.diagnostics.lowercased().contains("sign in"), "\(outcome.diagnostics)")
    #expect(!outcome.diagnostics.contains("--user-file"), "\(outcome.diagnostics)")
  }

  @Test("A failed token endpoint exits with 3")
  func tokenFails() async throws {
    let server = try ScriptedServer { _ in
      .response(400, fields: ["Content-Type": "application/json"], body: #"{"error":"invalid_client"}"#)
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let text = #"{"tokenURL":"\#(server.text("/token"))","clientID":"c","clientSecret":"s"}"#
    let file = try folder.write(Array(text.utf8), to: "client")
    let outcome = await Rig().run("get", "--user-file", file, server.text("/x"))
    #expect(outcome.status == .network)
    #expect(outcome.diagnostics.contains("invalid_client"))
  }

  @Test(
    "metadata takes a root with or without its slash, and the document's own URL",
    arguments: ["/svc", "/svc/", "/svc/$metadata"])
  func metadata(path: String) async throws {
    let server = try ScriptedServer { request in
      request.path == "/svc/$metadata" ? .response(200, body: MetadataVerbTests.v4) : .response(404)
    }
    defer { server.stop() }
    let root = server.text("/").dropLast()
    let outcome = await Rig().run("metadata", root + path)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(outcome.output.contains("entity type Product"))
    #expect(server.requests.map(\.target) == ["/svc/$metadata"])
  }

  @Test("With --service, a URL may be relative, and must be below the root")
  func service() async throws {
    let server = try ScriptedServer { _ in .response(200, body: "[]") }
    defer { server.stop() }
    let root = server.text("/a/svc")
    #expect(await Rig().run("get", "--service", root, "Products(1)?$select=A B").status == .done)
    #expect(await Rig().run("get", "--service", root, root + "/Products(2)").status == .done)
    #expect(await Rig().run("get", "--service", root, server.text("/a/svc2/P")).status == .usage)
    #expect(server.requests.map(\.target) == ["/a/svc/Products(1)?$select=A%20B", "/a/svc/Products(2)"])
  }

  @Test(
    "The query options of --service are sent with relative URLs, unless the URL has them",
    arguments: [
      ("/a/svc/?sap-client=100", "Products", "/a/svc/Products?sap-client=100"),
      ("/a/svc?sap-client=100", "Products?$top=1", "/a/svc/Products?$top=1&sap-client=100"),
      ("/a/svc/$metadata?sap-client=100", "/a/svc/P", "/a/svc/P?sap-client=100"),
      ("/a/svc?sap-client=100", "P?sap-client=200", "/a/svc/P?sap-client=200"),
      ("/a/svc?sap-client=100", "P?$filter=U eq 'http://x'", "/a/svc/P?$filter=U%20eq%20'http://x'&sap-client=100"),
    ])
  func serviceQuery(root: String, url: String, target: String) async throws {
    let server = try ScriptedServer { _ in .response(200, body: "[]") }
    defer { server.stop() }
    let outcome = await Rig().run("get", "--service", server.text(root), url)
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(server.requests.map(\.target) == [target])
  }

  @Test(
    "The query options of --service are sent with absolute URLs below it, unless the URL has them",
    arguments: [
      ("/a/svc?sap-client=100", "/a/svc/P", "/a/svc/P?sap-client=100"),
      ("/a/svc?sap-client=100", "/a/svc", "/a/svc?sap-client=100"),
      ("/a/svc?sap-client=100", "/a/svc/P?$top=1", "/a/svc/P?$top=1&sap-client=100"),
      ("/a/svc/?sap-client=100&b=2", "/a/svc/P?sap-client=200&c", "/a/svc/P?sap-client=200&c&b=2"),
      ("/a/svc?sap-client=100", "/a/svc/P?sap-client&sap-client2=3", "/a/svc/P?sap-client&sap-client2=3"),
      ("/a/svc?sap-client=100", "/a/svc/P?sap%2Dclient=200", "/a/svc/P?sap%2Dclient=200"),
      ("/a/svc?sap-client=100", "/a/svc/P?", "/a/svc/P?sap-client=100"),
    ])
  func serviceQueryOfAbsolute(root: String, url: String, target: String) async throws {
    let server = try ScriptedServer { _ in .response(200, body: "[]") }
    defer { server.stop() }
    let outcome = await Rig().run("get", "--service", server.text(root), server.text(url))
    #expect(outcome.status == .done, "\(outcome.diagnostics)")
    #expect(server.requests.map(\.target) == [target])
  }

  @Test("A relative URL does not leave --service, and --service has no options of a query")
  func outsideService() async throws {
    for (service, url) in [
      ("https://h/svc/", "/other/P"), ("https://h/svc/", "//k/svc/P"), ("https://h/svc/", "ftp://h/svc/P"),
      ("https://h/svc/?$top=1", "P"), ("https://h/svc/#a", "P"),
    ] {
      #expect(await Rig().run("get", "--service", service, url).status == .usage, "\(service) \(url)")
    }
  }

  @Test(
    "A batch keeps the query options of the service's root",
    arguments: [
      ("/svc?sap-client=100", "/svc/$batch?sap-client=100"), ("/svc/?sap-client=100", "/svc/$batch?sap-client=100"),
      ("/svc", "/svc/$batch"), ("/svc/$batch", "/svc/$batch"),
    ])
  func batchQuery(root: String, target: String) async throws {
    let server = try ScriptedServer { _ in .response(500) }
    defer { server.stop() }
    _ = await Rig(input: Array("GET P(1)\n".utf8)).run("batch", server.text(root), "-")
    #expect(server.requests.map(\.target) == [target])
  }

  @Test("The owner of a refresh token is the user file's own path, not the path as it was given")
  func identities() async throws {
    func identity(_ file: String, in directory: String, user: String = "") async throws -> String {
      let context = Rig(directory: directory).context(Collector(), Collector())
      let text = #"{"tokenURL":"https://h/t","clientID":"c","refreshToken":"R"\#(user)}"#
      return try await Credentials.read(Array(text.utf8), file: file).authentication(
        root: try #require(URL(string: "https://h/")), transport: try context.connect(ConnectionSettings()),
        isOffline: true, context
      ).identity
    }
    let first = try await identity("creds.json", in: "/one/a")
    #expect(try await identity("creds.json", in: "/one/b") != first)
    #expect(try await identity("/one/a/creds.json", in: "/one/b") == first)
    #expect(try await identity("../a/./creds.json", in: "/one/b") == first)
    #expect(try await identity("-", in: "/one/a", user: #","user":"me""#) == "oauth2:me")
    let failure = await #expect(throws: CommandFailure.self) { try await identity("-", in: "/one/a") }
    #expect(failure?.message.contains("'user' is missing") == true)
  }

  @Test("An invalid certificate file exits with 4", arguments: ["--cacert", "--cert"])
  func certificate(option: String) async throws {
    let folder = try TemporaryFolder()
    let file = try folder.write([], to: "empty.pem")
    #expect(await Rig().run("get", option, file, "https://127.0.0.1:1/").status == .storage)
  }

  @Test("A document of a server that is not metadata exits with 3")
  func badMetadata() async throws {
    let server = try ScriptedServer { _ in .response(200, body: "<html>") }
    defer { server.stop() }
    #expect(await Rig().run("metadata", server.text("/svc/")).status == .network)
  }
}
