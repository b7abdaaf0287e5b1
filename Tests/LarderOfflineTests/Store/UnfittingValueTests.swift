import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Values that do not fit the declared types of their properties (CSDL 4.01 §3.3, JSON Format 4.01 §7).
@Suite("Offline store: values that do not fit their declared type", .timeLimit(.minutes(1)))
struct UnfittingValueTests {
  /// A service with one set of all kinds of properties, which returns these rows whatever `$select` says.
  static func service(_ rows: String) -> OddService {
    OddService(
      metadata: OddService.v4(
        """
        <EnumType Name="Color"><Member Name="Red" Value="0"/></EnumType>
        <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Since" Type="Edm.Date"/>
        <Property Name="Names" Type="Collection(Edm.String)"/>
        </ComplexType>
        <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
        <Property Name="N" Type="Edm.String"/><Property Name="At" Type="Edm.DateTimeOffset" Precision="12"/>
        <Property Name="D" Type="Edm.Date"/><Property Name="Du" Type="Edm.Duration"/>
        <Property Name="C" Type="N.Color"/><Property Name="Tags" Type="Collection(Edm.String)"/>
        <Property Name="Homes" Type="Collection(N.Address)"/><Property Name="Where" Type="N.Address"/><Property Name="B" Type="Edm.Binary"/></EntityType>
        """, "<EntitySet Name=\"Ps\" EntityType=\"N.P\"/>")
    ) { path, _ in
      path.hasPrefix("Ps") ? OddService.json("{\"value\":[\(rows)]}") : nil
    }
  }

  /// A row with one value that does not fit, and the path of its property.
  static let unfitting: [(row: String, path: String)] = [
    (##"{"ID":1,"At":"2022-08-11T00:00:00"}"##, "At"), (##"{"ID":1,"At":"0000-00-00T00:00:00Z"}"##, "At"),
    (##"{"ID":1,"At":""}"##, "At"), (##"{"ID":1,"D":"2022-08-11T00:00:00Z"}"##, "D"),
    (##"{"ID":1,"Du":"P2W"}"##, "Du"), (##"{"ID":1,"C":"Green"}"##, "C"), (##"{"ID":1,"N":5}"##, "N"),
    (##"{"ID":1,"N":["a"]}"##, "N"), (##"{"ID":1,"N":{"a":1}}"##, "N"), (##"{"ID":1,"N":"a","N":"b"}"##, "N"),
    (##"{"ID":1,"Tags":["a",["b"]]}"##, "Tags"),
    (##"{"ID":1,"Where":"Rome"}"##, "Where"), (##"{"ID":1,"Where":{"City":"Rome","Since":"x"}}"##, "Where/Since"),
    (##"{"ID":1,"Tags":"a"}"##, "Tags"), (##"{"ID":1,"Tags":5}"##, "Tags"), (##"{"ID":1,"Tags":{"a":1}}"##, "Tags"),
    (##"{"ID":1,"Homes":"Rome"}"##, "Homes"), (##"{"ID":1,"Homes":{"City":"Rome"}}"##, "Homes"),
    (##"{"ID":1,"Homes":[{"City":["Rome"]}]}"##, "Homes"), (##"{"ID":1,"Homes":[{"Names":"Rome"}]}"##, "Homes"),
    (##"{"ID":1,"Where":["Rome"]}"##, "Where"), (##"{"ID":1,"Where":{"City":["Rome"]}}"##, "Where/City"),
    (##"{"ID":1,"Where":{"Names":"Rome"}}"##, "Where/Names"), (##"{"ID":1,"B":["AA=="]}"##, "B"),
    (##"{"ID":1,"C":["Red"]}"##, "C"), (##"{"ID":1,"B":"?"}"##, "B"),
  ]

  @Test("The error names the property, and its cure is $select, not a sign-in page", arguments: unfitting)
  func cure(_ row: String, _ path: String) async throws {
    let server = try Self.service(row).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let error = await #expect(throws: OfflineODataError.self) { try await rig.open(["ps": "Ps"]) }
    let message = error?.errorMessage ?? ""
    #expect(error?.name == .malformedResponse && message.contains(path.split(separator: "/").last ?? ""), "\(message)")
    #expect(message.contains("$select") && !message.contains("sign-in"), "\(message)")
  }

  @Test("A property that the query does not select is not judged", arguments: unfitting)
  func notSelected(_ row: String, _ path: String) async throws {
    let server = try Self.service(row).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let others = ["N", "At", "D", "Du", "C", "Tags", "Homes", "Where", "B"].filter { !path.hasPrefix($0) }
    let store = try await rig.open(["ps": "Ps?$select=ID,\(others.joined(separator: ","))"])
    #expect(try await store.size("Ps") == 1)
    // The other part of a complex value is stored, as any value that the service sends unasked.
    if !path.contains("/") { #expect(try await !store.text("Ps").contains("\"\(path)\":")) }
    try await store.close()
  }

  @Test("A key that does not fit has no cure in $select")
  func key() async throws {
    let server = try Self.service(##"{"ID":"x","N":"a"}"##).serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let error = await #expect(throws: OfflineODataError.self) { try await rig.open(["ps": "Ps?$select=ID,N"]) }
    let message = error?.errorMessage ?? ""
    #expect(message.contains("ID") && !message.contains("$select") && !message.contains("sign-in"), "\(message)")
  }

  @Test("A page that is no OData keeps its cure")
  func otherPage() async throws {
    let service = OddService(metadata: Self.service("").metadata) { path, _ in
      path.hasPrefix("Ps") ? OddService.json(##"["sign in"]"##) : nil
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let error = await #expect(throws: OfflineODataError.self) { try await rig.open(["ps": "Ps"]) }
    #expect(error?.errorMessage.contains("$select") == false, "\(error?.errorMessage ?? "")")
  }

  @Test(
    "A parameter of a V2 action has the forms that V2's JSON has, and that the message names",
    arguments: [
      ("Edm.DateTime", "/Date(1577836800000)/", "datetime'2020-01-01T00:00:00'"),
      ("Edm.DateTime", "2020-01-01T00:00:00", "datetime'2020-01-01T00:00:00'"),
      ("Edm.DateTimeOffset", "/Date(1577836800000+0060)/", "datetimeoffset'2020-01-01T00:00:00+01:00'"),
      ("Edm.DateTimeOffset", "2020-01-01T00:00:00Z", "datetimeoffset'2020-01-01T00:00:00Z'"),
    ])
  func actionParameter(_ type: String, _ value: String, _ literal: String) async throws {
    let service = OddService(
      metadata: """
        <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
        <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
        <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="P">
        <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
        <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Ps" EntityType="N.P"/>
        <FunctionImport Name="Do" m:HttpMethod="POST"><Parameter Name="p" Type="\(type)"/></FunctionImport>
        </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
        """
    ) { path, _ in
      path.hasPrefix("Ps")
        ? .response(
          200, fields: [.contentType: "application/json", .dataServiceVersion: "2.0"],
          body: #"{"d":{"results":[]}}"#) : nil
    }
    let server = try service.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["ps": "Ps"])
    let request = try await store.change(.invokeAction, "Do", json: Array(#"{"p":"\#(value)"}"#.utf8))
    let decodedPath = request.path.removingPercentEncoding ?? request.path
    #expect(decodedPath == "Do?p=" + literal)
    try await store.close()
  }
}
