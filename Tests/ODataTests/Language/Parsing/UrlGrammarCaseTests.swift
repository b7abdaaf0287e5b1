import Foundation
import TestSupport
import Testing

@testable import OData

/// All test cases of the standard's grammar, read from beside the project where they are there.
@Suite("The grammar's own cases", .timeLimit(.minutes(5)))
struct UrlGrammarCaseTests {
  struct Case: Decodable {
    let name: String
    let rule: String
    let input: String
    let failAt: Int?
  }

  /// Refused by the standard's tests, or refused one place earlier, because of what their names stand for: `Address` is complex,
  /// `Price` has no members. Without names the grammar takes them.
  static let needNames: Set<String> = [
    "Categories(1)/Address/$value", "$apply=groupby((Product/Price/Quantity))",
    "$apply=groupby((Product/Price/@Measures.ISOCurrency))",
  ]

  @Test("Every case is read whole, or refused where the grammar says")
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
}
