import LarderOData
import Testing

@Suite("Binding: expressions", .timeLimit(.minutes(5)))
struct BindingExpressionTests {
  private static func bind(_ text: String, on type: String = "Sales.Product") throws -> ODataBoundExpression {
    let set = ["Sales.Product": "Products", "Sales.Customer": "Customers", "Sales.Order": "Orders"][type]
    return try BindingModel.binder.bind(try ODataParser(.v401).expression(text), on: type, from: set, text: text)
  }

  @Test("The model of these tests is read") func model() {
    #expect(BindingModel.sales.diagnostics.isEmpty)
    #expect(BindingModel.sales.defaultContainer?.entitySets.count == 6)
  }

  @Test(
    "Arithmetic: the promoted type (URL Conventions 4.01 §5.1.1.2, §5.1.1.18)",
    arguments: [
      ("Rating add 1", "Edm.Int32"), ("Stock add Stock", "Edm.Int16"), ("Stock add Tiny", "Edm.Int16"),
      ("Stock add Rating", "Edm.Int32"), ("Rating mul Big", "Edm.Int64"), ("Rating add Price", "Edm.Decimal"),
      ("Price add 2.45", "Edm.Decimal"), ("Price mul Score", "Edm.Double"), ("Ratio add Price", "Edm.Single"),
      ("Ratio add 1.5", "Edm.Single"), ("Score div 3", "Edm.Double"), ("Rating div 2", "Edm.Int32"),
      ("Rating div 2.0", "Edm.Decimal"), ("Rating divby 2", "Edm.Decimal"), ("Score divby 2", "Edm.Double"),
      ("Rating mod 5", "Edm.Int32"), ("Made add duration'P1D'", "Edm.DateTimeOffset"), ("Day add Life", "Edm.Date"),
      ("Day sub 'P1D'", "Edm.Date"), ("Made sub Made", "Edm.Duration"), ("Day sub Day", "Edm.Duration"),
      ("Life add Life", "Edm.Duration"), ("Life mul 2", "Edm.Duration"), ("2 mul Life", "Edm.Duration"),
      ("Life div 2.5", "Edm.Duration"), ("-Rating", "Edm.Int32"), ("-Life", "Edm.Duration"),
      ("Weight mul 2", "Edm.Decimal"), ("Rating add null", "Edm.Int32"), ("Any add 1", "Edm.Untyped"),
      ("1 add 2.5", "Edm.Decimal"), ("-Price add 1", "Edm.Decimal"),
    ])
  func arithmetic(_ text: String, _ type: String) throws {
    #expect(try Self.bind(text).type.description == type)
  }

  @Test(
    "Functions: signatures and results (§5.1.1.5 to §5.1.1.11)",
    arguments: [
      ("concat(Name,'x')", "Edm.String"), ("concat(Tags,[\"a\"])", "Collection(Edm.String)"),
      ("contains(Name,'x')", "Edm.Boolean"), ("contains(Tags,['x'])", "Edm.Boolean"),
      ("endswith(Name,'x')", "Edm.Boolean"),
      ("indexof(Name,'x')", "Edm.Int32"), ("length(Name)", "Edm.Int32"), ("length(Tags)", "Edm.Int32"),
      ("startswith(Numbers,[1,2])", "Edm.Boolean"), ("substring(Name,1)", "Edm.String"),
      ("substring(Name,1,2)", "Edm.String"),
      ("substring(Numbers,1)", "Collection(Edm.Int32)"), ("hassubset(Numbers,[1])", "Edm.Boolean"),
      ("hassubsequence(Tags,['a','b'])", "Edm.Boolean"), ("matchesPattern(Name,'^a')", "Edm.Boolean"),
      ("tolower(Name)", "Edm.String"), ("toupper(Name)", "Edm.String"), ("trim(Name)", "Edm.String"),
      ("date(Made)", "Edm.Date"),
      ("day(Day)", "Edm.Int32"), ("day(Made)", "Edm.Int32"), ("fractionalseconds(Open)", "Edm.Decimal"),
      ("hour(Open)", "Edm.Int32"), ("minute(Made)", "Edm.Int32"), ("second(Life)", "Edm.Int32"),
      ("month(Day)", "Edm.Int32"),
      ("now()", "Edm.DateTimeOffset"), ("mindatetime()", "Edm.DateTimeOffset"), ("maxdatetime()", "Edm.DateTimeOffset"),
      ("time(Made)", "Edm.TimeOfDay"), ("totaloffsetminutes(Made)", "Edm.Int32"), ("totalseconds(Life)", "Edm.Decimal"),
      ("totalseconds('PT5M')", "Edm.Decimal"), ("year(Made)", "Edm.Int32"), ("ceiling(Price)", "Edm.Decimal"),
      ("floor(Score)", "Edm.Double"), ("round(Ratio)", "Edm.Double"), ("round(Rating)", "Edm.Decimal"),
      ("round(Weight)", "Edm.Decimal"),
      ("geo.distance(Place,geography'SRID=4326;Point(1 2)')", "Edm.Double"),
      ("geo.intersects(Place,Area)", "Edm.Boolean"),
      ("geo.length(Line)", "Edm.Double"), ("cast(Rating,Edm.String)", "Edm.String"),
      ("cast(Color,Edm.Int32)", "Edm.Int32"),
      ("cast('Red',Sales.Color)", "Sales.Color"), ("cast(Sales.Special)", "Sales.Special"),
      ("cast(Price,S.Weight)", "Sales.Weight"), ("isof(Sales.Special)", "Edm.Boolean"),
      ("isof(Category,Sales.Category)", "Edm.Boolean"), ("case(Rating gt 0:1,true:-1)", "Edm.Int32"),
      ("case(Rating gt 0:1,true:2.5)", "Edm.Decimal"), ("case(Rating gt 0:1,true:'x')", "Edm.Untyped"),
      ("Category/Products/$count", "Edm.Int64"), ("Tags/any(t:t eq 'x')", "Edm.Boolean"),
      ("[1,2.5]", "Collection(Edm.Decimal)"),
      ("$it/Tax(rate=1.5)", "Edm.Decimal"), ("$it/Sales.Special/Tax(rate=1)", "Edm.Double"),
      ("Sales.Even(n=Rating)", "Edm.Boolean"), ("$root/Orders(1)/Amount", "Edm.Decimal"),
    ])
  func types(_ text: String, _ type: String) throws {
    #expect(try Self.bind(text).type.description == type)
  }

  /// What the right operand of a comparison becomes.
  private static func right(_ text: String) throws -> ODataBoundExpression? {
    guard case .binary(_, _, let right) = try bind(text).kind else { return nil }
    return right
  }

  @Test(
    "Literals become values of the other operand's type, exactly (§5.1.1.14.1)",
    arguments: [
      ("Price eq 1", ODataValue.decimal(1)), ("Price lt 0.1", .decimal(ODataDecimal("0.1") ?? 0)),
      ("Score eq 0.1", .double(0.1)), ("Ratio eq 0.1", .single(0.1)), ("Score eq INF", .double(.infinity)),
      ("Stock eq 5", .int16(5)), ("Stock eq 70000", .int32(70000)), ("Tiny eq 255", .byte(255)),
      ("Tiny eq 300", .int32(300)),
      ("Big eq 1", .int64(1)), ("Rating eq 2.0", .int32(2)), ("Rating gt 2.5", .decimal(ODataDecimal("2.5") ?? 0)),
      ("Weight eq 3", .decimal(3)), ("Life gt 'PT5M'", .duration(ODataDuration(seconds: 300) ?? .zero)),
      ("Price eq 12345678901234567890.123456789", .decimal(ODataDecimal("12345678901234567890.123456789") ?? 0)),
      ("Name eq null", .null), ("Score lt 9007199254740993", .int64(9_007_199_254_740_993)),
    ])
  func literals(_ text: String, _ value: ODataValue) throws {
    let right = try #require(try Self.right(text))
    #expect(right.kind == .literal(value))
    #expect(right.type.item.primitive == (value == .null ? .string : value.type))
  }

  @Test(
    "Enumerations: by name, by number, with flags, with and without their type (§5.1.1.14.1)",
    arguments: [
      ("Color eq Sales.Color'Red'", Int64(0)), ("Color eq S.Color'Blue'", 2), ("Color eq 'Green'", 1),
      ("Color eq S.Color'1'", 1),
      ("Pattern has Sales.Pattern'Yellow'", 2), ("Pattern has 'Red,Blue'", 5), ("Pattern eq 'RedYellow'", 3),
      ("Pattern eq '3'", 3),
    ])
  func enumerations(_ text: String, _ value: Int64) throws {
    guard case .enumeration(let type, value)? = try Self.right(text)?.kind else {
      Issue.record("no enumeration of value \(value)")
      return
    }
    #expect(type.name == (text.hasPrefix("Color") ? "Sales.Color" : "Sales.Pattern"))
  }

  @Test(
    "Paths: inheritance, casts, open types, variables, roots (§5.1.1.15)",
    arguments: [
      ("Sales.Special/Discount gt 1", "Sales.Product"), ("S.Special/Discount gt 1", "Sales.Product"),
      ("Special/Discount gt 1", "Sales.Product"), ("Extra/Whatever eq 5", "Sales.Product"),
      ("Extra/Whatever/Deep eq 'x'", "Sales.Product"), ("Nickname eq 'x'", "Sales.Customer"),
      ("Address/Sales.GeoAddress/Place ne null", "Sales.Customer"), ("Address/Country/Name eq 'x'", "Sales.Customer"),
      ("Orders/any(o:o/Items/any(i:i/Quantity gt Age and o/Amount gt 5))", "Sales.Customer"),
      ("Orders/all(o:o/Customer/Name eq $it/Name)", "Sales.Customer"),
      ("Emails/any(e:endswith(e,'.com'))", "Sales.Customer"),
      ("Orders/any()", "Sales.Customer"), ("Orders/$count gt 2", "Sales.Customer"),
      ("Orders/$count($filter=Amount gt 5) gt 2", "Sales.Customer"), ("Boss eq null", "Sales.Customer"),
      ("Name in ('a','b')", "Sales.Customer"), ("Age in (1,2.0)", "Sales.Customer"),
      ("Name in Emails", "Sales.Customer"),
      ("[Name,ID] in [[\"John\",\"Doe\"],[\"Jane\",\"Smith\"]]", "Sales.Customer"),
      ("Address eq {\"Street\":\"a\",\"City\":\"b\"}", "Sales.Customer"), ("Any eq 5 and Any lt 'x'", "Sales.Product"),
      ("Price/@Measures.Currency eq 'EUR'", "Sales.Product"), ("not Active and Active eq true", "Sales.Product"),
      ("Data eq null", "Sales.Product"),
      ("Name eq $root/Products(01234567-89ab-cdef-0123-456789abcdef)/Name", "Sales.Product"),
    ])
  func paths(_ text: String, _ type: String) throws {
    let bound = try Self.bind(text, on: type)
    #expect(bound.type.item == .primitive(.boolean))
    // What is bound prints, is read and bound again to the same.
    let printed = try ODataPrinter(version: .v401).print(bound.syntax())
    #expect(try Self.bind(printed, on: type) == bound, "\(printed)")
  }

  @Test("Nullability follows the operands (§5.1.1.1, §5.1.1.2, §5.1.1.4)")
  func nullability() throws {
    #expect(try Self.bind("Price add 1").type.isNullable)
    #expect(try !Self.bind("Rating add 1").type.isNullable)
    #expect(try !Self.bind("Price gt 1").type.isNullable)
    #expect(try Self.bind("length(Name)").type.isNullable)
    #expect(try Self.bind("Category/Name").type.isNullable)
    #expect(try Self.bind("cast(Rating,Edm.String)").type.isNullable)
    #expect(try Self.bind("case(Active:1)").type.isNullable)
    #expect(try !Self.bind("case(Active:1,true:2)").type.isNullable)
  }

  @Test("The type that operands are promoted to is available (§5.1.1.18)")
  func promotion() throws {
    guard case .binary(_, let left, let right) = try Self.bind("Rating lt 2.5").kind else { return }
    #expect(ODataBoundType.promoted(left.type, right.type)?.primitive == .decimal)
  }

  @Test("An expression can be bound without an instance")
  func alone() throws {
    let bound = try BindingModel.binder.bind(try ODataParser(.v401).expression("1 add 2 eq 3"))
    #expect(bound.type.primitive == .boolean)
    #expect(throws: ODataBindingError.self) {
      try BindingModel.binder.bind(try ODataParser(.v401).expression("Name eq 'x'"))
    }
  }
}
