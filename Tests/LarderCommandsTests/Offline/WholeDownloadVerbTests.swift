import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder download --whole, and links that contradict foreign keys in larder status", .timeLimit(.minutes(1)))
struct WholeDownloadVerbTests {
  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <NavigationProperty Name="Items" Type="Collection(N.Item)" Partner="Order"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="OrderID" Type="Edm.Int32"/><NavigationProperty Name="Order" Type="N.Order" Partner="Items">
    <ReferentialConstraint Property="OrderID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Orders" EntityType="N.Order"/><EntitySet Name="Items" EntityType="N.Item"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test("everything is downloaded regardless of the delta link; status names links that contradict columns")
  func whole() async throws {
    let server = try ScriptedServer { request in
      switch request.path {
      case "/s/$metadata": .response(200, fields: [.contentType: "application/xml"], body: Self.metadata)
      case "/s/Orders":
        .response(
          200, fields: [.contentType: "application/json", .odataVersion: "4.0"],
          body: request.query?.contains("deltatoken") == true
            ? #"{"@odata.context":"$metadata#Orders/$delta","value":[],"@odata.deltaLink":"Orders?$deltatoken=1"}"#
            : #"{"value":[{"ID":1,"Items":[{"ID":1,"OrderID":2}]}],"@odata.deltaLink":"Orders?$deltatoken=1"}"#)
      default: .response(404)
      }
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let root = server.url("/s/").absoluteString
    let cloned = await Rig(directory: folder.path).run(
      "clone", root, "shop", "--query", "orders=Orders?$expand=Items")
    try #require(cloned.status == .done, "\(cloned.diagnostics)")
    let rig = Rig(directory: folder.file("shop"))
    let plain = await rig.run("download", "--json")
    #expect(
      plain.status == .done && plain.output.contains("\"strategy\":\"changes\""), "\(plain.output)\(plain.diagnostics)")
    let whole = await rig.run("download", "orders", "--whole", "--json")
    #expect(
      whole.status == .done && whole.output.contains("\"strategy\":\"whole\""), "\(whole.output)\(whole.diagnostics)")
    let status = await rig.run("status")
    let line = "orders: the service returned 1 link of Orders/Items that the referential constraint contradicts"
    #expect(status.output.contains(line), "\(status.output)\(status.diagnostics)")
    let json = await rig.run("status", "--json")
    #expect(json.output.contains(#""contradictedLinks":{"Orders/Items":1}"#), "\(json.output)")
  }
}
