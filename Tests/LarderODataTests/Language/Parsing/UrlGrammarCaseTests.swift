import Foundation
import LarderTestSupport
import Testing

@testable import LarderOData

/// All test cases of the standard's grammar, read from a folder next to the project if it exists.
@Suite("The test cases of the grammar", .timeLimit(.minutes(5)))
struct UrlGrammarCaseTests {
  struct Case: Decodable {
    let name: String
    let rule: String
    let input: String
    let failAt: Int?
  }

  /// Cases that the standard's tests reject, or reject one character earlier, because of the model: `Address` is complex,
  /// `Price` has no members. Without a model, the grammar accepts them.
  static let needNames: Set<String> = [
    "Categories(1)/Address/$value", "$apply=groupby((Product/Price/Quantity))",
    "$apply=groupby((Product/Price/@Measures.ISOCurrency))",
  ]

  @Test("Every case is read completely, or rejected at the position that the grammar gives")
  func cases() throws {
    guard let file = SharedOData.folder?.appending(path: "abnf-cases.json") else { return }
    let all = try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
    var misses: [String] = []
    for item in all where !UrlGrammarCaseTests.needNames.contains(item.input) {
      guard let rule = ODataGrammarRule(item.rule) else {
        misses.append("no rule \(item.rule)")
        continue
      }
      do throws(ODataSyntaxError) {
        _ = try rule.parse(item.input)
        if item.failAt != nil { misses.append("taken: \(item.rule) \(item.input) (\(item.failAt ?? 0))") }
      } catch {
        let place = item.input.utf8.prefix(error.offset).count
        if let failAt = item.failAt {
          if place != failAt {
            misses.append("refused at \(place), not \(failAt): \(item.rule) \(item.input)\n\(error)")
          }
        } else {
          misses.append("refused: \(item.rule) \(item.input)\n\(error)")
        }
      }
    }
    for miss in misses { print(miss) }
    print("grammar cases: \(all.count), misses: \(misses.count), left out: \(UrlGrammarCaseTests.needNames.count)")
    #expect(misses.isEmpty)
  }

  /// Rules for single characters, or for parts of URIs that OData does not define.
  static let notAlone: Set<String> = [
    "A-to-F", "ALPHA", "BWS-h", "DIGIT", "DQUOTE", "EQ-h", "H16", "HEXDIG", "HTAB", "OWS", "SP", "VCHAR", "authority",
    "base64b16",
    "base64b8", "base64char", "begin-array", "begin-object", "charInJSON", "day", "dec-octet", "end-array",
    "end-object", "escape",
    "excludeOperator", "fractionalSeconds", "fragment", "geographyPrefix", "geometryPrefix", "h16", "hier-part", "hour",
    "identifierCharacter", "identifierLeadingCharacter", "ls32", "minute", "month", "name-separator", "obs-text",
    "oneToNine",
    "other-delims", "path-abempty", "path-absolute", "path-rootless", "pchar", "pchar-no-SQUOTE", "pct-encoded",
    "pct-encoded-no-DQUOTE", "pct-encoded-no-SQUOTE", "pct-encoded-unescaped", "qchar-JSON-special", "qchar-no-AMP",
    "qchar-no-AMP-DQUOTE", "qchar-no-AMP-EQ", "qchar-no-AMP-EQ-AT-DOLLAR", "qchar-no-AMP-SQUOTE", "qchar-unescaped",
    "query",
    "quotation-mark", "reg-name", "scheme", "searchChar", "second", "SQUOTE-in-string", "sub-delims", "unreserved",
    "userinfo",
    "value-separator", "year", "zeroToFiftyNine",
    // Parts of what `aggregate`, `groupby` and `nest` hold that have no value without the rest.
    "aggregatableExpW", "aggregateCount", "aggregateCustom", "aggregateFrom", "aggregateMethod", "aggregateWith",
    "customFrom",
    "joinProperty", "nestApplyExpr", "nonprimAggMethod", "nonprimAggWith", "rollupUnnamedHier",
  ]

  @Test("Every rule of the grammar is available, except for characters and fragments of a rule")
  func rules() throws {
    guard let folder = SharedOData.folder else { return }
    var missing: Set<String> = []
    for file in ["odata-abnf-construction-rules.txt", "odata-aggregation-abnf.txt"] {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for line in text.split(whereSeparator: \.isNewline) {
        guard let first = line.unicodeScalars.first, first.properties.isAlphabetic, line.contains("=") else { continue }
        let name = String(line.prefix { $0 != "=" && $0 != " " })
        if ODataGrammarRule(name) == nil { missing.insert(name) }
      }
    }
    let unexpected = missing.subtracting(Self.notAlone).sorted()
    #expect(unexpected.isEmpty, "\(unexpected)")
    print(
      "rules of the grammar: \(ODataGrammarRule.all.count) can be asked for, \(missing.count) are characters or fragments"
    )
  }
}
