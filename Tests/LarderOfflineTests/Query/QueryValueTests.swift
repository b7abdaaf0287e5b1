import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Queries for properties and values", .timeLimit(.minutes(1)))
struct QueryValueTests {
  @Test(
    "A path to a property returns its value (URL Conventions 4.01 §4.6, §4.7)",
    arguments: [
      ("Products(10)/Name", SQLValue.text("Hammer")), ("Products(10)/Name/$value", .text("Hammer")),
      ("Products(40)/Price", .text("100.00")), ("Products(30)/Name", .null), ("Products(20)/Home/City", .text("Bern")),
      ("Products(40)/Tags", .text("[\"new\",\"loud\",\"heavy\"]")), ("Products(40)/Tags/1", .text("loud")),
      ("Products(40)/Tags/-1", .text("heavy")), ("Products(10)/Category/Name", .text("Tools")),
      ("Products(40)/Tags?$filter=contains($this,'e')", .text("[\"new\",\"heavy\"]")),
      ("Products(40)/Tags?$orderby=$this&$top=2", .text("[\"heavy\",\"loud\"]")),
      ("Products(40)/Tags?$skip=2", .text("[\"heavy\"]")), ("Products(40)/Tags?$filter=$this eq 'x'", .text("[]")),
      ("Products(20)/Places?$filter=Zip eq 7&$select=City", .text("[{\"City\":\"Rome\"}]")),
      ("Orders('O2')/Note", .text("fast")), ("Orders('O2')/Rank/$value", .text("7")), ("Orders('O1')/Note", .null),
      ("Favourite/Shop.Special/Discount", .null),
    ])
  func values(_ url: String, _ expected: SQLValue) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let result = try await rig.result(url.replacing(" ", with: "%20"))
    #expect(result.cells.count == 1)
    // Untyped scalars from JSON are quoted.
    let quoted: SQLValue? = if case .text(let text) = expected { .text("\"\(text)\"") } else { nil }
    let number: SQLValue? = if case .text(let text) = expected { Int64(text).map { .integer($0) } } else { nil }
    let sql = try rig.plan(url.replacing(" ", with: "%20")).sql
    #expect([expected, quoted, number].contains(result.value), "\(sql)")
  }

  @Test(
    "$select returns the properties that it names (§5.1.4)",
    arguments: [
      ("Products(10)?$select=Name", ["Name"]), ("Products(10)?$select=Home/City", ["Home", "Home/City"]),
      ("Products(20)?$select=Home", ["Home", "Home/City", "Home/Land", "Home/Zip"]),
      ("Products(20)?$select=Home($select=Zip)", ["Home", "Home/Zip"]),
      ("Products(30)?$select=Shop.Special/Discount,ID", ["Discount", "ID"]),
      ("Products(10)?$select=Shop.Special/Discount,ID", ["ID"]), ("Products(10)?$select=Category", []),
      ("Products(10)?$select=Name&$compute=Stock add 1 as More", ["Name"]),
      ("Products(10)?$select=More&$compute=Stock add 1 as More", ["More"]),
      ("Orders('O2')?$select=Note,ID", ["@dynamicNote", "ID"]),
      ("Orders('O2')?$select=*", ["@dynamic", "ID", "Total"]),
      ("Orders('O2')", ["@dynamic", "ID", "Total"]), ("Categories(1)", ["ID", "Name", "ParentID"]),
      ("Categories(1)?$compute=ID add 1 as Next", ["ID", "Name", "Next", "ParentID"]),
      ("Products(40)?$select=Tags($filter=$this gt 'i')", ["Tags"]),
      (
        "$crossjoin(Categories,Orders)?$filter=Categories/ID eq 1 and Orders/ID eq 'O1'",
        ["Categories@link", "Orders@link"]
      ),
    ])
  func selects(_ url: String, _ expected: [String]) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let result = try await rig.result(url.replacing(" ", with: "%20"))
    #expect(result.rows.count == 1)
    #expect(result.rows.first?.values.keys.sorted() == expected)
  }

  @Test("A collection selected with options shows the items that match them")
  func selectedCollection() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let result = try await rig.result("Products(40)?$select=Tags($filter=$this%20gt%20'i';$orderby=$this)")
    #expect(result.rows.first?.values["Tags"] == .text("[\"loud\",\"new\"]"))
    let places = try await rig.result("Products(20)?$select=Places/City")
    #expect(
      places.rows.first?.values["Places"]
        == .text("[{\"City\":\"Rome\"},{\"@odata.type\":\"#Shop.Abroad\",\"City\":\"Bern\"}]"))
  }

  @Test("Statements distinguish a missing owner from an empty collection")
  func owners() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    for (url, expected) in [
      ("Products(50)/Friends", 1), ("Products(51)/Friends", 0), ("Products(50)/Category", 1),
      ("Products(51)/Category", 0),
      ("Products(30)/Shop.Special/Best", 1), ("Products(10)/Shop.Special/Best", 0),
      ("Products(50)/Tags/$count", 1), ("Products(51)/Tags/$count", 0),
    ] {
      let owner = try #require(try rig.plan(url).owner, "\(url)")
      let count = try await rig.database.read { (connection) throws(StorageError) in
        try connection.number(owner.sql, QueryResult.values(owner.parameters, []))
      }
      #expect(count == Int64(expected), "\(url)")
    }
    #expect(try rig.plan("Products(10)").owner == nil)
    #expect(try rig.plan("Products(10)/Friends(20)").owner == nil)
  }

  @Test("The plan of a media entity contains its identity; the plan of a stream contains its metadata")
  func streams() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    guard case .media(let shape, let property) = try rig.plan("Products(10)/Photo").content else {
      Issue.record("no media")
      return
    }
    #expect(property == "Photo")
    #expect(shape.members.map(\.name) == ["Photo"])
    #expect(shape.id != nil)
  }
}
