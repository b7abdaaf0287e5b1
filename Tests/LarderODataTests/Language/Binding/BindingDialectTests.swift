import LarderOData
import Testing

@Suite("Binding: V2", .timeLimit(.minutes(5)))
struct BindingDialectTests {
  private static func v2(_ text: String) throws -> ODataBoundURL {
    try BindingModelV2.binder.bind(try ODataParser(.v2).relativeURL(text), text: text)
  }

  private static func v4(_ text: String) throws -> ODataBoundURL {
    try BindingModelV2.binderV4.bind(try ODataParser(.v401).relativeURL(text), text: text)
  }

  @Test(
    "What V2 and V4 spell differently binds to the same tree (OData V2 URI Conventions §3 to §4)",
    arguments: [
      ("Products?$filter=substringof('x',Name)", "Products?$filter=contains(Name,'x')"),
      ("Products?$filter=substringof('x',Name) eq true", "Products?$filter=contains(Name,'x') eq true"),
      ("Products?$filter=concat(Name,'a','b') eq 'x'", "Products?$filter=concat(concat(Name,'a'),'b') eq 'x'"),
      ("Products?$filter=Price gt 20M", "Products?$filter=Price gt 20"),
      ("Products?$filter=Price gt 20.1", "Products?$filter=Price gt 20.1"),
      ("Products?$filter=Score gt 1.5d", "Products?$filter=Score gt 1.5"),
      ("Products?$filter=Big eq 5L", "Products?$filter=Big eq 5"),
      ("Products?$filter=Made gt datetime'2020-01-01T10:00:00'", "Products?$filter=Made gt 2020-01-01T10:00:00Z"),
      (
        "Products?$filter=Made gt datetime'2020-01-01T08:00:00'", "Products?$filter=Made gt 2020-01-01T10:00:00%2B02:00"
      ),
      (
        "Products?$filter=Moved gt datetimeoffset'2020-01-01T10:00:00Z'",
        "Products?$filter=Moved gt 2020-01-01T10:00:00Z"
      ),
      ("Products?$filter=Open eq time'PT5M'", "Products?$filter=Open eq duration'PT5M'"),
      (
        "Products?$filter=Code eq guid'01234567-89ab-cdef-0123-456789abcdef'",
        "Products?$filter=Code eq 01234567-89ab-cdef-0123-456789abcdef"
      ),
      ("Products?$filter=Data eq X'0001'", "Products?$filter=Data eq binary'AAE='"),
      ("Products?$filter=year(Made) eq 2020", "Products?$filter=year(Made) eq 2020"),
      ("Products?$filter=hour(Open) eq 1", "Products?$filter=hour(Open) eq 1"),
      ("Products?$inlinecount=allpages&$top=5", "Products?$count=true&$top=5"),
      ("Products?$inlinecount=none", "Products?$count=false"),
      ("Products?$expand=Category/Parent", "Products?$expand=Category($expand=Parent)"),
      ("Products?$expand=Category/Parent,Category/Products", "Products?$expand=Category($expand=Parent,Products)"),
      ("Products?$expand=Category&$select=Name,Category/Name", "Products?$expand=Category($select=Name)&$select=Name"),
      (
        "Products?$expand=Category/Parent&$select=Category/Parent/Name,ID",
        "Products?$expand=Category($expand=Parent($select=Name))&$select=ID"
      ),
      ("Products(1)/$links/Category", "Products(1)/Category/$ref"),
      ("Categories(1)/$links/Products(2)", "Categories(1)/Products(2)/$ref"), ("Products(1L)", "Products(1)"),
      ("Products/$count?$filter=Active", "Products/$count?$filter=Active"),
      ("Products(1)/Name/$value", "Products(1)/Name/$value"),
      ("ByRating?rating=3", "ByRating(rating=3)"), ("Products()", "Products"),
    ])
  func spellings(_ v2: String, _ v4: String) throws {
    let bound = try Self.v2(v2)
    #expect(bound == (try Self.v4(v4)))
    try BindingURLTests.roundTrip(bound, BindingModelV2.binder, .v2)
    try BindingURLTests.roundTrip(bound, BindingModelV2.binderV4, .v401)
  }

  @Test(
    "V2 promotes integers of less than 32 bits ([MS-ODATA] §2.2.3.6.1.2.1)",
    arguments: [
      ("ID add 1", "Edm.Int32"), ("ID add 1L", "Edm.Int64"), ("Price mul 2", "Edm.Decimal"),
      ("Score sub 1", "Edm.Double"),
      ("Big mod 2", "Edm.Int64"), ("Score add Price", "Edm.Double"), ("round(Price)", "Edm.Decimal"),
      ("length(Name)", "Edm.Int32"),
      ("replace(Name,'a','b')", "Edm.String"), ("ID div 2", "Edm.Int32"), ("isof('ZS.Product')", "Edm.Boolean"),
    ])
  func promotion(_ text: String, _ type: String) throws {
    let expression = try ODataParser(.v2).expression(text)
    #expect(try BindingModelV2.binder.bind(expression, on: "ZS.Product").type.description == type)
  }

  @Test("Decimal digits never go through a binary fraction, in either dialect")
  func digits() throws {
    for text in ["Products?$filter=Price eq 0.1M", "Products?$filter=Price eq 12345678901234567.89M"] {
      guard case .binary(_, _, let right)? = try Self.v2(text).options.filter?.kind,
        case .literal(.decimal(let value)) = right.kind
      else {
        Issue.record("\(text)")
        continue
      }
      #expect(text.contains(value.description))
    }
  }

  @Test(
    "Errors",
    arguments: [
      (
        "Products?$select=Category/Name",
        "a further step cannot follow a navigation property that $expand does not name: expand it"
      ),
      ("Products?$filter=Name eq 5", "'eq' cannot be applied to Edm.String and Edm.Int32"),
      ("ByRating", "ByRating cannot be called with (); expected (rating)"),
      ("ByRating?rating='x'", "expected Edm.Int16 for 'rating', found Edm.String"),
      ("Products(1)/$links/Name", "expected a navigation property after $links, found Edm.String"),
      ("Products(1)?$inlinecount=allpages", "$inlinecount is not allowed on ZS.Product: it needs a collection"),
      ("Products?$expand=Categories", "there is no property 'Categories' in ZS.Product; did you mean 'Category'?"),
    ])
  func rejections(_ text: String, _ message: String) throws {
    do {
      _ = try Self.v2(text)
      Issue.record("bound")
    } catch let error as ODataBindingError {
      #expect(error.problem.description == message)
    }
  }
}
