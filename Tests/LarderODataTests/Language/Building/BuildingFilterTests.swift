import Foundation
import LarderOData
import Testing

private typealias Product = BuildingProduct

/// Built conditions and the text they have. Not percent-encoded, to be readable.
@Suite("Conditions are built in Swift", .timeLimit(.minutes(5)))
struct BuildingFilterTests {
  private func text<Entity>(_ filter: ODataFilter<Entity>, _ version: ODataVersion = .v401) throws -> String {
    let tree = filter.expression(version)
    let text = try ODataPrinter(version: version, isPercentEncoded: false).print(tree)
    // What is built is what is read.
    let options = ODataParserOptions(version: version, isPercentEncoded: false)
    #expect(try ODataParser(options: options).filter(text) == tree, "\(text)")
    #expect(try filter.text(version) == ODataPrinter(version: version).print(tree))
    return text
  }

  @Test("Comparisons, logic and null (URL Conventions 4.01 §5.1.1.1)")
  func comparisons() throws {
    let limit: ODataDecimal? = nil
    #expect(
      try text(ODataFilter<Product> { $0.price > 100 && $0.name.contains("x") })
        == "Price gt 100 and contains(Name,'x')")
    #expect(try text(ODataFilter<Product> { $0.price <= 99.95 || $0.isActive }) == "Price le 99.95 or Active")
    #expect(
      try text(ODataFilter<Product> { !($0.isActive && $0.stock >= 1) && ($0.x != 1 || 2 < $0.x) })
        == "not (Active and Stock ge 1) and (x ne 1 or 2 lt x)")
    #expect(try text(ODataFilter<Product> { $0.price == nil && $0.name != nil }) == "Price eq null and Name ne null")
    #expect(try text(ODataFilter<Product> { $0.price == limit || 5 == $0.price }) == "Price eq null or 5 eq Price")
    #expect(
      try text(ODataFilter<Product> { $0.price == $0.cost && $0.isActive == true })
        == "Price eq Cost and Active eq true")
    #expect(
      try text(ODataFilter<Product> { $0.category == nil || $0.address != nil })
        == "Category eq null or Address ne null")
    #expect(try text(ODataFilter<Product> { $0.name.in(["a", "it's"]) }) == "Name in ('a','it''s')")
    #expect(try text(ODataFilter<Product> { $0.name.in([]) }) == "Name in ()")
    #expect(try text(ODataFilter<Product> { !$0.name.in(["a", "b"]) }) == "not Name in ('a','b')")
    #expect(try text(ODataFilter<Product> { product in (product.stock + 1).in([1, 2]) }) == "(Stock add 1) in (1,2)")
    #expect(try text(ODataFilter<Product> { $0.name.in($0.tags) }) == "Name in Tags")
    #expect(
      try text(
        ODataFilter<Product> {
          $0.price > 1 && $0.price < 2 && $0.stock > 3 && $0.name == "a" && $0.name != "b" && $0.weight >= 1.5
            && $0.isActive && $0.x == 7
        })
        == "Price gt 1 and Price lt 2 and Stock gt 3 and Name eq 'a' and Name ne 'b' and Weight ge 1.5 and Active and x eq 7"
    )
  }

  @Test("Arithmetic keeps precedence and the kind of division (§5.1.1.2)")
  func arithmetic() throws {
    #expect(try text(ODataFilter<Product> { ($0.price + $0.cost) * 2 > 10 }) == "(Price add Cost) mul 2.0 gt 10")
    #expect(try text(ODataFilter<Product> { $0.price - ($0.cost - 1) < 0 }) == "Price sub (Cost sub 1.0) lt 0")
    #expect(
      try text(ODataFilter<Product> { $0.stock / 2 == 1 && $0.stock % 3 == 0 })
        == "Stock div 2 eq 1 and Stock mod 3 eq 0")
    #expect(try text(ODataFilter<Product> { 100 / $0.weight > 2.5 }) == "100.0 div Weight gt 2.5")
    #expect(try text(ODataFilter<Product> { -$0.stock < 5 }) == "-Stock lt 5")
    #expect(try text(ODataFilter<Product> { -($0.stock + 1) < 5 }) == "-(Stock add 1) lt 5")
    #expect(
      try text(ODataFilter<Product> { $0.stock.widened(to: ODataDecimal.self) * $0.price > 5 })
        == "Stock mul Price gt 5")
    #expect(try text(ODataFilter<Product> { $0.stock.divided(by: $0.x) == 0.5 }) == "Stock divby x eq 0.5")
    #expect(try text(ODataFilter<Product> { $0.price.round() == $0.price.floor() }) == "round(Price) eq floor(Price)")
  }

  @Test("Functions of texts, days and geo (§5.1.1.5 to §5.1.1.12)")
  func functions() throws {
    #expect(
      try text(ODataFilter<Product> { $0.name.toLower().startsWith("a") && $0.name.trim().endsWith($0.name) })
        == "startswith(tolower(Name),'a') and endswith(trim(Name),Name)")
    #expect(
      try text(ODataFilter<Product> { $0.name.substring(from: 1, length: 2).concat("x") == $0.name.toUpper() })
        == "concat(substring(Name,1,2),'x') eq toupper(Name)")
    #expect(
      try text(ODataFilter<Product> { $0.name.length > 3 && $0.name.indexOf("b") == -1 })
        == "length(Name) gt 3 and indexof(Name,'b') eq -1")
    #expect(
      try text(ODataFilter<Product> { $0.created.year == 2026 && $0.day.month < 3 && $0.created < .now })
        == "year(Created) eq 2026 and month(Day) lt 3 and Created lt now()")
    let hour = try #require(ODataDuration("PT1H"))
    #expect(try text(ODataFilter<Product> { $0.created + hour > .now }) == "Created add duration'PT1H' gt now()")
    let day = try #require(ODataDate("2012-09-03"))
    #expect(try text(ODataFilter<Product> { $0.created.date == day }) == "date(Created) eq 2012-09-03")
    let point = ODataGeo(.geography, srid: 4326, shape: .point(.init(x: 1, y: 2)))
    #expect(
      try text(ODataFilter<Product> { $0.place.distance(to: point) < 5 })
        == "geo.distance(Place,geography'SRID=4326;Point(1.0 2.0)') lt 5")
    #expect(try text(ODataFilter<Product> { $0.weight.cast(to: Int32.self) == 5 }) == "cast(Weight,Edm.Int32) eq 5")
  }

  @Test("Enumerations: equality and flags (§5.1.1.1.9)")
  func enumerations() throws {
    #expect(try text(ODataFilter<Product> { $0.color == .red }) == "Color eq Shop.Color'Red'")
    #expect(try text(ODataFilter<Product> { $0.color.has(.red, .yellow) }) == "Color has Shop.Color'Red,Yellow'")
    #expect(
      try text(ODataFilter<Product> { $0.color.in([.red, .yellow]) }) == "Color in (Shop.Color'Red',Shop.Color'Yellow')"
    )
  }

  @Test("Paths through navigation, complex values, casts")
  func paths() throws {
    #expect(
      try text(ODataFilter<Product> { $0.category.parent.name == "a" && $0.address.city == "b" })
        == "Category/Parent/Name eq 'a' and Address/City eq 'b'")
    #expect(
      try text(ODataFilter<Product> { $0.category.as(BuildingSeasonCategory.self).season == "a" })
        == "Category/Shop.SeasonCategory/Season eq 'a'")
    #expect(
      try text(ODataFilter<Product> { $0.category.as(BuildingSeasonCategory.self).name == "a" })
        == "Category/Shop.SeasonCategory/Name eq 'a'")
    #expect(
      try text(ODataFilter<BuildingCategory> { $0.isOf(BuildingSeasonCategory.self) }) == "isof(Shop.SeasonCategory)")
    #expect(
      try text(ODataFilter<Product> { $0.category.isOf(BuildingSeasonCategory.self) })
        == "isof(Category,Shop.SeasonCategory)")
    #expect(
      try text(ODataFilter<Product> { $0["Open"] == 5 && $0["Open"]["More"] != nil })
        == "Open eq 5 and Open/More ne null")
  }

  @Test("Lambdas: their variables do not clash, in nesting and with properties")
  func lambdas() throws {
    #expect(try text(ODataFilter<Product> { $0.tags.any { $0 == "a" } }) == "Tags/any(x:x eq 'a')")
    #expect(
      try text(ODataFilter<Product> { $0.tags.any() && $0.reviews.count > 2 }) == "Tags/any() and Reviews/$count gt 2")
    #expect(
      try text(ODataFilter<Product> { $0.reviews.all { $0.stars > 3 && $0.words.any { $0 == "b" } } })
        == "Reviews/all(x:x/Stars gt 3 and x/Words/any(x1:x1 eq 'b'))")
    #expect(
      try text(ODataFilter<Product> { product in product.reviews.any { $0.stars > product.x } })
        == "Reviews/any(x1:x1/Stars gt x)")
    #expect(
      try text(
        ODataFilter<Product> { product in
          product.reviews.any { review in review.product.tags.any { $0 == product.name && review.stars > 1 } }
        }) == "Reviews/any(x:x/Product/Tags/any(x1:x1 eq Name and x/Stars gt 1))")
    let inner = ODataFilter<Product> { $0.tags.any { $0 == "a" } && $0.reviews.any { $0.stars == 1 } }
    #expect(try text(inner) == "Tags/any(x:x eq 'a') and Reviews/any(x:x/Stars eq 1)")
    #expect(
      try text(ODataFilter<Product> { $0.reviews.count { $0.stars == 5 } >= 2 })
        == "Reviews/$count($filter=Stars eq 5) ge 2"
    )
  }

  @Test("By name, without a type")
  func untyped() throws {
    #expect(
      try text(ODataFilter { $0["Price"] > 100 && $0["Category"]["Name"].contains("x") })
        == "Price gt 100 and contains(Category/Name,'x')")
    #expect(try text(ODataFilter { $0["A"] == nil || $0["B"] != "b" }) == "A eq null or B ne 'b'")
    #expect(try text(ODataFilter { $0["A"] < $0["B"] && $0["C"] == true }) == "A lt B and C eq true")
    #expect(try text(ODataFilter { $0["I"].any { $0["P"] > 1.5 } }) == "I/any(x:x/P gt 1.5)")
    #expect(try text(ODataFilter { $0["A"].in([1, 2]) }) == "A in (1,2)")
    #expect(try text(ODataFilter { $0["A"].of(String.self).length == 2 }) == "length(A) eq 2")
    #expect(try text(ODataFilter { $0["N"].as("Ns.T")["A"] >= 2 }) == "N/Ns.T/A ge 2")
  }

  @Test("Filters compose")
  func composition() throws {
    let dear = ODataFilter<Product> { $0.price > 100 }
    let red = ODataFilter<Product> { $0.color == .red || $0.color == .yellow }
    #expect(
      try text(dear && !red && dear)
        == "Price gt 100 and not (Color eq Shop.Color'Red' or Color eq Shop.Color'Yellow') and Price gt 100")
    #expect(try text(dear && red) == "Price gt 100 and (Color eq Shop.Color'Red' or Color eq Shop.Color'Yellow')")
  }

  @Test("V2 gets its own functions and literals (V2 URI Conventions §4.5)")
  func ofV2() throws {
    #expect(
      try text(ODataFilter<Product> { $0.price > 100 && $0.name.contains("x") }, .v2)
        == "Price gt 100M and substringof('x',Name)")
    #expect(try text(ODataFilter<Product> { $0.weight > 1.5 && $0.stock == 1 }, .v2) == "Weight gt 1.5d and Stock eq 1")
    #expect(
      try text(ODataFilter<Product> { $0.isActive && $0.name.in(["a", "b"]) }, .v2)
        == "Active and (Name eq 'a' or Name eq 'b')")
    #expect(try text(ODataFilter<Product> { $0.name.in([]) }, .v2) == "false")
    #expect(
      try text(ODataFilter<Product> { !$0.name.in(["a", "b"]) }, .v2) == "not (Name eq 'a' or Name eq 'b')")
    let timestamp = try #require(ODataDateTime("2012-09-03T10:00:00"))
    let guid = try #require(ODataGuid("01234567-89AB-CDEF-0123-456789ABCDEF"))
    #expect(
      try text(ODataFilter<Product> { $0.changed < timestamp && $0.guid == guid }, .v2)
        == "Changed lt datetime'2012-09-03T10:00:00' and Guid eq guid'01234567-89ab-cdef-0123-456789abcdef'")
    #expect(throws: ODataPrintingError.self) { try ODataFilter<Product> { $0.tags.any { $0 == "a" } }.text(.v2) }
    #expect(try text(ODataFilter<Product> { $0.tags.any { $0 == "a" } }, .v3) == "Tags/any(x:x eq 'a')")
  }

  @Test(
    "No text escapes its quotes", arguments: ["'", "' or true", "a&$top=1", "%27", "#", "\n", "' eq Name or Name eq '"])
  func injection(text hostile: String) throws {
    let filter = ODataFilter<Product> { $0.name == hostile || $0.tags.any { $0.contains(hostile) } }
    let text = try filter.text()
    #expect(try ODataParser().filter(text) == filter.expression())
    #expect(try ODataParser().queryOptions("$filter=" + text).filter == filter.expression())
  }

  @Test("Foundation dates become timestamps; dates out of range become the first or last one")
  func dates() throws {
    #expect(
      Date(timeIntervalSince1970: 0.5).odataExpression
        == ODataExpression(.literal(.dateTimeOffset(try #require(ODataDateTimeOffset("1970-01-01T00:00:00.5Z"))))))
    let last = try ODataPrinter().print(Date(timeIntervalSince1970: .infinity).odataExpression)
    #expect(last == "999999999-12-31T00:00:00Z")
    #expect(Date(timeIntervalSince1970: .nan).odataExpression == ODataExpression(.literal(.null)))
  }
}
