import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Functions and operators in queries", .timeLimit(.minutes(1)))
struct QueryFunctionTests {
  @Test(
    "Arithmetic, canonical functions and casts select the expected rows (URL Conventions 4.01 §5.1.1)",
    arguments: [
      ("Price mul 2 eq 19", "[4]"), ("Price add Stock gt 100", "[7]"), ("Price sub 0.05 eq 0", "[8]"),
      ("Stock div 2 eq 1", "[5, 6]"), ("Stock mod 2 eq 0", "[5, 7]"), ("Price divby 4 eq 5", "[5]"),
      ("-Stock eq -1", "[4]"), ("Stock divby 4 eq 0.75", "[6]"), ("round(Price) eq 10", "[4]"),
      ("floor(Price) eq 0", "[8]"),
      ("ceiling(Price) eq 1", "[8]"), ("Price eq 9.5", "[4]"), ("Price in (100,0.050)", "[7, 8]"),
      ("Price eq null", "[6]"),
      ("substring(Name,1,2) eq 'am'", "[4]"), ("indexof(Name,'a') eq 1", "[4, 5, 8]"),
      ("toupper(Name) eq 'SAW'", "[5]"),
      ("matchesPattern(Name,'^[HN]')", "[4, 8]"), ("concat(concat(Name,'-'),Category/Name) eq 'Saw-Saws'", "[5]"),
      ("trim(Name) eq Name and length(Name) eq 3", "[5]"), ("endswith(Name,'ill')", "[7]"),
      ("not endswith(Name,'ill')", "[4, 5, 8]"), ("now() gt 2024-05-31T00:00:00Z", "[4, 5, 6, 7, 8]"),
      ("mindatetime() lt maxdatetime() and Stock eq 1", "[4]"), ("length(Tags) eq 3", "[7]"),
      ("hassubset(Tags,[\"new\",\"heavy\"])", "[7]"), ("hassubsequence(Tags,[\"loud\",\"heavy\"])", "[7]"),
      ("Tags eq [\"new\",\"loud\",\"heavy\"]", "[7]"), ("Tags ne [\"new\",\"loud\",\"heavy\"]", "[4, 5, 6, 8]"),
      ("cast(Stock,Edm.String) eq '4'", "[7]"), ("cast(Name,Edm.Int32) eq null and Stock eq 1", "[4]"),
      ("case(Stock gt 3:'much',Stock gt 1:'some',true:'few') eq 'some'", "[5, 6]"),
      ("case(Stock gt 3:1.5,true:Stock) lt 2", "[4, 7, 8]"),
      // The collation of the timestamps inside does not apply to the numbers and texts around them.
      ("Price lt case(2024-01-31T12:00:00Z lt 2019-12-31T05:00:00Z:1.5,true:Price add 1)", "[4, 5, 7, 8]"),
      ("case(2024-01-31T12:00:00Z lt 2019-12-31T05:00:00Z:1.5,true:Price add 1) gt Price", "[4, 5, 7, 8]"),
      ("Name lt case(Price lt 0.001:'x',true:'a')", "[4, 5, 7, 8]"),
      ("isof(Stock,Edm.Int16) and isof(Price,Edm.Decimal)", "[4, 5, 7, 8]"),
      ("(Rating gt 3) eq false", "[5, 6, 7]"), ("not (Rating gt 3)", "[5, 6, 7]"), ("Rating gt 3 eq true", "[4, 8]"),
      ("Friends/all(f:f/Stock gt 1)", "[4, 6, 7, 8]"), ("Friends/all(f:f/Rating gt 1)", "[5, 6, 7, 8]"),
      ("Category eq null", "[8]"), ("$it/Category/Parent ne null", "[5, 6, 7]"),
      ("ID in $root/Favourite/Numbers", "[]"),
      ("Price lt INF", "[4, 5, 7, 8]"), ("Stock lt INF and Price gt -INF", "[4, 5, 7, 8]"),
      ("Price ne NaN and Stock eq 1", "[4]"),
      ("not ID in (10,20)", "[6, 7, 8]"), ("not Name in ('Saw',null)", "[4, 7, 8]"),
      ("20 in (20,30) and Stock eq 2", "[5]"), ("null in (1,null) and Stock eq 2", "[5]"),
    ])
  func filters(_ filter: String, _ expected: String) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let url = "Products?$filter=" + filter.replacing(" ", with: "%20").replacing("\"", with: "%22")
    let sql = try rig.plan(url).sql
    let result = try await rig.result(url)
    #expect(result.description == expected, "\(sql)")
  }

  @Test(
    "Computed values are exact",
    arguments: [
      ("Price mul 3", SQLValue.text("28.50")), ("Price add 0.0000000000000000001", .text("9.5000000000000000001")),
      ("Stock add 1", .integer(2)), ("Big", .null), ("concat(Name,'!')", .text("Hammer!")), ("Stock gt 0", .integer(1)),
      ("Rating divby 4", .text("1.25")), ("Tags/$count", .integer(0)), ("null", .null),
      ("Category/Name", .text("Tools")),
      ("case(false:1)", .null), ("2024-01-31 add duration'P1D'", .text("2024-02-01")),
      ("9223372036854775807 sub 1", .integer(.max - 1)),
    ])
  func computes(_ expression: String, _ expected: SQLValue) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let url = "Products(10)?$select=X&$compute=" + expression.replacing(" ", with: "%20") + "%20as%20X"
    let result = try await rig.result(url)
    #expect(result.rows.first?.values["X"] == expected)
  }

  @Test("A query with a division by zero fails, and the error says why")
  func divisionByZero() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    do {
      _ = try await rig.result("Products?$filter=ID%20div%20(Stock%20sub%203)%20gt%201")
      Issue.record("no failure")
    } catch let error as StorageError {
      #expect(error.category == .unexpectedValue)
    }
  }

  @Test(
    "$search uses the full-text index if the table has one (§5.1.7)",
    arguments: [
      ("Saw OR Nail", "[5, 8]"), ("NOT saw", "[4, 6, 7, 8]"), ("hammer AND NOT nail", "[4]"), ("Ham", "[]"),
      ("(Saw OR Drill) AND NOT (Nail OR Saw)", "[7]"), ("\"saw\"", "[5]"), ("\"*\"", "[]"),
      ("\"Name: x\"", "[]"),
    ])
  func search(_ search: String, _ expected: String) async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let products = try #require(rig.plan.table("Products"))
    var state = rig.state
    state.search[products.number] = "\"f\(products.number)\""
    let (index, table) = ("\"f\(products.number)\"", rig.state.tables[products.number])
    try await rig.database.write { (connection) throws(StorageError) in
      try connection.run("CREATE VIRTUAL TABLE \(index) USING fts5(Name)")
      try connection.run("INSERT INTO \(index)(rowid, Name) SELECT \"@id\", \"Name\" FROM \(table)")
    }
    let encoded = search.replacing(" ", with: "%20").replacing("\"", with: "%22").replacing("\\", with: "%5C")
    let plan = try QueryWriter(plan: rig.plan, state: state).plan(QueryModel.bind("Products?$search=" + encoded))
    #expect(try await rig.result(plan).description == expected)
    #expect(plan.unindexed.isEmpty)
    #expect(try rig.plan("Products?$search=" + encoded).unindexed == [products.number])
  }
}
