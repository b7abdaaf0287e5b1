import LarderHTTP
import LarderOData
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder send and larder batch", .timeLimit(.minutes(5)))
struct SendVerbTests {
  @Test(
    "The method, the data and its type are sent as given, without metadata",
    arguments: [
      ("POST", #"{"a":1}"#, "application/json"), ("PUT", "<entry/>", "application/atom+xml"),
      ("PATCH", " [1]", "application/json"), ("MERGE", #"{}"#, "application/json"),
      ("POST", "bytes", "application/octet-stream"),
    ])
  func methods(method: String, data: String, type: String) async throws {
    let server = try ScriptedServer { _ in .response(200, body: "done") }
    defer { server.stop() }
    let url = server.text("/svc/Products(1)")
    let outcome = await Rig(input: Array(data.utf8)).run("send", method, url, "--data", "-", "--if-match", "W/\"1\"")
    #expect(outcome.status == .done)
    #expect(outcome.output == "done")
    let request = try #require(server.requests.first)
    #expect(server.requests.count == 1)
    #expect(request.method.rawValue == method)
    #expect(request.text == data)
    #expect(request.fields[.contentType] == type)
    #expect(request.fields[.ifMatch] == "W/\"1\"")
  }

  @Test("A token is fetched from the root, and the request repeated with it")
  func csrf() async throws {
    let server = try ScriptedServer { request in
      if request.fields[.csrfToken] == "Fetch" { return .response(200, fields: ["X-CSRF-Token": "T1"]) }
      if request.fields[.csrfToken] == "T1" { return .response(201, body: "created") }
      return .response(403, fields: ["X-CSRF-Token": "Required"])
    }
    defer { server.stop() }
    let url = server.text("/svc/Products")
    let outcome = await Rig(input: Array("{}".utf8)).run("send", "POST", url, "-d", "-")
    #expect(outcome.output == "created")
    #expect(server.requests.last?.method == .post)
    #expect(server.requests.contains { $0.path == "/svc/" && $0.fields[.csrfToken] == "Fetch" })
  }

  @Test("DELETE sends no content; a conflict exits with 1 and the service's message; messages go to standard error")
  func delete() async throws {
    let error = #"{"error":{"code":"C","message":{"lang":"en","value":"changed meanwhile"}}}"#
    let server = try ScriptedServer { request in
      request.path.hasSuffix("(1)")
        ? .response(204, fields: ["sap-message": #"{"code":"M/1","message":"deleted","severity":"info"}"#])
        : .response(412, fields: ["Content-Type": "application/json"], body: error)
    }
    defer { server.stop() }
    let good = await Rig().run("send", "DELETE", server.text("/svc/P(1)"))
    #expect(good.status == .done && good.output.isEmpty)
    #expect(good.diagnostics == "info: deleted [M/1]\n")
    let bad = await Rig().run("send", "DELETE", server.text("/svc/P(2)"), "--if-match", "*")
    #expect(bad.status == .negative)
    #expect(bad.diagnostics.contains("changed meanwhile"))
  }

  @Test(
    "Wrong usage exits with 2",
    arguments: [
      ["send"], ["send", "GET", "http://h/x"], ["send", "post", "http://h/x"], ["send", "POST"],
      ["send", "PATCH", "http://h/x"], ["send", "DELETE", "http://h/x", "--data", "-"],
      ["send", "POST", "http://h/x", "--content-type", "a/b"],
      ["send", "DELETE", "http://h/x", "--if-match", "a\nb"], ["batch"], ["batch", "http://h/"],
    ])
  func usage(line: [String]) async {
    #expect(await Rig().run(line).status == .usage)
  }

  @Test("A missing data file exits with 4")
  func noData() async {
    #expect(await Rig().run("send", "POST", "http://h/x", "--data", "/no/such").status == .storage)
  }

  // MARK: Batch

  static let response = """
    --b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{"ID":1}\r\n\
    --b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n\
    --c\r\nContent-Type: application/http\r\nContent-ID: 1\r\n\r\nHTTP/1.1 201 Created\r\n\r\nmade\r\n--c--\r\n\
    --b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 404 Not Found\r\n\r\n\r\n--b--\r\n
    """

  static let text = """
    GET Products(1)?$select=ID,Name of it
    ---
    changeset {
    POST Products
    Content-ID: 1

    {"Name": "x"}
    }
    ---
    GET Products(9)
    """

  @Test("A text becomes one multipart request; each part's status and payload are shown; a failed part exits with 1")
  func batch() async throws {
    let server = try ScriptedServer { _ in
      .response(202, fields: ["Content-Type": "multipart/mixed; boundary=b"], body: Self.response)
    }
    defer { server.stop() }
    let root = server.text("/svc")
    let outcome = await Rig(input: Array(Self.text.utf8)).run("batch", root, "-")
    #expect(
      outcome.output == """
        1  GET Products(1)?$select=ID,Name%20of%20it  200  8 bytes
        {"ID":1}
        2.1  POST Products  201  4 bytes
        made
        3  GET Products(9)  404

        """)
    #expect(outcome.status == .negative)
    let request = try #require(server.requests.first)
    #expect(request.target == "/svc/$batch")
    #expect(request.fields[.accept] == "multipart/mixed")
    let type = try #require(request.fields[.contentType])
    let parts = try MultipartBatchReader.requests(request.body, contentType: type)
    #expect(parts.map(\.requests.count) == [1, 1, 1])
    #expect(parts[1].requests.first?.body == Array(#"{"Name": "x"}"#.utf8))
    let json = await Rig(input: Array(Self.text.utf8)).run("batch", root + "/", "-", "--json")
    let items = try #require(try JSONNode(json.outputBytes).items)
    #expect(items.map { $0["status"]?.text } == ["200", "201", "404"])
    #expect(items[0]["body"]?["ID"]?.text == "1")
    #expect(items[1]["body"]?.string == "made")
  }

  @Test(
    "If a response breaks off, the complete parts with Content-IDs are shown, and the status is 3",
    arguments: [
      "{}\r\n--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 204 No", "{}\r\n--b\r\n", "{}\r\n--b--",
    ], [1, 0])
  func endsEarly(end: String, missing: Int) async throws {
    let body = "--b\r\nContent-Type: application/http\r\nContent-ID: 1\r\n\r\nHTTP/1.1 200 OK\r\n\r\n" + end
    let head = """
      HTTP/1.1 200 OK\r\nContent-Type: multipart/mixed; boundary=b\r\nContent-Length: \(body.utf8.count + missing)\r\n\r\n
      """
    let server = try ScriptedServer { _ in .raw(head + body) }
    defer { server.stop() }
    let input = Array("GET P(1)\nContent-ID: 1\n---\nPATCH P(2)\nContent-ID: 2\n\n{}".utf8)
    let outcome = await Rig(input: input).run("batch", server.text("/svc/"), "-")
    #expect(outcome.status == .network)
    #expect(outcome.output == "1  GET P(1)  200  2 bytes\n{}\n")
    #expect(outcome.diagnostics.contains("1 of 2 parts have a response: "))
    #expect(outcome.diagnostics.contains("may have taken effect"))
    #expect(outcome.diagnostics.contains("connection was lost") == (missing > 0))
    let json = await Rig(input: input).run("batch", server.text("/svc/"), "-", "--json")
    #expect(try JSONNode(json.outputBytes).items?.count == 1)
  }

  @Test("A recorded batch is sent unchanged, multipart with or without its head, and JSON")
  func recorded() async throws {
    let multipart =
      "--batch_1\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\nGET P(1) HTTP/1.1\r\n\r\n\r\n--batch_1--\r\n"
    let json = #"{"requests":[{"id":"1","method":"get","url":"P(1)"}]}"#
    let server = try ScriptedServer { request in
      request.fields[.contentType] == "application/json"
        ? .response(
          200, fields: ["Content-Type": "application/json"],
          body: #"{"responses":[{"id":"1","status":200,"body":{"ID":1}}]}"#)
        : .response(
          200, fields: ["Content-Type": "multipart/mixed; boundary=b"],
          body: "--b\r\nContent-Type: application/http\r\n\r\nHTTP/1.1 200 OK\r\n\r\n{}\r\n--b--\r\n")
    }
    defer { server.stop() }
    let root = server.text("/svc/")
    for text in [multipart, "POST /svc/$batch HTTP/1.1\r\nHost: h\r\n\r\n" + multipart, json] {
      let outcome = await Rig(input: Array(text.utf8)).run("batch", root, "-")
      #expect(outcome.status == .done, "\(outcome.diagnostics)")
      #expect(outcome.output.hasPrefix("1  GET P(1)  200"))
    }
    #expect(server.requests.map(\.text) == [multipart, multipart, json])
    #expect(server.requests[0].fields[.contentType] == "multipart/mixed; boundary=batch_1")
  }

  @Test(
    "A file that is not a batch exits with 4 and the position", arguments: ["", "hello", "{}", "--b\r\nx", "GET\n"])
  func noBatch(text: String) async {
    let outcome = await Rig(input: Array(text.utf8)).run("batch", "http://127.0.0.1:1/", "-")
    #expect(outcome.status == .storage)
    #expect(outcome.diagnostics.hasPrefix("larder: -: "))
  }
}
