import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderCommands

@Suite("larder clone --raw-values", .timeLimit(.minutes(1)))
struct RawValuesVerbTests {
  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="N" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="At" Type="Edm.DateTimeOffset"/></EntityType>
    <EntityContainer Name="C"><EntitySet Name="Ps" EntityType="N.P"/></EntityContainer></Schema></edmx:DataServices>
    </edmx:Edmx>
    """

  @Test(
    "A value that does not fit fails the clone, with the option in its cure; with the option it is kept",
    arguments: [["--query", "Ps"], ["--all"]])
  func kept(_ choice: [String]) async throws {
    let server = try ScriptedServer { request in
      switch request.path {
      case "/s/$metadata": .response(200, fields: [.contentType: "application/xml"], body: Self.metadata)
      case "/s/Ps":
        .response(
          200, fields: [.contentType: "application/json", .odataVersion: "4.0"],
          body: #"{"value":[{"ID":1,"At":"0000-00-00T00:00:00"},{"ID":2}]}"#)
      default: .response(404)
      }
    }
    defer { server.stop() }
    let folder = try TemporaryFolder()
    let root = server.url("/s/").absoluteString
    let failed = await Rig(directory: folder.path).run(["clone", root, "plain"] + choice)
    #expect(failed.status != .done && failed.diagnostics.contains("--raw-values"), "\(failed.diagnostics)")
    let cloned = await Rig(directory: folder.path).run(["clone", root, "shop", "--raw-values"] + choice)
    try #require(cloned.status == .done, "\(cloned.diagnostics)")
    let rig = Rig(directory: folder.file("shop"))
    let result = await rig.run("query", "Ps")
    #expect(result.output.contains(#""At@larder.rawValue":"0000-00-00T00:00:00""#), "\(result.output)")
    let filtered = await rig.run("query", "Ps?$filter=At gt 2020-01-01T00:00:00Z")
    #expect(filtered.status != .done && filtered.diagnostics.contains("Ps(1)/At"), "\(filtered.diagnostics)")
    #expect((await rig.run("status", "--json")).output.contains("\"rawValues\":true"))
    let alone = await rig.run("download", "--raw-values")
    #expect(alone.status == .usage && alone.diagnostics.contains("--query"), "\(alone.diagnostics)")
    let replaced = await rig.run("download", "--remove", "Ps", "--query", "Ps=Ps", "--raw-values")
    #expect(replaced.status == .done, "\(replaced.diagnostics)")
  }
}
