import LarderOData
import LarderTestSupport
import Testing

/// Trees that have no text form.
@Suite("Trees that cannot be read back are rejected", .timeLimit(.minutes(5)))
struct PrintingErrorTests {
  private static func path(_ kinds: ODataPathSegment.Kind..., root: ODataPath.Root = .implicit) -> ODataExpression {
    ODataExpression(.path(ODataPath(root: root, kinds.map { ODataPathSegment($0) })))
  }

  private static let one = ODataExpression(.literal(.int32(1)))
  private static let a = path(.name("a"))

  private static let expressions: [(String, ODataExpression, ODataPrintingError.Problem)] = [
    ("an and of nothing", ODataExpression(.and([])), .tooFew("and", least: 2, found: 0)),
    ("an or of one", ODataExpression(.or([a])), .tooFew("or", least: 2, found: 1)),
    ("a case of nothing", ODataExpression(.conditional([])), .tooFew("case", least: 1, found: 0)),
    (
      "a function with too few arguments", ODataExpression(.call(.contains, [a])),
      .wrongArgumentCount("contains", expected: 2...2, found: 1)
    ),
    (
      "a list without in", ODataExpression(.list([one])),
      .misplaced("a list in parentheses", expected: "a list after in, or an array")
    ),
    (
      "a list of expressions", ODataExpression(.membership(a, ODataExpression(.list([a])))),
      .misplaced("an expression in the list after in", expected: "literals, or an array")
    ),
    ("a variable without its lambda", path(root: .variable("x")), .variableNotInScope("x")),
    (
      "a property that a variable hides",
      path(.name("i"), .any(ODataLambda(variable: "x", predicate: path(.name("x"))))),
      .ambiguousName("x", readsAs: "the variable", cure: "start the path with $it")
    ),
    (
      "a function of the service named length", path(.name("length"), .arguments([ODataArgument(value: one)])),
      .ambiguousName("length", readsAs: "the canonical function", cure: "use call, or qualify the name")
    ),
    (
      "a function of the service named any", path(.name("i"), .name("any"), .arguments([])),
      .ambiguousName("any", readsAs: "the operator", cure: "qualify the function's name")
    ),
    (
      "$root alone", path(root: .root), .misplaced("$root without a set or singleton after it", expected: "$root/Name")
    ),
    (
      "a type without a property", path(.qualifiedName("N.T")),
      .misplaced("the type N.T without a property", expected: "'/' and a property of the type")
    ),
    (
      "a step after any", path(.name("a"), .any(nil), .name("b")),
      .misplaced("a step after any", expected: "the end of the path")
    ),
    (
      "a key after an annotation", path(.name("a"), .annotation(term: "N.t", qualifier: nil), .arguments([])),
      .misplaced("arguments", expected: "arguments after a name or a $filter step")
    ),
    ("an empty path", path(), .misplaced("a path without steps", expected: "a name, or $it for the instance itself")),
    (
      "V2's substringof", ODataExpression(.call(.substringof, [one, a])),
      .notInDialect("substringof", .v401, cure: "use contains with its arguments swapped")
    ),
    (
      "a value of V2 as a key", ODataExpression(.literal(.collection([]))),
      .invalidValue("a collection cannot be a literal; create an object or array with ODataExpression(value:)")
    ),
  ]

  @Test("Expressions", arguments: expressions.indices)
  func handWritten(index: Int) {
    let (label, tree, problem) = PrintingErrorTests.expressions[index]
    #expect(throws: ODataPrintingError(problem), "\(label)") { try ODataPrinter().print(tree) }
  }

  @Test(
    "V2 has no in, case, arrays, $it, aliases, and before V3 no lambdas",
    arguments: [
      "a in (1,2)", "case(a:1)", "[1]", "{\"a\":1}", "$it/a", "@a", "a has N.T'x'", "a divby b", "2012-09-03",
      "12:30:00", "now()",
      "contains(a,b)", "a/any(x:x)", "isdefined(a)", "a/$count($filter=b)", "$these/aggregate(a with sum)", "a/@N.t",
      "$root/a",
    ])
  func notInV2(text: String) throws {
    let tree = try ODataParser(options: ODataParserOptions(isPercentEncoded: false)).expression(text)
    #expect {
      try ODataPrinter(version: .v2).print(tree)
    } throws: { error in
      switch (error as? ODataPrintingError)?.problem {
      case .notInDialect(_, .v2, _), .invalidValue: true
      default: false
      }
    }
  }

  @Test("A V2 property cannot be named like a literal", arguments: ["null", "true", "false", "INF", "NaN", "Nan"])
  func literalsOfV2(name: String) {
    let problem = ODataPrintingError.Problem.ambiguousName(
      name, readsAs: "a literal", cure: "rename the property: V2 has no other spelling for it")
    #expect(throws: ODataPrintingError(problem)) {
      try ODataPrinter(version: .v2).print(PrintingErrorTests.path(.name(name)))
    }
    #expect(throws: ODataSyntaxError.self) { try ODataParser(.v2).expression("\(name)/") }
    #expect(throws: Never.self) {
      try ODataPrinter(version: .v2).print(PrintingErrorTests.path(.name(name), .name("a")))
    }
  }

  @Test("Options where they are not allowed, with the position")
  func misplaced() {
    var inner = ODataQueryOptions()
    inner.format = "json"
    var options = ODataQueryOptions()
    options.expand = [ODataExpandItem(ODataPath([ODataPathSegment(.name("A"))]), options: inner)]
    #expect {
      try ODataPrinter().print(options)
    } throws: { error in
      guard let error = error as? ODataPrintingError, case .misplaced("$format", _) = error.problem else {
        return false
      }
      return error.place == ["$expand"] && "\(error)".hasSuffix("(in $expand)")
    }
    options = ODataQueryOptions()
    options.top = -1
    #expect(throws: ODataPrintingError.self) { try ODataPrinter().print(options) }
    options = ODataQueryOptions()
    options.levels = .max
    #expect(throws: ODataPrintingError.self) { try ODataPrinter().print(options) }
    for name in ["", "$filter", "Top", "@a", "$x"] {
      options = ODataQueryOptions()
      options.custom = [ODataCustomOption(name: name, value: "1")]
      #expect(throws: ODataPrintingError.self, "\(name)") { try ODataPrinter().print(options) }
    }
  }

  @Test("Texts that need percent-encoding are rejected without it")
  func needsEncoding() {
    let text = ODataExpression(.literal(.string("a&b")))
    let printer = ODataPrinter(isPercentEncoded: false)
    #expect(throws: Never.self) { try printer.print(text) }
    var options = ODataQueryOptions()
    options.filter = text
    #expect(throws: ODataPrintingError(.needsPercentEncoding("a&b"), in: ["$filter"])) { try printer.print(options) }
  }

  @Test("Depth is limited, trees within the limit need little stack, and chains are not deep")
  func depth() async throws {
    let printer = ODataPrinter()
    // A hundred levels: as deep as the parser reads.
    let calls = try await onSmallStack {
      var deep = PrintingErrorTests.a
      for _ in 0..<50 {
        let lambda = ODataLambda(variable: "x", predicate: ODataExpression(.not(deep)))
        deep = PrintingErrorTests.path(.name("i"), .any(lambda))
      }
      return (try? printer.print(deep)) != nil
    }
    #expect(calls)
    let rejected = try await onSmallStack {
      var deep = PrintingErrorTests.a
      for _ in 0..<1000 { deep = ODataExpression(.not(deep)) }
      do {
        _ = try printer.print(deep)
        return false
      } catch {
        if case .tooDeep(let limit)? = (error as? ODataPrintingError)?.problem { return limit <= 300 }
        return false
      }
    }
    #expect(rejected)
    let isPrinted = try await onSmallStack {
      var chain = PrintingErrorTests.a
      for _ in 0..<1000 { chain = ODataExpression(.binary(.add, chain, PrintingErrorTests.one)) }
      return (try? printer.print(chain)) != nil
    }
    #expect(isPrinted)
  }
}
