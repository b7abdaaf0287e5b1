import Testing

@testable import LarderOData

/// `aggregate` (Data Aggregation 4.0 §3.2.1).
@Suite("Aggregates", .timeLimit(.minutes(5)))
struct AggregateTests {
  typealias Aggregate = ODataAggregateExpression
  typealias From = ODataAggregateFrom

  @Test(
    "Each form is read into its parts (§3.2.1.1 to §3.2.1.5)",
    arguments: [
      ("Amount with sum as Total", "Amount", "sum", [], "Total"),
      ("Amount with min as A", "Amount", "min", [], "A"),
      ("Amount with max as A", "Amount", "max", [], "A"),
      ("Product/Price with average as A", "Product/Price", "average", [], "A"),
      ("Product with countdistinct as A", "Product", "countdistinct", [], "A"),
      ("Sales/Product/Name with Custom.concat as A", "Sales/Product/Name", "Custom.concat", [], "A"),
      ("Products/Self.Digital with Custom.discount as A", "Products/Self.Digital", "Custom.discount", [], "A"),
      ("Self.Digital with countdistinct as A", "Self.Digital", "countdistinct", [], "A"),
      ("$count as A", "$count", nil, [], "A"),
      ("Sales/$count as A", "Sales/$count", nil, [], "A"),
      ("Self.Digital/Sales/Self.Big/$count as A", "Self.Digital/Sales/Self.Big/$count", nil, [], "A"),
      ("Self.Digital/$count with sum as A", "Self.Digital/$count", "sum", [], "A"),
      ("Sales/$count with max as A", "Sales/$count", "max", [], "A"),
      ("Forecast", "Forecast", nil, [], nil),
      ("Forecast as A", "Forecast", nil, [], "A"),
      ("Self.Digital/Product/Forecast", "Self.Digital/Product/Forecast", nil, [], nil),
      (
        "Amount with sum from Time with average from A/Self.B/C,D with Ns.m as A", "Amount", "sum",
        [
          From([ApplyReading.path("Time")], with: "average"),
          From([ApplyReading.path("A/Self.B/C"), ApplyReading.path("D")], with: "Ns.m"),
        ], "A"
      ),
      ("$count from Time with max as A", "$count", nil, [From([ApplyReading.path("Time")], with: "max")], "A"),
      ("Forecast from Time as A", "Forecast", nil, [From([ApplyReading.path("Time")])], "A"),
      (
        "Forecast from X from Y with max as A", "Forecast", nil,
        [From([ApplyReading.path("X")]), From([ApplyReading.path("Y")], with: "max")], "A"
      ),
      (" \t Amount \twith  sum%20as%09Total ", "Amount", "sum", [], "Total"),
    ] as [(String, String, String?, [ODataAggregateFrom], String?)])
  func forms(text: String, path: String, method: String?, from: [ODataAggregateFrom], alias: String?) throws {
    let expected = Aggregate(ApplyReading.value(path), with: method, from: from, as: alias)
    #expect(try ApplyReading.aggregate(text) == expected)
  }

  @Test("Words of the grammar are names as well")
  func words() throws {
    #expect(
      try ApplyReading.aggregate("with with sum from from with min as as")
        == Aggregate(
          ApplyReading.value("with"), with: "sum", from: [From([ApplyReading.path("from")], with: "min")], as: "as"))
  }

  @Test(
    "Expressions are aggregated as paths are (§3.2.1.1)",
    arguments: [
      "Amount mul Product/TaxRate", "Self.sqrt(Number=Amount mul Amount)", "Price/@Measures.ISOCurrency", "(Amount)",
      "$it/Amount", "cast(Amount,Edm.Double)", "5", "true", "null", "'with sum as x'", "Sales(1)/Amount", "-Amount",
      "case(Amount gt 1:Amount,true:0)", "Sales/any(s:s/Amount gt 1)", "@alias", "[1,2]",
      "not as/x", "not with",
    ])
  func expressions(text: String) throws {
    let expected = Aggregate(try ApplyReading.expression(text), with: "sum", as: "A")
    #expect(try ApplyReading.aggregate("\(text) with sum as A") == expected)
  }

  @Test(
    "A custom aggregate may be named like a literal; before with a literal is one",
    arguments: ["true", "null", "INF", "nan"])
  func namedLikeLiterals(name: String) throws {
    let path = ODataExpression(.path(ODataPath([ODataPathSegment(.name(name))])))
    let custom = Aggregate(path, as: "A")
    #expect(try ApplyReading.aggregate("\(name) as A") == custom)
    let property = Aggregate(path, with: "sum", as: "A")
    for aggregate in [custom, property] {
      let printed = try ODataPrinter().print([.aggregate([aggregate])])
      #expect(try ODataParser().apply(printed) == [.aggregate([aggregate])], "\(printed)")
    }
    #expect(try ApplyReading.aggregate("\(name) with sum as A")?.expression == ApplyReading.expression(name))
  }

  @Test("One transformation has several aggregates")
  func several() throws {
    #expect(
      try ApplyReading.read("aggregate(Amount with sum as A,$count as B , Budget,Forecast as C)") == [
        .aggregate([
          Aggregate(ApplyReading.value("Amount"), with: "sum", as: "A"),
          Aggregate(ApplyReading.value("$count"), as: "B"),
          Aggregate(ApplyReading.value("Budget")),
          Aggregate(ApplyReading.value("Forecast"), as: "C"),
        ])
      ])
  }

  @Test(
    "Invalid text is rejected at the first byte that is not allowed",
    arguments: [
      ("aggregate()", 10), ("aggregate(Amount with sum)", 25), ("aggregate(Amount with sum )", 26),
      ("aggregate(Amount with sum from Time with average)", 48), ("aggregate(Amount with sum from Time as A)", 36),
      ("aggregate(Amount with median as A)", 28), ("aggregate(Amount add 1 as A)", 23), ("aggregate(Amount add 1)", 22),
      ("aggregate($count)", 16), ("aggregate($count with sum as X)", 17), ("aggregate($count with Ns.m as X)", 17),
      ("aggregate(Sales/$count/A as B)", 22), ("aggregate(Sales($count as A))", 16),
      ("aggregate(Self.B)", 16), ("aggregate(Self.B as A)", 17), ("aggregate(Self.B with sum as A)", 25),
      ("aggregate(Forecast from Time)", 28), ("aggregate(Forecast as)", 21), ("aggregate(Forecast as 1)", 22),
      ("aggregate(Amount with sum as A,)", 31), ("aggregate(Amount with sum as A", 30),
      ("aggregate(A with sum from B/Ns.C with max as D)", 32), ("aggregate(A with sum from B(1) with max as D)", 27),
      ("aggregate(A with sum from @Ns.B with max as D)", 26),
    ])
  func rejections(text: String, offset: Int) {
    #expect(ApplyReading.rejection(text) == offset)
  }

  @Test("An aggregate in an expression has no alias (§4.2)")
  func function() throws {
    for text in ["$these/aggregate(Amount with sum)", "Sales/aggregate( Amount with sum ) gt 3"] {
      _ = try ApplyReading.expression(text)
    }
    guard case .path(let path) = try ApplyReading.expression("$these/aggregate(Forecast from Time)").kind,
      case .aggregate(let aggregate)? = path.segments.last?.kind
    else {
      Issue.record("no path that ends with an aggregate")
      return
    }
    #expect(path.root == .these)
    #expect(aggregate == Aggregate(ApplyReading.value("Forecast"), from: [From([ApplyReading.path("Time")])]))
    #expect(throws: ODataSyntaxError.self) { try ApplyReading.expression("$these/aggregate(Amount with sum as A)") }
    #expect(throws: ODataSyntaxError.self) { try ApplyReading.expression("$these/aggregate($count with sum)") }
    #expect(throws: ODataSyntaxError.self) { try ApplyReading.expression("aggregate(Amount with sum) gt 5") }
  }

  @Test("isdefined accepts a path (§4.1)")
  func isdefined() throws {
    #expect(
      try ApplyReading.expression("isdefined(Customer/Name)").kind == .isdefined(ApplyReading.path("Customer/Name")))
  }
}
