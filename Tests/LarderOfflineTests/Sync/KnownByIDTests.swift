import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderOffline

/// JSON Format 4.01 §8.5, §15.3: a delta may name new members of a collection by their ids alone.
@Suite("Offline store: entities of which a delta contains only the id or the key", .timeLimit(.minutes(1)))
struct KnownByIDTests {
  private static let metadata = OddService.v4(
    """
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="N" Type="Edm.String"/><NavigationProperty Name="Kids" Type="Collection(N.K)"/></EntityType>
    <EntityType Name="K"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="N" Type="Edm.String"/></EntityType>
    """,
    """
    <EntitySet Name="Ps" EntityType="N.P"><NavigationPropertyBinding Path="Kids" Target="Ks"/></EntitySet>
    <EntitySet Name="Ks" EntityType="N.K"/>
    """)

  /// What was requested of the set.
  private final class Requests: Sendable {
    private let paths = Locked<[String]>([])

    var count: Int { paths.withLock { $0.count } }
    var whole: Int { paths.withLock { $0.count { !$0.contains("delta") } } }
    var hasDelta: Bool { count > whole }
    func add(_ path: String) { paths.withLock { $0.append(path) } }
  }

  /// A service whose first delta adds a kid to the entity 1, and whose whole content has it from then on.
  private func service(_ delta: String, requested: Requests) -> OddService {
    OddService(metadata: Self.metadata) { path, _ in
      guard path.hasPrefix("Ps") else { return nil }
      requested.add(path)
      let isSecond = requested.hasDelta
      let link = "\"@odata.deltaLink\":\"Ps?$deltatoken=\(requested.count)\""
      if path.contains("deltatoken") {
        return OddService.json("{\"@odata.context\":\"$metadata#Ps(Kids())/$delta\",\"value\":[\(delta)],\(link)}")
      }
      let kids = "{\"ID\":5,\"N\":\"five\"}" + (isSecond ? ",{\"ID\":9,\"N\":\"nine\"}" : "")
      let rows = "{\"ID\":1,\"N\":\"a\",\"Kids\":[\(kids)]}"
      return OddService.json("{\"@odata.context\":\"$metadata#Ps(Kids())\",\"value\":[\(rows)],\(link)}")
    }
  }

  @Test(
    "The query is read whole, and the entity is complete",
    arguments: [
      ##"{"ID":1,"Kids@delta":[{"@odata.id":"Ks(9)"}]}"##, ##"{"ID":1,"Kids@delta":[{"@odata.id":"Ks(9)","ID":9}]}"##,
      ##"{"ID":1,"Kids@delta":[{"ID":9}]}"##, ##"{"ID":1,"Kids":[{"ID":5},{"ID":9}]}"##,
    ])
  func unknown(delta: String) async throws {
    let requested = Requests()
    let server = try service(delta, requested: requested).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps?$expand=Kids"])
    try await store.download()
    let kids = try await store.text("Ps(1)/Kids?$orderby=ID")
    #expect(kids.contains(##"{"ID":5,"N":"five"},{"ID":9,"N":"nine"}"##), "\(kids)")
    #expect(requested.whole == 2)
    try await store.close()
  }

  @Test(
    "A member that the store has, and one of which the query has only the key, need no whole read",
    arguments: [
      ("Ps?$expand=Kids", ##"{"ID":1,"Kids@delta":[{"@odata.id":"Ks(5)"}]}"##),
      ("Ps?$expand=Kids($select=ID)", ##"{"ID":1,"Kids@delta":[{"ID":9}]}"##),
      ("Ps?$expand=Kids/$ref", ##"{"ID":1,"Kids@delta":[{"@odata.id":"Ks(9)"}]}"##),
    ])
  func known(query: String, delta: String) async throws {
    let requested = Requests()
    let server = try service(delta, requested: requested).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": query])
    try await store.download()
    #expect(requested.whole == 1)
    try await store.close()
  }
}
