import LarderOData
import Testing

@Suite("Binding: the names in scope, and their sources", .timeLimit(.minutes(5)))
struct BindingScopeTests {
  private static func bind(_ text: String) throws -> ODataBoundURL {
    let bound = try BindingURLTests.bind(text)
    try BindingURLTests.roundTrip(bound)
    return bound
  }

  private static func failure(_ text: String, _ binder: ODataBinder = BindingModel.binder) throws -> ODataBindingError?
  {
    let url = try ODataParser(.v401).relativeURL(text)
    do {
      _ = try binder.bind(url, text: text)
      return nil
    } catch {
      return error
    }
  }

  @Test(
    "Literals that services accept next to other types: a date with a timestamp, a number with an enumeration",
    arguments: [
      ("Products?$filter=Made ge 2020-01-01", "Products?$filter=Made ge 2020-01-01T00:00:00Z"),
      ("Products?$filter=2020-01-01 lt Made", "Products?$filter=2020-01-01T00:00:00Z lt Made"),
      ("Products?$filter=Made in (2020-01-01)", "Products?$filter=Made in (2020-01-01T00:00:00Z)"),
      ("Products?$filter=Color eq 1", "Products?$filter=Color eq 'Green'"),
      ("Products?$filter=Color in (1,2)", "Products?$filter=Color in ('Green','Blue')"),
      ("Products?$filter=Pattern eq 5", "Products?$filter=Pattern eq 'Red,Blue'"),
    ])
  func literals(_ text: String, _ other: String) throws {
    #expect(try Self.bind(text) == Self.bind(other))
  }

  @Test("Arguments do not accept such literals, because they have declared types")
  func arguments() throws {
    #expect(
      try Self.failure("Top(number=5,color=1)")?.problem
        == .wrongType(expected: "Sales.Color for 'color'", found: "Edm.Int32"))
  }

  @Test(
    "Options without a tree of their own keep their position",
    arguments: [
      ("Orders(1)?$skip=3", 16), ("Orders(1)?$top=5", 15), ("Orders(1)?$search=a", 18), ("Orders(1)?$count=true", 17),
      ("Orders(1)?$apply=identity", 17), ("Me?$expand=Boss($top=5)", 21), ("Orders?$format=json&$index=1&$id=x", 33),
    ])
  func positions(_ text: String, _ offset: Int) throws {
    let offset = text.contains("$id") ? text.utf8.count - 1 : offset
    #expect(try Self.failure(text)?.offset == offset)
  }

  @Test(
    "Contained entities come from the set of their container, and their partner leads back to it (CSDL 4.01 §8.4)",
    arguments: [
      ("Orders(1)/Items(2)/Order", "Orders", 0), ("Orders(1)/Items(2)/Order/Customer", "Customers", 0),
      ("Orders(1)/Items(2)/Order/Items(3)", "Orders", 1), ("Me/Orders(1)/Items(2)/Order/Items", "Orders", 1),
      ("Orders(1)/Items(2)/Order/Items(3)/Product", "Products", 0),
    ])
  func containment(_ text: String, _ set: String, _ depth: Int) throws {
    let source = try Self.bind(text).source
    #expect(source?.source.name == set)
    #expect(source?.containment.count == depth)
  }

  @Test("Contained entities have no set at the root, and are read through $expand like others")
  func containedRoot() throws {
    #expect(try Self.failure("Items") != nil)
    let expand = try Self.bind("Orders?$expand=Items($expand=Order,Product;$filter=Order/Amount gt 1)").options.expand
    #expect(expand.first?.path.source?.containment.map(\.name) == ["Items"])
    let inner = expand.first?.options?.expand.map { $0.path.source?.source.name }
    #expect(inner == ["Orders", "Products"])
  }

  @Test("Aliases that refer to themselves are an error at the position of the alias (§5.3)")
  func circles() throws {
    for text in [
      "Products?$filter=@a&@a=@b&@b=@a", "Products?$filter=@a&@a=@a", "Products?$filter=@a&@a=not (@b)&@b=not @a",
    ] {
      #expect(try Self.failure(text)?.problem == .circularAlias("a"))
    }
  }

  @Test("An alias that is used twice has the type that each use requires")
  func twice() throws {
    let filter = try Self.bind("Products?$filter=Rating gt @a or Price gt @a&@a=3").options.filter
    guard case .or(let parts)? = filter?.kind else {
      Issue.record("no or")
      return
    }
    let types = parts.map { part in
      if case .binary(_, _, let right) = part.kind { right.type.description } else { "" }
    }
    #expect(types == ["Edm.Int32", "Edm.Decimal"])
  }

  @Test("Computed properties are in scope after their definition, also in lambdas, but not in values of aliases")
  func computed() throws {
    let bound = try Self.bind(
      "Orders?$compute=Items/any(i:i/Quantity gt Amount) as A,Items/any(i:A) as B&$filter=A or B&$orderby=B&$select=A,B"
    )
    #expect(bound.options.compute.map { $0.expression.type.description } == ["Edm.Boolean", "Edm.Boolean"])
    #expect(try Self.failure("Orders?$compute=B as A,true as B") != nil)
    #expect(try Self.failure("Orders?$compute=true as A,@x as B&@x=A") != nil)
    #expect(try Self.failure("Orders?$compute=true as A,Items/$count($filter=A) as B") != nil)
    #expect(try Self.failure("Orders?$compute=true as A,false as A")?.problem == .duplicate("'A'"))
  }
}
