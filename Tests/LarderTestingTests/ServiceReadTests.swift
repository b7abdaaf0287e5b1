import LarderHTTP
import LarderOData
import LarderTesting
import Testing

@Suite("Test service: reads", .timeLimit(.minutes(2)))
struct ServiceReadTests {
  @Test(
    "Queries are evaluated",
    arguments: [
      ("Orders?$orderby=ID desc", "ID", ["2", "1"]),
      ("Orders?$filter=Price gt 2 and Color eq Shop.Color'Red'", "ID", ["1"]),
      ("Orders?$filter=Items/any(i:i/Text eq 'b')", "ID", ["2"]), ("Orders(2)/Items?$orderby=ID", "Text", ["a", "b"]),
      ("Items?$filter=Order/Note eq 'milk'&$top=1&$orderby=ID", "ID", ["10"]), ("Orders(2)/Parts", "Pos", ["1"]),
      ("Orders(1)/Tags", "Name", ["new"]), ("Tags('new')/Orders", "ID", ["1"]),
      ("Tags?$filter=Orders/any()", "Name", ["new"]), ("Orders?$filter=Address/City eq 'Rome'", "ID", ["1"]),
      ("Orders?$apply=aggregate(ID with sum as Sum)", "Sum", ["3"]),
      ("Tags?$filter=Name eq 'it''s/old'", "Name", ["it's/old"]),
    ] as [(String, String, [String])])
  func queries(_ path: String, _ property: String, _ texts: [String]) async throws {
    let response = try await Shop.service().get(path)
    #expect(response.status == 200, "\(response.text)")
    #expect(response.texts(property) == texts)
    #expect(response.fields["OData-Version"] == "4.0")
  }

  @Test("An entity has its ETag in its content, also when it is expanded, and alone in its field")
  func etags() async throws {
    let service = try Shop.service()
    let order = try await service.get("Orders(2)?$expand=Items,Parts")
    let etag = try #require(await service.get("Orders(2)").fields[.etag])
    #expect(order.node["@odata.etag"]?.string == etag)
    #expect(order.node["Items"]?.items?.count == 2)
    #expect(order.node["Items"]?.items?.allSatisfy { $0["@odata.etag"] != nil } == true)
    let unchanged = try await service.get("Orders(2)", ["If-None-Match": etag])
    #expect(unchanged.status == 304 && unchanged.bytes.isEmpty)
    try service.change("Orders(2)", ["Note": "new"])
    #expect(try await service.get("Orders(2)", ["If-None-Match": etag]).status == 200)
  }

  @Test("Metadata, counts, values, properties and singletons")
  func others() async throws {
    let service = try Shop.service()
    #expect(try await service.get("$metadata").text == Shop.metadata)
    #expect(try await service.get("Orders/$count").text == "2")
    #expect(try await service.get("Orders(1)/Note/$value").text == "tea")
    #expect(try await service.get("Orders(1)/Price").node["value"] == .number("2.5"))
    #expect(try await service.get("Setting").node["Theme"]?.string == "dark")
    #expect(try await service.get("Orders(1)/Main").status == 204)
    #expect(try await service.get("Orders(1)").node["Count"] == .number("1"))
  }

  @Test(
    "What does not exist or fit the model is rejected, with a message",
    arguments: [
      ("Orders(9)", 404), ("Nothing", 404), ("Orders?$filter=Nothing eq 1", 400), ("Orders?$filter=", 400),
      ("Orders('a')", 400), ("Orders?$levels=2", 400), ("Orders?$skiptoken=99", 410), ("Orders?$deltatoken=99", 410),
    ])
  func rejections(_ path: String, _ status: Int) async throws {
    let response = try await Shop.service().get(path)
    #expect(response.status == status, "\(response.text)")
    #expect(!response.message.isEmpty)
  }

  @Test("A response with expanded entities has no ETag, because that of the entity does not change with them")
  func expansionWithoutETag() async throws {
    let service = try Shop.service()
    let etag = try #require(await service.get("Orders(2)").fields[.etag])
    #expect(try await service.get("Orders(2)", ["If-None-Match": etag]).status == 304)
    let expanded = try await service.get("Orders(2)?$expand=Items", ["If-None-Match": etag])
    #expect(expanded.status == 200 && expanded.fields[.etag] == nil)
  }

  @Test("Pages follow each other by links, which keep their state")
  func pages() async throws {
    let service = try Shop.service()
    for id in 3...5 { try service.insert("Orders", ["ID": ODataTestValue(id)]) }
    service.pageSize = 2
    let first = try await service.get("Orders?$orderby=ID&$count=true")
    #expect(first.texts("ID") == ["1", "2"] && first.node["@odata.count"] == .number("5"))
    try service.delete("Orders(5)")
    let second = try await service.get(first.link("nextLink"))
    let third = try await service.get(second.link("nextLink"))
    #expect(second.texts("ID") == ["3", "4"] && third.texts("ID") == ["5"])
    #expect(third.node["@odata.nextLink"] == nil)
    service.pageSize = nil
    let small = try await service.get("Orders", ["Prefer": "odata.maxpagesize=1"])
    #expect(small.texts("ID").count == 1 && small.node["@odata.nextLink"] != nil)
  }

  @Test("A delta has what is new, different or gone since its link, for any query")
  func deltas() async throws {
    let service = try Shop.service()
    let first = try await service.get(
      "Orders?$filter=ID gt 0 and Note ne 'x'&$expand=Items", ["Prefer": "odata.track-changes"])
    #expect(first.fields["Preference-Applied"] == "odata.track-changes")
    let unchanged = try await service.get(first.link("deltaLink"))
    #expect(unchanged.texts("ID").isEmpty && unchanged.node["@odata.context"]?.string?.hasSuffix("/$delta") == true)
    try service.insert("Orders", ["ID": 3, "Note": "new"])
    try service.change("Items(10)", ["Text": "changed"])
    let changed = try await service.get(unchanged.link("deltaLink"))
    #expect(changed.texts("ID").sorted() == ["2", "3"])
    try service.change("Orders(3)", ["Note": "x"])
    try service.delete("Orders(1)")
    let removed = try await service.get(changed.link("deltaLink"))
    #expect(
      removed.texts("id") == [1, 3].map { "https://service.test/Orders(\($0))" }
        && removed.texts("reason") == ["deleted", "changed"])
    // The first link still works: it returns all that has happened since.
    #expect(try await service.get(first.link("deltaLink")).texts("ID") == ["2", "null"])
    service.expireDeltaLinks()
    #expect(try await service.get(removed.link("deltaLink")).status == 410)
    service.tracksChanges = false
    #expect(try await service.get("Orders", ["Prefer": "odata.track-changes"]).node["@odata.deltaLink"] == nil)
  }

  @Test("A delta of a query with $select is delivered even if the keys are not selected")
  func selectedDeltas() async throws {
    let service = try Shop.service()
    let first = try await service.get("Orders?$select=Note", ["Prefer": "odata.track-changes"])
    try service.change("Orders(1)", ["Note": "new"])
    try service.delete("Orders(2)")
    let changes = try await service.get(first.link("deltaLink"))
    let entities = changes.node["value"]?.items ?? []
    #expect(entities.count == 2 && entities.first?["Note"]?.string == "new", "\(changes.text)")
    #expect(entities.first?["ID"] == nil && entities.last?["id"]?.string == "https://service.test/Orders(2)")
  }

  @Test("A link of another collection, and a delta link below an entity that is gone, get 410")
  func foreignLinks() async throws {
    let service = try Shop.service()
    service.pageSize = 1
    let page = try await service.get("Orders").link("nextLink")
    #expect(try await service.get(page.replacing("Orders", with: "Items")).status == 410)
    #expect(try await service.get(page).texts("ID") == ["2"])
    service.pageSize = nil
    let items = try await service.get("Orders(2)/Items", ["Prefer": "odata.track-changes"]).link("deltaLink")
    #expect(try await service.get(items).status == 200)
    #expect(try await service.get(items.replacing("Orders(2)/Items", with: "Items")).status == 410)
    try service.delete("Orders(2)")
    let gone = try await service.get(items)
    #expect(gone.status == 410 && gone.message.contains("Orders(2)/Items"), "\(gone.text)")
  }

  @Test("Full metadata has the annotations of a service, and none of the store that evaluates queries")
  func fullMetadata() async throws {
    let service = try Shop.service()
    let full = try await service.get("Orders?$expand=Items", ["Accept": "application/json;odata.metadata=full"])
    #expect(full.text.contains("@odata.id") && full.text.contains("#Shop.Order"), "\(full.text)")
    #expect(!full.text.contains("@sap."), "\(full.text)")
  }

  @Test("Rows that do not fit the model are rejected when the service is created")
  func seeds() {
    func message(_ rows: [String: [ODataTestRow]]) -> String {
      do { _ = try ODataTestService(metadata: Shop.metadata, rows: rows) } catch { return "\(error)" }
      return ""
    }
    #expect(message(["Orderz": [[:]]]) == "The model has no entity set or singleton 'Orderz'.")
    #expect(message(["Orders": [["ID": 1, "Nota": "x"]]]) == "Shop.Order has no property 'Nota'.")
    #expect(message(["Orders": [["ID": "one"]]]).hasPrefix("'ID': "))
    #expect(message(["Orders": [["Color": "Green"]]]) == "'Color': \"Green\" is no member of Shop.Color.")
    #expect(message(["Tags": [[:]]]) == "The entity of 'Tags' has no value for its key 'Name'.")
    #expect(message(["Orders": [["ID": 1], ["ID": 1]]]) == "'Orders(1)' exists already.")
    #expect(message(["Orders": [["Count": nil]]]) == "'Count' must not be null.")
    #expect(throws: ODataTestServiceError.self) {
      try ODataTestService(
        metadata: """
          <edmx:Edmx Version="1.0" xmlns:edmx="http://schemas.microsoft.com/ado/2007/06/edmx"><edmx:DataServices
          xmlns:m="http://schemas.microsoft.com/ado/2007/08/dataservices/metadata" m:DataServiceVersion="2.0">
          <Schema Namespace="N" xmlns="http://schemas.microsoft.com/ado/2008/09/edm"/></edmx:DataServices></edmx:Edmx>
          """)
    }
  }
}
