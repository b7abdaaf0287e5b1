import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("How queries are executed", .timeLimit(.minutes(1)))
struct QueryExplainTests {
  private func rig() async throws -> QueryRig {
    let rig = try await QueryRig(QueryShop.dataSet())
    let products = try #require(rig.plan.table("Products"))
    let table = rig.state.tables[products.number]
    try await rig.database.write { (connection) throws(StorageError) in
      for name in ["Products", "Categories"] {
        guard let table = rig.plan.table(name) else { continue }
        try connection.run("CREATE UNIQUE INDEX k\(table.number) ON \(rig.state.tables[table.number]) (\"ID\")")
      }
      for (number, column) in ["Name", "Rating", "Price", "CategoryID", "Made"].enumerated() {
        try connection.run("CREATE INDEX i\(number) ON \(table) (\"\(column)\")")
      }
    }
    return rig
  }

  @Test(
    "Comparisons keep a form that an index can serve",
    arguments: [
      ("Products(20)", "(ID=?)"), ("Products?$filter=Rating eq 5", "(Rating=?)"),
      ("Products?$filter=Rating eq 5 and contains(Name,'a')", "(Rating=?)"),
      ("Products?$filter=Price ge 1 and Price lt 20", "(Price>? AND Price<?)"),
      ("Products?$filter=Rating gt 2.5&$orderby=Rating", "(Rating>?)"), ("Products?$filter=Name eq null", "(Name=?)"),
      ("Products?$filter=startswith(Name,'Ha')", "(Name>? AND Name<?)"),
      ("Products?$filter=Name in ('a','b')", "(Name=?)"),
      ("Products?$filter=Made gt 2024-01-01T00:00:00Z&$orderby=Made", "(Made>?)"),
      ("Categories(2)/Products", "(CategoryID=?)"),
      ("Categories?$expand=Products", "(CategoryID=?)"),
      ("Categories?$filter=Products/any(p:p/Rating eq 5)", "(CategoryID=?)"),
    ])
  func indexes(_ url: String, _ expected: String) async throws {
    let explanation = try await rig().explain(url.replacing(" ", with: "%20"))
    #expect(explanation.contains("USING INDEX"), "\(explanation)")
    #expect(explanation.contains(expected), "\(explanation)")
  }

  @Test("An order that an index provides is not sorted; without $orderby, rows are in key order")
  func orders() async throws {
    let plain = try await rig().explain("Products?$top=20")
    #expect(!plain.contains("USE TEMP B-TREE FOR ORDER BY"), "\(plain)")
    let named = try await rig().explain("Products?$orderby=Name&$top=20")
    #expect(!named.contains("USE TEMP B-TREE FOR ORDER BY"), "\(named)")
  }

  @Test("Values of the URL become parameters, listed separately; only selected columns are read")
  func parameters() async throws {
    let explanation = try await rig().explain("Products?$filter=Name%20eq%20'secret'&$select=Rating&$expand=Category")
    #expect(explanation.contains("-- parameters: 'secret'"))
    #expect(explanation.contains("-- Category"))
    #expect(explanation.contains("(from the enclosing row)"))
    let plan = try await rig().plan("Products?$filter=Name%20eq%20'secret'&$select=Rating")
    #expect(!plan.sql.contains("Price"))
    #expect(!plan.sql.contains("secret"))
  }
}
