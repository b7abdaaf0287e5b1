import Foundation
import LarderHTTP
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Offline store: content that the metadata does not declare", .timeLimit(.minutes(1)))
struct UndeclaredContentTests {
  private static let metadata = OddService.v4(
    """
    <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/></ComplexType>
    <EntityType Name="P"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Home" Type="N.Address"/><NavigationProperty Name="Kids" Type="Collection(N.P)"/></EntityType>
    <EntityType Name="O" OpenType="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
    """,
    """
    <EntitySet Name="Ps" EntityType="N.P"><NavigationPropertyBinding Path="Kids" Target="Ps"/></EntitySet>
    <EntitySet Name="Os" EntityType="N.O"/>
    """)

  @Test("A service that uses data as names does not fill the memory")
  func manyNames() {
    var all = UndeclaredContent()
    for page in 0..<3 {
      var one = UndeclaredContent()
      for number in 0..<900 { UndeclaredContent.add(1, "Ps/\(page)-\(number)", to: &one.properties) }
      UndeclaredContent.add(1, "Ps/0-0", to: &one.properties)
      all.add(one)
    }
    #expect(all.properties.count == UndeclaredContent.nameLimit && all.properties["Ps/0-0"] == 4)
  }

  @Test(
    "properties and derived types that are not declared are named in a note, with their numbers",
    arguments: [
      ("Ps", ##"{"ID":1,"Extra":"x"},{"ID":2,"Extra":null}"##, "Ps/Extra (2 values)"),
      ("Ps", ##"{"ID":1,"Extra":[1,2]},{"ID":2,"Other":{"a":1}}"##, "Ps/Extra (1 value), Ps/Other (1 value)"),
      ("Ps", ##"{"ID":1,"Home":{"City":"Ulm","Zip":"1"}}"##, "Ps/Home/Zip (1 value)"),
      ("Ps", ##"{"ID":1,"Extra@odata.type":"#Int64","Extra":5}"##, "Ps/Extra (1 value)"),
      ("Ps", ##"{"ID":1,"Gone@odata.navigationLink":"Ps(1)/Gone","Gone":[{"ID":3}]}"##, "Ps/Gone (1 value)"),
      ("Ps?$expand=Kids", ##"{"ID":1,"Kids":[{"ID":2,"Extra":1,"Kids":[]}]}"##, "Ps/Extra (1 value)"),
      ("Ps", ##"{"@odata.type":"#N.New","ID":1},{"ID":2}"##, "N.New (1 entity)"),
      ("Ps", ##"{"ID":1,"@Core.Note":"x","Home@Core.Note":"y"}"##, nil),
      ("Os", ##"{"ID":1,"Extra":"x"}"##, nil), ("Ps", ##"{"ID":1,"Home":{"City":"Ulm"}}"##, nil),
    ] as [(String, String, String?)])
  func notes(query: String, rows: String, words: String?) async throws {
    let server = try OddService(metadata: Self.metadata) { path, _ in
      let set = query.prefix { $0 != "?" }
      guard path.hasPrefix(set) else { return nil }
      return OddService.json(##"{"@odata.context":"$metadata#\##(set)","value":[\##(rows)]}"##)
    }.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["q": query])
    let notes = try await store.download(whole: true).queries[0].notes.filter { $0.contains("does not declare") }
    #expect(notes.count == (words == nil ? 0 : 1), "\(notes)")
    if let words { #expect(notes.first?.contains(": \(words).") == true, "\(notes)") }
    #expect(rig.diagnostics.all.filter { $0.name.hasPrefix("undeclared") }.count == notes.count * 2)
    try await store.close()
  }

  @Test("V2: properties and types are named in the same way")
  func v2() async throws {
    let metadata = """
      <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx">
      <edmx:DataServices m:DataServiceVersion="2.0" xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata">
      <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"><EntityType Name="P">
      <Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/></EntityType>
      <EntityContainer Name="C" m:IsDefaultEntityContainer="true"><EntitySet Name="Ps" EntityType="N.P"/>
      </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
      """
    let server = try OddService(metadata: metadata) { path, _ in
      let row =
        ##"{"__metadata":{"uri":"/s/Ps(1)","type":"N.New"},"ID":1,"Extra":"x","##
        + ##""Gone":{"__deferred":{"uri":"/s/Ps(1)/Gone"}}}"##
      return path.hasPrefix("Ps")
        ? .response(
          200, fields: [.contentType: "application/json", .dataServiceVersion: "2.0"],
          body: "{\"d\":{\"results\":[\(row)]}}") : nil
    }.serve()
    defer { server.stop() }
    let rig = try StoreRig(server.url("/s/").absoluteString)
    let store = try await rig.open(["q": "Ps"])
    let notes = try await store.download(whole: true).queries[0].notes
    #expect(notes.contains { $0.hasSuffix(": Ps/Extra (1 value).") }, "\(notes)")
    #expect(notes.contains { $0.hasSuffix(": N.New (1 entity).") }, "\(notes)")
    try await store.close()
  }
}
