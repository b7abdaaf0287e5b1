import Testing

@testable import LarderOData

/// Transformations but for `aggregate` (Data Aggregation 4.0 §3 and §6).
@Suite("Transformations", .timeLimit(.minutes(5)))
struct TransformationTests {
  typealias Read = ApplyReading

  @Test("A sequence is read in its order (§3.1)")
  func sequence() throws {
    #expect(
      try Read.read("filter(Amount gt 1)/identity/top(2)/skip( 3 )/orderby(Name desc,ID)/search(coffee)") == [
        .filter(try Read.expression("Amount gt 1")), .identity, .top(2), .skip(3),
        .orderBy([ODataOrderByItem(Read.value("Name"), isDescending: true), ODataOrderByItem(Read.value("ID"))]),
        .search(.word("coffee")),
      ])
  }

  @Test("compute names its values (§3.4.1)")
  func compute() throws {
    #expect(
      try Read.read("compute(Amount mul Rate as Tax, day(Time/Date) as WeekDay )") == [
        .compute([
          ODataComputeItem(try Read.expression("Amount mul Rate"), as: "Tax"),
          ODataComputeItem(try Read.expression("day(Time/Date)"), as: "WeekDay"),
        ])
      ])
  }

  @Test("topcount and its five relatives accept a number and a value (§3.3)", arguments: ODataExtremes.allCases)
  func extremes(kind: ODataExtremes) throws {
    #expect(
      try Read.read("\(kind.rawValue)( $these/$count div 10 , Amount )") == [
        .extremes(kind, try Read.expression("$these/$count div 10"), Read.value("Amount"))
      ])
  }

  @Test("concat accepts two sequences or more (§3.2.2)")
  func concat() throws {
    #expect(
      try Read.read("concat(identity,top(1)/skip(1), identity )") == [
        .concat([[.identity], [.top(1), .skip(1)], [.identity]])
      ])
    #expect(Read.rejection("concat(identity)") == 15)
  }

  @Test("groupby accepts properties, rollups and a sequence (§3.2.3, §6.3)")
  func groupby() throws {
    #expect(
      try Read.read("groupby((Customer/Country,Self.P/Product/Self.Q/Name),aggregate(Amount with sum as Total))") == [
        .groupBy(
          [.property(Read.path("Customer/Country")), .property(Read.path("Self.P/Product/Self.Q/Name"))],
          [Read.sum("Amount", as: "Total")])
      ])
    #expect(
      try Read.read("groupby( ( rollup( Country , City ) , rollup(TimeHierarchy),rollup,Name ) , identity )") == [
        .groupBy(
          [
            .rollup([Read.path("Country"), Read.path("City")]), .rollupHierarchy("TimeHierarchy"),
            .property(Read.path("rollup")), .property(Read.path("Name")),
          ], [.identity])
      ])
    let nodes = ODataPath(root: .root, Read.path("Orgs").segments)
    let hierarchy = ODataHierarchyReference(nodes: nodes, qualifier: "H", property: Read.path("Org/ID"))
    #expect(
      try Read.read(
        "groupby((rolluprecursive($root/Orgs, H, Org/ID),rolluprecursive($root/Orgs,H,Org/ID,top(1)/skip(2))))") == [
          .groupBy([.rollupRecursive(hierarchy, []), .rollupRecursive(hierarchy, [.top(1), .skip(2)])], [])
        ])
  }

  @Test("join and outerjoin name the joined instances (§3.5.1)")
  func join() throws {
    #expect(
      try Read.read("join(Sales as Sale)/outerjoin( Sales/Self.Big as Sale , top(1)/skip(1))/join(@Ns.T as X)") == [
        .join(Read.path("Sales"), alias: "Sale", isOuter: false, []),
        .join(Read.path("Sales/Self.Big"), alias: "Sale", isOuter: true, [.top(1), .skip(1)]),
        .join(
          ODataPath([ODataPathSegment(.annotation(term: "Ns.T", qualifier: nil))]), alias: "X", isOuter: false, []),
      ])
  }

  @Test("nest and addnested name their sequences (§3.5.2)")
  func nest() throws {
    #expect(
      try Read.read(
        "nest(groupby((ID)) as A, identity/top(1) as B)/addnested(Self.T/Address/Sales/Self.Big,addnested(X,identity as Y) as Z)"
      ) == [
        .nest([
          ODataNestedSequence([.groupBy([.property(Read.path("ID"))], [])], as: "A"),
          ODataNestedSequence([.identity, .top(1)], as: "B"),
        ]),
        .addNested(
          Read.path("Self.T/Address/Sales/Self.Big"),
          [ODataNestedSequence([.addNested(Read.path("X"), [ODataNestedSequence([.identity], as: "Y")])], as: "Z")]),
      ])
  }

  @Test("ancestors and descendants accept a start, a distance and keep start (§6.2.1)")
  func relatives() throws {
    let nodes = ODataPath(root: .root, Read.path("Orgs").segments)
    let hierarchy = ODataHierarchyReference(nodes: nodes, qualifier: "H", property: Read.path("Self.T/Org/ID"))
    let start = "$root/Orgs,H,Self.T/Org/ID"
    #expect(
      try Read.read(
        "ancestors(\(start),identity)/ancestors( \(start) , top(1)/skip(1) , 2 , keep start )/descendants(\(start),Ns.F(a=1),keep%20start)/descendants(\(start),identity,3)"
      ) == [
        .relatives(.ancestors, hierarchy, [.identity], distance: nil, keepsStart: false),
        .relatives(.ancestors, hierarchy, [.top(1), .skip(1)], distance: 2, keepsStart: true),
        .relatives(.descendants, hierarchy, [try function("Ns.F(a=1)")], distance: nil, keepsStart: true),
        .relatives(.descendants, hierarchy, [.identity], distance: 3, keepsStart: false),
      ])
  }

  private func function(_ text: String) throws -> ODataTransformation {
    guard case .path(let path) = try Read.expression(text).kind else { throw Missing() }
    return .custom(path)
  }

  private struct Missing: Error {}

  @Test("traverse accepts an order of visits, a start and an order of siblings (§6.2.2)")
  func traverse() throws {
    let nodes = ODataPath(root: .root, Read.path("Orgs").segments)
    let hierarchy = ODataHierarchyReference(nodes: nodes, qualifier: "H", property: Read.path("ID"))
    func traverse(_ rest: String) throws -> ODataTransformation? {
      try Read.read("traverse($root/Orgs,H,ID,\(rest))").first
    }
    let name = [ODataOrderByItem(Read.value("Name"), isDescending: true)]
    #expect(try traverse("preorder") == .traverse(hierarchy, isPostorder: false, [], []))
    #expect(try traverse(" postorder , identity ") == .traverse(hierarchy, isPostorder: true, [.identity], []))
    #expect(try traverse("preorder,Name desc") == .traverse(hierarchy, isPostorder: false, [], name))
    #expect(
      try traverse("preorder,top(1)/skip(1),Name desc")
        == .traverse(hierarchy, isPostorder: false, [.top(1), .skip(1)], name))
    #expect(
      try traverse("preorder,Ns.F(a=1),Name desc")
        == .traverse(hierarchy, isPostorder: false, [try function("Ns.F(a=1)")], name))
    #expect(
      try traverse("preorder,Ns.F(a=1)/identity")
        == .traverse(hierarchy, isPostorder: false, [try function("Ns.F(a=1)"), .identity], []))
    #expect(
      try traverse("preorder,Ns.F(a=1) desc,Name desc")
        == .traverse(
          hierarchy, isPostorder: false, [],
          [ODataOrderByItem(try Read.expression("Ns.F(a=1)"), isDescending: true)] + name))
    #expect(
      try traverse("preorder,Ns.F(a=1)/Name")
        == .traverse(hierarchy, isPostorder: false, [], [ODataOrderByItem(try Read.expression("Ns.F(a=1)/Name"))]))
  }

  @Test("A function of the service is a transformation; its arguments have names (§3.6)")
  func custom() throws {
    #expect(
      try Read.read("A.B.Balance(Count=1,Property='Total')/Custom.condense()") == [
        try function("A.B.Balance(Count=1,Property='Total')"), try function("Custom.condense()"),
      ])
    #expect(Read.rejection("Custom.condense") == 15)
    #expect(Read.rejection("Custom.condense(1)") == 16)
  }

  @Test(
    "Invalid text is rejected at the first byte that is not allowed",
    arguments: [
      ("", 0), ("identity/", 9), ("identity()", 8), ("sum(1)", 3), ("Aggregate(A)", 9), ("top(a)", 4), ("top(-1)", 4),
      ("top(1", 5), ("top(1))", 6), ("top 1", 3), ("topcount(1)", 10), ("filter()", 7), ("compute(A)", 9),
      ("compute(A as)", 12), ("groupby(A)", 8), ("groupby(())", 9), ("groupby((A),)", 12), ("groupby((A)", 11),
      ("groupby((A/@Ns.T))", 11), ("groupby((A/Ns.B))", 15), ("groupby((Ns.B))", 13), ("groupby((A/Ns.B/Ns.C))", 18),
      ("groupby((A(1)/B))", 10), ("groupby(($it/A))", 9), ("groupby((rollup(A/B)))", 19),
      ("groupby((rolluprecursive(Orgs,H,ID)))", 25), ("groupby((rolluprecursive($root/O,H,ID,aggregate(B))))", 47),
      ("nest(identity)", 13), ("nest(Products)", 13), ("addnested(A)", 11), ("addnested(Ns.A,identity as B)", 14),
      ("addnested(A(1),identity as B)", 11), ("join(A)", 6), ("join(A/B/C as D)", 8), ("join(A as B,)", 12),
      ("ancestors($root/O,H,A(1)/ID,identity)", 21), ("ancestors($root/O,H,ID)", 22),
      ("ancestors(O,H,ID,identity)", 10),
      ("ancestors($root/O,H,ID,nest(identity as A))", 27), ("ancestors($root/O,H,ID,identity,keepstart)", 32),
      ("ancestors($root/O,H,ID,identity,keep start,1)", 42), ("traverse($root/O,H,ID,inorder)", 22),
      ("ancestors($root/O add 1,H,ID,identity)", 18),
    ])
  func rejections(text: String, offset: Int) {
    #expect(Read.rejection(text) == offset)
  }

  @Test(
    "Sequences nested deeper than the limit are rejected as too deep",
    arguments: ["concat(", "nest(", "groupby((A),", "ancestors($root/O,H,ID,"])
  func depth(opening: String) {
    #expect { try Read.read(String(repeating: opening, count: 100_000)) } throws: {
      if case .tooDeep? = ($0 as? ODataSyntaxError)?.problem { true } else { false }
    }
  }

  @Test("Long sequences are not deep nesting")
  func length() throws {
    let text = Array(repeating: "identity", count: 10_000).joined(separator: "/")
    #expect(try Read.read(text).count == 10_000)
  }
}
