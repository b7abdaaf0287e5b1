import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Entities made with others", .timeLimit(.minutes(1)))
struct UploadDeepInsertTests {
  @Test(
    "A deep insert goes in one request, and all that it makes has the service's keys afterwards",
    arguments: [UploadService.Behavior(), .init(isV2: true), .init(isSilent: true)])
  func deep(behavior: UploadService.Behavior) async throws {
    let rig = try await UploadRig(behavior)
    var order = ODataEntity(properties: [ODataProperty("Name", .string("deep"))])
    let items = ["one", "two"].map { ODataEntity(properties: [ODataProperty("Text", .string($0))]) }
    order.navigationLinks = [
      ODataNavigationLink(name: "Items", content: .collection(ODataEntityCollection(entities: items)))
    ]
    try await rig.store.create(order, in: "Orders")
    let before = try await rig.rows("SELECT \"@id\" FROM {Items} ORDER BY Text")
    #expect(before.count == 2)
    let report = try await rig.store.upload()
    #expect(report.sent == 1 && report.failed == 0 && rig.service.entities("Items").count == 2)
    #expect(try await rig.rows("SELECT ID, Name FROM {Orders} WHERE ID > 3") == ["1000|deep"])
    #expect(
      try await rig.rows("SELECT ID, Order_ID, Text FROM {Items} ORDER BY Text") == ["1001|1000|one", "1002|1000|two"])
    #expect(try await rig.rows("SELECT \"@id\" FROM {Items} ORDER BY Text") == before)
    #expect(try await rig.isClean())
    try await rig.store.download()
    #expect(
      try await rig.rows("SELECT ID, Order_ID, Text FROM {Items} ORDER BY Text") == ["1001|1000|one", "1002|1000|two"])
  }
}
