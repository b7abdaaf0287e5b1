import Foundation
import LarderHTTP
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// Only a response in the service's protocol, with its envelope, says which rows there are: JSON Format 4.01 §13 (`value`),
/// [MS-ODATA] 2.2.6.3.2 and 2.2.6.5.3 (`d`, `results`).
@Suite("Offline store: responses of another kind", .timeLimit(.minutes(2)))
struct OtherKindTests {
  struct Other: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let response: ScriptedServer.Response

    init(_ what: String, _ response: ScriptedServer.Response) { (testDescription, self.response) = (what, response) }
    init(_ what: String, json: String) { self.init(what, FaultyService.json(json)) }
    init(_ what: String, type: String, _ body: String) {
      self.init(what, .response(200, fields: [.contentType: type, .odataVersion: "4.0"], body: body))
    }
  }

  static let feed = "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>Rows</title></feed>"

  static let v4 = [
    Other("no content", .response(204)),
    Other(
      "accepted, with a response later",
      .response(202, fields: [.contentType: "application/json"], body: "{\"value\":[]}")),
    Other("an empty array", json: "[]"),
    Other("an array of objects", json: "[{\"ID\":1}]"),
    Other("V2's envelope", json: "{\"d\":{\"results\":[]}}"),
    Other("V1's envelope", json: "{\"d\":[]}"),
    Other("an empty Atom feed", type: "application/atom+xml", feed),
    Other("an Atom feed as XML", type: "application/xml;charset=utf-8", feed),
    Other("rows twice, the last empty", json: "{\"value\":[{\"ID\":1}],\"value\":[]}"),
    Other("rows twice, the first empty", json: "{\"value\":[],\"value\":[{\"ID\":1}]}"),
    Other("rows twice, no array at first", json: "{\"value\":null,\"value\":[]}"),
    Other("an empty object", json: "{}"),
    Other("null", json: "null"),
    Other("a null value", json: "{\"value\":null}"),
    Other("a count", type: "text/plain", "0"),
    Other("a page to sign in", type: "text/html", "<html><body>Sign in</body></html>"),
    Other("an entity", json: "{\"@odata.context\":\"$metadata#Rows/$entity\",\"ID\":1,\"Text\":\"x\"}"),
    Other("an entity without a context", json: "{\"ID\":1,\"Text\":\"x\"}"),
    Other("references", json: "{\"@odata.context\":\"$metadata#Collection($ref)\",\"value\":[]}"),
    Other("a delta", json: "{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":[]}"),
    Other("values", json: "{\"@odata.context\":\"$metadata#Collection(Edm.String)\",\"value\":[]}"),
    Other("rows of another set", json: "{\"@odata.context\":\"$metadata#Others\",\"value\":[]}"),
  ]

  /// `FaultyService` with a second set.
  static let metadata = FaultyService.metadata().replacingOccurrences(
    of: "<EntitySet Name=\"Rows\"", with: "<EntitySet Name=\"Others\" EntityType=\"N.Part\"/><EntitySet Name=\"Rows\"")

  private func rig(tracks: Bool = false) async throws -> FaultRig {
    let rig = try await FaultRig(tracks: tracks)
    rig.service.metadata = Self.metadata
    _ = try await rig.store.download()
    return rig
  }

  @Test("a whole read fails with what came, and nothing changes", arguments: v4)
  func whole(_ other: Other) async throws {
    let rig = try await rig()
    let error = await rig.download { _ in other.response }
    #expect(error?.name == .malformedResponse, "\(error.debugDescription)")
    #expect(try await rig.texts().count == 5)
    #expect(try await rig.isIntact(rig.service.version))
    try await rig.end()
  }

  @Test("a page behind the first is of the same kind", arguments: v4)
  func nextPage(_ other: Other) async throws {
    let rig = try await rig()
    let error = await rig.download { request in
      request.query?.contains("skip") == true
        ? other.response
        : FaultyService.json("{\"value\":[{\"ID\":1,\"Text\":\"new\"}],\"@odata.nextLink\":\"Rows?skip\"}")
    }
    #expect(error?.name == .malformedResponse, "\(error.debugDescription)")
    #expect(try await rig.texts() == [String](repeating: "v1", count: 5))
    try await rig.end()
  }

  @Test("a delta of another kind is not applied: all is read", arguments: v4)
  func delta(_ other: Other) async throws {
    guard other.testDescription != "a delta" else { return }
    let rig = try await rig(tracks: true)
    let body = "{\"value\":[{\"ID\":1,\"Text\":\"a\"},{\"ID\":2,\"Text\":\"b\"}],\"@odata.deltaLink\":\"Rows?d=1\"}"
    let first = await rig.download { _ in FaultyService.json(body) }
    #expect(first == nil)
    let whole = Mutex(0)
    let error = await rig.download { request in
      if request.query?.contains("d=1") == true { return other.response }
      whole.withLock { $0 += 1 }
      return FaultyService.json(body)
    }
    #expect(error == nil, "\(error.debugDescription)")
    let wholeReads = whole.withLock { $0 }
    #expect(wholeReads == 1)
    #expect(try await rig.texts() == ["a", "b"])
    try await rig.end()
  }

  @Test("a part of a collection in line is of the same kind", arguments: v4)
  func inline(_ other: Other) async throws {
    // Parts may be in that set too.
    guard other.testDescription != "rows of another set" else { return }
    let rig = try await FaultRig(query: "Rows?$expand=Parts")
    rig.service.metadata = Self.metadata
    let error = await rig.download { request in
      guard !request.target.contains("Parts?") else { return other.response }
      return FaultyService.json("{\"value\":[{\"ID\":1,\"Parts\":[],\"Parts@odata.nextLink\":\"Rows(1)/Parts?a=0\"}]}")
    }
    #expect(error?.name == .malformedResponse, "\(error.debugDescription)")
    #expect(try await rig.texts().count == 5)
    try await rig.end()
  }

  // MARK: One entity

  @Test(
    "a query of one entity takes one; no content only where there may be none",
    arguments: [
      Other("rows", json: "{\"value\":[]}"), Other("V2's envelope", json: "{\"d\":{\"ID\":1}}"),
      Other("an empty object", json: "{}"), Other("no content", .response(204)), Other("an array", json: "[]"),
    ])
  func single(_ other: Other) async throws {
    let faulty = Mutex(false)
    let server = try OddService(metadata: Self.me) { paths, _ in
      switch paths.prefix(while: { $0 != "?" }) {
      case "Rows(1)", "Me": faulty.withLock { $0 } ? other.response : OddService.json("{\"ID\":1,\"Text\":\"one\"}")
      default: nil
      }
    }.serve()
    defer { server.stop() }
    for query in ["Rows(1)", "Me"] {
      faulty.withLock { $0 = false }
      let rig = try StoreRig(server.url("/s/").absoluteString)
      let store = try await rig.open(["q": query])
      #expect(try await store.text(query == "Me" ? "Me" : "Rows").contains("one"))
      faulty.withLock { $0 = true }
      if query == "Me", other.testDescription == "no content" {
        // A nullable singleton (Protocol 4.01 §11.2.4).
        try await store.download()
      } else {
        await #expect(throws: OfflineODataError.self) { try await store.download() }
        #expect(try await store.text(query == "Me" ? "Me" : "Rows").contains("one"))
      }
      try await store.close()
    }
  }

  static let me = OddService.v4(
    """
    <EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Text" Type="Edm.String"/></EntityType>
    """, "<EntitySet Name=\"Rows\" EntityType=\"N.Row\"/><Singleton Name=\"Me\" Type=\"N.Row\" Nullable=\"true\"/>")

  // MARK: V2

  static let v2 = [
    Other("no content", .response(204)), Other("an empty array", json: "[]"),
    Other("V4's envelope", json: "{\"value\":[]}"),
    Other("rows twice", json: "{\"d\":{\"results\":[{\"ID\":1}],\"results\":[]}}"),
    Other("envelopes twice", json: "{\"d\":{\"results\":[{\"ID\":1}]},\"d\":{\"results\":[]}}"),
    Other("arrays twice", json: "{\"d\":[{\"ID\":1}],\"d\":[]}"), Other("an empty object", json: "{\"d\":{}}"),
    Other("no array", json: "{\"d\":{\"results\":{}}}"), Other("null", json: "{\"d\":null}"),
    Other("an entity", json: "{\"d\":{\"__metadata\":{\"uri\":\"Rows(1)\",\"type\":\"N.A\"},\"ID\":1}}"),
  ]

  private static func v2Server(_ faulty: @escaping @Sendable () -> ScriptedServer.Response?) throws -> ScriptedServer {
    try OddService(metadata: ReplicaDeltaTests.v2) { paths, fields in
      guard paths.prefix(while: { $0 != "?" }) == "As" else { return nil }
      return faulty()
        ?? v2JSON("{\"d\":{\"results\":[{\"ID\":1,\"T\":\"a\"},{\"ID\":2,\"T\":\"b\"}]}}")
    }.serve()
  }

  private static func v2JSON(_ text: String) -> ScriptedServer.Response {
    .response(200, fields: [.contentType: "application/json", .dataServiceVersion: "2.0"], body: text)
  }

  @Test("V2: a whole read fails with what came, and nothing changes", arguments: v2)
  func wholeV2(_ other: Other) async throws {
    let isFaulty = Mutex(false)
    let server = try Self.v2Server { isFaulty.withLock { $0 } ? other.response : nil }
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["q": "As"])
    isFaulty.withLock { $0 = true }
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect(try await store.size("As") == 2)
    try await store.close()
  }

  @Test("V2: what is V2's own empties a set: d with an array, with results, and a requested feed")
  func emptyV2() async throws {
    for body in ["{\"d\":[]}", "{\"d\":{\"results\":[]}}", "{\"d\":{\"results\":[],\"__count\":\"0\"}}"] {
      let isEmpty = Mutex(false)
      let server = try Self.v2Server { isEmpty.withLock { $0 } ? Self.v2JSON(body) : nil }
      defer { server.stop() }
      let rig = try StoreRig(server.url("/s/").absoluteString)
      let store = try await rig.open(["q": "As"])
      isEmpty.withLock { $0 = true }
      try await store.download()
      #expect(try await store.size("As") == 0, "\(body)")
      try await store.close()
    }
  }

  @Test("V2: Atom that was not requested is requested before it counts")
  func atomV2() async throws {
    let paths = Mutex<[String]>([])
    let server = try OddService(metadata: ReplicaDeltaTests.v2) { path, fields in
      guard path.prefix(while: { $0 != "?" }) == "As" else { return nil }
      paths.withLock { $0.append(fields[.accept] ?? "") }
      let feed = ReplicaDeltaTests.atom.split(separator: "\n").filter { !$0.contains("deleted-entry") }
      return .response(200, fields: [.contentType: "application/atom+xml"], body: feed.joined(separator: "\n"))
    }.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["q": "As"])
    #expect(try await store.size("As") == 1)
    let accepted = paths.withLock { $0 }
    #expect(accepted.map { $0.contains("atom") } == [false, true])
    try await store.close()
  }

  // MARK: Streams

  @Test("a web page in place of a picture does not replace it")
  func stream() async throws {
    let isFaulty = Mutex(false)
    let metadata = FaultyService.metadata("<Property Name=\"Photo\" Type=\"Edm.Stream\"/>")
    let server = try OddService(metadata: metadata) { paths, _ in
      let version = isFaulty.withLock { $0 ? 2 : 1 }
      switch paths.prefix(while: { $0 != "?" }) {
      case "Rows":
        return OddService.json(
          "{\"value\":[{\"ID\":1,\"Photo@odata.mediaContentType\":\"image/png\","
            + "\"Photo@odata.mediaEtag\":\"\\\"\(version)\\\"\"}]}")
      case "Rows(1)/Photo":
        return version == 1
          ? .response(200, fields: [.contentType: "image/png"], body: "picture")
          : .response(200, fields: [.contentType: "text/html"], body: "<html>Sign in</html>")
      default: return nil
      }
    }.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("q", "Rows", automaticallyRetrievesStreams: true))
    try await store.open()
    isFaulty.withLock { $0 = true }
    await #expect(throws: OfflineODataError.self) { try await store.download() }
    #expect(try await store.readMedia("Rows(1)/Photo") == Array("picture".utf8))
    try await store.close()
  }
}
