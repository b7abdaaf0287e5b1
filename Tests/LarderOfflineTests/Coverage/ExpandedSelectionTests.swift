import Foundation
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: two expansions of one set with different properties", .timeLimit(.minutes(1)))
struct ExpandedSelectionTests {
  /// - Parameter isConstrained: whether foreign keys define the links.
  static func service(isConstrained: Bool) -> OddService {
    func link(_ name: String) -> String {
      let constraint = "<ReferentialConstraint Property=\"\(name)ID\" ReferencedProperty=\"ID\"/>"
      return """
        <Property Name="\(name)ID" Type="Edm.Int32"/>
        <NavigationProperty Name="\(name)" Type="N.T">\(isConstrained ? constraint : "")</NavigationProperty>
        """
    }
    return OddService(
      metadata: OddService.v4(
        """
        <EntityType Name="T"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="N" Type="Edm.String"/><Property Name="City" Type="Edm.String"/></EntityType>
        <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        \(link("A"))\(link("B"))</EntityType>
        """,
        """
        <EntitySet Name="Ts" EntityType="N.T"/><EntitySet Name="Ps" EntityType="N.P">
        <NavigationPropertyBinding Path="A" Target="Ts"/><NavigationPropertyBinding Path="B" Target="Ts"/></EntitySet>
        """)
    ) { path, _ in
      guard path.hasPrefix("Ps") else { return nil }
      return OddService.json(
        ##"{"@odata.context":"$metadata#Ps(A(N),B(City))","value":[{"ID":1,"AID":1,"BID":2,"##
          + ##""A":{"ID":1,"N":"x"},"B":{"ID":2,"City":"c"}},{"ID":2,"AID":null,"BID":null,"A":null,"B":null}]}"##)
    }
  }

  @Test("A property is known behind the link whose expansion selects it, and only there", arguments: [false, true])
  func filters(isConstrained: Bool) async throws {
    let server = try Self.service(isConstrained: isConstrained).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps?$expand=A($select=N),B($select=City)"])
    for (path, expected) in [
      ("Ps?$filter=A/N eq 'x'&$select=ID", #""value":[{"ID":1}]"#),
      ("Ps?$filter=B/City eq 'd'&$select=ID", #""value":[]"#),
      ("Ps?$filter=A/N eq null&$select=ID", #""value":[{"ID":2}]"#), ("Ps(1)/A/N", #""value":"x""#),
    ] {
      #expect(try await store.text(path).contains(expected), "\(path)")
    }
    for path in ["Ps?$filter=A/City eq 'c'", "Ps?$filter=B/N eq 'x'", "Ts?$filter=N eq 'x'", "Ps(1)/B/N"] {
      let error = await #expect(throws: OfflineODataError.self, "\(path)") { try await store.text(path) }
      #expect(error?.name == .notDownloaded, "\(path): \(error.debugDescription)")
    }
    // A link that is changed here leads to an entity without the property.
    _ = try await store.execute(single: .updateLink("Ps(1)/A/$ref", to: "Ts(2)"))
    let changed = await #expect(throws: OfflineODataError.self) { try await store.text("Ps?$filter=A/N eq 'x'") }
    #expect(changed?.name == .notDownloaded, "\(changed.debugDescription)")
    try await store.close()
  }
}
