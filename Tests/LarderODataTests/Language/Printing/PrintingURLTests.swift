import LarderOData
import Testing

@Suite("URLs and options are printed in one spelling", .timeLimit(.minutes(5)))
struct PrintingURLTests {
  private func spelling(_ text: String, _ version: ODataVersion = .v401) throws -> String {
    let parser = ODataParser(version)
    let tree = try parser.relativeURL(text)
    let printed = try ODataPrinter(version: version).print(tree)
    #expect(try parser.relativeURL(printed) == tree)
    return printed
  }

  @Test(
    "Options are written in the order in which a service evaluates them (Protocol 4.01 §11.2.1), aliases and custom options last",
    arguments: [
      (
        "P?custom=1&@a=2&$select=A&$top=1&$expand=B&filter=x%20eq%20@a&ORDERBY=A%20asc,B%20desc&$skip=2&$count=TRUE",
        "P?$filter=x%20eq%20@a&$count=true&$orderby=A,B%20desc&$skip=2&$top=1&$expand=B&$select=A&@a=2&custom=1"
      ),
      (
        "P?$expand=A($select=x;$top=2;$filter=y%20gt%201;$levels=MAX;$expand=B/$ref,C/$count($search=q;$filter=z))",
        "P?$expand=A($filter=y%20gt%201;$top=2;$levels=max;$expand=B/$ref,C/$count($search=q;$filter=z);$select=x)"
      ),
      ("P?$select=A/B,Ns.T/C,Ns.*,*,F(a,b),@Ns.T(top=1)", "P?$select=A/B,Ns.T/C,Ns.*,*,F(a,b),@Ns.T($top=1)"),
      (
        "P?$compute=A%20mul%20B%20as%20C&$schemaversion=*&$index=-1",
        "P?$compute=A%20mul%20B%20as%20C&$index=-1&$schemaversion=*"
      ),
      ("P?$search=a%20b%20OR%20NOT%20%22c%20d%22", "P?$search=a%20AND%20b%20OR%20NOT%20%22c%20d%22"),
      ("P?$search=(a%20OR%20b)%20c", "P?$search=(a%20OR%20b)%20AND%20c"),
      ("P?$search=AND%20OR", "P?$search=(AND)%20AND%20(OR)"), ("P?$search=NOT", "P?$search=NOT"),
      ("P?$search='a%20(b'", "P?$search='a%20(b'"),
      ("$entity/Ns.T?$select=a&$id=http://h/P(1)", "$entity/Ns.T?$select=a&$id=http:%2F%2Fh%2FP(1)"),
      ("$metadata?$format=json#P(a,b+(c))/$entity", "$metadata?$format=json#P(a,b+(c))/$entity"),
    ])
  func options(text: String, expected: String) throws {
    #expect(try spelling(text) == expected)
  }

  @Test(
    "Paths of resources (URL Conventions 4.01 §4)",
    arguments: [
      ("P(%27O%27%27Neil%27)", "P('O''Neil')"), ("P(ID=1,Size=5)/Items", "P(ID=1,Size=5)/Items"),
      ("People/O%27Neil", "People/O%27Neil"), ("Orders/1/Items/-1", "Orders/1/Items/-1"),
      ("P('a%2Fb%3Fc%23d')", "P('a%2Fb%3Fc%23d')"),
      ("P/$filter(@f)/$each/Ns.A?@f=a%20eq%201", "P/$filter(@f)/$each/Ns.A?@f=a%20eq%201"),
      ("P/$filter(a/b%20eq%20'c/d')/$count", "P/$filter(a/b%20eq%20'c%2Fd')/$count"),
      ("$crossjoin(A,B)/$query", "$crossjoin(A,B)/$query"), ("$all/Ns.T", "$all/Ns.T"),
      ("F(x=@x)(1)/Ns.T/G()/$value?@x=%5B1%5D", "F(x=@x)(1)/Ns.T/G()/$value?@x=%5B1%5D"),
      ("Stra%C3%9Fen(1)", "Stra%C3%9Fen(1)"), ("P(1)/Q/$ref?$id=Q(2)", "P(1)/Q/$ref?$id=Q(2)"),
    ])
  func paths(text: String, expected: String) throws {
    #expect(try spelling(text) == expected)
  }

  @Test(
    "V2: links, counts, tokens, free searches (V2 URI Conventions §3, §4; SAP)",
    arguments: [
      ("P(1)/$links/Q(2)", "P(1)/$links/Q(2)"), ("P?$inlinecount=allpages", "P?$inlinecount=allpages"),
      ("P?$inlinecount=none&$top=1", "P?$inlinecount=none&$top=1"),
      ("P?$expand=A/B,C&$select=A/*,D", "P?$expand=A/B,C&$select=A/*,D"),
      ("P?!deltatoken=%2712%27", "P?!deltatoken='12'"), ("P?search=a%20b", "P?search=a%20AND%20b"),
      ("P?search=%22half", "P?search=%22half"), ("P?search=", "P?search="), ("Container.P(1)", "Container.P(1)"),
      ("P?$filter=substringof(%27a%27,b)&sap-client=100", "P?$filter=substringof('a',b)&sap-client=100"),
    ])
  func ofV2(text: String, expected: String) throws {
    #expect(try spelling(text, .v2) == expected)
  }

  @Test("A service root is written before the path, unchanged")
  func root() throws {
    let url = ODataURL(
      serviceRoot: "https://[::1]:8080/a%20b/", .path(ODataPath([ODataPathSegment(.name("P"))])))
    #expect(try ODataPrinter().print(url) == "https://[::1]:8080/a%20b/P")
    #expect(try ODataPrinter().print(ODataURL(serviceRoot: "http://h/x.svc", .service)) == "http://h/x.svc")
  }

  @Test(
    "$apply (Data Aggregation 4.0 §3)",
    arguments: [
      "aggregate(Amount with sum as Total,$count as N,Forecast)",
      "groupby((A/B,rollup(C,D),rollup(H)),aggregate(X with sum from Y with average as Z))/filter(Z gt 1)/top(3)",
      "concat(identity,topcount(2,Amount))/orderby(A desc,B)/skip(1)",
      "descendants($root/S,H,ID,filter(Name eq 'US'),3,keep start)",
      "traverse($root/S,H,ID,preorder,filter(a),b desc)", "traverse($root/S,H,ID,postorder,(identity),b)",
      "join(A as B,filter(c))/outerjoin(A as D)", "addnested(A/B,compute(x mul 2 as y) as C)/nest(identity as D)",
      "Ns.F(a=1,b='x')/search(a AND b)", "compute(A div $these/aggregate(B with sum) as C)",
      "groupby((rolluprecursive($root/S,H,A/B,filter(c))))",
    ])
  func apply(text: String) throws {
    let options = ODataParserOptions(isPercentEncoded: false)
    let tree = try ODataParser(options: options).apply(text)
    #expect(try ODataPrinter(isPercentEncoded: false).print(tree) == text)
  }
}
