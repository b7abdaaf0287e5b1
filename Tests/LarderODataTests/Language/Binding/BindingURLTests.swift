import LarderOData
import Testing

@Suite("Binding: URLs", .timeLimit(.minutes(5)))
struct BindingURLTests {
  static func bind(_ text: String, _ binder: ODataBinder = BindingModel.binder, _ version: ODataVersion = .v401) throws
    -> ODataBoundURL
  {
    try binder.bind(try ODataParser(version).relativeURL(text), text: text)
  }

  @Test(
    "The names in a context fragment are the model's (Protocol 4.01 §10)",
    arguments: [
      ("#Customers", nil), ("#Customers(Address/Street,Orders)", nil), ("#Customers(Address/GeoAddress,Orders)", 19),
      ("#Customers(Address/S.GeoAddress/Place)", nil), ("#Customers(Address/S.GeoAdress/Place)", 19), ("#Custmers", 1),
      ("#Customers('1')/Orders(1)/Items/$entity", nil), ("#Customers(AnyName)", nil), ("#Products(Name,Prise)", 15),
      ("#Products(Category(Name,X))", 24), ("#Products(*,@Ns.T,Category+)/$delta", nil), ("#Products(Name/X)", 15),
      ("#Collection(S.Product)(Name)", nil), ("#Collection(S.Product)(Nam)", 23), ("#Collection(S.Nothing)", 1),
      ("#Sales.Product(ID)", nil), ("#Edm.String", nil), ("#$ref", nil), ("#Collection(Edm.EntityType)", nil),
    ] as [(String, Int?)])
  func context(text: String, place: Int?) throws {
    guard case .context(let fragment) = try #require(ODataGrammarRule("context")).parse(text) else {
      Issue.record("no context")
      return
    }
    var offset: Int?
    do throws(ODataBindingError) { try BindingModel.binder.check(fragment, text: text) } catch { offset = error.offset }
    #expect(offset == place)
  }

  @Test(
    "Resources: their type, and the set that they come from (URL Conventions 4.01 §4)",
    arguments: [
      ("Products", "Collection(Sales.Product)", "Products"), ("Me", "Sales.Customer", "Me"),
      ("Orders(1)", "Sales.Order", "Orders"), ("Orders(ID=1)", "Sales.Order", "Orders"),
      ("Orders/1", "Sales.Order", "Orders"),
      ("Customers('a')/Orders", "Collection(Sales.Order)", "Orders"),
      ("Me/Orders(5)/Customer", "Sales.Customer", "Customers"),
      ("Customers/a/Boss/Boss", "Sales.Customer", "Customers"), ("Orders(1)/Items", "Collection(Sales.Item)", "Orders"),
      ("Orders(1)/Items(OrderID=1,No=2)", "Sales.Item", "Orders"), ("Orders(1)/Items(2)", "Sales.Item", "Orders"),
      ("Orders/1/Items/2/Product", "Sales.Product", "Products"),
      ("Customers('a')/Address/Country", "Sales.Country", "Countries"),
      ("Products/Sales.Special", "Collection(Sales.Special)", "Products"),
      ("Products(01234567-89ab-cdef-0123-456789abcdef)/Sales.Special/Best", "Sales.Product", "Products"),
      ("Products/Special", "Collection(Sales.Special)", "Products"), ("Orders/$count", "Edm.Int64", nil),
      ("Orders(1)/Amount", "Edm.Decimal", nil), ("Orders(1)/Amount/$value", "Edm.Decimal", nil),
      ("Products(01234567-89ab-cdef-0123-456789abcdef)/$value", "Edm.Stream", nil),
      ("Orders(1)/Customer/$ref", "Sales.Customer", "Customers"),
      ("Me/Orders/$ref", "Collection(Sales.Order)", "Orders"),
      ("Me/Addresses/0", "Sales.Address", nil), ("Me/Emails/-1", "Edm.String", nil),
      ("Me/Nickname", "Edm.Untyped", nil),
      ("Top(number=5)", "Collection(Sales.Product)", "Products"),
      ("Top(number=5,color='Red')/Special", "Collection(Sales.Special)", "Products"),
      ("Top?number=5", "Collection(Sales.Product)", "Products"),
      ("Top(number=@c)?@c=5", "Collection(Sales.Product)", "Products"),
      ("Top?@number=5", "Collection(Sales.Product)", "Products"),
      ("ByColors(colors=@c)?@c=[\"red\",\"green\"]", "Collection(Sales.Product)", "Products"),
      ("Me/Sales.Buyers()", "Collection(Sales.Customer)", "Customers"), ("Me/Buyers()/$count", "Edm.Int64", nil),
      ("Orders/$filter(Amount gt 5)/$count", "Edm.Int64", nil), ("Shelves(Row=1,Letter='A')", "Sales.Shelf", "Shelves"),
      ("Products/$filter(Rating lt 2)/$each/Sales.Raise", "-", nil), ("Reset", "-", nil),
      ("$all", "Collection(Edm.EntityType)", nil), ("$crossjoin(Orders,Products)", "Collection(Edm.ComplexType)", nil),
      ("$entity?$id=Orders(1)", "Edm.EntityType", nil), ("$entity/Sales.Order?$id=Orders(1)", "Sales.Order", nil),
      ("$metadata", "-", nil), ("$batch", "-", nil), ("Orders/$query", "Collection(Sales.Order)", "Orders"),
    ] as [(String, String, String?)])
  func resources(_ text: String, _ type: String, _ source: String?) throws {
    let bound = try Self.bind(text)
    #expect((bound.type?.description ?? "-") == type)
    #expect(bound.source?.source.name == source)
    #expect(bound.source?.containment.isEmpty ?? true == !(text.contains("Items") && !text.contains("Product")))
    try Self.roundTrip(bound)
  }

  /// Prints what is bound, reads and binds it again.
  static func roundTrip(
    _ bound: ODataBoundURL, _ binder: ODataBinder = BindingModel.binder, _ version: ODataVersion = .v401
  ) throws {
    let printed = try ODataPrinter(version: version).print(bound.syntax(version.dialect))
    let again = try bind(printed, binder, version)
    #expect(again == bound, "\(printed)")
    #expect(try ODataPrinter(version: version).print(again.syntax(version.dialect)) == printed)
  }

  @Test("Keys have typed values, in the order of the type's key; implied parts are marked (§4.3.2)")
  func keys() throws {
    guard case .path(let path) = try Self.bind("Orders(7)/Items(2)").resource,
      case .key(let parts)? = path.segments.last?.kind
    else { return }
    #expect(parts.map(\.part.name) == ["OrderID", "No"] && parts.map(\.isImplied) == [true, false])
    #expect(parts.map(\.value?.kind) == [.literal(.int32(7)), .literal(.int32(2))])
    guard case .path(let shelf) = try Self.bind("Shelves(Letter='A',Row=1)").resource,
      case .key(let row)? = shelf.segments.last?.kind
    else { return }
    #expect(row.map(\.part.name) == ["Row", "Letter"] && row.first?.part.path.map(\.name) == ["At", "Row"])
  }

  @Test(
    "Options where they are allowed, and the names that they see from each other (§5)",
    arguments: [
      "Products?$filter=Price gt 5&$orderby=Name desc,Category/Name&$top=5&$skip=10&$count=true&$search=a OR b",
      "Products?$select=Name,Sales.Special/Discount,Extra/Size,*&$expand=Category($select=Name;$expand=Products($top=2))",
      "Products?$expand=*", "Products?$expand=*($levels=2)", "Products?$expand=*/$ref,Category",
      "Products?$expand=Photo,$value",
      "Customers?$expand=Boss($levels=max;$select=Name)", "Customers?$expand=Boss($levels=3)",
      "Customers?$expand=Orders/$count($filter=Amount gt 5)", "Customers?$expand=Orders/$ref($top=1)",
      "Customers?$expand=Address/Country,Addresses/Country", "Products?$expand=Sales.Special/Best",
      "Categories?$expand=Products/Sales.Special($select=Discount)",
      "Customers?$select=Addresses($filter=startswith(City,'H');$top=5;$orderby=Street),Emails($filter=endswith($this,'.com'))",
      "Customers?$expand=Orders($filter=$it/Name eq Note)",
      "Customers?$compute=Age add 1 as Next&$filter=Next gt 5&$select=Next",
      "Customers?$compute=Age add 1 as A,A mul 2 as B&$orderby=B", "Customers?$select=Sales.*,Sales.Buyers,Nickname",
      "Products?$select=Sales.Tax(rate)", "Me/Emails?$filter=endswith($it,'.com')&$orderby=$it",
      "Orders/$count?$filter=Amount gt 1",
      "Me?$select=Name&$expand=Orders($count=true)", "Customers?$filter=Name eq @n&@n='x'",
      "Customers?$expand=Orders($filter=Note eq @n)&@n=Name", "Customers?$filter=@f&@f=Age gt @a&@a=5",
      "Customers?$filter=Age eq @missing", "Orders?$filter=Items/any(i:i/Product/Price gt Amount)",
      "Customers?custom=1&sap-client=200", "Orders?$format=json&$schemaversion=*&$skiptoken=abc&$deltatoken=d",
      "$crossjoin(Orders,Products)?$filter=Orders/ID eq Products/Rating&$select=Orders/ID",
      "Products(01234567-89ab-cdef-0123-456789abcdef)?$select=ID", "Products?$filter=Sales.Tax(rate=1) gt 5",
    ])
  func options(_ text: String) throws { try Self.roundTrip(try Self.bind(text)) }

  @Test(
    "$apply: the next step and the other options see the result of a step (Data Aggregation 4.0 §3)",
    arguments: [
      "Orders?$apply=aggregate(Amount with sum as Total)&$orderby=Total",
      "Orders?$apply=groupby((Customer/Name),aggregate(Amount with sum as Total,$count as N))&$filter=Total gt 5&$orderby=Customer/Name,N",
      "Orders?$apply=groupby((Note))/filter(Note ne 'x')",
      "Orders?$apply=filter(Amount gt 5)/groupby((Customer/ID,Note),topcount(2,Amount))",
      "Orders?$apply=compute(Amount mul 2 as Twice)/aggregate(Twice with max as M)&$select=M",
      "Orders?$apply=aggregate(Items/Quantity with sum as Q,Items/$count as C)",
      "Orders?$apply=concat(aggregate(Amount with sum as Total),groupby((Note),aggregate(Amount with sum as Total)))&$orderby=Total",
      "Orders?$apply=groupby((rollup(Customer/ID,Customer/Name)),aggregate(Amount with average as A))",
      "Orders?$apply=identity/search(x)/orderby(Amount)/skip(1)/top(2)", "Orders?$apply=aggregate(Forecast)",
      "Orders?$apply=nest(groupby((Note)) as Notes)&$expand=Notes",
      "Orders?$apply=join(Items as Item)&$filter=Item/Quantity gt 5",
      "Orders?$apply=addnested(Items,filter(Quantity gt 5) as Many)&$expand=Many",
      "Orders?$apply=toppercent(50,Amount)/bottomsum(5,Amount)",
    ])
  func apply(_ text: String) throws { try Self.roundTrip(try Self.bind(text)) }

  @Test(
    "Resources and options that do not fit",
    arguments: [
      ("Product", "there is no entity set, singleton or operation 'Product' in the service; did you mean 'Products'?"),
      ("Orders('x')", "expected Edm.Int32 for 'ID', found Edm.String"),
      ("Orders(99999999999)", "expected Edm.Int32 for 'ID', found Edm.Int64"),
      ("Orders(@x)", "expected Edm.Int32 for 'ID', found null"),
      ("Orders(No=1)", "the key of Sales.Order is (ID), not (No)"),
      ("Orders(1)/Items(OrderID=1)", "the key of Sales.Item is (OrderID,No), not (OrderID)"),
      ("Shelves(1)", "the key of Sales.Shelf is (Row,Letter), not (a value)"),
      ("Orders/x", "'x' is not a valid Edm.Int32 value; expected a whole number from -2147483648 to 2147483647"),
      ("Me(1)", "a key cannot follow Sales.Customer: only a collection of entities has keys"),
      ("Orders(1)/$value", "$value cannot follow Sales.Order: Sales.Order is not a media entity"),
      ("Orders(1)/Amount/$ref", "$ref cannot follow Edm.Decimal: only entities have references"),
      ("Top", "Top cannot be called with (); expected (number) or (number,color)"),
      ("Top(number=1,colour='Red')", "Top cannot be called with (number,colour); expected (number) or (number,color)"),
      (
        "ByColors(colors=@c)/$filter(true)?@c=[]",
        "a further step cannot follow Sales.ByColors: it is not composable"
      ),
      ("$crossjoin(Orders,Prodcts)", "there is no entity set 'Prodcts' in the service; did you mean 'Products'?"),
      ("Orders(1)?$filter=true", "$filter is not allowed on Sales.Order: it needs a collection"),
      ("Orders(1)?$top=1", "$top is not allowed on Sales.Order: it needs a collection"),
      ("Orders(1)/Amount?$select=ID", "$select is not allowed on Edm.Decimal: it needs an entity or a complex value"),
      (
        "Orders(1)/Customer/$ref?$expand=Orders",
        "$expand is not allowed on $ref: it needs an entity or a complex value"
      ),
      ("Orders?$filter=Amuont gt 5", "there is no property 'Amuont' in Sales.Order; did you mean 'Amount'?"),
      ("Orders?$orderby=Items", "expected a value that can be ordered, found Collection(Sales.Item)"),
      ("Orders?$orderby=Customer", "expected a value that can be ordered, found Sales.Customer"),
      ("Orders?$expand=Amount", "expected a navigation property, found 'Amount' of type Edm.Decimal"),
      ("Orders?$expand=Customers", "there is no property 'Customers' in Sales.Order; did you mean 'Customer'?"),
      ("Orders?$expand=Customer,Customer", "'Customer' occurs twice; give it once"),
      ("Orders?$expand=Customer($top=1)", "$top is not allowed on Sales.Customer: it needs a collection"),
      ("Orders?$expand=Items($levels=2)", "$levels is not allowed on 'Items': it does not lead back to Sales.Order"),
      ("Orders?$select=Amuont", "there is no property 'Amuont' in Sales.Order; did you mean 'Amount'?"),
      (
        "Orders?$select=Customer/Name",
        "a further step cannot follow Sales.Customer: select it in $expand=Customer($select=…)"
      ),
      ("Orders?$select=Sale.*", "there is no namespace 'Sale' in the model; did you mean 'Sales'?"),
      ("Orders?$compute=1 as Amount", "'Amount' occurs twice; give it once"),
      ("Orders?$filter=@a&@a=@b&@b=@a", "the value of @a contains @a"),
      (
        "Orders?$apply=aggregate(Amount with sum as T)&$filter=Amount gt 5",
        "there is no property 'Amount' in the result of $apply"
      ),
      (
        "Orders?$apply=groupby((Note))&$select=Nte",
        "there is no property 'Nte' in the result of $apply; did you mean 'Note'?"
      ),
      ("Orders?$apply=aggregate(Note with sum as T)", "expected a number for sum, found Edm.String"),
      ("Orders?$apply=aggregate(Forecst)", "there is no custom aggregate 'Forecst' in Sales.Order"),
    ])
  func rejections(_ text: String, _ message: String) throws {
    do {
      _ = try Self.bind(text)
      Issue.record("bound")
    } catch let error as ODataBindingError {
      #expect(error.problem.description == message)
    }
  }
}
