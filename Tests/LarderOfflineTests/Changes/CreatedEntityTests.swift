@_spi(Stores) import LarderCore
import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("The response to a creation", .timeLimit(.minutes(1)))
struct CreatedEntityTests {
  private static func part(_ type: String?, _ link: String?, _ parts: [ODataEntity] = []) -> ODataEntity {
    let content = ODataNavigationLink.Content.collection(ODataEntityCollection(entities: parts))
    return ODataEntity(
      typeName: type, navigationLinks: link.map { [ODataNavigationLink(name: $0, content: content)] } ?? [])
  }

  // OData Protocol 4.01 §11.4.2.2
  @Test(
    "an entity is returned with the entities that were created with it, at all levels",
    arguments: [(ODataVersion.v4, "Items($expand=Parts),Tags"), (.v2, "Items/Parts,Tags")])
  func expansion(_ version: ODataVersion, _ expected: String) {
    let item = Self.part(nil, "Parts", [Self.part(nil, nil)])
    var order = Self.part(nil, "Items", [Self.part(nil, nil), item])
    order.navigationLinks += Self.part(nil, "Tags", [Self.part(nil, nil)]).navigationLinks
    var bound = ODataNavigationLink(name: "Customer")
    bound.bindings = ["Customers(1)"]
    order.navigationLinks.append(bound)
    let model = EdmModel(version: version, schemas: [])
    #expect(DeepInsertExpansion(.create(order, in: "Orders"), model).text == expected)
    #expect(DeepInsertExpansion(.create(Self.part(nil, nil), in: "Orders"), model).text == nil)
  }

  @Test("the entities of a derived type are expanded by a path with the type")
  func derived() {
    let order = Self.part("N.Rush", "Stops", [Self.part("N.Stop", nil)])
    #expect(
      DeepInsertExpansion(.create(order, in: "Orders"), EdmModel(version: .v4, schemas: [])).text == "N.Rush/Stops")
  }

  @Test("the query for the created entity does not remove prepared queries from their cache", arguments: [true, false])
  func preparedQueries(isDeep: Bool) async throws {
    let rig = try await ChangeRig()
    let id = "11111111-1111-1111-1111-111111111111"
    try await rig.create("Orders", [ODataProperty("ID", try ODataValue(text: id, type: .guid))])
    func create(_ number: Int32) async throws {
      let item = ODataEntity(properties: [ODataProperty("No", .int32(number))])
      guard isDeep else {
        _ = try await rig.create("Orders(\(id))/Items", item.properties)
        return
      }
      let content = ODataNavigationLink.Content.collection(ODataEntityCollection(entities: [item]))
      _ = try await rig.create("Orders", [], [ODataNavigationLink(name: "Items", content: content)])
    }
    try await create(0)
    _ = try await rig.read("Customers")
    for number in 1...130 { try await create(Int32(number)) }
    #expect(rig.store.prepared.withLock { $0.pace("Customers") } != nil)
  }

  @Test("a key for which no local value is reliably unused must be given, and the error says so")
  func noTemporaryKey() async throws {
    let key = "<Key><PropertyRef Name=\"ID\"/></Key><Property Name=\"ID\" Type=\"Edm.Byte\" Nullable=\"false\">"
    let rig = try await ChangeRig(
      ReplicaRig.v4(
        "<EntityType Name=\"Kind\">\(key)<Annotation Term=\"Org.OData.Core.V1.Computed\"/></Property></EntityType>",
        container: "<EntitySet Name=\"Kinds\" EntityType=\"N.Kind\"/>"))
    let error = await #expect(throws: OfflineODataError.self) { try await rig.create("Kinds", []) }
    #expect(error?.name == .missingKeyProperty)
    #expect(error?.errorMessage.contains("Kinds/ID: no value of Edm.Byte is reliably unused") == true)
    var request = ODataSingleRequest.create(ODataEntity(properties: [ODataProperty("ID", .byte(7))]), in: "Kinds")
    request.allowedProperties = ["ID"]
    try await rig.change(request)
    #expect(try await rig.read("Kinds(7)").contains("7"))
  }
}
