import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("A rejected change is corrected by another one", .timeLimit(.minutes(1)))
struct ArchiveRepairTests {
  private func entity(_ values: (String, ODataValue)...) -> ODataEntity {
    ODataEntity(properties: values.map { ODataProperty($0.0, $0.1) })
  }

  private func states(_ rig: UploadRig) async throws -> [String] { try await rig.queue }

  @Test("Two updates become one request: the rejected one is sent with the newer values", arguments: [false, true])
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

  @Test("A request that is rejected again is in the archive again, and can be corrected again")
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

  @Test("An update that needs an entity created later is not merged into an earlier update")
  func createdSince() async throws {
    let rig = try await UploadRig(combines: true)
    rig.service.change { $0.sets["Items"]?[11] = .init(values: ["ID": "11", "Order_ID": "1"]) }
    try await rig.store.download()
    try await rig.store.update("Items(11)", to: entity(("Text", .string("a"))))
    try await rig.store.create(entity(("Name", .string("new"))), in: "Orders")
    let key = try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first.flatMap { Int32($0) })
    try await rig.store.update("Items(11)", to: entity(("Order_ID", .int32(key))))
    let report = try await rig.store.upload()
    #expect(report.failed == 0 && report.pending == 0, "\(report)")
    #expect(rig.service.entities("Items")[11]?.values == ["ID": "11", "Order_ID": "1000", "Text": "\"a\""])
    #expect(try await rig.isClean())
  }

  @Test(
    "The dependencies of a change that is merged into a rejected one are sent before it; entities that both name are deleted after it"
  )
  func needs() async throws {
    let rig = try await UploadRig(.init(guardsItems: true))
    rig.service.change { $0.sets["Items"]?[11] = .init(values: ["ID": "11", "Order_ID": "1"]) }
    try await rig.store.download()
    var created = ODataSingleRequest.create(entity(("Name", .string("new"))), in: "Orders")
    created.uploadCategory = "later"
    _ = try await rig.store.execute(single: created)
    let key = try #require(try await rig.rows("SELECT ID FROM {Orders} WHERE ID < 0").first.flatMap { Int32($0) })
    try await rig.store.update("Items(11)", to: entity(("Text", .string("a"))))
    try await rig.store.update("Items(11)", to: entity(("Order_ID", .int32(key))))
    rig.service.fail(.status(422)) { $0.contains("Items(11)") }
    let options = OfflineODataUploadOptions(categories: [""], changesPerBatch: 0)
    #expect(try await rig.store.upload(options).failed == 2)
    #expect(try await states(rig) == ["1|0", "2|2", "3|3"])
    try await rig.store.update("Items(11)", to: entity(("Text", .string("b"))))
    #expect(try await states(rig) == ["1|0", "2|0"])
    let early = try await rig.store.upload(options)
    #expect(early.sent == 0 && early.failed == 0 && early.pending == 2, "\(early)")
    try await rig.store.delete("Orders(1)")
    let report = try await rig.store.upload(OfflineODataUploadOptions(changesPerBatch: 0))
    #expect(report.sent == 3 && report.failed == 0 && report.pending == 0, "\(report) \(rig.service.log)")
    #expect(rig.service.log.last == "DELETE Orders(1)")
    #expect(rig.service.entities("Items")[11]?.values == ["ID": "11", "Order_ID": "1000", "Text": "\"b\""])
  }

  @Test("Twenty thousand changes of one rejected transaction are listed and searched quickly")
  func rejectedTransaction() async throws {
    let rig = try await UploadRig()
    let row = try await rig.row("Orders", 1)
    try await rig.update(row, ["Name": .string("x")])
    try await rig.open.write { snapshot in
      try snapshot.connection.run(
        """
        WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 20000)
        INSERT INTO larder_request(id, unit, state, request, failure)
          SELECT i, 1, 2, r.request, ?1 FROM n JOIN larder_request r ON r.id = 1
        """, .text(JSONSettings.encode(ArchivedFailure(kind: .rejected, message: "m", method: "", url: "", time: 0))))
      try snapshot.connection.run("UPDATE larder_request SET state = 3 WHERE id = 1")
    }
    let archive = try await rig.open.read { snapshot in try ArchivedRequests(ChangeQueue(snapshot.connection)) }
    #expect(archive.failures([1]).count == 19_999)
    #expect(archive.released.isEmpty)
    #expect(archive.holders(of: 1) == "2, 3, 4, 5, 6 and others")
  }

  @Test("Corrected by setting one property alone")
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

  @Test("An item that refers to a missing order is bound to another order")
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

  @Test("A whole transaction is sent again after one of its changes is corrected")
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

  @Test("A change that cannot be merged into the rejected one is held")
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

  @Test("Deleting an entity whose creation was rejected undoes the creation, unless others depend on it")
  func deletionOfCreated() async throws {
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

  @Test("Deleting an entity whose update was rejected sends only the deletion")
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

  @Test("A request with an unclear outcome waits for a decision, and so do later changes")
  func unknown() async throws {
    let rig = try await UploadRig()
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("poison"))))
    _ = try await rig.store.upload()
    try await rig.open.write { snapshot in
      let queue = ChangeQueue(snapshot.connection)
      var failure = try queue.entry(1)?.failure
      failure?.kind = .unknownOutcome
      try queue.set(failure: failure, of: 1)
    }
    try await rig.store.update("Orders(1)", to: entity(("Name", .string("good"))))
    #expect(try await states(rig) == ["1|2", "2|3"])
    try await rig.store.retry(1)
    #expect(try await states(rig) == ["1|0", "2|0"])
  }

  @Test("Two rejected creations that depend on each other through a later change do not wait for ever")
  func circle() async throws {
    let rig = try await ChangeRig(
      ReplicaRig.v4(
        """
        <EntityType Name="Firm"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Name" Type="Edm.String"/><Property Name="OwnerID" Type="Edm.Int32"/>
          <NavigationProperty Name="Owner" Type="N.Person">
            <ReferentialConstraint Property="OwnerID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
        <EntityType Name="Person"><Key><PropertyRef Name="ID"/></Key><Property Name="ID" Type="Edm.Int32" Nullable="false"/>
          <Property Name="Name" Type="Edm.String"/><Property Name="FirmID" Type="Edm.Int32"/>
          <NavigationProperty Name="Firm" Type="N.Firm">
            <ReferentialConstraint Property="FirmID" ReferencedProperty="ID"/></NavigationProperty></EntityType>
        """,
        container: """
          <EntitySet Name="Firms" EntityType="N.Firm"><NavigationPropertyBinding Path="Owner" Target="People"/></EntitySet>
          <EntitySet Name="People" EntityType="N.Person"><NavigationPropertyBinding Path="Firm" Target="Firms"/></EntitySet>
          """))
    try await rig.create("Firms", [.init("ID", .int32(1)), .init("Name", .string("poison"))])
    try await rig.create("People", [.init("ID", .int32(2)), .init("Name", .string("poison"))])
    try await rig.rows.replica.write { (snapshot) throws(StorageError) in
      for id in [Int64(1), 2] {
        try ChangeQueue(snapshot.connection).set(.archived, of: id)
        let failure = ArchivedFailure(kind: .rejected, message: "m", method: "", url: "", time: 0)
        try ChangeQueue(snapshot.connection).set(failure: failure, of: id)
      }
    }
    try await rig.update("Firms(1)", [.init("OwnerID", .int32(2))])
    #expect(try await rig.queue() == ["1/1 create Firms ID,Name,OwnerID* <2", "2/2 create People ID,Name"])
    try await rig.update("People(2)", [.init("FirmID", .int32(1))])
    try await rig.update("People(2)", [.init("Name", .string("good"))])
    let queue = try await rig.queue()
    #expect(
      queue.prefix(3) == [
        "1/1 create Firms ID,Name,OwnerID* <2", "2/2 create People ID,Name", "3/3 patch People# FirmID* <1,2",
      ])
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_request WHERE state <> 0") == ["0"])
    for id in 1...Int64(queue.count) { try await rig.succeed(id == 1 ? 2 : id == 2 ? 1 : id) }
    #expect(try await rig.rows.rows("SELECT Name, FirmID FROM {People}") == ["good|1"])
  }
}
