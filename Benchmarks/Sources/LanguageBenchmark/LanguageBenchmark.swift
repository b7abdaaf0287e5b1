import Foundation
import LarderOData

/// Measures parsing and binding of OData URLs: `LanguageBenchmark PYTHON PEER`. Exits with 1 if a limit is missed.
@main
enum LanguageBenchmark {
  /// A typical URL of 200 bytes.
  static let url =
    "Products?$filter=Price%20gt%2010.5%20and%20contains(Name,'tea')%20and%20(Rating%20ge%203%20or%20"
    + "Discontinued%20eq%20false)&$expand=Category($select=Name),Supplier($filter=Active)&$orderby=Price%20desc"
  /// Only the filter, not percent-encoded, because the peer does not decode it.
  static let filter = "Price gt 10.5 and contains(Name,'tea') and (Rating ge 3 or Discontinued eq false)"
  static let rounds = 21

  static func main() throws {
    let arguments = CommandLine.arguments.dropFirst()
    guard arguments.count == 2, let python = arguments.first, let script = arguments.last else {
      print("usage: LanguageBenchmark PYTHON PEER")
      exit(2)
    }
    let parser = ODataParser(.v401)
    let plain = ODataParser(options: ODataParserOptions(version: .v401, isPercentEncoded: false))
    let binder = ODataBinder(model: try CSDLJSONReader.read(Array(model.utf8)))
    let peer = try LanguagePeer(python: python, script: script)
    var parsed: [Double] = []
    var both: [Double] = []
    var filters: [Double] = []
    var ratios: [Double] = []
    for _ in 0..<rounds {
      parsed.append(try time(2000) { _ = try parser.relativeURL(url) })
      both.append(try time(2000) { _ = try binder.bind(try parser.relativeURL(url)) })
      let ours = try time(5000) { _ = try plain.filter(filter) }
      let peerTime = try peer.time(50, filter) / 50
      filters.append(ours)
      ratios.append(peerTime / ours)
    }
    print("processor time, median of \(rounds) (minimum to maximum)")
    print("a URL of \(url.utf8.count) bytes: parsed \(micro(parsed)); parsed and bound \(micro(both)), limit 20 us")
    print("its filter: parsed \(micro(filters)); odata-query takes \(text(ratios)) times as long, limit at least 50")
    let missed = median(both) > 20e-6 || median(ratios) < 50
    print(missed ? "a limit is MISSED" : "all limits are met")
    exit(missed ? 1 : 0)
  }

  /// The processor time of one call in seconds, as the mean of `count` calls. Other work on the machine has little effect on it.
  static func time(_ count: Int, _ body: () throws -> Void) rethrows -> Double {
    let start = processorTime()
    for _ in 0..<count { try body() }
    return (processorTime() - start) / Double(count)
  }

  private static func processorTime() -> Double {
    var now = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now)
    return Double(now.tv_sec) + Double(now.tv_nsec) * 1e-9
  }

  static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }

  private static func micro(_ values: [Double]) -> String { "\(text(values.map { $0 * 1e6 })) us" }

  /// Median, minimum and maximum.
  private static func text(_ values: [Double]) -> String {
    func short(_ value: Double) -> String { String(format: value < 100 ? "%.1f" : "%.0f", value) }
    return "\(short(median(values))) (\(short(values.min() ?? 0)) to \(short(values.max() ?? 0)))"
  }

  static let model = """
    {"$Version":"4.01","$EntityContainer":"Shop.C","Shop":{
      "Product":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Name":{},"Price":{"$Type":"Edm.Decimal"},
        "Rating":{"$Type":"Edm.Int32"},"Discontinued":{"$Type":"Edm.Boolean"},
        "Category":{"$Kind":"NavigationProperty","$Type":"Shop.Category"},
        "Supplier":{"$Kind":"NavigationProperty","$Collection":true,"$Type":"Shop.Supplier"}},
      "Category":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Name":{}},
      "Supplier":{"$Kind":"EntityType","$Key":["ID"],"ID":{"$Type":"Edm.Int32"},"Active":{"$Type":"Edm.Boolean"}},
      "C":{"$Kind":"EntityContainer","Products":{"$Collection":true,"$Type":"Shop.Product"},
        "Categories":{"$Collection":true,"$Type":"Shop.Category"},"Suppliers":{"$Collection":true,"$Type":"Shop.Supplier"}}}}
    """
}
