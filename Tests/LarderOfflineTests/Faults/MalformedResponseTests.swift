import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: malformed responses", .timeLimit(.minutes(3)))
struct MalformedResponseTests {
  struct MalformedResponse: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let name: OfflineODataErrorName
    let response: ScriptedServer.Response

    init(_ what: String, _ name: OfflineODataErrorName, _ response: ScriptedServer.Response) {
      (testDescription, self.name, self.response) = (what, name, response)
    }

    init(_ what: String, _ name: OfflineODataErrorName = .malformedResponse, json: String) {
      self.init(what, name, FaultyService.json(json))
    }
  }

  static let responses = [
    MalformedResponse("no JSON", json: "hello"),
    MalformedResponse("nothing", json: ""),
    MalformedResponse("JSON that ends inside a row", json: "{\"value\":[{\"ID\":1,\"Text\":\"ev"),
    MalformedResponse("JSON with more behind it", json: "{\"value\":[]} x"),
    MalformedResponse("a number", json: "1"),
    MalformedResponse(
      "a login page", .malformedResponse,
      .response(200, fields: [.contentType: "text/html"], body: "<!DOCTYPE html><html><form>Sign in</form></html>")),
    MalformedResponse(
      "a login page of XHTML", .malformedResponse,
      .response(
        200, fields: [.contentType: "application/xhtml+xml"], body: "<html><body><form>Sign in</form></body></html>")),
    MalformedResponse(
      "Atom that is another feed", .malformedResponse,
      .response(200, fields: [.contentType: "application/atom+xml"], body: "<rss version=\"2.0\"><channel/></rss>")),
    MalformedResponse(
      "an error with status 200", .serviceFailed, json: "{\"error\":{\"code\":\"x\",\"message\":\"y\"}}"),
    MalformedResponse(
      "another kind of response", json: "{\"@odata.context\":\"$metadata#Edm.String\",\"value\":\"x\"}"),
    MalformedResponse("a value of another type", json: "{\"value\":[{\"ID\":1,\"Text\":{\"a\":1}}]}"),
    MalformedResponse("a number beyond its type", json: "{\"value\":[{\"ID\":99999999999}]}"),
    MalformedResponse("a text for a number", json: "{\"value\":[{\"ID\":\"one\"}]}"),
    MalformedResponse("a row that is null", json: "{\"value\":[null]}"),
    MalformedResponse("a row that is a number", json: "{\"value\":[1]}"),
    MalformedResponse("a null key", json: "{\"value\":[{\"ID\":null,\"Text\":\"evil\"}]}"),
    MalformedResponse("rows without keys", json: "{\"value\":[{\"Text\":\"evil\"},{\"Text\":\"evil\"}]}"),
    MalformedResponse("half a surrogate pair", json: "{\"value\":[{\"ID\":1,\"Text\":\"\\ud800\"}]}"),
    MalformedResponse(
      "bytes that are no UTF-8", .unreadableEncoding,
      .response(
        200, fields: [.contentType: "application/json"],
        bytes: Array("{\"value\":[{\"ID\":1,\"Text\":\"".utf8) + [0xC3, 0x28] + Array("\"}]}".utf8))),
    MalformedResponse(
      "a hundred thousand levels", json: "{\"value\":[{\"ID\":1,\"Text\":" + String(repeating: "[", count: 100_000)),
    MalformedResponse(
      "a hundred thousand levels of entities",
      json: "{\"value\":[" + String(repeating: "{\"ID\":1,\"Parts\":[", count: 100_000)),
    MalformedResponse(
      "an error after rows", .serviceFailed,
      json: "{\"value\":[{\"ID\":1}],\"error\":{\"code\":\"x\",\"message\":\"The database is closed\"}}"),
    MalformedResponse(
      "a link that is a number", .requestRejected, json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":7}"),
    MalformedResponse(
      "pages in a circle", .endlessPages, json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"Rows?a\"}"),
    MalformedResponse(
      "the next page on another host", .foreignLink,
      json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"http://evil.example/other/Rows\"}"),
    MalformedResponse(
      "the next page in another scheme", .foreignLink,
      json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"file:///etc/passwd\"}"),
    MalformedResponse(
      "an inline page on another host", .foreignLink,
      json: "{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"http://evil.example/other/Parts\"}]}"),
    MalformedResponse("404", .requestRejected, .response(404)),
    MalformedResponse("500", .serviceFailed, .response(500, body: "<html>oops</html>")),
    MalformedResponse("503", .serviceUnavailable, .response(503)),
    MalformedResponse("401", .authenticationFailed, .response(401)),
    MalformedResponse("a redirect to itself", .transportFailed, .response(302, fields: ["Location": "/s/Rows"])),
    MalformedResponse("the connection ends", .connectionLost, .close),
  ]

  @Test("each is a typed error with a remedy, and the store is unchanged and works", arguments: responses)
  func faulty(_ faulty: MalformedResponse) async throws {
    let rig = try await FaultRig()
    let error = await rig.download { _ in faulty.response }
    #expect(error?.name == faulty.name, "\(error.debugDescription)")
    #expect(error?.name?.cure != nil, "\(error.debugDescription)")
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("unusual responses that have a meaning are accepted")
  func odd() async throws {
    let rig = try await FaultRig()
    let taken: [(String, [String])] = [
      ("{\"value\":[{\"ID\":1,\"Text\":\"a\"},{\"ID\":1,\"Text\":\"b\"}]}", ["b"]),
      ("{\"value\":[{\"Text\":\"x\\u0000y\",\"ID\":1}],\"@odata.count\":1000000}", ["x\0y"]),
      ("{\"@odata.count\":-1,\"value\":[{\"ID\":1,\"Text\":\"a\"}]}", ["a"]),
      ("{\"@odata.count\":\"1\",\"value\":[{\"ID\":1,\"Text\":\"b\"}]}", ["b"]),
      ("{\"value\":[{\"ID\":1,\"Text\":\"a\",\"More\":{\"x\":[1,2,{\"y\":null}]}}]}", ["a"]),
      ("{\"value\":[]}", []),
      // An empty link leads to no other host: there is no further page.
      ("{\"value\":[{\"ID\":1,\"Text\":\"e\",\"Parts@odata.nextLink\":\"\"}],\"@odata.nextLink\":\"\"}", ["e"]),
      // A context that lost its `#` (OData JSON Format 4.01 §10 wants one) is no service document's.
      ("{\"@odata.context\":\"http://h/s/$metadata\",\"value\":[{\"ID\":1,\"Text\":\"c\"}]}", ["c"]),
      ("{\"@odata.context\":\"$metadata\",\"value\":[]}", []),
      ("{\"@odata.context\":\"$metadata%23Rows\",\"value\":[{\"ID\":1,\"Text\":\"d\"}]}", ["d"]),
    ]
    for (json, texts) in taken {
      let error = await rig.download { _ in FaultyService.json(json) }
      #expect(error == nil, "\(json): \(error.debugDescription)")
      #expect(try await rig.texts() == texts, "\(json)")
    }
    try await rig.end()
  }

  @Test("JSON in another encoding than UTF-8 is read if the encoding is declared")
  func encodings() async throws {
    let rig = try await FaultRig(tracks: true)
    let text = "{\"value\":[{\"ID\":1,\"Text\":\"é\"}]}"
    @Sendable func response(_ type: String, _ bytes: [UInt8]) -> ScriptedServer.Response {
      .response(200, fields: [.contentType: type, .odataVersion: "4.0"], bytes: bytes)
    }
    let latin1 = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let responses = [
      response("application/json;charset=ISO-8859-1", latin1),
      response("application/json;charset=ISO-8859-1", Array(text.utf8)),
      response("application/json;odata.metadata=minimal; charset=\"utf-16\"", wide),
      response("application/json", [0xFF, 0xFE] + wide),
      response("application/json", [0xEF, 0xBB, 0xBF] + Array(text.utf8)),
    ]
    for taken in responses {
      let error = await rig.download { _ in taken }
      #expect(error == nil, "\(error.debugDescription)")
      #expect(try await rig.texts() == ["é"])
    }
    // Changes are kept as they came until all are there.
    let changes = "{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":[{\"ID\":2,\"Text\":\"ü\"}]}"
    let single = changes.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    for _ in 0..<2 {
      let error = await rig.download { request in
        request.query?.contains("d=1") == true
          ? response("application/json;charset=windows-1252", single)
          : FaultyService.json("{\"value\":[],\"@odata.deltaLink\":\"Rows?d=1\"}")
      }
      #expect(error == nil, "\(error.debugDescription)")
    }
    #expect(try await rig.texts() == ["ü"])
    let unknown = await rig.download { _ in response("application/json;charset=shift_jis", latin1) }
    #expect(unknown?.name == .unreadableEncoding, "\(unknown.debugDescription)")
    try await rig.end()
  }

  @Test(
    "a page that cannot be read is requested again after an interruption there, then all is read from the beginning")
  func brokenPage() async throws {
    let rig = try await FaultRig()
    let requested = Mutex<[String]>([])
    let faulty: @Sendable (ScriptedServer.Request) -> ScriptedServer.Response = { request in
      requested.withLock { $0.append(request.query ?? "") }
      guard request.target.contains("skip") else {
        return FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"new\"}],\"@odata.nextLink\":\"Rows?skip\"}")
      }
      return FaultyService.json("<html>")
    }
    for _ in 0..<2 { #expect(await rig.download(faulty)?.name == .malformedResponse) }
    #expect(requested.withLock { $0 }.filter { $0 == "skip" }.count == 3)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("what a query selects includes the key, in the service's own response too")
  func selection() async throws {
    let rig = try await FaultRig(query: "Rows?$select=Text&$orderby=Text")
    #expect(rig.server.requests.last?.query?.contains("$select=Text,ID") == true)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("links, redirects and media on another host get no credentials, and next pages are not requested there")
  func credentials() async throws {
    let other = try ScriptedServer { request in
      request.path == "/s/Rows" ? FaultyService.json(FaultyService.good(7)) : .response(200, body: "bytes")
    }
    defer { other.stop() }
    let rig = try await FaultRig()
    let elsewhere = other.url("/s/Rows").absoluteString
    // The path is the service's own: such links come from services that do not know the name they are reached by.
    let next = await rig.download { request in
      request.query == nil
        ? FaultyService.json("{\"value\":[],\"@odata.nextLink\":\"\(elsewhere)?next\"}")
        : FaultyService.json(FaultyService.good(2))
    }
    #expect(next == nil)
    #expect(other.requests.isEmpty)
    #expect(try await rig.texts() == [String](repeating: "v2", count: 5))
    let moved = await rig.download { _ in .response(302, fields: ["Location": elsewhere]) }
    // Another origin may be a log-in page: its rows are not the service's.
    #expect(moved?.name == .serviceUnavailable, "\(moved.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v2", count: 5))
    #expect(other.requests.count == 1)
    #expect(other.requests.allSatisfy { $0.fields["X-API-Key"] == nil })
    #expect(rig.server.requests.allSatisfy { $0.fields["X-API-Key"] == "secret" })
    try await rig.end()
  }

  @Test("media whose link leads to another host are fetched there without credentials, or not at all")
  func mediaLinks() async throws {
    let other = try ScriptedServer { _ in .response(200, fields: [.contentType: "image/x"], body: "bytes") }
    defer { other.stop() }
    let rig = try await FaultRig()
    rig.service.metadata = FaultyService.metadata("<Property Name=\"Photo\" Type=\"Edm.Stream\"/>")
    try await rig.store.removeDefiningQuery("rows")
    try await rig.store.add(OfflineODataDefiningQuery("photos", "Rows", automaticallyRetrievesStreams: true))
    let link = other.url("/photo").absoluteString
    _ = await rig.download { _ in
      FaultyService.json("{\"value\":[{\"ID\":1,\"Photo@odata.mediaReadLink\":\"\(link)\"}]}")
    }
    #expect(other.requests.allSatisfy { $0.fields["X-API-Key"] == nil && $0.fields["Authorization"] == nil })
    try await rig.end()
  }

  @Test("an object larger than the limit, a service that drips, links of deltas that lead away")
  func limits() async throws {
    let rig = try await FaultRig(timeout: .milliseconds(700), tracks: true)
    let megabyte = String(repeating: "x", count: 1 << 20)
    let large = await rig.download { _ in
      .chunked(
        fields: [.contentType: "application/json"],
        pieces: ["{\"value\":[{\"ID\":1,\"Text\":\""] + [String](repeating: megabyte, count: 66) + ["\"}]}"])
    }
    #expect(large?.name == .malformedResponse || large?.name == .timeout, "\(large.debugDescription)")
    let drip = await rig.download { _ in .response(200, body: "{}").drippingHead(every: .milliseconds(50)) }
    #expect(drip?.name == .timeout)
    for link in ["http://evil.example/x?d=1", "Rows?d=1", "/s/Rows?d=1", "\(rig.server.url("/s/Rows"))?d=1", ""] {
      let delta = await rig.download { request in
        request.query?.contains("d=1") == true
          ? FaultyService.json(
            "{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":[{\"ID\":1,\"Text\":\"delta\"}]}")
          : FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"whole\"}],\"@odata.deltaLink\":\"\(link)\"}")
      }
      #expect(delta == nil, "\(link): \(delta.debugDescription)")
      #expect(try await rig.texts().allSatisfy { ["whole", "delta"].contains($0) }, "\(link)")
      // The next one begins with the link.
      let again = await rig.download { _ in FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"whole\"}]}") }
      #expect(again == nil, "\(link): \(again.debugDescription)")
    }
    try await rig.end()
  }

  @Test("a collection of a hundred thousand values in one cell takes time in proportion")
  func longCollection() async throws {
    let rig = try await FaultRig()
    let values = [String](repeating: "1", count: 100_000).joined(separator: ",")
    let begin = ContinuousClock.now
    let error = await rig.download { _ in
      FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"long\",\"More\":[\(values)]}]}")
    }
    #expect(error == nil, "\(error.debugDescription)")
    #expect(try await rig.texts() == ["long"])
    // Copied with each value it took minutes.
    #expect(ContinuousClock.now - begin < .seconds(30))
    try await rig.end()
  }

  @Test("collections in line whose links go in a circle end")
  func circles() async throws {
    let rig = try await FaultRig(query: "Rows?$expand=Parts")
    let requested = Mutex(0)
    let error = await rig.download { request in
      requested.withLock { $0 += 1 }
      guard request.target.contains("Parts?") else {
        return FaultyService.json(
          "{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"Rows(1)/Parts?a=0\"}]}")
      }
      let number = requested.withLock { $0 } % 3
      return FaultyService.json("{\"value\":[{\"No\":1}],\"@odata.nextLink\":\"Rows(1)/Parts?a=\(number)\"}")
    }
    #expect(error?.name == .endlessPages)
    #expect(requested.withLock { $0 } < 10)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test(
    "collections in line whose links are ever new and bring nothing new end; those of many entities do not",
    arguments: ["", "{\"No\":1}"])
  func endlessInline(row: String) async throws {
    let rig = try await FaultRig(query: "Rows?$expand=Parts")
    let requested = Mutex(0)
    let error = await rig.download { request in
      let number = requested.withLock { requested in
        requested += 1
        return requested
      }
      guard request.target.contains("Parts?") else {
        return FaultyService.json(
          "{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"Rows(1)/Parts?a=0\"}]}")
      }
      // Nothing waits for the end of a test that fails.
      guard number < DownloadMachine.idlePages + 10 else { return FaultyService.json("{\"value\":[]}") }
      return FaultyService.json("{\"value\":[\(row)],\"@odata.nextLink\":\"Rows(1)/Parts?a=\(number)\"}")
    }
    #expect(error?.name == .endlessPages)
    // Of many entities each may have a page that is empty.
    var links = InlineLinks()
    for id in 0...Int64(2 * DownloadMachine.idlePages) {
      let goesOn = links.note(InlinePage(id: id, link: "", table: 0, navigation: 0, parent: 0), new: 0)
      #expect(goesOn)
    }
    try await rig.end()
  }
}
