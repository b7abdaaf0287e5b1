import LarderOData
import Testing

@Suite("Binding: errors", .timeLimit(.minutes(5)))
struct BindingErrorTests {
  private static func problem(_ text: String, on type: String = "Sales.Product") throws -> String {
    let expression = try ODataParser(.v401).expression(text)
    do {
      let bound = try BindingModel.binder.bind(filter: expression, on: type, text: text)
      return "bound: \(bound.type)"
    } catch {
      return error.problem.description
    }
  }

  @Test(
    "Names that the model does not have, and the nearest that it has (§5.1.1.15)",
    arguments: [
      ("Nam eq 'x'", "there is no property 'Nam' in Sales.Product; did you mean 'Name'?"),
      ("name eq 'x'", "there is no property 'name' in Sales.Product; did you mean 'Name'?"),
      ("Naem eq 'x'", "there is no property 'Naem' in Sales.Product; did you mean 'Name'?"),
      ("Discount gt 1", "there is no property 'Discount' in Sales.Product"),
      ("Category/Nmae eq 'x'", "there is no property 'Nmae' in Sales.Category; did you mean 'Name'?"),
      (
        "Sales.Specail/Discount gt 1",
        "there is no type or operation 'Sales.Specail' in the model; did you mean 'Sales.Special'?"
      ),
      ("Color eq 'Grene'", "there is no member 'Grene' in Sales.Color; did you mean 'Green'?"),
      (
        "Color eq Sales.Colour'Red'",
        "there is no enumeration type 'Sales.Colour' in the model; did you mean 'Sales.Color'?"
      ),
      ("isof(Sales.Custmer)", "there is no type 'Sales.Custmer' in the model; did you mean 'Sales.Customer'?"),
      ("cast(Rating,Edm.Int23) eq 1", "there is no type 'Edm.Int23' in the model; did you mean 'Edm.Int32'?"),
      (
        "$root/Product(1)/Name eq 'x'",
        "there is no entity set, singleton or operation 'Product' in the service; did you mean 'Products'?"
      ),
      ("Whatever eq 5", "there is no property 'Whatever' in Sales.Product"),
    ])
  func names(_ text: String, _ message: String) throws {
    #expect(try Self.problem(text) == message)
  }

  @Test(
    "Operands of incompatible types (§5.1.1.1, §5.1.1.2)",
    arguments: [
      ("Name eq 5", "'eq' cannot be applied to Edm.String and Edm.Int32"),
      ("Rating eq 'x'", "'eq' cannot be applied to Edm.Int32 and Edm.String"),
      ("Rating add 'x' eq 1", "'add' cannot be applied to Edm.Int32 and Edm.String"),
      ("Made eq Day", "'eq' cannot be applied to Edm.DateTimeOffset and Edm.Date"),
      ("Day eq 2020-01-01T00:00:00Z", "'eq' cannot be applied to Edm.Date and Edm.DateTimeOffset"),
      ("Made add Made eq now()", "'add' cannot be applied to Edm.DateTimeOffset and Edm.DateTimeOffset"),
      ("Place eq Place", "'eq' cannot be applied to Edm.GeographyPoint and Edm.GeographyPoint"),
      ("Photo eq Photo", "'eq' cannot be applied to Edm.Stream and Edm.Stream"),
      ("Data lt Data", "'lt' cannot be applied to Edm.Binary and Edm.Binary"),
      ("Category gt Category", "'gt' cannot be applied to Sales.Category and Sales.Category"),
      ("Tags gt Tags", "'gt' cannot be applied to Collection(Edm.String) and Collection(Edm.String)"),
      ("Tags eq 'x'", "'eq' cannot be applied to Collection(Edm.String) and Edm.String"),
      (
        "Tags eq null",
        "'eq' cannot be applied to Collection(Edm.String) and null (a collection is never null; "
          + "use its '/$count' or '/any()')"
      ),
      ("Color eq Pattern", "'eq' cannot be applied to Sales.Color and Sales.Pattern"),
      ("Color eq 9", "Sales.Color has no member with the value 9"),
      ("Color eq Rating", "'eq' cannot be applied to Sales.Color and Edm.Int32"),
      ("Color eq 1.5", "'eq' cannot be applied to Sales.Color and Edm.Decimal"),
      ("Rating has 'x'", "'has' cannot be applied to Edm.Int32 and Edm.String"),
      ("Rating in ('a')", "'in' cannot be applied to Edm.Int32 and Edm.String"),
      ("Color eq 'Red,Green'", "Sales.Color has no flags; give one member, not 'Red,Green'"),
      ("Life eq 'tomorrow'", "'tomorrow' is not a valid Edm.Duration; expected a duration such as 'PT5M'"),
      ("Name", "expected Edm.Boolean, found Edm.String"),
      ("Rating and Active", "expected Edm.Boolean, found Edm.Int32"),
      ("not Rating", "expected Edm.Boolean, found Edm.Int32"),
      ("-Name eq 'x'", "expected a number or Edm.Duration, found Edm.String"),
      ("cast(Data,Edm.Int32) eq 1", "'cast' cannot be applied to Edm.Binary and Edm.Int32"),
      ("cast(Category,Sales.Order) eq null", "'cast' cannot be applied to Sales.Category and Sales.Order"),
    ])
  func operands(_ text: String, _ message: String) throws {
    #expect(try Self.problem(text) == message)
  }

  @Test(
    "Functions with arguments that they do not accept (§5.1.1.5 to §5.1.1.11)",
    arguments: [
      ("length(Rating) eq 1", "length does not accept (Edm.Int32); expected (Edm.String) or (Collection)"),
      (
        "contains(Name,5)",
        "contains does not accept (Edm.String,Edm.Int32); expected (Edm.String,Edm.String) or (Collection,Collection)"
      ),
      ("year(Name) eq 1", "year does not accept (Edm.String); expected (Edm.Date) or (Edm.DateTimeOffset)"),
      (
        "hour(Day) eq 1",
        "hour does not accept (Edm.Date); expected (Edm.DateTimeOffset), (Edm.TimeOfDay) or (Edm.Duration)"
      ),
      ("round(Name) eq 1", "round does not accept (Edm.String); expected a number"),
      (
        "substring(Name,1.5) eq 'x'",
        "substring does not accept (Edm.String,Edm.Decimal); expected (Edm.String,Edm.Int32), (Edm.String,Edm.Int32,Edm.Int32)"
          + " or (Collection,Edm.Int32,…)"
      ),
      ("geo.length(Place) gt 1", "geo.length does not accept (Edm.GeographyPoint); expected a line"),
      ("hassubset(Name,Name)", "hassubset does not accept (Edm.String,Edm.String); expected (Collection,Collection)"),
      ("Sales.Even(m=1)", "Sales.Even cannot be called with (m); expected (n)"),
      ("Sales.Even(n='x')", "expected Edm.Int32 for 'n', found Edm.String"),
      (
        "Category/Sales.Tax(rate=1) gt 1",
        "Sales.Tax cannot follow Sales.Category: no overload of it has this binding type"
      ),
      ("Sales.Raise(by=1) eq 1", "Sales.Raise cannot follow Sales.Product: no overload of it has this binding type"),
    ])
  func functions(_ text: String, _ message: String) throws {
    #expect(try Self.problem(text) == message)
  }

  @Test(
    "Steps that cannot follow (§4, §5.1.1.13, §5.1.1.15)",
    arguments: [
      (
        "Category/Products/Name eq 'x'",
        "'Name' cannot follow Collection(Sales.Product): test its items with any(…) or all(…)"
      ),
      ("Name/Length eq 1", "'Length' cannot follow Edm.String: it has no members"),
      ("Name/$count eq 1", "$count cannot follow Edm.String: only collections can be counted"),
      ("Category/any(c:c/ID eq 1)", "any cannot follow Sales.Category: only collections have items"),
      (
        "Category/Sales.Order/ID eq 1",
        "the type Sales.Order cannot follow Sales.Category: neither derives from the other"
      ),
      ("Tags/any(t:s eq 'x')", "there is no property 's' in Sales.Product"),
      ("Category(1)/Name eq 'x'", "a key cannot follow Sales.Category: only a collection of entities has keys"),
      ("Category/Products(1)/Name eq 'x'", "expected Edm.Guid for 'ID', found Edm.Int32"),
      ("Category/Products(Name='x')/Name eq 'x'", "the key of Sales.Product is (ID), not (Name)"),
    ])
  func steps(_ text: String, _ message: String) throws {
    #expect(try Self.problem(text) == message)
  }

  @Test("The position, and the line with a caret")
  func place() throws {
    let text = "Price gt 5 and Nam eq 'x'"
    let expression = try ODataParser(.v401).expression(text)
    do {
      _ = try BindingModel.binder.bind(filter: expression, on: "Sales.Product", text: text)
      Issue.record("bound")
    } catch {
      #expect(error.offset == 15)
      #expect(
        error.description == """
          there is no property 'Nam' in Sales.Product; did you mean 'Name'? (at character 16)
            Price gt 5 and Nam eq 'x'
                           ^
          """)
    }
  }

  @Test("Types and sets of the caller are looked up too")
  func caller() throws {
    let expression = try ODataParser(.v401).expression("true")
    #expect(throws: ODataBindingError.self) { try BindingModel.binder.bind(filter: expression, on: "Sales.Prodct") }
    #expect(throws: ODataBindingError.self) {
      try BindingModel.binder.bind(filter: expression, on: "Sales.Product", from: "Orders")
    }
  }

  @Test(
    "The nearest name: Damerau-Levenshtein of folded names, at most a third of the letters apart",
    arguments: [
      ("SalesOrdr", "SalesOrder"), ("salesorder", "SalesOrder"), ("SaelsOrder", "SalesOrder"), ("Prodcts", "Products"),
      ("Prodcut", "Product"), ("Xyz", nil), ("A", nil), ("Kunde", nil), ("ID", "Id"),
    ] as [(String, String?)])
  func nearest(_ name: String, _ expected: String?) {
    #expect(BindingNearest.find(name, among: ["SalesOrder", "Products", "Product", "Id", "Customer"]) == expected)
  }
}
