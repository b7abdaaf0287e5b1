import Foundation
import LarderHTTP
import LarderOData
import LarderTestSupport
import Synchronization
import Testing

@testable import LarderCommands
@testable import LarderOffline

/// The links that `clone` asks for, and those that a service does not return.
@Suite("A clone's links", .timeLimit(.minutes(2)))
struct CloneLinkTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private var rig: Rig { Rig(directory: folder.path) }

  private static func entity(_ name: String, _ content: String = "") -> String {
    #"<EntityType Name="\#(name)"><Key><PropertyRef Name="ID"/></Key>"#
      + #"<Property Name="ID" Type="Edm.Int32" Nullable="false"/>\#(content)</EntityType>"#
  }

  private static let v4 = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="m" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <ComplexType Name="C"><Property Name="City" Type="Edm.String"/></ComplexType>
    <ComplexType Name="CD" BaseType="m.C"><NavigationProperty Name="Link" Type="m.T"/></ComplexType>
    \(entity("P", ##"<Property Name="c" Type="m.C"/><NavigationProperty Name="A" Type="m.T"/>"##
      + ##"<NavigationProperty Name="B" Type="Collection(m.T)"/>"##))
    <EntityType Name="Q" BaseType="m.P"><NavigationProperty Name="Special" Type="m.T"/></EntityType>\(entity("T"))
    <EntityContainer Name="Main"><EntitySet Name="Ps" EntityType="m.P"/><EntitySet Name="Ts" EntityType="m.T"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  private static let v2 = """
    <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
    <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
    <Schema Namespace="m" xmlns="http://schemas.microsoft.com/ado/2008/09/edm">\(entity("P"))
    <EntityType Name="Q" BaseType="m.P"><NavigationProperty Name="Special" Relationship="m.R" FromRole="p" ToRole="t"/>
    </EntityType>\(entity("T"))
    <Association Name="R"><End Role="p" Type="m.Q" Multiplicity="0..1"/><End Role="t" Type="m.T" Multiplicity="0..1"/>
    </Association><EntityContainer Name="Main" m:IsDefaultEntityContainer="true"><EntitySet Name="Ps" EntityType="m.P"/>
    <EntitySet Name="Ts" EntityType="m.T"/><AssociationSet Name="RS" Association="m.R">
    <End Role="p" EntitySet="Ps"/><End Role="t" EntitySet="Ts"/></AssociationSet></EntityContainer>
    <EntityContainer Name="Container2"><EntitySet Name="Photos" EntityType="m.T"/></EntityContainer></Schema>
    </edmx:DataServices></edmx:Edmx>
    """

  /// A service whose rows have the members that `row` returns for a decoded path; nil rejects the request.
  private func serve(_ metadata: String, _ row: @escaping @Sendable (String) -> String?) throws -> ScriptedServer {
    try ScriptedServer { request in
      let path = (request.target.components(separatedBy: "/s/").last ?? "").removingPercentEncoding ?? ""
      if path.hasPrefix("$metadata") {
        return .response(200, fields: ["Content-Type": "application/xml"], body: metadata)
      }
      let isV2 = metadata == Self.v2
      let fields: HTTPFields =
        isV2
        ? ["Content-Type": "application/json", "DataServiceVersion": "2.0"]
        : ["Content-Type": "application/json", "OData-Version": "4.0"]
      guard let row = row(path) else {
        return .response(400, fields: fields, body: #"{"error":{"code":"no","message":"cannot expand"}}"#)
      }
      return .response(
        200, fields: fields, body: isV2 ? #"{"d":{"results":[\#(row)]}}"# : #"{"value":[\#(row)]}"#)
    }
  }

  private func queries() async throws -> [String] {
    let status = await rig.run("-C", "s", "status", "--json")
    return try JSONNode(status.outputBytes)["queries"]?.items?.compactMap { $0["query"]?.string } ?? []
  }

  @Test("--all writes casts for links of derived types and of derived complex types")
  func casts() async throws {
    let server = try serve(Self.v4) { $0.hasPrefix("Ps") ? #"{"ID":1,"A":null,"B":[]}"# : #"{"ID":1}"# }
    defer { server.stop() }
    let cloned = await rig.run("clone", server.text("/s/"), "--all")
    #expect(cloned.status == .done, "\(cloned.diagnostics)")
    let queries = try await queries()
    #expect(queries.contains("Ps?$expand=c/m.CD/Link,A,B,m.Q/Special"), "\(queries)")
  }

  @Test("in V2, --all writes no casts, names the links without URL, and qualifies the sets of other containers")
  func v2() async throws {
    let server = try serve(Self.v2) { path in
      let type = path.hasPrefix("Ps") ? "P" : "T"
      let set = path.prefix { $0 != "?" }
      return ##"{"__metadata":{"uri":"http://h/s/\##(set)(1)","type":"m.\##(type)"},"ID":1}"##
    }
    defer { server.stop() }
    let listed = await rig.run("clone", server.text("/s/"))
    #expect(listed.status == .usage && listed.diagnostics.contains("  Container2.Photos"), "\(listed.diagnostics)")
    let cloned = await rig.run("clone", server.text("/s/"), "--all")
    #expect(cloned.status == .negative && cloned.diagnostics.contains("left out: Ps/Special"), "\(cloned.diagnostics)")
    #expect(try await queries().sorted() == ["Container2.Photos", "Ps", "Ts"])
    #expect(!server.requests.contains { $0.target.contains("m.Q") })
    #expect((await rig.run("-C", "s", "query", "Container2.Photos/$count")).output == "1")
  }

  @Test(
    "a service that rejects an expansion is asked without casts, then for each link; the missing links are named",
    arguments: [
      (["m."], "Ps?$expand=A,B", "left out: Ps/c/m.CD/Link, Ps/m.Q/Special"),
      (["m.", "B"], "Ps?$expand=A", "left out: Ps/c/m.CD/Link, Ps/B, Ps/m.Q/Special"),
      (["A", "B", "CD"], "Ps?$expand=m.Q/Special", "left out: Ps/c/m.CD/Link, Ps/A, Ps/B"),
      (["expand"], "Ps", "left out: links of Ps"),
    ] as [([String], String, String)])
  func rejected(words: [String], query: String, report: String) async throws {
    let server = try serve(Self.v4) { path in
      let items = path.components(separatedBy: "$").first { $0.hasPrefix("expand") } ?? ""
      guard !words.contains(where: { items.contains($0) }) else { return nil }
      return path.hasPrefix("Ps") ? #"{"ID":1,"A":null,"B":[]}"# : #"{"ID":1}"#
    }
    defer { server.stop() }
    let cloned = await rig.run("clone", server.text("/s/"), "--all")
    #expect(cloned.status == .negative && cloned.diagnostics.contains(report), "\(cloned.diagnostics)")
    #expect(cloned.diagnostics.contains("cannot expand"), "\(cloned.diagnostics)")
    let queries = try await queries()
    #expect(queries.contains(query), "\(queries)")
  }

  @Test("clone, download and sync end with 1 and name links that the service does not expand, unless they are followed")
  func unexpanded() async throws {
    let server = try serve(Self.v4) { path in
      path.hasPrefix("Ps(1)/B") ? #"{"ID":7}"# : #"{"ID":1}"#
    }
    defer { server.stop() }
    let cloned = await rig.run("clone", server.text("/s/"), "--query", "Ps?$expand=B")
    #expect(cloned.status == .negative && cloned.diagnostics.contains("The service does not expand B"))
    #expect(cloned.diagnostics.contains("left out: Ps/B") && cloned.diagnostics.contains("--follow-links"))
    for verb in ["download", "sync"] {
      let again = await rig.run("-C", "s", verb)
      #expect(again.status == .negative && again.diagnostics.contains("does not expand B"), "\(again.diagnostics)")
    }
    let read = await rig.run("-C", "s", "query", "Ps(1)/B")
    #expect(read.status == .negative && read.output.isEmpty, "\(read.output)")
    let json = await rig.run("-C", "s", "download", "--json")
    #expect(json.status == .negative && json.output.contains(##""missingLinks":["B"]"##), "\(json.output)")
    let followed = await rig.run("-C", "s", "download", "--whole", "--follow-links", "10")
    #expect(followed.status == .done, "\(followed.diagnostics)")
    #expect((await rig.run("-C", "s", "query", "Ps(1)/B/$count")).output == "1")
    #expect((await rig.run("-C", "s", "download", "--follow-links", "0")).status == .usage)
  }
}
