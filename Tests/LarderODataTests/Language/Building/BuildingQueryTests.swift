import LarderOData
import Testing

private typealias Product = BuildingProduct
private typealias Category = BuildingCategory

@Suite("Queries are built in Swift", .timeLimit(.minutes(5)))
struct BuildingQueryTests {
  private func plain<Entity>(_ query: ODataQuery<Entity>, _ version: ODataVersion = .v401) throws -> String {
    let url = query.url(version)
    let text = try query.text(version)
    #expect(try ODataParser(version).relativeURL(text) == url, "\(text)")
    return try ODataPrinter(version: version, isPercentEncoded: false).print(url)
  }

  @Test("Orders, selections and expansions without a query")
  func parts() throws {
    #expect(try ODataOrderBy<Product> { [$0.price.descending, $0.name.ascending] }.text() == "Price%20desc,Name")
    #expect(try ODataOrderBy<Product> { $0.name.length }.text() == "length(Name)")
    let byName = true
    let order = ODataOrderBy<Product> {
      $0.price.ascending
      if byName { $0.name.descending }
    }
    #expect(try order.text() == "Price,Name%20desc")
    #expect(try (order + ODataOrderBy<Product> { $0.id.ascending }).text() == "Price,Name%20desc,ID")
    let select = ODataSelect<Product> {
      $0.name
      $0.address.city
      $0.tags
      $0.category
      $0
    }
    #expect(try select.text() == "Name,Address/City,Tags,Category,*")
    let expand = ODataExpand<Product> { $0.category.select { $0.name } } + ODataExpand<Product> { $0.address.country }
    #expect(try expand.text() == "Category($select=Name),Address/Country")
    #expect(try ODataExpand<Product>.all(levels: .count(2)).text() == "*($levels=2)")
    #expect(try ODataOrderBy { $0["A"].descending }.text() == "A%20desc")
    #expect(try ODataSelect { $0["A"]["B"] }.text() == "A/B")
    #expect(try ODataExpand { $0["A"].filter { $0["B"] == 1 } }.text() == "A($filter=B%20eq%201)")
  }

  @Test("Options of expanded and selected items")
  func nested() throws {
    let expand = ODataExpand<Category> {
      $0.products.filter { $0.price > 100 }.orderBy { $0.price.descending }.select { $0.name }.top(5).skip(1).count()
        .search("two words").expand { $0.reviews.references }
      $0.parent.levels(.max).select { $0.name }
      $0.products.filter { $0.reviews.any { $0.stars == 5 } }.itemCount
      $0.as(BuildingSeasonCategory.self).parent
    }
    let text = try ODataPrinter(isPercentEncoded: false).print(expand.items())
    #expect(
      text
        == "Products($search=\"two words\";$filter=Price gt 100;$count=true;$orderby=Price desc;$skip=1;$top=5;"
        + "$expand=Reviews/$ref;$select=Name),Parent($levels=max;$select=Name),"
        + "Products/$count($filter=Reviews/any(x:x/Stars eq 5)),Shop.SeasonCategory/Parent")
    #expect(try ODataParser().expand(expand.text()) == expand.items())
    let select = ODataSelect<Product> { $0.addresses.filter { $0.city.startsWith("H") }.top(5).select { $0.city } }
    #expect(
      try ODataPrinter(isPercentEncoded: false).print(select.items())
        == "Addresses($filter=startswith(City,'H');$top=5;$select=City)")
  }

  @Test("The path and the options of a parsed URL become a query")
  func parsed() throws {
    let url = try ODataParser().relativeURL("Categories(1)/Products?$filter=Price%20gt%205&$top=2")
    var query = ODataQuery<Product>(path: try #require(url.path))
    query.options = url.options
    #expect(try query.top(3).text() == "Categories(1)/Products?$filter=Price%20gt%205&$top=3")
    #expect(try ODataParser().relativeURL("$metadata").path == nil)
  }

  @Test("A whole query, in both dialects")
  func whole() throws {
    let query = ODataQuery<Product>("Products")
      .filter { $0.price > 100 && $0.name.contains("x") }
      .orderBy { $0.price.descending }
      .expand { $0.category.select { $0.name }.expand { $0.parent.select { $0.name } } }
      .select { $0.name }
      .top(10).skip(20).count()
      .custom("sap-client", "100")
    #expect(
      try plain(query)
        == "Products?$filter=Price gt 100 and contains(Name,'x')&$count=true&$orderby=Price desc&$skip=20&$top=10"
        + "&$expand=Category($expand=Parent($select=Name);$select=Name)&$select=Name&sap-client=100")
    #expect(
      try plain(query, .v2)
        == "Products?$filter=Price gt 100M and substringof('x',Name)&$inlinecount=allpages&$orderby=Price desc"
        + "&$skip=20&$top=10&$expand=Category/Parent&$select=Name,Category/Name,Category/Parent/Name&sap-client=100")
  }

  @Test("Nested selections of V2 keep what else was selected (V2 URI Conventions §4.7)")
  func selectionsOfV2() throws {
    let onlyBelow = ODataQuery<Product>("P").expand { $0.category.select { $0.name } }
    #expect(try plain(onlyBelow, .v2) == "P?$expand=Category&$select=*,Category/Name")
    let onlyAbove = ODataQuery<Product>("P").expand { $0.category }.select { $0.name }
    #expect(try plain(onlyAbove, .v2) == "P?$expand=Category&$select=Name,Category")
    let none = ODataQuery<Product>("P").expand { $0.category.expand { $0.parent } }
    #expect(try plain(none, .v2) == "P?$expand=Category/Parent")
    #expect(throws: ODataPrintingError.self) {
      try ODataQuery<Category>("C").expand { $0.products.top(1) }.text(.v2)
    }
  }

  @Test("Keys, second filters, computed properties, no type")
  func more() throws {
    #expect(try plain(ODataQuery<Product>("P").key(5 as Int32).select { $0.name }) == "P(5)?$select=Name")
    #expect(try plain(ODataQuery<Product>("P").key("O'Neil")) == "P('O''Neil')")
    #expect(try plain(ODataQuery<Product>("P").key(["A": 1, "B": "b"])) == "P(A=1,B='b')")
    #expect(try plain(ODataQuery<Product>("P").key(["A": 1, "B": "b"]), .v2) == "P(A=1L,B='b')")
    #expect(
      try plain(ODataQuery<Product>("P").filter { $0.price > 1 || $0.isActive }.filter { $0.x == 1 })
        == "P?$filter=(Price gt 1 or Active) and x eq 1")
    #expect(
      try plain(ODataQuery<Product>("P").compute("Gain") { $0.price - $0.cost }.orderBy { $0["Gain"].descending })
        == "P?$compute=Price sub Cost as Gain&$orderby=Gain desc")
    #expect(
      try plain(ODataQuery("P").filter { $0["A"] == 1 }.expand { $0["B"].top(1) }.search("x"))
        == "P?$search=x&$filter=A eq 1&$expand=B($top=1)")
    #expect(throws: ODataPrintingError.self) { try ODataQuery("P?$top=1").text() }
    #expect(throws: ODataPrintingError.self) { try ODataQuery("P").filter { $0["A eq 1 or B"] == 1 }.text() }
    #expect(throws: ODataPrintingError.self) { try ODataQuery("P").search("a\"b").text() }
  }
}
