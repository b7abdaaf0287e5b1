import LarderOData
import LarderService
import LarderTestSupport
import Testing

@testable import LarderOffline

@Suite("Options of affected entities of any type", .timeLimit(.minutes(1)))
struct AffectedEntityTests {
  /// The shop without types that have undeclared properties.
  private static let closed = ChangeModels.shop.replacing(" OpenType=\"true\"", with: "")

  /// In the queue: a new order, three items in it, a new firm.
  private func rig(_ metadata: String = AffectedEntityTests.closed) async throws -> ChangeRig {
    let rig = try await ChangeRig(metadata)
    try await rig.rows.load("Customers", #"{"value":[{"ID":1,"Name":"Ada"}]}"#)
    let id = try #require(ODataGuid("00000000-0000-0000-0000-000000000001"))
    try await rig.create(
      "Orders",
      [
        ODataProperty("ID", .guid(id)), ODataProperty("Total", .decimal(12)), ODataProperty("CustomerID", .int32(1)),
      ])
    for (number, text) in [(1, "a"), (2, "b"), (3, "a")] {
      try await rig.create(
        "Orders(\(id))/Items",
        [ODataProperty("No", .int32(Int32(number))), ODataProperty("Text", .string(text))])
    }
    try await rig.change(
      .create(
        ODataEntity(
          typeName: "N.Firm",
          properties: [
            ODataProperty("ID", .int32(7)), ODataProperty("Name", .string("Acme")), ODataProperty("Tax", .int64(9)),
          ]), in: "Customers"))
    return rig
  }

  /// The members in the rows of a query, without the enclosing JSON.
  private func affected(_ rig: ChangeRig, _ options: String) async throws -> String {
    let text = try await rig.read("RequestQueue?$select=RequestID&$orderby=RequestID&$expand=" + options)
    return text.replacing("{\"value\":", with: "").replacing("\"AffectedEntity\":", with: "")
  }

  @Test("Names belong to each entity's type; unknown ones are omitted, and an entity without any shows its key")
  func names() async throws {
    let rig = try await rig()
    let order = "00000000-0000-0000-0000-000000000001"
    #expect(
      try await affected(rig, "AffectedEntity($select=Total,Name,Text)&$filter=RequestID ne 3 and RequestID ne 4")
        == #"[{"RequestID":1,{"Total":12}},{"RequestID":2,{"Text":"a"}},{"RequestID":5,{"Name":"Acme"}}]}"#)
    #expect(
      try await affected(rig, "AffectedEntity($select=Tax)&$filter=RequestID eq 1 or RequestID eq 5")
        == #"[{"RequestID":1,{"ID":"\#(order)"}},{"RequestID":5,{"Tax":9}}]}"#)
    #expect(
      try await affected(
        rig, "AffectedEntity($compute=Total add 1 as More;$select=More,Name)&$filter=RequestID eq 1 or RequestID eq 5")
        == #"[{"RequestID":1,{"More":13}},{"RequestID":5,{"Name":"Acme"}}]}"#)
  }

  @Test("Entities expanded in them are filtered, ordered and limited")
  func inner() async throws {
    let rig = try await rig()
    #expect(
      try await affected(
        rig,
        "AffectedEntity($select=Total;$expand=Items($filter=Text eq @t;$orderby=No desc;$top=1;$select=No;$count=true))&@t='a'&$filter=RequestID eq 1"
      )
        == #"[{"RequestID":1,{"Total":12,"Items@odata.count":2,"Items":[{"No":3}]}}]}"#)
    #expect(
      try await affected(
        rig, "AffectedEntity($select=Total;$expand=Customer($select=Name),Items/$count)&$filter=RequestID eq 1")
        == #"[{"RequestID":1,{"Total":12,"Customer":{"Name":"Ada"},"Items@odata.count":3}}]}"#)
    // At any level, and after a path.
    #expect(
      try await affected(
        rig,
        "DependentRequests($select=RequestID;$top=1;$orderby=RequestID;$expand=AffectedEntity($select=Text))&$filter=RequestID eq 1"
      )
        == #"[{"RequestID":1,"DependentRequests":[{"RequestID":2,{"Text":"a"}}]}]}"#)
    #expect(
      try await rig.read("RequestQueue(1)/AffectedEntity/Items?$filter=Text eq 'a'&$orderby=No desc&$select=No&$top=1")
        == #"{"value":[{"No":3}]}"#)
  }

  @Test("An open type may have any property, but no undeclared navigation property")
  func open() async throws {
    let rig = try await rig(ChangeModels.shop)
    #expect(
      try await affected(
        rig, "AffectedEntity($select=Total;$expand=Items/$count)&$filter=RequestID eq 1 or RequestID eq 5")
        == #"[{"RequestID":1,{"Total":12,"Items@odata.count":3}},{"RequestID":5,{}}]}"#)
    await #expect(throws: OfflineODataError.self) { try await affected(rig, "AffectedEntity($expand=Itmes)") }
  }

  @Test("A cast selects entities, others are null; the first matching item shows an entity")
  func casts() async throws {
    let rig = try await rig()
    #expect(
      try await affected(rig, "AffectedEntity/N.Order($select=Total)&$filter=RequestID eq 1 or RequestID eq 5")
        == #"[{"RequestID":1,{"Total":12}},{"RequestID":5,null}]}"#)
    #expect(
      try await affected(
        rig,
        "AffectedEntity/N.Firm($select=Tax),AffectedEntity/N.Customer($select=Name),AffectedEntity($select=Total,Text)&$filter=RequestID ne 3 and RequestID ne 4"
      )
        == #"[{"RequestID":1,{"Total":12}},{"RequestID":2,{"Text":"a"}},{"RequestID":5,{"Tax":9}}]}"#)
  }

  @Test(
    "An option that fits no type of the service is an error, whatever is in the queue",
    arguments: [
      ("AffectedEntity($select=Nmae)", "'Name'"), ("AffectedEntity($expand=Itmes)", "'Items'"),
      ("AffectedEntity($expand=Items($filter=Txt eq 'a'))", "'Text'"),
      ("AffectedEntity($expand=Items($filter=No eq 'a'))", "Edm.String"),
      ("AffectedEntity($filter=Total gt 1)", "$filter is not allowed on Edm.EntityType: it needs a collection"),
      ("AffectedEntity($orderby=Total)", "$orderby is not allowed"),
      ("AffectedEntity($top=1)", "$top is not allowed"), ("AffectedEntity($levels=2)", "options of $expand"),
      ("AffectedEntity/N.Ordr($select=Total)", "'N.Order'"),
      ("AffectedEntity/N.Order($select=Tax)", "'Tax'"), ("AffectedEntity/$count", "only collections"),
      ("AffectedEntity($expand=Items($filter=$it/RequestID eq 1))", "$it"),
      ("AffectedEntity($select=Name),AffectedEntity", "occurs twice"),
      ("AffectedEntity($select=Total,Mails($top=1),Mails($top=2))", "Mails"),
    ])
  func rejections(options: String, expected: String) async throws {
    for rig in [try await ChangeRig(Self.closed), try await rig()] {
      let error = await #expect(throws: OfflineODataError.self) {
        try await rig.read("RequestQueue?$expand=" + options)
      }
      #expect(error?.errorMessage.contains(expected) == true, "\(String(describing: error))")
      #expect([.unfittingURL, .unsupportedQuery].contains(error?.name), "\(String(describing: error))")
    }
  }

  @Test("Context URLs name the selected properties, of the whole result and of each entity")
  func contexts() async throws {
    let rig = try await StoreSetTests.rig()
    let options = OfflineODataResultOptions(version: .v4)
    let bytes = try await rig.store.readJSON(
      "RequestQueue?$select=RequestID&$expand=AffectedEntity($select=Name,Text)&$orderby=RequestID", options: options
    ).bytes
    let text = String(decoding: bytes, as: UTF8.self)
    #expect(
      text.hasPrefix(#"{"@odata.context":"http://h/s/$metadata#RequestQueue(RequestID,AffectedEntity(Text,Name))""#))
    #expect(text.contains(#""@odata.context":"http://h/s/$metadata#Orders(Name)/$entity""#))
    #expect(text.contains(#""@odata.context":"http://h/s/$metadata#Items(Text)/$entity""#))
    let entities = try await rig.store.readEntitySet("ErrorArchive?$expand=AffectedEntity($select=Name,Text)").entities
    let affected = try #require(entities.first?.navigationLink("AffectedEntity")?.entity)
    #expect(affected.properties.map(\.name) == ["Name"] && affected["Name"] == .string("poison"))
  }

  @Test("Stores of services before V4 accept their syntax and that of V4")
  func earlier() async throws {
    let rig = try await StoreSetTests.rig(.init(isV2: true))
    func read(_ path: String) async throws -> String {
      String(decoding: try await rig.store.readJSON(path).bytes, as: UTF8.self)
    }
    let plain = try await read(
      "RequestQueue?$expand=AffectedEntity/Order&$select=RequestID,AffectedEntity/Text,AffectedEntity/Order/Name")
    #expect(plain.contains(#""Text":"t","Order":{"__metadata":"#), "\(plain)")
    #expect(plain.contains(#""Name":"new""#) && !plain.contains("Order_ID"))
    let result = try await read(
      "RequestQueue?$select=RequestID&$expand=AffectedEntity($select=Name;$expand=Items($filter=contains(Text,'t')))")
    #expect(result.contains(#""Items":{"results":[{"__metadata""#) && result.contains(#""Text":"t""#), "\(result)")
    await #expect(throws: OfflineODataError.self) { try await read("RequestQueue?$expand=AffectedEntity/Itmes") }
  }

  @Test("The next page keeps the options of the query")
  func pages() throws {
    let bound = try ArchiveQuery.bind(
      "RequestQueue?$expand=AffectedEntity/N.Order($select=Name;$expand=Items($filter=Text eq @t))&@t='t'", .v4
    ).url
    let printed = try ODataPrinter(version: .v401, isStrict: false).print(bound.syntax())
    let again = try ArchiveQuery.bind(printed, .v4).url
    #expect(again == bound, "\(printed)")
  }
}
