import OData
import ODataService
import Storage
import TestSupport
import Testing

@testable import OfflineOData

@Suite("A refused change is repaired by another one", .timeLimit(.minutes(1)))
struct ArchiveRepairTests {
  private func entity(_ values: (String, ODataValue)...) -> ODataEntity {
    ODataEntity(properties: values.map { ODataProperty($0.0, $0.1) })
  }

  private func states(_ rig: UploadRig) async throws -> [String] { try await rig.queue }

  @Test("Two updates are one request: what was refused goes with the newer values", arguments: [false, true])
  func update(isV2: Bool) async throws {
    let rig = try await UploadRig(.init(isV2: isV2, requiresIfMatch: true))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison")), ("Total", .int32(5))))
    #expect(try await rig.store.upload().failed == 1)
    #expect(try await states(rig) == ["1|2"])
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good")), ("Note", .string("n"))))
    #expect(try await states(rig) == ["1|0"])
    #expect(try await rig.store.upload().sent == 1)
    #expect(
      rig.service.entities("Orders")[1]?.values == ["ID": "1", "Name": "\"good\"", "Note": "\"n\"", "Total": "5"])
    #expect(rig.service.log.count == 1)
    #expect(try await rig.isClean())
  }

  @Test("One that is refused again is in the archive again, and repaired again")
  func again() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    _ = try await rig.store.upload()
    try await rig.store.update("Orders(1)", to: entity(("Note", .string("n"))))
    #expect(try await rig.store.upload().failed == 1)
    #expect(try await states(rig) == ["1|2"])
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("x"))), method: .replace)
    #expect(try await rig.store.upload().sent == 1)
    #expect(rig.service.log == ["PUT Orders(1)"])
    #expect(try await rig.isClean())
  }

  @Test("By one property, put by itself")
  func property() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    _ = try await rig.store.upload()
    let name = ODataRequestBody.properties([ODataProperty("Name", .string("p"))])
    _ = try await rig.store.execute(single: ODataSingleRequest(.update(.replace), "Orders(1)/Name", body: name))
    #expect(try await rig.store.upload().sent == 1)
    #expect(rig.service.log == ["PATCH Orders(1)"])
    #expect(rig.service.entities("Orders")[1]?.values["Name"] == "\"p\"")
  }

  @Test("An item that names an order that is not there is bound to another")
  func binding() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(entity(("Text", .string("t")), ("Order_ID", .int32(77))), in: "Items")
    #expect(try await rig.store.upload().failed == 1)
    let path = try await rig.rows("SELECT 'Items(' || ID || ')' FROM {Items}")[0]
    var bound = ODataEntity()
    var link = ODataNavigationLink(name: "Order")
    link.bindings = ["Orders(2)"]
    bound.navigationLinks = [link]
    try await rig.store.update(path, to: bound)
    #expect(try await states(rig) == ["1|0"])
    #expect(try await rig.store.upload().sent == 1)
    #expect(rig.service.entities("Items")[1000]?.values["Order_ID"] == "2")
    #expect(try await rig.isClean())
  }

  @Test("A whole transaction goes again where one of its changes is repaired")
  func transaction() async throws {
    let rig = try await UploadRig()
    let batch = ODataBatchRequest([
      .changeSet([
        .create(entity(("Name", .string("new"))), in: "Orders"),
        .update("Orders(1)", to: entity(("Name", .string("poison")))),
      ])
    ])
    _ = try await rig.store.execute(batch: batch)
    #expect(try await rig.store.upload().failed == 2)
    #expect(rig.service.log.isEmpty)
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good"))))
    #expect(try await states(rig) == ["1|0", "2|0"])
    #expect(try await rig.store.upload().sent == 2)
    #expect(rig.service.log == ["POST Orders(1000)", "PATCH Orders(1)"])
    #expect(try await rig.isClean())
  }

  @Test("A change that cannot be a part of the refused one is held behind it")
  func behind() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(entity(("Name", .string("poison"))), in: "Orders")
    _ = try await rig.store.upload()
    let path = try await rig.rows("SELECT 'Orders(' || ID || ')' FROM {Orders} WHERE ID < 0")[0]
    try await rig.store.create(entity(("Text", .string("i"))), in: path + "/Items")
    #expect(try await states(rig) == ["1|2", "2|3"])
    #expect(try await rig.store.upload() == OfflineODataUploadReport())
    try await rig.store.update(path, to: entity(("Name", .string("good"))))
    #expect(try await states(rig) == ["1|0", "2|0"])
    #expect(try await rig.store.upload().sent == 2)
    #expect(rig.service.entities("Items")[1001]?.values["Order_ID"] == "1000")
  }

  @Test("Deleting an entity that was never made takes its refused creation back, unless others depend on it")
  func deletionOfMade() async throws {
    let rig = try await UploadRig()
    try await rig.store.create(entity(("Name", .string("poison"))), in: "Orders")
    _ = try await rig.store.upload()
    let path = try await rig.rows("SELECT 'Orders(' || ID || ')' FROM {Orders} WHERE ID < 0")[0]
    try await rig.store.create(entity(("Text", .string("i"))), in: path + "/Items")
    await #expect(throws: OfflineODataError.self) { try await rig.store.delete(path) }
    try await rig.store.discard(2)
    try await rig.store.delete(path)
    #expect(try await rig.isClean())
    #expect(try await rig.rows("SELECT ID FROM {Orders}") == ["1", "2", "3"])
  }

  @Test("Deleting an entity whose update was refused sends the deletion alone")
  func deletionOfChanged() async throws {
    let rig = try await UploadRig(.init(requiresIfMatch: true))
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    _ = try await rig.store.upload()
    try await rig.store.delete("Orders(1)")
    #expect(try await states(rig) == ["2|0"])
    #expect(try await rig.store.upload().sent == 1)
    #expect(rig.service.log == ["DELETE Orders(1)"])
    #expect(try await rig.isClean())
  }

  @Test("One whose outcome is not known waits for a person, and so do changes behind it")
  func unknown() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    _ = try await rig.store.upload()
    try await rig.open.write { connection, _, _ in
      let queue = ChangeQueue(connection)
      var failure = try queue.entry(1)?.failure
      failure?.kind = .unknownOutcome
      try queue.set(failure: failure, of: 1)
    }
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good"))))
    #expect(try await states(rig) == ["1|2", "2|3"])
    try await rig.store.retry(1)
    #expect(try await states(rig) == ["1|0", "2|0"])
  }
}
