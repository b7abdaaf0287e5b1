import Testing

@testable import LarderOData

@Suite("Query options", .timeLimit(.minutes(1)))
struct UrlOptionTests {
  private static func read(_ text: String, _ version: ODataVersion = .v401) throws -> ODataQueryOptions {
    try ODataParser(version).queryOptions(text)
  }

  private static func failure(_ text: String, _ version: ODataVersion = .v401) -> ODataSyntaxError? {
    do throws(ODataSyntaxError) {
      _ = try ODataParser(version).queryOptions(text)
      return nil
    } catch { return error }
  }

  private static func path(_ names: String...) -> ODataPath { ODataPath(names.map { ODataPathSegment(.name($0)) }) }

  @Test("Every option has its place (URL Conventions 4.01 §5.1)")
  func places() throws {
    let options = try Self.read(
      "$filter=A eq 1&$orderby=A desc,B&$select=A,B/C&$expand=D&$top=5&$skip=10&$count=true&$search=x&$compute=A as Z&$index=-2"
        + "&$schemaversion=*&$skiptoken=s%26t&$deltatoken=d&$format=application/json;odata.metadata=full&@a=1&x=y=z&flag"
    )
    #expect(options.filter != nil)
    #expect(options.orderBy.map(\.isDescending) == [true, false])
    #expect(options.select.map(\.path) == [Self.path("A"), Self.path("B", "C")])
    #expect(options.expand.map(\.path) == [Self.path("D")])
    #expect(options.top == 5)
    #expect(options.skip == 10)
    #expect(options.count == true)
    #expect(options.search == .word("x"))
    #expect(options.compute.first?.alias == "Z")
    #expect(options.index == -2)
    #expect(options.schemaVersion == "*")
    #expect(options.skipToken == "s&t")
    #expect(options.deltaToken == "d")
    #expect(options.format == "application/json;odata.metadata=full")
    #expect(options.aliases.map(\.name) == ["a"])
    #expect(options.custom == [.init(name: "x", value: "y=z"), .init(name: "flag", value: nil)])
  }

  @Test("4.01 accepts names without $ and in any case, except for tokens (Protocol 4.01 §11.2.1)")
  func relaxed() throws {
    #expect(try Self.read("TOP=1&$SKIP=2&OrderBy=A").top == 1)
    #expect(try Self.read("skiptoken=1") == Self.read("skiptoken=1", .v4))
    #expect(try Self.read("skiptoken=1").custom.map(\.name) == ["skiptoken"])
    #expect(try Self.read("top=1", .v4).custom.map(\.name) == ["top"])
    #expect(Self.failure("$Top=1", .v4)?.problem == .unexpected(expected: ["$top"]))
    #expect(try Self.read("%24top=1").top == 1)
    #expect(try Self.read("levels=3").custom.map(\.name) == ["levels"])
  }

  @Test("Nested options (§5.1.3, §5.1.4)")
  func nested() throws {
    let options = try Self.read(
      "$expand=A($levels=max;$filter=B eq ';)';@x=1;$expand=C/$ref($top=1),D/$count($search=w)),*/$ref,E/N.T,*($levels=2)"
        + "&$select=F($top=1;$select=G),N.*,N.f(a,b),*,@N.T,N.S/H")
    #expect(options.expand.count == 4)
    let first = try #require(options.expand.first)
    #expect(first.options.levels == .max)
    #expect(first.options.aliases.count == 1)
    #expect(first.options.expand.map(\.path.segments.count) == [2, 2])
    #expect(first.options.expand[0].options.top == 1)
    #expect(first.options.expand[1].options.search == .word("w"))
    #expect(options.expand[3].options.levels == .count(2))
    #expect(options.select.count == 6)
    #expect(options.select[0].options.select.map(\.path) == [Self.path("G")])
    #expect(options.select[1].path.segments.map(\.kind) == [.allOperations("N")])
    #expect(options.select[2].path.segments.count == 2)
  }

  @Test(
    "Misplaced text is rejected with its position",
    arguments: [
      ("$top=1&$top=2", 7), ("$top=x", 5), ("$top=-1", 5), ("$expand=A($levels=0)", 18),
      ("$expand=A/$count($count=true)", 17),
      ("$filter", 7), ("$filter=", 8), ("$foo=1", 0), ("$levels=1", 0), ("&$top=1", 0), ("$top=1&", 7), ("$select=", 8),
      ("$select=A(", 10), ("$expand=A(x=1)", 10), ("$expand=N.T", 11), ("$expand=A/$value", 10),
      ("$expand=*/$count", 9),
      ("$expand=*($top=1)", 10), ("$format=jsonx", 13), ("$format=", 8), ("$count=1", 7), ("$search=", 8),
      ("$search=(a", 10), ("$search=a)", 9), ("$compute=A", 10), ("$compute=A as", 13), ("$orderby=A up", 11),
      ("$skiptoken=", 11), ("@a", 2), ("@=1", 1), ("$top=1#x", 6), ("$top=99999999999999999999", 5),
      ("$select=A/N.T/N.U", 17),
      ("$inlinecount=none", 0), ("@a=1&@a=2", 5), ("$schemaversion=", 15), ("$select=A($levels=1)", 10),
    ] as [(String, Int)])
  func rejections(text: String, place: Int) throws {
    let error = try #require(Self.failure(text))
    #expect(error.offset == place, "\(error)")
  }

  @Test(
    "$format is a short name or a media type (§5.1.9)",
    arguments: [
      "json", "XML", "atom", "json;IEEE754Compatible=true", "application/json;odata.metadata=full", "text/csv",
    ])
  func format(text: String) throws {
    #expect(try Self.read("$format=" + text).format == text)
  }

  @Test("The nearest option is named")
  func nearest() {
    #expect(Self.failure("$fitler=x")?.problem == .unexpected(expected: ["$filter"]))
    #expect(Self.failure("$oderby=x")?.problem == .unexpected(expected: ["$orderby"]))
    #expect(Self.failure("$top=1&$top=2")?.problem == .duplicateOption("$top"))
    #expect(
      Self.failure("$expand=A/$count($top=1)")?.problem == .misplacedOption("$top", allowed: ["$filter", "$search"]))
  }

  @Test("V2: $inlinecount, paths in $expand and $select, tokens, custom options (V2 URI Conventions §4)")
  func v2() throws {
    let options = try Self.read(
      "$inlinecount=allpages&$expand=A/B,C&$select=A/*,D&$filter=substringof('x',N)&search=a b&sap-client=100&!deltatoken='1'"
        + "&year=1990",
      .v2)
    #expect(options.count == true)
    #expect(options.expand.map(\.path) == [Self.path("A", "B"), Self.path("C")])
    #expect(options.select.first?.path.segments.map(\.kind) == [.name("A"), .star])
    #expect(options.search == .and([.word("a"), .word("b")]))
    #expect(options.custom.map(\.name) == ["sap-client", "year"])
    #expect(options.deltaToken == "'1'")
    #expect(try Self.read("search=(a", .v2).search == .phrase("(a"))
    #expect(try Self.read("$inlinecount=none&$format=verbosejson", .v2).count == false)
    #expect(Self.failure("$count=true", .v2)?.offset == 0)
    #expect(Self.failure("$expand=A($top=1)", .v2)?.offset == 9)
    #expect(Self.failure("$apply=identity", .v2)?.problem == .notInDialect("$apply"))
  }

  @Test(
    "Search: NOT before AND before OR; words by their positions (§5.1.8)",
    arguments: [
      ("a b OR c", .or([.and([.word("a"), .word("b")]), .word("c")])),
      ("NOT a AND b", .and([.not(.word("a")), .word("b")])), ("NOT", .word("NOT")), ("OR", .word("OR")),
      ("AND OR", .and([.word("AND"), .word("OR")])), ("NOT NOT", .not(.word("NOT"))),
      ("a OR", .and([.word("a"), .word("OR")])), ("a AND AND b", .and([.word("a"), .word("AND"), .word("b")])),
      ("(a OR b) c", .and([.or([.word("a"), .word("b")]), .word("c")])),
      ("\"a b\" c'd", .and([.phrase("a b"), .word("c'd")])),
      ("a (b c)", .and([.word("a"), .word("b"), .word("c")])), ("'it''s (", .incomplete("it's (")),
      ("and", .word("and")), ("NOTE", .word("NOTE")),
    ] as [(String, ODataSearchExpression)])
  func search(text: String, tree: ODataSearchExpression) throws {
    let text = text.hasPrefix("'") ? text + "'" : text
    #expect(try ODataParser().search(text) == tree)
  }

  @Test(
    "Options of temporal data accept expressions (Temporal Data ABNF, `temporalExpr`)",
    arguments: [
      "$at=now()", "$from=min&$to=max", "$at=@a&@a=2012-01-01", "$toInclusive=now()%20sub%20duration'P1D'",
      "$expand=H($at=max;$from=F(a='%3B)'))", "$at=cast('a%26b',Edm.Date)",
    ])
  func temporalExpressions(text: String) throws {
    let options = try Self.read(text)
    #expect(try Self.read(try ODataPrinter().print(options)) == options)
    for rule in ["at-option", "temporalOption"] where text.hasPrefix("$at=now") {
      #expect(throws: Never.self) { try #require(ODataGrammarRule(rule)).parse(text) }
    }
  }

  @Test("Options of temporal data keep their spelling")
  func temporal() throws {
    let options = try Self.read("$at=2012-01-01&$expand=H($from=min;$toInclusive=2025-01-01T00:00:00Z)")
    #expect(options.custom == [.init(name: "$at", value: "2012-01-01")])
    #expect(options.expand.first?.options.custom.map(\.name) == ["$from", "$toInclusive"])
    #expect(Self.failure("$at=")?.offset == 4)
    #expect(Self.failure("$at=2012-01-01 add")?.offset == 18)
  }

  @Test(
    "Deep nesting is an error",
    arguments: [("$expand=", "A($expand="), ("$select=", "A($select="), ("$search=", "("), ("$search=", "NOT ")])
  func deep(name: String, level: String) {
    let problem = Self.failure(name + String(repeating: level, count: 100_000) + "a")?.problem
    guard case .tooDeep(let limit)? = problem else {
      Issue.record("\(problem.map { "\($0)" } ?? "taken")")
      return
    }
    #expect((10...100).contains(limit))
  }

  @Test("Long lists are not deep nesting")
  func long() throws {
    #expect(try Self.read("$select=" + String(repeating: "A,", count: 50_000) + "A").select.count == 50_001)
    #expect(try ODataParser().search(String(repeating: "a OR b ", count: 20_000) + "c") != .word("a"))
  }
}
