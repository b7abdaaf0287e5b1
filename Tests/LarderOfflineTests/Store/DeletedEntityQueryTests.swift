import Foundation
@_spi(Stores) import LarderCore
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: a defining query of one entity that the service deletes", .timeLimit(.minutes(1)))
struct DeletedEntityQueryTests {
  private static let error = #"{"error":{"code":"NotFound","message":"There is no such entity"}}"#

  /// What the service says of the entity, what of its set, and the rows that are left.
  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    var status = 404
    var content = DeletedEntityQueryTests.error
    var set = 200
    let rows: Int64

    var testDescription: String { name }
  }

  static let cases = [
    Case(name: "deleted", rows: 0), Case(name: "gone", status: 410, rows: 0),
    Case(name: "the page of a proxy", content: "<html>Not found</html>", rows: 1),
    Case(name: "the set does not exist either", set: 404, rows: 1),
    Case(name: "not allowed", status: 403, rows: 1),
  ]

  @Test("It is removed if the service says so; other responses are errors, and the entity stays", arguments: cases)
  func deletion(given: Case) async throws {
    let isDeleted = Locked(false)
    let service = OddService(
      metadata: OddService.v4(
        """
        <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        </EntityType>
        """, "<EntitySet Name=\"Ps\" EntityType=\"N.P\"/>")
    ) { path, _ in
      if path.hasPrefix("Ps(1)") {
        guard isDeleted.withLock({ $0 }) else {
          return OddService.json(##"{"@odata.context":"$metadata#Ps/$entity","ID":1}"##)
        }
        let isPage = given.content.hasPrefix("<")
        return .response(
          given.status, fields: [.contentType: isPage ? "text/html" : "application/json", .odataVersion: "4.0"],
          body: given.content)
      }
      guard path.hasPrefix("Ps") else { return nil }
      return OddService.json(
        given.set == 200 ? ##"{"@odata.context":"$metadata#Ps","value":[]}"## : Self.error, status: given.set)
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["one": "Ps(1)"])
    #expect(try await store.size("Ps") == 1)
    isDeleted.withLock { $0 = true }
    let outcome = try? await store.download()
    #expect((outcome?.queries.first?.error == nil && outcome != nil) == (given.rows == 0))
    #expect(try await store.size("Ps") == given.rows)
    try await store.close()
  }
}
