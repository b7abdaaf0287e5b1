import LarderHTTP
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Changes made", .timeLimit(.minutes(1)))
struct ChangeMakingTests {
  /// Customers 1 and 2, an order of 1 with an item and a tag.
  static let order = "00000000-0000-0000-0000-000000000001"

  static func filled(combines: Bool = false) async throws -> ChangeRig {
    let rig = try await ChangeRig(combines: combines)
    try await rig.rows.load(
      "Customers",
      """
      {"value":[{"ID":1,"@odata.etag":"W/\\"1\\"","Name":"Ada","Home":{"City":"Ulm","Zip":"89"},"Code":"a","Mails":["x"]},
      {"ID":2,"@odata.etag":"W/\\"2\\"","Name":"Bob"}]}
      """)
    try await rig.rows.load(
      "Orders",
      """
      {"value":[{"ID":"\(order)","Total":5,"CustomerID":1,"Items":[{"No":1,"Text":"one"}],"Tags":[{"Name":"red"}]}]}
      """)
    return rig
  }

  @Test("A created entity is there at once, with a key of this device, queued, and returned as a service returns it")
  func create() async throws {
    let rig = try await Self.filled()
    let response = try await rig.create("Customers", [.init("Name", .string("Cyd")), .init("Color", .string("Blue"))])
    #expect(response.httpStatus == 201)
    let key = try #require(try await rig.rows.rows("SELECT ID FROM {Customers} WHERE Name = 'Cyd'").first)
    #expect(key.hasPrefix("-"))
    #expect(response.fields[.location] == "http://h/s/Customers(\(key))")
    #expect(response.etag?.hasPrefix("W/\"larder-") == true)
    #expect(String(decoding: response.payloadBytes, as: UTF8.self).contains("\"Name\":\"Cyd\""))
    // The key is not sent.
    #expect(try await rig.queue() == ["1/1 create Customers Name,Color"])
    #expect(try await rig.rows.rows("SELECT \"@state\", Color FROM {Customers} WHERE ID = \(key)") == ["3|2"])
    #expect(try await rig.read("Customers(\(key))/Name").contains("Cyd"))
    // 204 for those who want nothing back.
    var request = ODataSingleRequest.create(ODataEntity(properties: [.init("Name", .string("D"))]), in: "Customers")
    request.returnPreference = .minimal
    let quiet = try await rig.change(request)
    #expect(quiet.httpStatus == 204)
    #expect(quiet.payloadBytes.isEmpty)
    #expect(quiet.fields["OData-EntityId"]?.hasPrefix("http://h/s/Customers(-") == true)
  }

  @Test("Entities in line, in navigation properties and in others, with bindings to those not yet sent")
  func deep() async throws {
    let rig = try await Self.filled()
    let created = try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    let customer = try #require(created.fields[.location]?.dropFirst("http://h/s/".count)).description
    var tags = ODataNavigationLink(
      name: "Tags",
      content: .collection(
        .init(entities: [
          ODataEntity(properties: [.init("Name", .string("new"))])
        ])))
    tags.bindings = ["Tags('red')"]
    var owner = ODataNavigationLink(name: "Customer")
    owner.bindings = ["http://h/s/" + customer]
    let items = ODataNavigationLink(
      name: "Items",
      content: .collection(
        .init(entities: [
          ODataEntity(properties: [.init("No", .int32(1)), .init("Text", .string("a"))]),
          ODataEntity(properties: [.init("No", .int32(2))]),
        ])))
    try await rig.create("Orders", [.init("Total", .decimal(.init(7)))], [owner, tags, items])
    #expect(
      try await rig.queue() == [
        "1/1 create Customers Name", "2/2 create Orders Total,Customer[@],Tags[@;Name],Items[No,Text;No] <1",
      ])
    let text = try await rig.read("\(customer)/Orders?$expand=Items($orderby=No),Tags($orderby=Name)&$select=Total")
    #expect(
      text.contains(
        #""Total":7,"Items":[{"No":1,"Text":"a"},{"No":2,"Text":null}],"Tags":[{"Name":"new"},{"Name":"red"}]"#),
      "\(text)")
    // Into a collection of another entity.
    try await rig.create("\(customer)/Orders", [.init("Total", .int32(8))])
    try await rig.create("Orders(\(Self.order))/Items", [.init("No", .int32(9))])
    try await rig.create("Orders(\(Self.order))/Tags", [.init("Name", .string("more"))])
    let last = try await rig.queue().suffix(3)
    #expect(
      Array(last) == [
        "3/3 create Customers#Orders Total <1", "4/4 create Orders#Items No", "5/5 create Orders#Tags Name",
      ])
    #expect(try await rig.read("\(customer)/Orders/$count") == "2")
    #expect(try await rig.read("Orders(\(Self.order))/Items/$count") == "2")
    #expect(try await rig.read("Orders(\(Self.order))/Tags/$count") == "2")
  }

  @Test("Foreign keys that are keys of this device name the entity")
  func foreignKeys() async throws {
    let rig = try await Self.filled()
    try await rig.create("Customers", [.init("Name", .string("Cyd"))])
    let key = try #require(try await rig.rows.rows("SELECT ID FROM {Customers} WHERE ID < 0").first)
    try await rig.create("Orders", [.init("CustomerID", .int32(try #require(Int32(key))))])
    try await rig.update("Orders(\(Self.order))", [.init("CustomerID", .int32(try #require(Int32(key))))])
    #expect(
      try await rig.queue().suffix(2) == ["2/2 create Orders CustomerID* <1", "3/3 patch Orders# CustomerID* <1"])
    // The server's key comes.
    try await rig.succeed(1, EntityCells(["ID": .integer(77), "Name": .text("Cyd!"), "@etag": .text("W/\"9\"")]))
    #expect(try await rig.rows.rows("SELECT DISTINCT CustomerID FROM {Orders}") == ["77"])
    #expect(
      try await rig.rows.rows("SELECT ID, Name, \"@state\", \"@etag\" FROM {Customers} WHERE ID = 77")
        == ["77|Cyd!|1|W/\"9\""])
    #expect(try await rig.read("Customers(77)/Orders/$count") == "2")
    // The old URL is good for ever.
    try await rig.update("Customers(\(key))", [.init("Name", .string("Cyd?"))])
    #expect(try await rig.read("Customers(77)/Name/$value") == "Cyd?")
    #expect(try await rig.read("Customers(\(key))/Name/$value") == "Cyd?")
  }

  @Test("PATCH changes what it says, PUT all, each with a new ETag; the server's is kept")
  func update() async throws {
    let rig = try await Self.filled()
    let response = try await rig.update(
      "Customers(1)", [.init("ID", .int32(1)), .init("Credit", .double(1.5)), .init("Code", .string("a"))],
      ifMatch: "W/\"1\"")
    #expect(response.httpStatus == 204)
    #expect(try await rig.queue() == ["1/1 patch Customers# Credit"])
    let home = ODataValue.complex(.init(properties: [.init("City", .string("Bonn"))]))
    try await rig.update("Customers(1)", [.init("Home", home)], ifMatch: response.etag)
    #expect(
      try await rig.rows.rows(
        "SELECT Name, Credit, \"Home/City\", \"Home/Zip\", \"@state\" FROM {Customers} WHERE ID = 1")
        == ["Ada|1.5|Bonn|89|2"])
    try await rig.update("Customers(1)", [.init("Name", .string("Eva"))], .replace)
    #expect(
      try await rig.rows.rows(
        "SELECT Name, Credit, Home, \"Home/City\", Code, Level, Mails FROM {Customers} WHERE ID = 1")
        == ["Eva|-|-|-|a|3|-"])
    let bases = try await rig.rows.replica.read { (snapshot) throws(StorageError) in
      try ChangeQueue(snapshot.connection).entries().map(\.request.baseETag)
    }
    #expect(bases == ["W/\"1\"", "W/\"1\"", "W/\"1\""])
    // A stale ETag fails at once.
    let stale = ODataSingleRequest.update("Customers(1)", to: ODataEntity(), ifMatch: "W/\"1\"")
    #expect(await rig.failure(stale) == .entityChanged)
    #expect(await rig.failure(.delete("Customers(1)", ifMatch: "W/\"1\"")) == .entityChanged)
    #expect(await rig.failure(.delete("Customers(1)", ifMatch: "*")) == nil)
    #expect(try await rig.read("Customers/$count") == "1")
    #expect(await rig.failure(.delete("Customers(1)")) == .entityNotFound)
    // All taken back.
    #expect(try await rig.store.undoPendingChanges(["Customers(1)"]) == 4)
    #expect(
      try await rig.rows.rows("SELECT Name, \"@etag\", \"@state\", \"Home/City\", Mails FROM {Customers} WHERE ID = 1")
        == ["Ada|W/\"1\"|0|Ulm|[\"x\"]"])
  }

  @Test("Links of all kinds come and go")
  func links() async throws {
    let rig = try await Self.filled()
    let order = "Orders(\(Self.order))"
    try await rig.create("Tags", [.init("Name", .string("new"))])
    try await rig.change(.createLink("\(order)/Tags/$ref", to: "Tags('new')"))
    #expect(try await rig.read("\(order)/Tags/$count") == "2")
    try await rig.change(.deleteLink("\(order)/Tags/$ref?$id=Tags('red')"))
    try await rig.change(.deleteLink("\(order)/Tags('new')/$ref"))
    #expect(try await rig.read("\(order)/Tags/$count") == "0")
    try await rig.change(.updateLink("\(order)/First/$ref", to: "http://h/s/Tags('red')"))
    try await rig.change(.updateLink("\(order)/First/$ref", to: "http://h/s/Tags('new')"))
    #expect(try await rig.read("\(order)/First/Name/$value") == "new")
    try await rig.change(.updateLink("\(order)/Customer/$ref", to: "Customers(2)"))
    #expect(try await rig.read("Customers(2)/Orders/$count") == "1")
    try await rig.change(.deleteLink("\(order)/Customer/$ref"))
    try await rig.change(.createLink("Customers(1)/Orders/$ref", to: order))
    #expect(try await rig.read("Customers(1)/Orders/$count") == "1")
    #expect(
      try await rig.queue() == [
        "1/1 create Tags Name", "2/2 createLink Orders#Tags Tags <1", "3/3 deleteLink Orders#Tags Tags <2",
        "4/4 deleteLink Orders#Tags Tags <1,2,3", "5/5 updateLink Orders#First Tags <4",
        "6/6 updateLink Orders#First Tags <1,5", "7/7 updateLink Orders#Customer Customers <6",
        "8/8 deleteLink Orders#Customer - <7", "9/9 createLink Customers#Orders Orders <8",
      ])
    #expect(try await rig.store.undoPendingChanges(nil) == 9)
    #expect(try await rig.read("\(order)/Tags/$count") == "1")
    #expect(try await rig.read("Customers(1)/Orders/$count") == "1")
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_base_link") == ["0"])
  }

  @Test("Properties, raw values, actions")
  func parts() async throws {
    let rig = try await Self.filled()
    func put(_ path: String, _ body: ODataRequestBody) -> ODataSingleRequest {
      ODataSingleRequest(.update(.replace), path, body: body)
    }
    try await rig.change(put("Customers(1)/Name", .properties([.init("Name", .string("N"))])))
    try await rig.change(put("Customers(2)/Home/City", .properties([.init("value", .string("Rom"))])))
    try await rig.change(put("Customers(1)/Level/$value", .bytes(Array("12".utf8), contentType: "text/plain")))
    try await rig.change(.delete("Customers(1)/Home"))
    #expect(
      try await rig.rows.rows("SELECT Name, Level, Home, \"Home/City\" FROM {Customers} ORDER BY ID")
        == ["N|12|-|-", "Bob|-||Rom"])
    #expect(await rig.failure(.delete("Customers(1)/Name")) == .nullNotAllowed)
    #expect(await rig.failure(put("Customers(1)/ID", .properties([.init("ID", .int32(4))]))) == .keyChanged)
    let action = ODataSingleRequest.invokeAction(
      "Orders(\(Self.order))/N.Close", parameters: [.init("Reason", .string("done"))])
    #expect(try await rig.change(action).httpStatus == 202)
    #expect(try await rig.change(.invokeAction("Reset")).httpStatus == 202)
    #expect(
      try await rig.queue().suffix(2) == ["5/5 action Orders#N.Close Reason", "6/6 action Reset -"])
    #expect(try await rig.rows.rows("SELECT \"@state\" FROM {Orders}") == ["2"])
  }

  @Test("Bytes of media entities and streams wait in the store and are read at once")
  func media() async throws {
    let rig = try await Self.filled()
    try await rig.rows.replica.write { (snapshot) throws(StorageError) in
      try StoredStreams.prepare(snapshot.connection)
    }
    let bytes = [UInt8](repeating: 7, count: 600_000)
    let created = try await rig.change(.createMedia(.bytes(bytes, contentType: "image/png"), in: "Pictures"))
    let name = try #require(try await rig.rows.rows("SELECT Name FROM {Pictures} WHERE Name LIKE 'larder-%'").first)
    #expect(created.fields[.location] == "http://h/s/Pictures('\(name)')")
    #expect(try await rig.store.media("Pictures('\(name)')/$value").body.collect() == bytes)
    try await rig.change(.updateMedia("Tags('red')/Icon", to: .bytes([1, 2, 3], contentType: "image/gif")))
    #expect(try await rig.store.media("Tags('red')/Icon").body.collect() == [1, 2, 3])
    #expect(
      try await rig.queue() == [
        "1/1 createMedia Pictures 600000 bytes of image/png", "2/2 updateMedia Tags#Icon 3 bytes of image/gif",
      ])
    // What waits survives an opening; what is taken back goes.
    try await rig.rows.replica.write { (snapshot) throws(StorageError) in
      try StoredStreams.prepare(snapshot.connection)
    }
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_stream_chunk") == ["4"])
    try await rig.succeed(2)
    _ = try await rig.store.undoPendingChanges(nil)
    #expect(try await rig.store.media("Tags('red')/Icon").body.collect() == [1, 2, 3])
    #expect(try await rig.rows.rows("SELECT count(*) FROM larder_stream_chunk") == ["1"])
  }

  @Test("A change set is one unit: all or nothing, its requests name each other")
  func changeSet() async throws {
    let rig = try await Self.filled()
    var customer = ODataSingleRequest.create(ODataEntity(properties: [.init("Name", .string("Cyd"))]), in: "Customers")
    customer.contentID = "c"
    var owner = ODataNavigationLink(name: "Customer")
    owner.bindings = ["$c"]
    let order = ODataSingleRequest.create(ODataEntity(navigationLinks: [owner]), in: "Orders")
    let into = ODataSingleRequest.create(ODataEntity(), in: "$c/Orders")
    let wrong = ODataSingleRequest.update("Customers(2)", to: ODataEntity(properties: [.init("Nam", .null)]))
    await #expect(throws: OfflineODataError.self) {
      try await rig.store.change([customer, order, wrong], isChangeSet: true)
    }
    #expect(try await rig.queue() == [])
    #expect(try await rig.read("Customers/$count") == "2")
    let responses = try await rig.store.change([customer, order, into], isChangeSet: true)
    #expect(responses.map(\.httpStatus) == [201, 201, 201])
    #expect(
      try await rig.queue() == [
        "1/1 create Customers Name", "2/1 create Orders Customer[@] <1", "3/1 create Customers#Orders  <1",
      ])
  }
}
