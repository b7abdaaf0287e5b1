import LarderTestSupport
import Testing

@testable import LarderOData

/// Edge cases that the grammar accepts or rejects, with the positions of errors (ABNF Construction Rules 4.01).
@Suite("Edges of the grammar", .timeLimit(.minutes(1)))
struct UrlGrammarPlaceTests {
  struct Case: Sendable, CustomStringConvertible {
    let rule: String
    let text: String
    /// The position of the error; nil if the text is accepted.
    let place: Int?
    var version = ODataVersion.v401

    init(_ rule: String, _ text: String, _ place: Int? = nil, _ version: ODataVersion = .v401) {
      (self.rule, self.text, self.place, self.version) = (rule, text, place, version)
    }

    var description: String { "\(rule) \(text)" }
  }

  private static func check(_ item: Case) throws {
    let rule = try #require(ODataGrammarRule(item.rule))
    var place: Int?
    do throws(ODataSyntaxError) {
      _ = try rule.parse(item.text, options: ODataParserOptions(version: item.version))
    } catch { place = error.offset }
    #expect(place == item.place)
  }

  @Test(
    "Expressions (section 4)",
    arguments: [
      Case("commonExpr", "Price ", 6), Case("commonExpr", "Price  l", 7), Case("commonExpr", "Price add", 9),
      Case("commonExpr", "(4 add@5)", 6), Case("commonExpr", "Price eq(5)", 8), Case("commonExpr", "cast(a,Edm.", 11),
      Case("commonExpr", "indexof(Name)", 12), Case("commonExpr", "length(Name,1)", 11),
      Case("commonExpr", "now(1)", 4),
      Case("commonExpr", "$root/F()(1)/Name"), Case("commonExpr", "Ns.F(a=1)(2)/b"), Case("commonExpr", "F(a=1)()", 7),
      Case("commonExpr", "Orders/Ns.F()(1)/ID eq 2"), Case("commonExpr", "Orders/$filter(a)(b)", 18),
      Case("commonExpr", "geo.gth('x')", 8), Case("commonExpr", "Ns.F('x')/a", 5),
      Case("commonExpr", "Set/Ns.T('x')/a"),
      Case("commonExpr", "$these/name", 11), Case("commonExpr", "$these/Ns.T", 11), Case("commonExpr", "$these", 6),
      Case("commonExpr", "$these/1", 7),
      Case("commonExpr", "$these/Ns.F()"), Case("commonExpr", "$these/$count"), Case("commonExpr", "$these/@Ns.T"),
      Case("commonExpr", "Size eqq 4", 7), Case("commonExpr", " Name", 1), Case("commonExpr", "a in (1,bc)", 10),
      Case("commonExpr", "a eq 1 anda", 10), Case("inExpr", " in ()"), Case("inExpr", " in ('a','b')"),
      Case("inExpr", " in (a,b)", 6),
      Case("commonExpr", "Model%2ET/a eq 1"),
    ])
  func expressions(item: Case) throws { try Self.check(item) }

  @Test(
    "Paths and options (sections 1 and 2)",
    arguments: [
      Case("odataUri", "ht%74p://h/Products", 0), Case("odataUri", "http%3A//h/Products", 4),
      Case("odataUri", "HTTP://h/Products"), Case("odataRelativeUri", "$crossjoin(A,B)/$quer", 15),
      Case("resourcePath", "A(ID=1,S", 8), Case("keyPathSegments", "/a/1/~"), Case("containmentNavigation", "/-/a"),
      Case("resourcePath", "A/1/..", 4), Case("expand", "$expand=*/$re", 9), Case("expand", "$expand=$VALUE"),
      Case("filter", "$filter= true", 9), Case("filter", "$filter=%20true", 11),
      Case("queryOptions", "$top=1&$filter=\ttrue", 16),
      Case("expand", "$expand=A($filter= true)", 19), Case("aliasAndValue", "@a= 1", 4), Case("search", "$search= a"),
      Case("queryOptions", "$countfalse", 6), Case("queryOptions", "$topp=1", 4), Case("queryOptions", "$total=1", 0),
      Case("queryOptions", "$filter=a eq 1 xor b", 15),
      Case("resourcePath", "Categories(foo)", 14), Case("queryOptions", "$select=A b", 9),
      Case("queryOptions", "value=[\t]"),
      Case("orderby", "$orderbyName", 8), Case("context", "#A(1)/B()"), Case("context", "#A(\t)/B", 3),
    ])
  func paths(item: Case) throws { try Self.check(item) }

  @Test(
    "Literals are rejected at the first character that no literal can contain (section 7)",
    arguments: [
      Case("commonExpr", "a eq 2020-01", 12), Case("commonExpr", "a eq 2020-13-01", 11),
      Case("commonExpr", "a eq 2020-01-01T24:00Z", 17), Case("commonExpr", "a eq 12:", 8),
      Case("commonExpr", "a eq 12:60:00", 8), Case("resourcePath", "A(2018-02-13T23:59:", 19),
      Case("commonExpr", "a eq 01234567-89ab-cdef-0123-456789abcde", 40), Case("commonExpr", "a eq 12ab", 9),
      Case("commonExpr", "a eq 5e3"), Case("commonExpr", "a eq +INF", 6), Case("commonExpr", "a eq 5-3", 6),
      Case("commonExpr", "a eq duration'P1Y'", 16), Case("commonExpr", "a eq duration'PT'", 16),
      Case("commonExpr", "a eq binary'AQ!D'", 14), Case("commonExpr", "a eq geography'SRID=0;Point(1,2)'", 29),
      Case("commonExpr", "a eq geography'SRID=0;Point(1 2", 31), Case("commonExpr", "a eq Ns.Color'Red,'", 18),
      Case("commonExpr", "a eq guid'x'", 9), Case("commonExpr", "a eq Color'Red'", 10),
      Case("commonExpr", "a eq 'b c", 7), Case("durationValue", "P6DT", 4), Case("durationValue", "-P", 2),
      Case("primitiveValue", "SRID=0%3BPoint%281 2%29"), Case("primitiveValue", "Solid%2CYellow", 5),
      Case("commonExpr", #"["\x"]"#, 3), Case("commonExpr", #"["\u12x4"]"#, 6),
    ])
  func literals(item: Case) throws { try Self.check(item) }

  @Test(
    "A '/' may follow a step that can be primitive, and an empty key may end a path",
    arguments: [
      Case("commonExpr", "Price/ eq 1"), Case("commonExpr", "length(Name/) gt 1"), Case("commonExpr", "F(a=1)/"),
      Case("commonExpr", "@Ns.T/ eq 1"), Case("commonExpr", "$it/ eq 1", 4), Case("commonExpr", "Orders(1)/", 10),
      Case("primitivePathExpr", "/"), Case("complexPathExpr", "/", 1), Case("collectionNavigationExpr", "/"),
      Case("resourcePath", "Products/"), Case("odataRelativeUri", "Products/?$top=1"), Case("keyPathSegments", "/"),
      Case("resourcePath", "Products(1)/", 12), Case("odataRelativeUri", "$crossjoin(A,B)/", 15),
      Case("odataRelativeUri", "$crossjoin(A,B)/C", 15),
    ])
  func slashes(item: Case) throws { try Self.check(item) }

  @Test(
    "An unknown function is rejected where its argument stops being a key",
    arguments: [
      Case("commonExpr", "ceil(Price)", 10), Case("commonExpr", "foo(Price add 1)", 9),
      Case("commonExpr", "Foo(1,2)", 5), Case("commonExpr", "Foo(a.b.c)", 9), Case("commonExpr", "Foo(@a add 1)", 6),
      Case("commonExpr", "Ns.F(a =1)", 6), Case("commonExpr", "Foo(1)/a"), Case("commonExpr", "Foo(@a)/a"),
      Case("inExpr", " in (1) div 2 or b"), Case("commonExpr", "-16:11 eq a"),
      Case("commonExpr", "-01234567-89ab-cdef-0123-456789abcdef eq a"), Case("commonExpr", "cast(Ns.T x)", 10),
      Case("expand", "$expand=A/$count(searchu=b)", 23), Case("context", "#Items(fAlSe)/b"),
      Case("commonExpr", "@a/ eq 1"), Case("commonExpr", "a in (b) add 1"),
      Case("commonExpr", "a in (1) div 2 eq true"),
      Case("odataUri", "http://h/s/$metadat#A", 19), Case("odataUri", "http://h/s/A?$topp=1", 17),
      Case("context", "#A(B)/$ent", 5), Case("context", "#A/$ent", 7),
      Case("commonExpr", "$root eq 1", 0), Case("queryOptions", "$apply=aggregate(Ns.T eq b)", 22),
    ])
  func calls(item: Case) throws { try Self.check(item) }

  @Test(
    "Headers (section 8)",
    arguments: [
      Case("header", "odata-", 6), Case("header", "OData-Error: {\"code\"", 20), Case("header", "OData-Version: 4", 15),
      Case("header", "Content-ID", 10),
      Case("preference", "wait0", 4), Case("preference", "odata.continue-on-erroro", 23),
      Case("preference", "odata.x", 6),
      Case("annotationIdentifier", "%2A"), Case("annotationIdentifier", "-Ns.%2a#q"),
      Case("annotationIdentifier", "%2B", 0),
    ])
  func headers(item: Case) throws { try Self.check(item) }

  @Test(
    "V2 and V3 have no operators and steps of V4 (V2 URI Conventions §4.5)",
    arguments: [
      Case("commonExpr", "a in (1,2)", 2, .v2), Case("commonExpr", "a has b", 2, .v3),
      Case("commonExpr", "a divby 2", 2, .v2), Case("commonExpr", "a/$filter(b)/c", 2, .v2),
      Case("resourcePath", "A/$filter(b eq 1)", 2, .v3), Case("resourcePath", "A/$each", 2, .v2),
      Case("resourcePath", "A(1)/$links/B", nil, .v2), Case("resourcePath", "A/$count", nil, .v2),
    ])
  func olderVersions(item: Case) throws { try Self.check(item) }

  @Test("A hundred nested $expand are read if the thread has enough stack, without optimization too")
  func deepExpand() async throws {
    let text = String(repeating: "A($expand=", count: 99) + "A" + String(repeating: ")", count: 99)
    let isRead = try await onDedicatedThread(kilobytes: 8 << 10) {
      let items = try ODataParser(.v401).expand(text)
      return try ODataPrinter(version: .v401).print(items) == text
    }
    #expect(isRead)
    // A hundred levels of what costs most.
    let lambdas = String(repeating: "A/any(a:", count: 99) + "a" + String(repeating: ")", count: 99)
    #expect(try await onDedicatedThread(kilobytes: 8 << 10) { (try? ODataParser(.v401).expression(lambdas)) != nil })
  }

  @Test("The error for a text that is too deep says how many levels were read, whichever limit applied")
  func depth() throws {
    func limit(_ most: Int) throws -> Int {
      let text = String(repeating: "(", count: 100_000)
      var failure: ODataSyntaxError?
      do throws(ODataSyntaxError) {
        _ = try ODataParser(options: ODataParserOptions(maxDepth: most)).expression(text)
      } catch { failure = error }
      let error = try #require(failure)
      guard case .tooDeep(let limit) = error.problem else { throw error }
      #expect("\(error)".contains("the limit is \(limit) levels"))
      #expect(error.offset == limit)
      return limit
    }
    #expect(try limit(7) == 7)
    // The stack ends first.
    #expect(try (8..<100_000).contains(limit(1_000_000)))
  }
}
