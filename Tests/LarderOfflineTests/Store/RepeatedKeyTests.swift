import Foundation
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: rows of one response with the same key", .timeLimit(.minutes(1)))
struct RepeatedKeyTests {
  private static let type = """
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.String" Nullable="false"/>
    <Property Name="N" Type="Edm.String"/></EntityType>
    """

  /// Views without unique keys return such rows. The data did not change between pages, as there is only one.
  @Test(
    "They are reported with the key and their number, and read once; the last row is kept", arguments: [true, false])
  func oneResponse(isCounted: Bool) async throws {
    let count = isCounted ? #""@odata.count":4,"# : ""
    let service = OddService(
      metadata: OddService.v4(Self.type, "<EntitySet Name=\"Ps\" EntityType=\"N.P\"/>")
    ) { path, _ in
      guard path.hasPrefix("Ps") else { return nil }
      return OddService.json(
        ##"{"@odata.context":"$metadata#Ps",\##(count)"value":[{"ID":"a'b","N":"first"},{"ID":"c","N":"x"},"##
          + ##"{"ID":"a'b","N":"second"},{"ID":"a'b","N":"third"}]}"##)
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps"])
    let note = try #require(rig.diagnostics.first("keysRepeated"))
    #expect(note.fields == ["definingQuery": "ps", "count": "2"])
    #expect(
      note.message.contains("2 rows have the key of an earlier row of the response, the first of them Ps('a''b')"))
    #expect(rig.diagnostics.first("rowsMoved") == nil && rig.diagnostics.first("countUnreliable") == nil)
    #expect(server.requests.filter { $0.path.hasSuffix("/Ps") }.count == 1)
    let rows = try await store.text("Ps?$select=N")
    #expect(rows.contains(#""N":"third""#) && rows.contains(#""N":"x""#), "\(rows)")
    #expect(!rows.contains("first") && !rows.contains("second"), "\(rows)")
    try await store.close()
  }
}
