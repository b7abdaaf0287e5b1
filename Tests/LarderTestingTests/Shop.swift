import Foundation
@_spi(Stores) import LarderHTTP
import LarderOData
import LarderTesting
import Testing

/// The service of the tests: orders with items (by a foreign key), parts (contained), tags (by links), a setting.
enum Shop {
  static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EnumType Name="Color"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
    <ComplexType Name="Address"><Property Name="City" Type="Edm.String"/><Property Name="Zip" Type="Edm.String"/></ComplexType>
    <EntityType Name="Order"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Note" Type="Edm.String"/>
    <Property Name="Price" Type="Edm.Decimal" Scale="2" Precision="9"/><Property Name="Color" Type="Shop.Color"/>
    <Property Name="Address" Type="Shop.Address"/><Property Name="Words" Type="Collection(Edm.String)"/>
    <Property Name="Count" Type="Edm.Int32" Nullable="false" DefaultValue="1"/>
    <NavigationProperty Name="Items" Type="Collection(Shop.Item)" Partner="Order"><OnDelete Action="Cascade"/></NavigationProperty>
    <NavigationProperty Name="Parts" Type="Collection(Shop.Part)" ContainsTarget="true"/>
    <NavigationProperty Name="Tags" Type="Collection(Shop.Tag)" Partner="Orders"/>
    <NavigationProperty Name="Main" Type="Shop.Tag"/>
    <NavigationProperty Name="Case" Type="Shop.Part" ContainsTarget="true"/></EntityType>
    <EntityType Name="Item"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
    <Property Name="Order_ID" Type="Edm.Int32"/>
    <NavigationProperty Name="Order" Type="Shop.Order" Partner="Items">
    <ReferentialConstraint Property="Order_ID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
    <EntityType Name="Part"><Key><PropertyRef Name="Pos"/></Key>
    <Property Name="Pos" Type="Edm.Int32" Nullable="false"/><Property Name="Text" Type="Edm.String"/>
    <NavigationProperty Name="Screws" Type="Collection(Shop.Screw)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Gear" BaseType="Shop.Part"><Property Name="Teeth" Type="Edm.Int32"/></EntityType>
    <EntityType Name="Screw"><Key><PropertyRef Name="No"/></Key>
    <Property Name="No" Type="Edm.Int32" Nullable="false"/></EntityType>
    <EntityType Name="Rush" BaseType="Shop.Order"><Property Name="Hours" Type="Edm.Int32"/>
    <NavigationProperty Name="Helper" Type="Shop.Tag"/>
    <NavigationProperty Name="Stops" Type="Collection(Shop.Part)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Tag"><Key><PropertyRef Name="Name"/></Key>
    <Property Name="Name" Type="Edm.String" Nullable="false"/>
    <NavigationProperty Name="Orders" Type="Collection(Shop.Order)" Partner="Tags"/></EntityType>
    <EntityType Name="Setting"><Property Name="Theme" Type="Edm.String"/></EntityType>
    <Action Name="Archive"/>
    <EntityContainer Name="Container">
    <EntitySet Name="Orders" EntityType="Shop.Order">
    <NavigationPropertyBinding Path="Items" Target="Items"/><NavigationPropertyBinding Path="Tags" Target="Tags"/>
    <NavigationPropertyBinding Path="Main" Target="Tags"/></EntitySet>
    <EntitySet Name="Items" EntityType="Shop.Item"><NavigationPropertyBinding Path="Order" Target="Orders"/></EntitySet>
    <EntitySet Name="Tags" EntityType="Shop.Tag"><NavigationPropertyBinding Path="Orders" Target="Orders"/></EntitySet>
    <Singleton Name="Setting" Type="Shop.Setting"/>
    <ActionImport Name="Archive" Action="Shop.Archive"/>
    </EntityContainer></Schema></edmx:DataServices></edmx:Edmx>
    """

  static let rows: [String: [ODataTestRow]] = [
    "Orders": [
      [
        "ID": 1, "Note": "tea", "Price": 2.5, "Color": "Red", "Address": ["City": "Rome"],
        "Tags@odata.bind": ["Tags('new')"],
      ],
      ["ID": 2, "Note": "milk", "Items": [["ID": 10, "Text": "a"], ["ID": 11, "Text": "b"]], "Parts": [["Pos": 1]]],
    ],
    "Tags": [["Name": "new"], ["Name": "it's/old"]],
    "Setting": [["Theme": "dark"]],
  ]

  static func service(_ version: String = "4.0") throws -> ODataTestService {
    try ODataTestService(
      metadata: metadata.replacing("Edmx Version=\"4.0\"", with: "Edmx Version=\"\(version)\""), rows: rows)
  }
}

/// A response that a test looks into.
struct Response {
  let status: Int
  let fields: HTTPFields
  let bytes: [UInt8]
  let node: JSONNode

  var text: String { String(decoding: bytes, as: UTF8.self) }
  /// The texts of a property of each entity.
  func texts(_ property: String) -> [String] { (node["value"]?.items ?? []).map { $0[property]?.text ?? "null" } }
  var message: String { node["error"]?["message"]?.string ?? "" }

  /// A link, relative to the root.
  func link(_ name: String) throws -> String {
    let url = try #require(node["@odata." + name]?.string)
    return String(url.dropFirst(ScriptedTransport.defaultRoot.absoluteString.count))
  }
}

extension HTTPTransport {
  /// Sends a request with a path relative to the root.
  func send(_ method: HTTPMethod, _ path: String, _ body: String = "", _ fields: HTTPFields = [:]) async throws
    -> Response
  {
    let encoded = PercentEncoding.encode(path, in: .query)
    let url = try #require(URL(string: ScriptedTransport.defaultRoot.absoluteString + encoded))
    var fields = fields
    if !body.isEmpty, !fields.contains(.contentType) { fields[.contentType] = "application/json" }
    let response = try await send(
      HTTPRequest(method: method, url: url, fields: fields, body: body.isEmpty ? .none : .text(body)))
    let bytes = try await response.body.collect()
    return Response(
      status: response.status, fields: response.fields, bytes: bytes, node: (try? JSONNode(bytes)) ?? .null)
  }

  func get(_ path: String, _ fields: HTTPFields = [:]) async throws -> Response {
    try await send(.get, path, "", fields)
  }
}
