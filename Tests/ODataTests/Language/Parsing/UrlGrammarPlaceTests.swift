import Testing

@testable import OData

/// What the grammar takes and refuses at its edges, and where (ABNF Construction Rules 4.01).
@Suite("Edges of the grammar", .timeLimit(.minutes(1)))
struct UrlGrammarPlaceTests {
  struct Case: Sendable, CustomStringConvertible {
    let rule: String
    let text: String
    /// Where it is refused; nil where it is taken.
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
      Case("commonExpr", "geo.gth('x')", 7), Case("commonExpr", "Ns.F('x')/a", 4),
      Case("commonExpr", "Set/Ns.T('x')/a"),
      Case("commonExpr", "$these/name", 11), Case("commonExpr", "$these/Ns.T", 11), Case("commonExpr", "$these", 6),
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
      Case("queryOptions", "$countfalse", 6), Case("queryOptions", "$topp=1", 4), Case("queryOptions", "$total=1", 0),
      Case("queryOptions", "$filter=a eq 1 xor b", 15),
      Case("resourcePath", "Categories(foo)", 14), Case("queryOptions", "$select=A b", 9),
      Case("queryOptions", "value=[\t]"),
      Case("orderby", "$orderbyName", 8), Case("context", "#A(1)/B()"), Case("context", "#A(\t)/B", 3),
    ])
  func paths(item: Case) throws { try Self.check(item) }

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

  @Test("A text that is too deep says how many levels were read, whatever ended them")
  func depth() throws {
    func limit(_ most: Int) throws -> Int {
      let text = String(repeating: "(", count: 100_000)
      var found: ODataSyntaxError?
      do throws(ODataSyntaxError) {
        _ = try ODataParser(options: ODataParserOptions(maxDepth: most)).expression(text)
      } catch { found = error }
      let error = try #require(found)
      guard case .tooDeep(let limit) = error.problem else { throw error }
      #expect("\(error)".contains("no more than \(limit) levels"))
      #expect(error.offset == limit)
      return limit
    }
    #expect(try limit(7) == 7)
    // The stack ends first.
    #expect(try (8..<100_000).contains(limit(1_000_000)))
  }
}
