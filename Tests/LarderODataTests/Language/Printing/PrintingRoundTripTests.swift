import Foundation
import LarderOData
import LarderTestSupport
import Testing

/// The grammar's test cases and filters of other products, read from a folder next to the project if it exists: each is printed and
/// read back.
@Suite("Printed text reads back as the same tree", .timeLimit(.minutes(5)))
struct PrintingRoundTripTests {
  private struct GrammarCase: Decodable {
    let rule: String
    let input: String
    let failAt: Int?
  }

  private struct FilterCase: Decodable {
    let filter: String
  }

  /// Checks the round trip of a tree; returns the problem, or nil.
  private func fault(
    _ tree: PrintedCase, _ version: ODataVersion, isPercentEncoded: Bool, isStrict: Bool = true
  ) -> String? {
    let options = ODataParserOptions(version: version, isPercentEncoded: isPercentEncoded)
    let printer = ODataPrinter(version: version, isPercentEncoded: isPercentEncoded, isStrict: isStrict)
    do {
      let text = try tree.print(printer)
      let again = try tree.read(text, ODataParser(options: options))
      if again != tree { return "printed as \(text), which reads as another tree" }
      let twice = try again.print(printer)
      return twice == text ? nil : "printed as \(text), then as \(twice)"
    } catch let error as ODataPrintingError {
      if !isPercentEncoded, case .needsPercentEncoding = error.problem { return nil }
      return "\(error)"
    } catch { return "\(error)" }
  }

  @Test("Every positive case of the standard's grammar, encoded and not")
  func grammarCases() throws {
    guard let file = SharedOData.folder?.appending(path: "abnf-cases.json") else { return }
    var count = 0
    for item in try JSONDecoder().decode([GrammarCase].self, from: Data(contentsOf: file)) where item.failAt == nil {
      guard let tree = try? PrintedCase.read(item.input, rule: item.rule, ODataParser()) else { continue }
      for isPercentEncoded in [true, false] {
        let fault = fault(tree, .v401, isPercentEncoded: isPercentEncoded)
        #expect(fault == nil, "\(item.rule) \(item.input): \(fault ?? "")")
      }
      count += 1
    }
    Swift.print("grammar cases printed and read back: \(count)")
    #expect(count >= 200)
  }

  @Test("Filters of other products, in both dialects", arguments: [ODataVersion.v401, .v4, .v2, .v3])
  func filters(version: ODataVersion) throws {
    guard let file = SharedOData.folder?.appending(path: "filter-strings.json") else { return }
    let parser = ODataParser(options: ODataParserOptions(version: version, isPercentEncoded: false))
    var count = 0
    for item in try JSONDecoder().decode([FilterCase].self, from: Data(contentsOf: file)) {
      guard let tree = try? parser.filter(item.filter) else { continue }
      for isPercentEncoded in [true, false] {
        let fault = fault(
          .expression(tree), version, isPercentEncoded: isPercentEncoded, isStrict: false)
        #expect(fault == nil, "\(item.filter): \(fault ?? "")")
      }
      count += 1
    }
    Swift.print("filters of \(version) printed and read back: \(count)")
    #expect(count >= 100)
  }
}
