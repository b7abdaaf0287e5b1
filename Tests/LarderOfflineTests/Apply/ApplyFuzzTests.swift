import LarderOData
import LarderStorage
import Testing

@testable import LarderOffline

@Suite("Random $apply, against an evaluation in memory", .timeLimit(.minutes(1)))
struct ApplyFuzzTests {
  /// A sale as the evaluation sees it; amounts in hundredths.
  private struct Sale {
    let id: Int
    let customer: Int?
    let product: Int?
    let amount: Int?
  }

  private static let countries = ["USA", "USA", "Netherlands", "France"]
  private static let products = ["Sugar", "Coffee", "Paper", "Pencil"]
  private static let colors = ["White", "Brown", "White", "Black"]

  private struct Generator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      var mixed = state
      mixed = (mixed ^ (mixed >> 33)) &* 0xff51_afd7_ed55_8ccd
      return mixed ^ (mixed >> 33)
    }
  }

  private static func dataSet(_ random: inout Generator) -> (QueryDataSet, [Sale]) {
    var dataSet = ApplySales.people()
    var sales: [Sale] = []
    for id in 1...Int.random(in: 1...40, using: &random) {
      let sale = Sale(
        id: id, customer: Bool.random(using: &random) ? Int.random(in: 0..<4, using: &random) : nil,
        product: Int.random(in: 0..<5, using: &random) > 0 ? Int.random(in: 0..<4, using: &random) : nil,
        amount: Int.random(in: 0..<5, using: &random) > 0 ? Int.random(in: -300...900, using: &random) : nil)
      sales.append(sale)
      _ = dataSet.add(
        "Sales", "S.Sale",
        [
          "ID": .int32(Int32(id)), "CustomerID": sale.customer.map { .string("C\($0 + 1)") } ?? .null,
          "ProductID": sale.product.map { .string("P\($0 + 1)") } ?? .null,
          "Amount": decimal(sale.amount).map { .decimal($0) } ?? .null,
        ])
    }
    return (dataSet, sales)
  }

  private static func decimal(_ hundredths: Int?) -> ODataDecimal? {
    guard let hundredths else { return nil }
    let digits = String(hundredths.magnitude)
    let padded = String(repeating: "0", count: max(0, 3 - digits.count)) + digits
    return ODataDecimal((hundredths < 0 ? "-" : "") + padded.dropLast(2) + "." + padded.suffix(2))
  }

  private static let keys: [(path: String, value: @Sendable (Sale) -> String?)] = [
    ("Customer/Country", { $0.customer.map { countries[$0] } }), ("Product/Name", { $0.product.map { products[$0] } }),
    ("Product/Color", { $0.product.map { colors[$0] } }), ("CustomerID", { $0.customer.map { "C\($0 + 1)" } }),
  ]

  private static func text(_ value: SQLValue?) -> String {
    switch value {
    case .text(let text)?: text
    case .integer(let number)?: String(number)
    case .real(let number)?: String(number)
    default: "-"
    }
  }

  @Test("Groups, their sums, extremes and counts; conditions before, inside and after", arguments: [1, 2, 3, 4])
  func groups(_ seed: UInt64) async throws {
    print("seed \(seed)")
    var random = Generator(state: seed)
    for _ in 0..<12 {
      let (dataSet, sales) = Self.dataSet(&random)
      let rig = try await ApplyRig(dataSet)
      let chosen = Self.keys.shuffled(using: &random).prefix(Int.random(in: 1...3, using: &random))
      let least = Int.random(in: -200...600, using: &random)
      let limit = Self.decimal(least).map { "\($0)" } ?? "0"
      let isInside = Bool.random(using: &random)
      let aggregate =
        "aggregate(Amount with sum as S,Amount with max as X,$count as N,Product with countdistinct as P)"
      let paths = chosen.map(\.path).joined(separator: ",")
      let apply =
        isInside
        ? "groupby((\(paths)),filter(Amount ge \(limit))/\(aggregate))"
        : "filter(Amount ge \(limit))/groupby((\(paths)),\(aggregate))"
      var groups: [String: [Sale]] = [:]
      for sale in sales {
        let isMatch = sale.amount.map { $0 >= least } ?? false
        guard isMatch || isInside else { continue }
        let key = chosen.map { $0.value(sale) ?? "-" }.joined(separator: "|")
        groups[key, default: []] += isMatch ? [sale] : []
      }
      var expected: [String] = []
      for (key, sales) in groups {
        let amounts = sales.compactMap(\.amount)
        let sum = amounts.isEmpty ? "-" : Self.decimal(amounts.reduce(0, +)).map { "\($0.normal)" } ?? ""
        let most = amounts.max().flatMap { Self.decimal($0) }.map { "\($0.normal)" } ?? "-"
        expected.append("\(key) \(sum) \(most) \(sales.count) \(Set(sales.compactMap(\.product)).count)")
      }
      let result = try await rig.queryResult("Sales?$apply=" + apply)
      let rows = result.rows.map { row in
        let key = chosen.map { Self.text(row.values[$0.path]) }.joined(separator: "|")
        let parts = ["S", "X", "N", "P"].map { name -> String in
          guard case .text(let text)? = row.values[name] else { return "-" }
          return ODataDecimal(text).map { "\($0.normal)" } ?? text
        }
        return ([key] + parts).joined(separator: " ")
      }
      #expect(rows.sorted() == expected.sorted(), "seed \(seed): \(apply)")
    }
  }

  @Test("Rows until a sum is reached, and the greatest of each group", arguments: [5, 6, 7])
  func extremes(_ seed: UInt64) async throws {
    print("seed \(seed)")
    var random = Generator(state: seed)
    for _ in 0..<12 {
      let (dataSet, sales) = Self.dataSet(&random)
      let rig = try await ApplyRig(dataSet)
      let isTop = Bool.random(using: &random)
      let enough = Int.random(in: 0...2000, using: &random)
      let limit = Self.decimal(enough).map { "\($0)" } ?? "0"
      let isGrouped = Bool.random(using: &random)
      let transformation = "\(isTop ? "top" : "bottom")sum(\(limit),Amount)"
      let apply = isGrouped ? "groupby((CustomerID),\(transformation))" : transformation
      var expected: [Int] = []
      for (_, group) in Dictionary(grouping: sales, by: { isGrouped ? $0.customer : nil }) {
        var sum = 0
        for sale in Self.sorted(group, isTop) {
          guard sum < enough else { break }
          expected.append(sale.id)
          sum += sale.amount ?? 0
        }
      }
      let result = try await rig.queryResult("Sales?$apply=\(apply)&$select=ID")
      let rows = result.rows.map { Self.text($0.values["ID"]) }
      #expect(rows == expected.sorted().map { String($0) }, "seed \(seed): \(apply)")
    }
  }

  /// Null is the lowest value.
  private static func sorted(_ sales: [Sale], _ isTop: Bool) -> [Sale] {
    sales.sorted { one, other in
      let (a, b) = (one.amount ?? .min, other.amount ?? .min)
      return a == b ? one.id < other.id : isTop ? a > b : a < b
    }
  }
}

extension ODataDecimal {
  /// The text without trailing zeros.
  fileprivate var normal: String {
    let text = description
    guard text.contains(".") else { return text }
    var short = Substring(text)
    while short.last == "0" { short.removeLast() }
    if short.last == "." { short.removeLast() }
    return String(short)
  }
}

extension ApplyRig {
  fileprivate func queryResult(_ url: String) async throws -> QueryResult { try await rig.result(try plan(url).0) }
}
