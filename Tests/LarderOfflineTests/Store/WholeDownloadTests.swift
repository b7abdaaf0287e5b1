import Foundation
import LarderHTTP
import LarderService
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

@Suite("Offline store: whole downloads, and what a service contradicts", .timeLimit(.minutes(1)))
struct WholeDownloadTests {
  /// Rows with a picture each, a delta link and an ETag.
  private final class Service: Sendable {
    let requested = Mutex<[String]>([])
    /// The picture, and what the delta contains.
    let picture = Mutex("first")

    func serve() throws -> ScriptedServer {
      try OddService(metadata: FaultyService.metadata("<Property Name=\"Photo\" Type=\"Edm.Stream\"/>")) {
        [self] requested, fields in
        let condition = fields[.ifNoneMatch].map { " if \($0)" } ?? ""
        self.requested.withLock {
          $0.append(requested.prefix { $0 != "?" } + (requested.contains("deltatoken") ? " delta" : "") + condition)
        }
        if condition == " if \"m\"" { return .response(304) }
        switch requested {
        case "$metadata":
          return .response(
            200, fields: [.contentType: "application/xml", .etag: "\"m\""],
            body: FaultyService.metadata("<Property Name=\"Photo\" Type=\"Edm.Stream\"/>"))
        case _ where requested.contains("deltatoken"):
          return OddService.json(
            "{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":[],\"@odata.deltaLink\":\"Rows?$deltatoken=1\"}")
        case _ where requested.hasPrefix("Rows("):
          if fields[.ifNoneMatch] != nil { return .response(304) }
          return .response(
            200, fields: [.contentType: "image/png", .etag: "\"p\""], body: picture.withLock { $0 })
        default:
          return OddService.json(
            "{\"value\":[{\"ID\":1,\"Photo@odata.mediaEtag\":\"\\\"p\\\"\"}],\"@odata.deltaLink\":\"Rows?$deltatoken=1\"}"
          )
        }
      }.serve()
    }

    func take() -> [String] {
      requested.withLock { requested in
        defer { requested = [] }
        // The scripted service looks at what it would respond to `$metadata` before it does.
        return requested.enumerated().filter { $0.offset == 0 || requested[$0.offset - 1] != $0.element }.map(\.element)
      }
    }
  }

  @Test("a whole download requests everything without delta links and conditions, media and metadata too")
  func whole() async throws {
    let service = Service()
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try rig.provider()
    try await store.add(OfflineODataDefiningQuery("q", "Rows", automaticallyRetrievesStreams: true))
    try await store.open()
    _ = service.take()
    #expect(try await store.download().queries.map(\.strategy) == [.changes])
    #expect(service.take() == ["$metadata if \"m\"", "Rows delta"])
    // A service may be wrong about what has changed.
    service.picture.withLock { $0 = "second" }
    #expect(try await store.download(["q"], whole: true).queries.map(\.strategy) == [.whole])
    #expect(service.take() == ["$metadata", "Rows", "Rows(1)/Photo"])
    #expect(try await store.readMedia("Rows(1)/Photo") == Array("second".utf8))
    #expect(try await store.download().queries.map(\.strategy) == [.changes])
    try await store.close()
  }

  @Test(
    "links in line that their referential constraints contradict are counted in the status, and deltas with them read all"
  )
  func contradictedLinks() async throws {
    let delta = Mutex("")
    let rows = Mutex(
      """
      {"ID":1,"Items":[{"ID":1,"OrderID":1},{"ID":2,"OrderID":7},{"ID":3}]},{"ID":2,"Items":[{"ID":4,"OrderID":7}],
      "CustomerID":5,"Customer":null}
      """)
    let server = try OddService(metadata: SharedRowsService.metadata) { requested, _ in
      guard requested.hasPrefix("Orders?") else { return nil }
      guard requested.contains("deltatoken") else {
        return OddService.json("{\"value\":[\(rows.withLock { $0 })],\"@odata.deltaLink\":\"Orders?$deltatoken=1\"}")
      }
      return OddService.json(
        "{\"@odata.context\":\"$metadata#Orders/$delta\",\"value\":[\(delta.withLock { $0 })],"
          + "\"@odata.deltaLink\":\"Orders?$deltatoken=2\"}")
    }.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["q": "Orders?$expand=Items,Customer"])
    #expect(try await store.definingQueries().map(\.contradictedLinks) == [["Orders/Items": 2]])
    delta.withLock { $0 = #"{"ID":2,"Total":1}"# }
    #expect(try await store.download().queries.map(\.strategy) == [.changes])
    #expect(try await store.definingQueries().map(\.contradictedLinks) == [["Orders/Items": 2]])
    // Columns do not show that item 4 was behind order 2.
    delta.withLock { $0 = #"{"@removed":{"reason":"deleted"},"ID":2}"# }
    rows.withLock { $0 = #"{"ID":1,"Items":[{"ID":1,"OrderID":1}]}"# }
    #expect(try await store.download().queries.map(\.strategy) == [.whole])
    #expect(try await store.size("Items") == 1)
    #expect(try await store.definingQueries().map(\.contradictedLinks) == [[:]])
    try await store.close()
  }

  @Test(
    "a set whose type is not declared is rejected with that reason and its name",
    arguments: ["Ghosts", "Ghosts(1)/X", "Spook"])
  func undeclaredType(_ query: String) async throws {
    let metadata = OddService.v4(
      "<EntityType Name=\"Row\"><Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Int32\"/></EntityType>",
      """
      <EntitySet Name="Rows" EntityType="N.Row"/><EntitySet Name="Ghosts" EntityType="N.Ghost"/>
      <Singleton Name="Spook" Type="N.Ghost"/>
      """)
    let server = try OddService(metadata: metadata) { requested, _ in
      requested.hasPrefix("Rows") ? OddService.json("{\"value\":[{\"ID\":1}]}") : nil
    }.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["q": "Rows"])
    let error = await #expect(throws: OfflineODataError.self) {
      try await store.add(OfflineODataDefiningQuery("ghosts", query))
    }
    #expect(error?.name == .invalidDefiningQuery)
    let message = error?.errorMessage ?? ""
    #expect(message.contains("N.Ghost") && message.contains(query.prefix { $0 != "(" }), "\(message)")
    #expect(try await store.size("Rows") == 1)
    try await store.close()
  }
}
