import Foundation
import LarderTestSupport
import Testing

@testable import LarderOData

/// `$filter` strings from the tests of other products, read from a folder next to the project if it exists.
@Suite("Filters of other products", .timeLimit(.minutes(5)))
struct UrlFilterStringTests {
  struct Case: Decodable {
    let filter: String
    let valid: Bool?
    let version: String
  }

  private static func all() throws -> [Case] {
    guard let file = SharedOData.folder?.appending(path: "filter-strings.json") else { return [] }
    return try JSONDecoder().decode([Case].self, from: Data(contentsOf: file))
  }

  private static func problem(_ item: Case) -> ODataSyntaxError? {
    var options = ODataParserOptions(version: item.version == "2" ? .v2 : .v401)
    // Those with `%` are parts of URLs, the others texts.
    options.isPercentEncoded = item.filter.contains("%")
    do throws(ODataSyntaxError) {
      _ = try ODataParser(options: options).filter(item.filter)
      return nil
    } catch { return error }
  }

  @Test("Filters that their product calls valid are read")
  func valid() throws {
    let items = try Self.all().filter { $0.valid == true }
    var misses = 0
    for item in items {
      guard let error = Self.problem(item) else { continue }
      misses += 1
      print("refused, called valid [\(item.version)]: \(item.filter)\n  \(error.problem) at \(error.offset)")
    }
    print("filters called valid: \(items.count), refused: \(misses)")
    #expect(misses <= 3)
  }

  @Test("Rejected filters without a known verdict are listed")
  func unjudged() throws {
    let items = try Self.all().filter { $0.valid == nil }
    let rejected = items.filter { Self.problem($0) != nil }
    for item in rejected { print("refused, not judged [\(item.version)]: \(item.filter)") }
    let taken = try Self.all().filter { $0.valid == false && Self.problem($0) == nil }
    for item in taken { print("taken, called invalid [\(item.version)]: \(item.filter)") }
    print("filters not judged: \(items.count), refused: \(rejected.count); called invalid and taken: \(taken.count)")
    #expect(rejected.count <= 16)
  }
}
