import Testing

@testable import LarderOData

@Suite("Resource paths and URLs", .timeLimit(.minutes(1)))
struct UrlPathTests {
  private static func segments(_ text: String, _ version: ODataVersion = .v401) throws -> [ODataPathSegment.Kind] {
    try ODataParser(version).path(text).segments.map(\.kind)
  }

  private static func failure(_ text: String, _ version: ODataVersion = .v401) -> ODataSyntaxError? {
    do throws(ODataSyntaxError) {
      _ = try ODataParser(version).relativeURL(text)
      return nil
    } catch { return error }
  }

  private static func key(_ value: ODataValue, _ name: String? = nil) -> ODataArgument {
    ODataArgument(name: name, value: ODataExpression(.literal(value)))
  }

  @Test("Keys, ordinals and key segments are distinguished (URL Conventions 4.01 §4.3)")
  func keys() throws {
    #expect(try Self.segments("Orders(1)") == [.name("Orders"), .arguments([Self.key(.int32(1))])])
    #expect(
      try Self.segments("Items(OrderID=1,ItemNo=2)")
        == [.name("Items"), .arguments([Self.key(.int32(1), "OrderID"), Self.key(.int32(2), "ItemNo")])])
    #expect(try Self.segments("Orders/1/Items/-1") == [.name("Orders"), .text("1"), .name("Items"), .text("-1")])
    #expect(try Self.segments("People/O%27Neil/%24count") == [.name("People"), .text("O'Neil"), .text("$count")])
    #expect(try Self.segments("A('%2F')") == [.name("A"), .arguments([Self.key(.string("/"))])])
    #expect(try Self.segments("A(@k)/B").count == 3)
    #expect(try Self.segments("Top(count=1)(2)/Name").count == 4)
  }

  @Test("Steps that begin with $ (§4.5 to §4.18)")
  func reserved() throws {
    #expect(try Self.segments("A/$count") == [.name("A"), .count(nil)])
    #expect(try Self.segments("A(1)/B/$value") == [.name("A"), .arguments([Self.key(.int32(1))]), .name("B"), .value])
    #expect(try Self.segments("$crossjoin(A,B)") == [.crossjoin(["A", "B"])])
    #expect(try Self.segments("$all/N.T") == [.allEntities, .qualifiedName("N.T")])
    let filter = ODataExpression(.path(ODataPath(root: .alias("f"), [])))
    #expect(
      try Self.segments("A/$filter(@f)/$each/N.Do") == [.name("A"), .filter(filter), .each, .qualifiedName("N.Do")])
    #expect(try Self.segments("A/$filter(B/C eq 1)/$query").last == .query)
  }

  @Test(
    "The path of an absolute URL may end with the call of an operation or with $filter",
    arguments: [
      ("http://h/s/Products/N.F()", "http://h/s/", 3), ("http://h/s/Products/N.F(a=1,b='x')", "http://h/s/", 3),
      ("/s/Products/N.T/N.F(a=1)", "/s/", 4), ("https://h/Products/N.F(a=@p)?@p=1", "https://h/", 3),
      ("http://h/s/Products(1)/N.F()", "http://h/s/", 4), ("http://h/s/F(a=1)", "http://h/s/", 2),
      ("http://h/F()", "http://h/", 2),
      ("http://h/S.svc/Products/N.F()", "http://h/S.svc/", 3),
      ("http://h/s/Products/$filter(a eq 1)", "http://h/s/", 2),
      ("http://h/s/Products/N.F()/$count", "http://h/s/", 4), ("http://h/s/$crossjoin(A,B)", "http://h/s/", 1),
    ] as [(String, String, Int)])
  func operations(text: String, root: String, count: Int) throws {
    let url = try ODataParser().url(text)
    guard case .path(let path) = url.resource else {
      Issue.record("no path")
      return
    }
    #expect(url.serviceRoot == root && path.segments.count == count)
  }

  @Test("In V2 a qualified name with a key is a set of another container")
  func qualifiedSet() throws {
    var options = ODataParserOptions()
    options.version = .v2
    let url = try ODataParser(options: options).url("http://h/s/N.C.Products(1)")
    #expect(url.serviceRoot == "http://h/s/")
  }

  @Test(
    "A step that cannot follow is rejected at its start",
    arguments: [
      ("A(1)/$count", 5), ("A/$ref/$count", 6), ("A/$count/B", 8), ("A/$foo", 2), ("A/$counter", 8), ("A//B", 2),
      ("A(1)(2)", 4), ("A(1)/2", 5), ("A/N.T/N.T", 9), ("A/N.T/N.Op/B", 10), ("$all/N.T/B", 8),
      ("A(1,2)", 3),
      ("A(X=1,2)", 6), ("A(null)", 6), ("A()()", 4), ("N.A", 1), ("A/$each/$count", 8), ("A/$filter", 9),
      ("$crossjoin()", 11),
      ("A(1)/$links/B", 5), ("$batch?", 7), ("$entity", 7), ("$entity?$format=json", 20), ("A#x", 1), ("A/\"", 2),
      ("$metadata?$filter=x", 10), ("$entity/N.T?$id=x&$top=1", 18), ("A('x/y')", 4), ("A%2", 3),
    ] as [(String, Int)])
  func rejections(text: String, place: Int) throws {
    let error = try #require(Self.failure(text))
    #expect(error.offset == place, "\(error)")
  }

  @Test("V2 has $links, names of containers and its own literals (V2 URI Conventions §3)")
  func v2() throws {
    #expect(
      try Self.segments("Categories(1)/$links/Products(2)", .v2)
        == [
          .name("Categories"), .arguments([Self.key(.int32(1))]), .links, .name("Products"),
          .arguments([Self.key(.int32(2))]),
        ])
    #expect(try Self.segments("NS.Products/$count", .v2) == [.name("NS.Products"), .count(nil)])
    let guid = try Self.segments("P(guid'01234567-89ab-cdef-0123-456789abcdef')", .v2)
    #expect(
      guid.last == .arguments([Self.key(try ODataValue(text: "01234567-89ab-cdef-0123-456789abcdef", type: .guid))]))
    #expect(try Self.segments("P(ID=1,D=datetime'2020-01-02T00:00:00')", .v2).count == 2)
    #expect(Self.failure("A/$query", .v2)?.offset == 2)
  }

  @Test(
    "The service's root is the part before the resource path",
    arguments: [
      ("https://h/svc/", "https://h/svc/", 0), ("HTTP://h:80/", "HTTP://h:80/", 0), ("https://h/", "https://h/", 0),
      ("https://h/a/b/Products(1)/Name", "https://h/a/b/", 3), ("https://h/s/$metadata", "https://h/s/", 0),
      ("https://h/OData.svc/A/B", "https://h/OData.svc/", 2), ("https://h/s/A/$count", "https://h/s/", 2),
      ("https://h/s/A?$top=1", "https://h/s/", 1), ("https://h/s/A/N.T", "https://h/s/", 2),
      ("https://[::1]:8080/s/A", "https://[::1]:8080/s/", 1), ("/s/A(1)", "/s/", 2),
      ("https://h/s%20t/A", "https://h/s%20t/", 1), ("https://h/s/?$format=json", "https://h/s/", 0),
    ] as [(String, String, Int)])
  func roots(text: String, root: String, steps: Int) throws {
    let url = try ODataParser().url(text)
    #expect(url.serviceRoot == root)
    if case .path(let path) = url.resource { #expect(path.segments.count == steps) } else { #expect(steps == 0) }
  }

  @Test("A given root is used")
  func givenRoot() throws {
    let url = try ODataParser().url("https://h/s/A/B/C", serviceRoot: "https://h/s/")
    #expect(url.serviceRoot == "https://h/s/")
    #expect(url.resource == .path(ODataPath([.init(.name("A")), .init(.name("B")), .init(.name("C"))])))
  }

  @Test(
    "Hosts are checked (RFC 3986 §3.2.2)",
    arguments: [
      ("1::", nil), ("::", nil), ("::1", nil), ("1:2:3:4:5:6:7:8", nil), ("1:2:3:4:5:6:1.2.3.4", nil),
      ("::1.2.3.4", nil),
      ("1::2:3", nil), ("1:2:3", 5), ("1::2::3", 5), ("1:2:3:4:5:6:7:8:9", 15), ("12345::", 4), ("g::", 0),
      ("::1.2.3", 7),
      ("::256.1.1.1", 4),
    ] as [(String, Int?)])
  func addresses(text: String, place: Int?) throws {
    let rule = try #require(ODataGrammarRule("IPv6address"))
    do throws(ODataSyntaxError) {
      _ = try rule.parse(text)
      #expect(place == nil)
    } catch {
      #expect(error.offset == place)
    }
  }
}
