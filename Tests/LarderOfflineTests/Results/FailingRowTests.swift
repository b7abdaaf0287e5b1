import Foundation
import LarderOData
import LarderService
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// Expressions that fail by the standard: `div` and `mod` by zero (URL Conventions 4.01 §5.1.1.2.5, §5.1.1.2.6). The standard
/// defines no value for a sum beyond 64 bits or a date out of range, and does not promote numbers to another family because of
/// their values: these fail too. The error names the row and the expression.
@Suite("A row for which an expression has no value", .timeLimit(.minutes(1)))
struct FailingRowTests {
  private static let model = ReplicaRig.v4(
    """
    <EntityType Name="Thing"><Key><PropertyRef Name="ID"/></Key>
      <Property Name="ID" Type="Edm.Int32" Nullable="false"/><Property Name="Big" Type="Edm.Int64"/>
      <Property Name="Small" Type="Edm.Int32"/><Property Name="Price" Type="Edm.Decimal" Scale="variable"/>
      <Property Name="Ratio" Type="Edm.Double"/><Property Name="Text" Type="Edm.String"/>
      <Property Name="Day" Type="Edm.Date"/><Property Name="At" Type="Edm.DateTimeOffset"/>
      <Property Name="Took" Type="Edm.Duration"/><Property Name="Tags" Type="Collection(Edm.String)"/>
      <Property Name="Numbers" Type="Collection(Edm.Int64)"/>
      <NavigationProperty Name="Parts" Type="Collection(N.Part)" ContainsTarget="true"/></EntityType>
    <EntityType Name="Part"><Key><PropertyRef Name="Name"/></Key>
      <Property Name="Name" Type="Edm.String" Nullable="false"/><Property Name="Weight" Type="Edm.Int64"/></EntityType>
    """, container: #"<EntitySet Name="Things" EntityType="N.Thing"/>"#)

  private static let large = Int64.max

  private func rig() async throws -> ChangeRig {
    let rig = try await ChangeRig(Self.model)
    try await rig.rows.load(
      "Things",
      """
      {"value":[{"ID":1,"Big":1,"Small":5,"Price":2.5,"Ratio":1e308,"Text":"a","Day":"2024-01-01","Tags":["p"],
        "At":"2024-01-01T00:00:00Z","Took":"PT1S","Numbers":[1],"Parts":[{"Name":"p","Weight":1}]},
       {"ID":2,"Big":\(Self.large),"Small":0,"Price":0,"Ratio":0,"Text":"(","Day":"9999-12-31","Tags":[],
        "At":"9999-12-31T23:59:59Z","Took":"P99999999999999D","Numbers":[\(Self.large)],
        "Parts":[{"Name":"q r","Weight":\(Self.large)}]},{"ID":3}]}
      """)
    return rig
  }

  private func failure(_ rig: ChangeRig, _ path: String) async -> OfflineODataError? {
    do {
      let text = try await rig.read(path.replacing(" ", with: "%20"))
      Issue.record("\(path): \(text)")
    } catch { return error as? OfflineODataError }
    return nil
  }

  @Test(
    "The error names the expression and the row, not the file",
    arguments: [
      ("Big add 1 gt 5", "Big add 1"), ("-1 sub Big lt -5 and -2 sub Big lt 0", "-2 sub Big"),
      ("Big mul 2 gt 5", "Big mul 2"),
      ("(Big add 1) mul 3 gt 5", "Big add 1"), ("7 div Small eq 1", "7 div Small"), ("7 mod Small eq 1", "7 mod Small"),
      ("Price div Price eq 1", "Price div Price"), ("Ratio mod Ratio eq 1", "Ratio mod Ratio"),
      ("Took div Small gt duration'PT1S'", "Took div Small"), ("Took mul 100000 gt duration'PT1S'", "Took mul 100000"),
      ("Took add Took gt duration'P100000000000000D'", "Took add Took"),
      ("substring(Text,0,Small sub 1) eq 'a'", "substring(Text,0,Small sub 1)"),
      ("matchesPattern('x',Text)", "matchesPattern('x',Text)"), ("not (Big add 1 gt 5)", "Big add 1"),
      ("(Big add 1) in (2,3)", "Big add 1"), ("case(Big add 1 gt 5:true,true:false)", "Big add 1"),
    ])
  func named(_ filter: String, _ expression: String) async throws {
    let rig = try await rig()
    let error = try #require(await failure(rig, "Things?$filter=\(filter)"))
    #expect(error.name == .invalidQuery)
    #expect(error.errorMessage.contains("\(expression) for Things(2)"), "\(error)")
    #expect(!error.errorMessage.contains(rig.rows.folder.path), "\(error)")
    #expect(!error.errorMessage.contains("SQLite"), "\(error)")
  }

  @Test(
    "The error names them wherever expressions occur",
    arguments: [
      ("Things?$orderby=Big add 1", "Big add 1 for Things(2)"),
      ("Things/$count?$filter=Big add 1 gt 1", "Big add 1 for Things(2)"),
      ("Things?$compute=Big mul 3 as X&$select=X", "Big mul 3 for Things(2)"),
      ("Things?$apply=filter(Big add 1 gt 5)/aggregate($count as N)", "Big add 1 for Things(2)"),
      ("Things?$apply=aggregate(Big mul 2 with max as N)", "Big mul 2 for Things(2)"),
      ("Things?$apply=compute(Big mul 2 as X)/aggregate(X with max as N)", "Big mul 2 for Things(2)"),
      ("Things?$expand=Parts($filter=Weight add 1 gt 1)", "Weight add 1 for Things(2)/Parts('q%20r')"),
      ("Things?$filter=Parts/any(p:p/Weight add 1 gt 1)", "p/Weight add 1 for Things(2), p = Things(2)/Parts('q%20r')"),
      ("Things?$filter=Numbers/any(n:n add 1 gt 5)", "n add 1 for Things(2)"),
      ("Things(2)/Parts?$filter=Weight add 1 gt 1", "Weight add 1 for Things(2)/Parts('q%20r')"),
      ("Things(2)?$select=X&$compute=Big add 1 as X", "Big add 1 for Things(2)"),
    ])
  func everywhere(_ path: String, _ words: String) async throws {
    let error = try #require(await failure(rig(), path))
    #expect(error.name == .invalidQuery)
    #expect(error.errorMessage.contains(words), "\(error)")
  }

  @Test("Local entities, also contained ones, are named by their local key")
  func local() async throws {
    let rig = try await rig()
    try await rig.create("Things", [ODataProperty("ID", .int32(9)), ODataProperty("Big", .int64(Self.large - 1))])
    try await rig.change(.delete("Things(2)"))
    let error = try #require(await failure(rig, "Things?$filter=Big add 5 gt 1"))
    #expect(error.errorMessage.contains("Big add 5 for Things(9)"), "\(error)")
  }

  @Test("Decoded values, streams and live results report the row too")
  func otherMethods() async throws {
    struct Thing: Decodable, Sendable {
      enum CodingKeys: String, CodingKey { case id = "ID" }
      var id: Int
    }
    let rig = try await rig()
    let path = "Things?$filter=Big%20add%201%20gt%205"
    await #expect {
      try await rig.store.executeQuery(path, OfflineODataResultOptions()) { run, connection in
        try run.read([Thing].self, connection)
      }
    } throws: { "\($0)".contains("Big add 1 for Things(2)") }
    await #expect {
      let stream = try await ResultStream.open(rig.rows.replica) { [store = rig.store] snapshot in
        try store.run(path, OfflineODataResultOptions(), snapshot)
      }
      for try await _ in stream {}
    } throws: { "\($0)".contains("Big add 1 for Things(2)") }
  }

  @Test("A constant expression without a value is named")
  func constants() async throws {
    let error = try #require(await failure(rig(), "Things?$filter=9223372036854775807 add 1 gt ID"))
    #expect(error.errorMessage.contains("9223372036854775807 add 1"), "\(error)")
  }

  @Test(
    "Expressions have the values that the standard defines: INF and NaN of floating-point numbers and of divby, null of casts",
    arguments: [
      ("Ratio mul 1000 eq INF", [1]), ("1 div Ratio eq INF", [2]), ("1 divby Small eq INF", [2]),
      ("cast(Big,Edm.Int16) eq null", [2, 3]), ("cast(Text,Edm.Int32) eq null", [1, 2, 3]),
      ("Small add 2147483647 gt 2147483647", [1]), ("Price mul 1e30 gt 1e30", [1]),
    ] as [(String, [Int])])
  func valued(_ filter: String, _ expected: [Int]) async throws {
    let rig = try await rig()
    let text = try await rig.read("Things?$select=ID&$orderby=ID&$filter=" + filter.replacing(" ", with: "%20"))
    #expect(text == #"{"value":[\#(expected.map { #"{"ID":\#($0)}"# }.joined(separator: ","))]}"#)
  }

  @Test("The SQL of a query that does not fail contains no names of rows")
  func costsNothing() async throws {
    let rig = try await QueryRig(QueryShop.dataSet())
    let plan = try rig.plan("Products?$filter=Big%20add%201%20gt%205")
    #expect(plan.sql.contains("larder_add(") && !plan.sql.contains(" || "), "\(plan.sql)")
  }
}
