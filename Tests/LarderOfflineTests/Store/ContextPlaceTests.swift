import Foundation
import LarderHTTP
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderOffline

/// A context URL that names a type says what an entity is, not where it is (JSON Format 4.01 §10.15): its row goes where the
/// query requests it.
@Suite("Offline store: where the rows of a context go", .timeLimit(.minutes(1)))
struct ContextPlaceTests {
  /// Persons are in no set: a singleton, and a table of the type for the navigation property. Two sets have rows of one
  /// type, so that `Twin` leads to a table of the type too.
  static let metadata = OddService.v4(
    """
    <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Name" Type="Edm.String"/><NavigationProperty Name="Manager" Type="N.Person"/>
    <NavigationProperty Name="Parts" Type="Collection(N.Part)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Boss" BaseType="N.Person"><Property Name="Level" Type="Edm.Int32"/></EntityType>
    <EntityType Name="Part"><Key><PropertyRef Name="No"/></Key><Property Name="No" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Like" Type="N.Part"/></EntityType>
    <EntityType Name="Row"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Twin" Type="N.Row"/><NavigationProperty Name="Owner" Type="N.Person"/></EntityType>
    """,
    """
    <EntitySet Name="Rows" EntityType="N.Row"/><EntitySet Name="Others" EntityType="N.Row"/>
    <Singleton Name="Me" Type="N.Person"/><Singleton Name="First" Type="N.Row"/>
    """)

  private func open(
    _ queries: KeyValuePairs<String, String>, _ response: @escaping @Sendable (String) -> String?
  ) async throws -> Opened {
    let server = try OddService(metadata: Self.metadata) { path, _ in response(path).map { OddService.json($0) } }
      .serve()
    let rig = try StoreRig(server.url("/s/").absoluteString)
    return Opened(server: server, rig: rig, store: try await rig.open(queries))
  }

  private struct Opened {
    let server: ScriptedServer
    let rig: StoreRig
    let store: OfflineODataProvider

    func end() async throws {
      try await store.close()
      server.stop()
    }
  }

  @Test(
    "a singleton's entity is the singleton's, whatever its context names",
    arguments: [
      "$metadata#N.Person", "$metadata#N.Person/$entity", "$metadata#Me", "http://other.example/x/$metadata#N.Person",
      "$metadata#N.Person(ID,Name)", "#N.Person", "$metadata#N.Boss", "$metadata#Me/N.Boss", "$metadata#Edm.EntityType",
      "$metadata#N.Unknown", "$metadata#Unknown", "$metadata", "", "$metadata#C/Me", "$metadata#Rows(1)/Owner",
    ])
  func singleton(_ context: String) async throws {
    let isBoss = context.hasSuffix("N.Boss")
    let level = isBoss ? ",\"Level\":3" : ""
    let opened = try await open(["q": "Me"]) { path in
      path.hasPrefix("Me") ? "{\"@odata.context\":\"\(context)\",\"ID\":1,\"Name\":\"one\"\(level)}" : nil
    }
    let text = try await opened.store.text("Me")
    #expect(text.contains("\"Name\":\"one\""))
    if isBoss { #expect(text.contains("#N.Boss") && text.contains("\"Level\":3"), "\(text)") }
    #expect(try await opened.store.download().queries.map(\.rows) == [1])
    try await opened.end()
  }

  @Test("a singleton whose context names a set of its type is the singleton")
  func singletonOfSet() async throws {
    let opened = try await open(["q": "First"]) { path in
      path.hasPrefix("First") ? "{\"@odata.context\":\"$metadata#Rows/$entity\",\"ID\":1}" : nil
    }
    #expect(try await opened.store.text("First").contains("\"ID\":1"))
    try await opened.end()
  }

  @Test(
    "rows of a set stay in it where their contexts name the type",
    arguments: ["$metadata#N.Row", "$metadata#N.Row/$entity", "$metadata#Rows/$entity", "$metadata#Nowhere/$entity"])
  func rows(_ context: String) async throws {
    let opened = try await open(["q": "Rows"]) { path in
      path.hasPrefix("Rows")
        ? "{\"@odata.context\":\"$metadata#Collection(N.Row)\",\"value\":[{\"@odata.context\":\"\(context)\",\"ID\":1}]}"
        : nil
    }
    #expect(try await opened.store.size("Rows") == 1)
    try await opened.end()
  }

  @Test("contained rows stay below their entity where a context names the type")
  func contained() async throws {
    let opened = try await open(["me": "Me", "parts": "Me/Parts"]) { path in
      switch path.prefix(while: { $0 != "?" }) {
      case "Me": "{\"ID\":1}"
      case "Me/Parts":
        "{\"@odata.context\":\"$metadata#Collection(N.Part)\",\"value\":"
          + "[{\"@odata.context\":\"$metadata#N.Part\",\"No\":1},{\"@odata.context\":\"$metadata#N.Part/$entity\",\"No\":2}]}"
      default: nil
      }
    }
    #expect(try await opened.store.size("Me/Parts") == 2)
    try await opened.end()
  }

  @Test("a delta's entities of a type that no set has go where its navigation property leads")
  func expandedType() async throws {
    let opened = try await open(["q": "Rows?$expand=Owner"]) { path in
      if path.contains("deltatoken") {
        return "{\"@odata.context\":\"$metadata#Rows/$delta\",\"value\":["
          + "{\"@odata.context\":\"$metadata#N.Person/$entity\",\"ID\":7,\"Name\":\"new\"}],"
          + "\"@odata.deltaLink\":\"Rows?$deltatoken=2\"}"
      }
      guard path.hasPrefix("Rows?") else { return nil }
      return
        "{\"value\":[{\"ID\":1,\"Owner\":{\"ID\":7,\"Name\":\"old\"}}],\"@odata.deltaLink\":\"Rows?$deltatoken=1\"}"
    }
    #expect(try await opened.store.download().queries.map(\.strategy) == [.changes])
    #expect(try await opened.store.text("Rows?$expand=Owner").contains("\"Name\":\"new\""))
    #expect(try await opened.store.size("Rows") == 1)
    try await opened.end()
  }
}
