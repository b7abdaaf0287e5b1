import Foundation
import LarderHTTP
import LarderOData
import LarderOffline
import LarderTesting
import Testing

@Suite("Test service: computed properties", .timeLimit(.minutes(2)))
struct ComputedTests {
  private static let metadata = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <EnumType Name="Color"><Member Name="Red" Value="1"/><Member Name="Blue" Value="2"/></EnumType>
    <EntityType Name="Base" Abstract="true"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.Int32" Nullable="false"/>
    <Property Name="Changed" Type="Edm.DateTimeOffset" Precision="0" Nullable="false"/></EntityType>
    <EntityType Name="Note" BaseType="Shop.Base">
    <Property Name="Text" Type="Edm.String" Nullable="false"/>
    <Property Name="Tag" Type="Edm.Guid" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Day" Type="Edm.Date" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Count" Type="Edm.Int64" Nullable="false"><Annotation Term="Org.OData.Core.V1.ComputedDefaultValue"/></Property>
    <Property Name="User" Type="Edm.String" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Done" Type="Edm.Boolean" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Color" Type="Shop.Color" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Seen" Type="Edm.DateTimeOffset"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Size" Type="Edm.Int32" Nullable="false">
    <Annotation Term="Org.OData.Core.V1.Computed" Bool="false"/></Property></EntityType>
    <Annotations Target="Shop.Base/Changed"><Annotation Term="Org.OData.Core.V1.Computed" Bool="true"/></Annotations>
    <EntityContainer Name="Desk"><EntitySet Name="Notes" EntityType="Shop.Note"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  private func makeService() throws -> ODataTestService {
    try ODataTestService(metadata: Self.metadata, rows: ["Notes": [["ID": 1, "Text": "tea", "Size": 1]]])
  }

  @Test("The service sets properties that are computed and never null, if a creation leaves them out")
  func creation() async throws {
    let service = try makeService()
    service.clock.advance(by: .milliseconds(90_500))
    #expect(try await service.send(.post, "Notes", #"{"Text":"milk","Size":2,"Count":7}"#).status == 201)
    let (first, second) = (try #require(service["Notes(1)"]), try #require(service["Notes(2)"]))
    #expect(first["Changed"] == "2027-01-15T08:00:00Z" && second["Changed"] == "2027-01-15T08:01:30Z")
    #expect(second["Day"] == "2027-01-15" && second["User"] == "" && second["Done"] == false)
    #expect(first["Count"] == 0 && second["Count"] == 7)
    #expect(second["Color"] == "Red" && second["Seen"] == .some(nil))
    #expect(first["Tag"]?.string.flatMap(UUID.init(uuidString:)) != nil && first["Tag"] != second["Tag"])
  }

  @Test("A property that only the client sets is still required")
  func required() async throws {
    let service = try makeService()
    let rejected = try await service.send(.post, "Notes", #"{"Text":"milk"}"#)
    #expect(rejected.status == 400 && rejected.message.contains("'Size'"))
  }

  private static let texts = """
    <edmx:Edmx Version="4.0" xmlns:edmx="http://docs.oasis-open.org/odata/ns/edmx"><edmx:DataServices>
    <Schema Namespace="Shop" xmlns="http://docs.oasis-open.org/odata/ns/edm">
    <ComplexType Name="Tree"><Property Name="Name" Type="Edm.String"/><Property Name="Left" Type="Shop.Tree"/>
    <Property Name="Others" Type="Collection(Shop.Tree)" Nullable="false"/>
    <Property Name="Size" Type="Edm.Int32" Nullable="false" DefaultValue="1"/></ComplexType>
    <EntityType Name="Event"><Key><PropertyRef Name="ID"/></Key>
    <Property Name="ID" Type="Edm.String" Nullable="false"><Annotation Term="Org.OData.Core.V1.Computed"/></Property>
    <Property Name="Tree" Type="Shop.Tree"/></EntityType>
    <EntityContainer Name="Desk"><EntitySet Name="Events" EntityType="Shop.Event"/></EntityContainer>
    </Schema></edmx:DataServices></edmx:Edmx>
    """

  @Test("A computed key is a new text, also for an entity that an offline store created")
  func textKey() async throws {
    let service = try ODataTestService(metadata: Self.texts, rows: ["Events": [["ID": "2"]]])
    #expect(try await service.send(.post, "Events", "{}").status == 201)
    let store = try await service.offlineStore()
    _ = try await store.create(ODataEntity(), in: "Events")
    let report = try await store.upload()
    #expect(report.failed == 0 && report.pending == 0, "\(report)")
    #expect(Set(service.rows("Events").map { $0["ID"] }).count == 3)
    try await store.close()
  }

  @Test("A complex value inside another one has all its properties")
  func nested() throws {
    let rows: [ODataTestRow] = [
      ["ID": "a", "Tree": ["Left": ["Name": "x", "Left": ["Size": 2]], "Others": [["Left": [:]]]]]
    ]
    let tree = try #require(ODataTestService(metadata: Self.texts, rows: ["Events": rows])["Events('a')"]?["Tree"])
    let whole: ODataTestValue = ["Name": nil, "Left": nil, "Others": [], "Size": 1]
    #expect(
      tree == [
        "Left": ["Name": "x", "Left": ["Size": 2, "Name": nil, "Left": nil, "Others": []], "Others": [], "Size": 1],
        "Others": [["Left": whole, "Name": nil, "Others": [], "Size": 1]], "Name": nil, "Size": 1,
      ])
  }

  @Test("A replacement leaves the properties alone that only the service sets")
  func replacement() async throws {
    let service = try makeService()
    let old = try #require(service["Notes(1)"])
    service.clock.advance(by: .seconds(90))
    #expect(try await service.send(.put, "Notes(1)", #"{"Text":"milk","Size":2}"#).status < 300)
    let new = try #require(service["Notes(1)"])
    #expect(new["Text"] == "milk" && new["Changed"] == old["Changed"] && new["Tag"] == old["Tag"])
  }

  @Test("A creation of an offline store without its computed properties is accepted by the service")
  func upload() async throws {
    let service = try makeService()
    let store = try await service.offlineStore("Notes")
    let properties = [ODataProperty("Text", .string("milk")), ODataProperty("Size", .int32(2))]
    _ = try await store.create(ODataEntity(properties: properties), in: "Notes")
    let report = try await store.upload()
    #expect(report.failed == 0 && service["Notes(2)"]?["Text"] == "milk")
    try await store.close()
  }
}
