import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: answers of an evil service", .timeLimit(.minutes(3)))
struct EvilAnswerTests {
  struct Evil: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let name: OfflineODataErrorName
    let answer: ScriptedServer.Answer

    init(_ what: String, _ name: OfflineODataErrorName, _ answer: ScriptedServer.Answer) {
      (testDescription, self.name, self.answer) = (what, name, answer)
    }

    init(_ what: String, _ name: OfflineODataErrorName = .malformedResponse, json: String) {
      self.init(what, name, EvilService.json(json))
    }
  }

  static let answers = [
    Evil("no JSON", json: "hello"),
    Evil("nothing", json: ""),
    Evil("JSON that ends inside a row", json: "{\"value\":[{\"ID\":1,\"Text\":\"ev"),
    Evil("JSON with more behind it", json: "{\"value\":[]} x"),
    Evil("a number", json: "1"),
    Evil(
      "a login page", .malformedResponse,
      .response(200, fields: [.contentType: "text/html"], body: "<!DOCTYPE html><html><form>Sign in</form></html>")),
    Evil(
      "a login page of XHTML", .malformedResponse,
      .response(
        200, fields: [.contentType: "application/xhtml+xml"], body: "<html><body><form>Sign in</form></body></html>")),
    Evil(
      "Atom that is another feed", .malformedResponse,
      .response(200, fields: [.contentType: "application/atom+xml"], body: "<rss version=\"2.0\"><channel/></rss>")),
    Evil("an error with status 200", json: "{\"error\":{\"code\":\"x\",\"message\":\"y\"}}"),
    Evil("another kind of answer", json: "{\"@odata.context\":\"$metadata#Edm.String\",\"value\":\"x\"}"),
    Evil("a value of another type", json: "{\"value\":[{\"ID\":1,\"Text\":{\"a\":1}}]}"),
    Evil("a number beyond its type", json: "{\"value\":[{\"ID\":99999999999}]}"),
    Evil("a text for a number", json: "{\"value\":[{\"ID\":\"one\"}]}"),
    Evil("a row that is null", json: "{\"value\":[null]}"),
    Evil("a row that is a number", json: "{\"value\":[1]}"),
    Evil("a null key", json: "{\"value\":[{\"ID\":null,\"Text\":\"evil\"}]}"),
    Evil("rows without keys", json: "{\"value\":[{\"Text\":\"evil\"},{\"Text\":\"evil\"}]}"),
    Evil("half a surrogate pair", json: "{\"value\":[{\"ID\":1,\"Text\":\"\\ud800\"}]}"),
    Evil(
      "bytes that are no UTF-8", .unreadableEncoding,
      .response(
        200, fields: [.contentType: "application/json"],
        bytes: Array("{\"value\":[{\"ID\":1,\"Text\":\"".utf8) + [0xC3, 0x28] + Array("\"}]}".utf8))),
    Evil(
      "a hundred thousand levels", json: "{\"value\":[{\"ID\":1,\"Text\":" + String(repeating: "[", count: 100_000)),
    Evil(
      "a hundred thousand levels of entities",
      json: "{\"value\":[" + String(repeating: "{\"ID\":1,\"Parts\":[", count: 100_000)),
    Evil("a link that is a number", .requestRejected, json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":7}"),
    Evil("pages in a circle", .endlessPages, json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"Rows?a\"}"),
    Evil(
      "the next page on another host", .foreignLink,
      json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"http://evil.example/other/Rows\"}"),
    Evil(
      "the next page in another scheme", .foreignLink,
      json: "{\"value\":[{\"ID\":1}],\"@odata.nextLink\":\"file:///etc/passwd\"}"),
    Evil(
      "an inline page on another host", .foreignLink,
      json: "{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"http://evil.example/other/Parts\"}]}"),
    Evil("404", .requestRejected, .response(404)),
    Evil("500", .serviceFailed, .response(500, body: "<html>oops</html>")),
    Evil("503", .serviceUnavailable, .response(503)),
    Evil("401", .authenticationFailed, .response(401)),
    Evil("a redirect to itself", .transportFailed, .response(302, fields: ["Location": "/s/Rows"])),
    Evil("the connection ends", .connectionLost, .close),
  ]

  @Test("each is a typed error with a cure, and the store is as it was and goes on", arguments: answers)
  func evil(_ evil: Evil) async throws {
    let rig = try await EvilRig()
    let error = await rig.download { _ in evil.answer }
    #expect(error?.name == evil.name, "\(error.debugDescription)")
    #expect(error?.name?.cure != nil, "\(error.debugDescription)")
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("odd answers that have a meaning are taken")
  func odd() async throws {
    let rig = try await EvilRig()
    let taken: [(String, [String])] = [
      ("{\"value\":[{\"ID\":1,\"Text\":\"a\"},{\"ID\":1,\"Text\":\"b\"}]}", ["b"]),
      ("{\"value\":[{\"Text\":\"x\\u0000y\",\"ID\":1}],\"@odata.count\":1000000}", ["x\0y"]),
      ("{\"@odata.count\":-1,\"value\":[{\"ID\":1,\"Text\":\"a\"}]}", ["a"]),
      ("{\"@odata.count\":\"1\",\"value\":[{\"ID\":1,\"Text\":\"b\"}]}", ["b"]),
      ("{\"value\":[{\"ID\":1,\"Text\":\"a\",\"More\":{\"x\":[1,2,{\"y\":null}]}}]}", ["a"]),
      ("{\"value\":[]}", []),
      // A context that lost its `#` (OData JSON Format 4.01 §10 wants one) is no service document's.
      ("{\"@odata.context\":\"http://h/s/$metadata\",\"value\":[{\"ID\":1,\"Text\":\"c\"}]}", ["c"]),
      ("{\"@odata.context\":\"$metadata\",\"value\":[]}", []),
      ("{\"@odata.context\":\"$metadata%23Rows\",\"value\":[{\"ID\":1,\"Text\":\"d\"}]}", ["d"]),
    ]
    for (json, texts) in taken {
      let error = await rig.download { _ in EvilService.json(json) }
      #expect(error == nil, "\(json): \(error.debugDescription)")
      #expect(try await rig.texts() == texts, "\(json)")
    }
    try await rig.end()
  }

  @Test("JSON in another encoding than UTF-8 is read where the encoding is told")
  func encodings() async throws {
    let rig = try await EvilRig(tracks: true)
    let text = "{\"value\":[{\"ID\":1,\"Text\":\"é\"}]}"
    @Sendable func answer(_ type: String, _ bytes: [UInt8]) -> ScriptedServer.Answer {
      .response(200, fields: [.contentType: type, .odataVersion: "4.0"], bytes: bytes)
    }
    let latin1 = text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    let wide = text.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    let answers = [
      answer("application/json;charset=ISO-8859-1", latin1),
      answer("application/json;charset=ISO-8859-1", Array(text.utf8)),
      answer("application/json;odata.metadata=minimal; charset=\"utf-16\"", wide),
      answer("application/json", [0xFF, 0xFE] + wide),
      answer("application/json", [0xEF, 0xBB, 0xBF] + Array(text.utf8)),
    ]
    for taken in answers {
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
          ? answer("application/json;charset=windows-1252", single)
          : EvilService.json("{\"value\":[],\"@odata.deltaLink\":\"Rows?d=1\"}")
      }
      #expect(error == nil, "\(error.debugDescription)")
    }
    #expect(try await rig.texts() == ["ü"])
    let unknown = await rig.download { _ in answer("application/json;charset=shift_jis", latin1) }
    #expect(unknown?.name == .unreadableEncoding, "\(unknown.debugDescription)")
    try await rig.end()
  }

  @Test("a page that cannot be read is asked for again once it was cut there, then all is read from the beginning")
  func brokenPage() async throws {
    let rig = try await EvilRig()
    let asked = Mutex<[String]>([])
    let evil: @Sendable (ScriptedServer.Request) -> ScriptedServer.Answer = { request in
      asked.withLock { $0.append(request.query ?? "") }
      guard request.target.contains("skip") else {
        return EvilService.json("{\"value\":[{\"ID\":1,\"Text\":\"new\"}],\"@odata.nextLink\":\"Rows?skip\"}")
      }
      return EvilService.json("<html>")
    }
    for _ in 0..<2 { #expect(await rig.download(evil)?.name == .malformedResponse) }
    #expect(asked.withLock { $0 }.filter { $0 == "skip" }.count == 3)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("what a query selects has the key with it, in the service's own answer too")
  func selection() async throws {
    let rig = try await EvilRig(query: "Rows?$select=Text&$orderby=Text")
    #expect(rig.server.requests.last?.query?.contains("$select=Text,ID") == true)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test("links, redirects and media on another host get no credentials, and next pages are not asked for there")
  func credentials() async throws {
    let other = try ScriptedServer { request in
      request.path == "/s/Rows" ? EvilService.json(EvilService.good(7)) : .response(200, body: "bytes")
    }
    defer { other.stop() }
    let rig = try await EvilRig()
    let elsewhere = other.url("/s/Rows").absoluteString
    // The path is the service's own: such links come from services that do not know the name they are reached by.
    let next = await rig.download { request in
      request.query == nil
        ? EvilService.json("{\"value\":[],\"@odata.nextLink\":\"\(elsewhere)?next\"}")
        : EvilService.json(EvilService.good(2))
    }
    #expect(next == nil)
    #expect(other.requests.isEmpty)
    #expect(try await rig.texts() == [String](repeating: "v2", count: 5))
    let moved = await rig.download { _ in .response(302, fields: ["Location": elsewhere]) }
    #expect(moved == nil)
    #expect(other.requests.count == 1)
    #expect(other.requests.allSatisfy { $0.fields["X-API-Key"] == nil })
    #expect(rig.server.requests.allSatisfy { $0.fields["X-API-Key"] == "secret" })
    try await rig.end()
  }

  @Test("media whose link leads to another host are fetched there without credentials, or not at all")
  func mediaLinks() async throws {
    let other = try ScriptedServer { _ in .response(200, fields: [.contentType: "image/x"], body: "bytes") }
    defer { other.stop() }
    let rig = try await EvilRig()
    rig.service.metadata = EvilService.metadata("<Property Name=\"Photo\" Type=\"Edm.Stream\"/>")
    try await rig.store.removeDefiningQuery("rows")
    try await rig.store.add(OfflineODataDefiningQuery("photos", "Rows", automaticallyRetrievesStreams: true))
    let link = other.url("/photo").absoluteString
    _ = await rig.download { _ in
      EvilService.json("{\"value\":[{\"ID\":1,\"Photo@odata.mediaReadLink\":\"\(link)\"}]}")
    }
    #expect(other.requests.allSatisfy { $0.fields["X-API-Key"] == nil && $0.fields["Authorization"] == nil })
    try await rig.end()
  }

  @Test("an object larger than the limit, a service that drips, links of deltas that lead away")
  func limits() async throws {
    let rig = try await EvilRig(timeout: .milliseconds(700), tracks: true)
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
          ? EvilService.json("{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":[{\"ID\":1,\"Text\":\"delta\"}]}")
          : EvilService.json("{\"value\":[{\"ID\":1,\"Text\":\"whole\"}],\"@odata.deltaLink\":\"\(link)\"}")
      }
      #expect(delta == nil, "\(link): \(delta.debugDescription)")
      #expect(try await rig.texts().allSatisfy { ["whole", "delta"].contains($0) }, "\(link)")
      // The next one begins with the link.
      let again = await rig.download { _ in EvilService.json("{\"value\":[{\"ID\":1,\"Text\":\"whole\"}]}") }
      #expect(again == nil, "\(link): \(again.debugDescription)")
    }
    try await rig.end()
  }

  @Test("a collection of a hundred thousand values in one cell takes time in proportion")
  func longCollection() async throws {
    let rig = try await EvilRig()
    let values = [String](repeating: "1", count: 100_000).joined(separator: ",")
    let begin = ContinuousClock.now
    let error = await rig.download { _ in
      EvilService.json("{\"value\":[{\"ID\":1,\"Text\":\"long\",\"More\":[\(values)]}]}")
    }
    #expect(error == nil, "\(error.debugDescription)")
    #expect(try await rig.texts() == ["long"])
    // Copied with each value it took minutes.
    #expect(ContinuousClock.now - begin < .seconds(30))
    try await rig.end()
  }

  @Test("collections in line whose links go in a circle end")
  func circles() async throws {
    let rig = try await EvilRig(query: "Rows?$expand=Parts")
    let asked = Mutex(0)
    let error = await rig.download { request in
      asked.withLock { $0 += 1 }
      guard request.target.contains("Parts?") else {
        return EvilService.json("{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"Rows(1)/Parts?a=0\"}]}")
      }
      let number = asked.withLock { $0 } % 3
      return EvilService.json("{\"value\":[{\"No\":1}],\"@odata.nextLink\":\"Rows(1)/Parts?a=\(number)\"}")
    }
    #expect(error?.name == .endlessPages)
    #expect(asked.withLock { $0 } < 10)
    #expect(try await rig.isIntact())
    try await rig.end()
  }

  @Test(
    "collections in line whose links are ever new and bring nothing new end; those of many entities do not",
    arguments: ["", "{\"No\":1}"])
  func endlessInline(row: String) async throws {
    let rig = try await EvilRig(query: "Rows?$expand=Parts")
    let asked = Mutex(0)
    let error = await rig.download { request in
      let number = asked.withLock { asked in
        asked += 1
        return asked
      }
      guard request.target.contains("Parts?") else {
        return EvilService.json("{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"Rows(1)/Parts?a=0\"}]}")
      }
      // Nobody waits for the end of a test that fails.
      guard number < DownloadMachine.idlePages + 10 else { return EvilService.json("{\"value\":[]}") }
      return EvilService.json("{\"value\":[\(row)],\"@odata.nextLink\":\"Rows(1)/Parts?a=\(number)\"}")
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
