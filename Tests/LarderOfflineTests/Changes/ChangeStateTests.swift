import Foundation
import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("States of entities with changes", .timeLimit(.minutes(1)))
struct ChangeStateTests {
  @Test("Functions of an entity's state filter, in any case, behind navigation too")
  func functions() async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    try await rig.update("Customers(2)", [.init("Level", .int32(1))])
    func names(_ filter: String) async throws -> String {
      try await rig.read("Customers?$select=Name&$orderby=Name&$filter=\(filter)")
    }
    #expect(try await names("sap.islocal()") == #"{"value":[{"Name":"Cyd"}]}"#)
    #expect(try await names("sap.hasPendingChanges()") == #"{"value":[{"Name":"Bob"},{"Name":"Cyd"}]}"#)
    #expect(try await names("not SAP.HASPENDINGCHANGES()") == #"{"value":[{"Name":"Ada"}]}"#)
    #expect(try await names("sap.inErrorState() eq true") == #"{"value":[]}"#)
    #expect(try await names("sap.haspendingchanges() and not sap.isLocal()") == #"{"value":[{"Name":"Bob"}]}"#)
    let id = "Orders(\(ChangeMakingTests.order))"
    #expect(try await rig.read("Orders/$count?$filter=sap.entityexists(Customer)") == "1")
    #expect(try await rig.read("Orders/$count?$filter=sap.entityexists(First)") == "0")
    #expect(try await rig.read("Orders/$count?$filter=not sap.entityExists(First)") == "1")
    #expect(try await rig.read("Orders/$count?$filter=Customer/sap.hasPendingChanges()") == "0")
    try await rig.change(.updateLink("\(id)/Customer/$ref", to: "Customers(2)"))
    #expect(try await rig.read("Orders/$count?$filter=Customer/sap.hasPendingChanges()") == "1")
    // One that failed.
    try await rig.rows.replica.write { (snapshot) throws(StorageError) in
      var rows = LocalRows(snapshot)
      for entry in try rows.queue.entries() where entry.request.operation == .create {
        try rows.queue.set(.archived, of: entry.id)
        if let entity = entry.request.entity { try rows.touch(entity) }
      }
      try rows.finish()
    }
    #expect(try await names("sap.inErrorState()") == #"{"value":[{"Name":"Cyd"}]}"#)
    #expect(try await names("sap.hasPendingChanges()") == #"{"value":[{"Name":"Bob"}]}"#)
  }

  @Test("Version 2 takes the same functions")
  func v2() async throws {
    let rig = try await ChangeRig(ChangeModels.v2)
    try await rig.create("Heads", [.init("By", .string("me"))])
    #expect(try await rig.read("Heads/$count?$filter=sap.islocal()") == "1")
    #expect(try await rig.read("Heads/$count?$filter=sap.islocal() and By eq 'me'") == "1")
    #expect(try await rig.read("Heads/$count?$filter=not sap.hasPendingChanges()") == "0")
    #expect(try await rig.read("Lines/$count?$filter=sap.entityexists(Head)") == "0")
  }

  @Test("Downloads under changes: the server's rows are applied, the changes stay, what the server changed is reported")
  func download() async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    try await rig.update("Customers(1)", [.init("Level", .int32(9))])
    try await rig.change(.delete("Customers(2)"))
    let outcome = try await rig.rows.load(
      "Customers",
      #"{"value":[{"ID":1,"@odata.etag":"W/\"1b\"","Name":"Ada L."},{"ID":2,"@odata.etag":"W/\"2\"","Name":"Bob"}]}"#)
    #expect(outcome.conflicts.count == 1)
    #expect(
      try await rig.rows.rows("SELECT Name, Level FROM {Customers} ORDER BY Name") == ["Ada L.|9", "Cyd|-"])
    // The server removes both, and has an entity with a key of its own.
    let gone = try await rig.rows.load("Customers", #"{"value":[{"ID":5,"Name":"Eve"}]}"#)
    #expect(gone.conflicts.count == 2)
    #expect(
      try await rig.rows.rows("SELECT Name, Level FROM {Customers} ORDER BY Name") == ["Ada L.|9", "Cyd|-", "Eve|-"])
    #expect(try await rig.store.undoPendingChanges(nil) == 3)
    #expect(try await rig.rows.rows("SELECT Name FROM {Customers}") == ["Eve"])
  }

  @Test("Deltas under changes: images change, rows deleted or made here keep their identity, links too")
  func delta() async throws {
    let rig = try await ChangeMakingTests.filled()
    let order = "Orders(\(ChangeMakingTests.order))"
    try await rig.update("Customers(1)", [.init("Level", .int32(9))])
    try await rig.change(.delete("Customers(2)"))
    try await rig.create("Customers", [.init("ID", .int32(7)), .init("Name", .string("mine"))])
    try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    try await rig.change(.updateLink("\(order)/First/$ref", to: "Tags('red')"))
    try await rig.change(.deleteLink("\(order)/Tags('red')/$ref"))
    let ids = try await rig.rows.rows("SELECT \"@id\" FROM {Customers} WHERE ID = 7")
    let outcome = try await rig.rows.delta(
      "load Customers", "Customers",
      [
        #"""
        {"@odata.context":"http://h/s/$metadata#Customers/$delta","value":[{"ID":1,"Name":"Ada L.","Level":2},
        {"ID":2,"Name":"Bobby"},{"ID":7,"Name":"theirs","Code":"z"},{"ID":8,"Name":"new"}]}
        """#
      ])
    #expect(outcome.conflicts.count == 2)
    let shown = "SELECT Name, Level, Code FROM {Customers} ORDER BY Name"
    #expect(try await rig.rows.rows(shown) == ["Ada L.|9|a", "Cyd|-|-", "mine|-|z", "new|-|-"])
    #expect(try await rig.rows.rows("SELECT \"@id\" FROM {Customers} WHERE ID = 7") == ids)
    #expect(try await rig.read("\(order)/First/Name/$value") == "red")
    #expect(try await rig.read("\(order)/Tags/$count") == "0")
    // The server removes what is changed here: it stays while the change waits.
    try await rig.rows.delta(
      "load Customers", "Customers",
      [
        #"""
        {"@odata.context":"http://h/s/$metadata#Customers/$delta","value":[
        {"@odata.context":"#Customers/$deletedEntity","id":"http://h/s/Customers(1)","reason":"deleted"},
        {"@odata.context":"#Customers/$deletedEntity","id":"http://h/s/Customers(2)","reason":"deleted"}]}
        """#
      ])
    #expect(try await rig.rows.rows(shown) == ["Ada L.|9|a", "Cyd|-|-", "mine|-|z", "new|-|-"])
    #expect(try await rig.store.undoPendingChanges(nil) == 6)
    #expect(try await rig.rows.rows(shown) == ["new|-|-", "theirs|-|z"])
    #expect(try await rig.read("\(order)/Tags/$count") == "1")
  }

  @Test("Pending changes of one entity are merged if the option is set")
  func combining() async throws {
    let rig = try await ChangeMakingTests.filled(combines: true)
    let created = try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    let path = try #require(created.fields[.location]?.dropFirst("http://h/s/".count)).description
    try await rig.update(path, [.init("Level", .int32(1)), .init("Name", .string("C"))])
    #expect(try await rig.queue() == ["1/1 create Customers Level,Name"])
    #expect(try await rig.read("\(path)/Name/$value") == "C")
    try await rig.change(.delete(path))
    #expect(try await rig.queue() == [])
    #expect(try await rig.read("Customers/$count") == "2")
    try await rig.update("Customers(1)", [.init("Level", .int32(1))])
    try await rig.update("Customers(1)", [.init("Level", .int32(2)), .init("Credit", .int32(1))])
    #expect(try await rig.queue() == ["2/2 patch Customers# Level,Credit"])
    var fixed = ODataSingleRequest.update("Customers(1)", to: ODataEntity(properties: [.init("Level", .int32(3))]))
    fixed.isUnmodifiable = true
    try await rig.change(fixed)
    #expect(try await rig.queue().count == 2)
    #expect(try await rig.rows.rows("SELECT Level, Credit FROM {Customers} WHERE ID = 1") == ["3|1"])
    #expect(try await rig.store.undoPendingChanges(["Customers(1)"]) == 2)
    #expect(try await rig.rows.rows("SELECT Level, Credit FROM {Customers} WHERE ID = 1") == ["-|-"])
  }

  @Test("Results contain the state of an entity, in both formats")
  func annotations() async throws {
    let rig = try await ChangeMakingTests.filled()
    let created = try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    guard case .entity(let entity) = try created.payload() else {
      throw ChangeTestError.noEntity
    }
    #expect(entity.isLocal && entity.hasPendingChanges && !entity.inErrorState)
    let text = String(decoding: try await rig.store.json("Customers?$orderby=ID", .init()).bytes, as: UTF8.self)
    #expect(text.contains(#""@sap.isLocal":true,"@sap.hasPendingChanges":true,"ID":-"#), "\(text)")
    #expect(text.components(separatedBy: "sap.").count == 3)
    let old = try await ChangeRig(ChangeModels.v2)
    let head = try await old.create("Heads", [.init("By", .string("me"))])
    guard case .entity(let first) = try head.payload() else { throw ChangeTestError.noEntity }
    #expect(first.isLocal && first.hasPendingChanges && !first.inErrorState)
  }

  @Test("Changes wait over another model: what fits stays, what does not goes to the archive with its reason")
  func migration() async throws {
    let rig = try await ChangeMakingTests.filled()
    try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    try await rig.update("Customers(1)", [.init("Credit", .int32(7))])
    try await rig.update("Customers(2)", [.init("Level", .int32(1))])
    try await rig.change(.delete("Orders(\(ChangeMakingTests.order))"))
    try await rig.update("Customers(2)", [.init("Name", .string("Bobby"))])
    let other = ChangeModels.shop.replacing(#"<Property Name="Level" Type="Edm.Int32" DefaultValue="3"/>"#, with: "")
      .replacing(
        #"Name="Credit" Type="Edm.Decimal" Precision="5" Scale="2""#, with: #"Name="Credit" Type="Edm.String""#
      )
      .replacing(#"<Property Name="Text" "#, with: #"<Property Name="More" Type="Edm.String"/><Property Name="Text" "#)
    _ = try await rig.rows.replica.adopt(metadata: Array(other.utf8))
    #expect(
      try await rig.rows.rows("SELECT Name, Credit, \"@state\" FROM {Customers} ORDER BY Name")
        == ["Ada|7|2", "Bobby|-|6", "Cyd|-|3"])
    #expect(try await rig.read("Orders/$count") == "0")
    let failures = try await rig.rows.replica.read { (snapshot) throws(StorageError) in
      try ChangeQueue(snapshot.connection).entries(.archived).map { "\($0.id) \($0.failure?.message ?? "")" }
    }
    #expect(failures == ["3 The service's model no longer has Customers/Level."])
    // What was held behind it goes with it where another change repairs it.
    #expect(try await rig.rows.rows("SELECT id FROM larder_request WHERE state = 3") == ["5"])
    try await rig.update("Customers(2)", [.init("Credit", .string("x"))])
    // Customers are open: they take what they do not declare.
    #expect(try await rig.queue().contains("3/3 patch Customers# Level,Name,Credit"))
    #expect(try await rig.rows.rows("SELECT Name, Credit, \"@state\" FROM {Customers} WHERE ID = 2") == ["Bobby|x|2"])
    #expect(try await rig.store.undoPendingChanges(nil) == 4)
    #expect(try await rig.rows.rows("SELECT Name, Credit FROM {Customers} ORDER BY Name") == ["Ada|-", "Bob|-"])
    #expect(try await rig.read("Orders/$count") == "1")
  }
}

private enum ChangeTestError: Error { case noEntity }
