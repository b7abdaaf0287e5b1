import LarderOData
import Testing

/// Texts that try to be more than a text, in every place that a tree holds one.
@Suite("Text cannot change the structure of a URL", .timeLimit(.minutes(5)))
struct PrintingInjectionTests {
  static let texts = [
    "", "'", "''", "'''", "' or true or 'a' eq '", "') or (1 eq 1", "a&$filter=true", "a#b", "a?b", "a/b", "a;b", "a=b",
    "a+b",
    "100%", "%27", "%2527", "%00", "\0", "\n\r\t", "\u{7F}", "a\"b", "\"", "\\", "\\\"", "\\u0022", "[", "]", "{", "}",
    "@a",
    "$it", "$count", "null", "true", " ", " a ", "a  b", "Ünïcödé", "日本語", "👩‍👩‍👧", "e\u{301}", "\u{202E}", "\u{FEFF}",
    "a,b",
    "a:b", "(", ")", "(((", "/*", "--", "AND", "OR", "NOT", "a AND b", "not", "-1", "..", ".", "*", "~", "|", "^", "`",
    "<a>",
    "' eq '", "'/any(x:x eq '", "%", "%2", "%zz", "x'", "duration'PT1S'", String(repeating: "'", count: 1001),
  ]

  private func literal(_ text: String) -> ODataExpression { ODataExpression(.literal(.string(text))) }

  private func name(_ name: String) -> ODataExpression {
    ODataExpression(.path(ODataPath([ODataPathSegment(.name(name))])))
  }

  @Test("Strings in expressions, lists, JSON, keys, aliases, nested options", arguments: texts)
  func strings(text: String) throws {
    var nested = ODataQueryOptions()
    nested.filter = ODataExpression(.binary(.equal, name("a"), literal(text)))
    nested.aliases = [ODataAlias(name: "b", value: literal(text))]
    var options = ODataQueryOptions()
    options.filter = ODataExpression(
      .and([
        ODataExpression(.call(.contains, [name("a"), literal(text)])),
        ODataExpression(.membership(name("a"), ODataExpression(.list([literal(text), literal(text)])))),
        ODataExpression(
          .binary(
            .equal, ODataExpression(.array([literal(text)])),
            ODataExpression(.object([ODataObjectMember(name: text, value: literal(text))])))),
      ]))
    options.expand = [ODataExpandItem(ODataPath([ODataPathSegment(.name("A"))]), options: nested)]
    options.aliases = [ODataAlias(name: "c", value: literal(text))]
    options.custom = [ODataCustomOption(name: "custom" + text, value: text)]
    let key = ODataPathSegment(.arguments([ODataArgument(value: literal(text))]))
    let url = ODataURL(.path(ODataPath([ODataPathSegment(.name("P")), key])), options: options)
    let printed = try ODataPrinter().print(url)
    #expect(try ODataParser().relativeURL(printed) == url, "\(printed)")
    let isVisible = printed.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }
    #expect(isVisible && !printed.contains("#"))
    #expect(printed.split(separator: "?", omittingEmptySubsequences: false).count == 2)
  }

  @Test("Opaque texts: tokens and identifiers", arguments: texts.dropFirst())
  func opaque(text: String) throws {
    var options = ODataQueryOptions()
    options.skipToken = text
    options.deltaToken = text
    options.id = text
    let printed = try ODataPrinter().print(options)
    #expect(try ODataParser().queryOptions(printed) == options, "\(printed)")
  }

  @Test("Searches: words and phrases read back, other texts are rejected", arguments: texts)
  func searches(text: String) throws {
    let shapes: [ODataSearchExpression] = [
      .word(text), .phrase(text), .incomplete(text), .not(.word(text)), .and([.word(text), .phrase("b"), .word(text)]),
      .or([.and([.word("a"), .word(text)]), .not(.or([.word(text), .word("b")]))]),
    ]
    for search in shapes {
      for isPercentEncoded in [true, false] {
        let printed: String
        do { printed = try ODataPrinter(isPercentEncoded: isPercentEncoded).print(search) } catch { continue }
        let parser = ODataParser(options: ODataParserOptions(isPercentEncoded: isPercentEncoded))
        #expect(try parser.search(printed) == search, "\(printed)")
      }
    }
  }

  @Test("Keys as segments read back, or are rejected if they would be read as something else", arguments: texts)
  func keySegments(text: String) throws {
    let path = ODataPath([ODataPathSegment(.name("P")), ODataPathSegment(.text(text))])
    let printed: String
    do { printed = try ODataPrinter().print(path) } catch { return }
    #expect(try ODataParser().path(printed) == path, "\(printed)")
  }

  @Test("Invalid names are rejected in every position", arguments: texts + ["1a", "a-b", "a b", "a.", ".a", "a..b"])
  func names(text: String) throws {
    // These are names.
    guard !["null", "true", "AND", "OR", "NOT", "not", "Ünïcödé", "日本語", "e\u{301}"].contains(text) else { return }
    let printer = ODataPrinter()
    let path = ODataPath([ODataPathSegment(.name(text))])
    #expect(throws: ODataPrintingError.self) { try printer.print(path) }
    #expect(throws: ODataPrintingError.self) { try printer.print(name(text)) }
    let qualified = ODataPath([ODataPathSegment(.qualifiedName("Ns." + text)), ODataPathSegment(.name("a"))])
    #expect(throws: ODataPrintingError.self) { try printer.print(ODataExpression(.path(qualified))) }
    #expect(throws: ODataPrintingError.self) {
      try printer.print(ODataExpression(.path(ODataPath(root: .alias(text), []))))
    }
    #expect(throws: ODataPrintingError.self) { try printer.print([ODataSelectItem(path)]) }
    #expect(throws: ODataPrintingError.self) { try printer.print([ODataExpandItem(path)]) }
    #expect(throws: ODataPrintingError.self) { try printer.print([ODataComputeItem(name("a"), as: text)]) }
    #expect(throws: ODataPrintingError.self) {
      let lambda = ODataLambda(variable: text, predicate: literal("a"))
      return try printer.print(
        ODataExpression(.path(ODataPath([ODataPathSegment(.name("a")), ODataPathSegment(.any(lambda))]))))
    }
    #expect(throws: ODataPrintingError.self) {
      try printer.print(ODataExpression(.cast(nil, ODataTypeName(text))))
    }
    #expect(throws: ODataPrintingError.self) {
      try printer.print(ODataExpression(.enumeration(ODataEnumerationLiteral(typeName: text, members: "a"))))
    }
    var options = ODataQueryOptions()
    options.aliases = [ODataAlias(name: text, value: literal("a"))]
    #expect(throws: ODataPrintingError.self) { try printer.print(options) }
  }
}
