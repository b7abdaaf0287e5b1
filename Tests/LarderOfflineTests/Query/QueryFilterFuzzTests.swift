import Foundation
import LarderOData
import LarderStorage
import LarderTestSupport
import Testing

@testable import LarderOffline

/// The number of random queries. `LARDER_QUERIES=20000 LARDER_SEED=random` runs more and different ones.
enum QueryChance {
  static let requestedCount = ProcessInfo.processInfo.environment["LARDER_QUERIES"].flatMap { Int($0) }
  static func count(_ usual: Int) -> Int { requestedCount ?? usual }
  static let limit: TimeLimitTrait.Duration = .minutes(requestedCount == nil ? 5 : 60)
}

@Suite("Random queries, in SQL and in memory", .timeLimit(QueryChance.limit))
struct QueryFilterFuzzTests {
  /// The paths at which queries start, and the entities there.
  private static let sources: [(url: String, place: QueryPlace)] = [
    ("Products", .product), ("Products", .product), ("Products", .product), ("Categories", .category),
    ("Orders", .order), ("Orders('O1')/Items", .item), ("Products/Shop.Special", .product),
    ("Categories(1)/Products", .product), ("Categories(2)/Children", .category), ("Products(3)/Friends", .product),
  ]

  static func entities(_ url: String, _ dataSet: QueryDataSet) throws -> [QueryEntity] {
    let bound = try QueryModel.bind(url)
    guard case .path(let path) = bound.resource, let any = dataSet.entities.first else { return [] }
    guard case .many(let items) = try QueryEvaluator(dataSet: dataSet, entity: any).follow(path) else { return [] }
    return items.compactMap { item in if case .entity(let entity) = item { entity } else { nil } }
  }

  /// The outcomes of the queries.
  private struct Tally {
    var bound = 0
    var unbound: [String: Int] = [:]
    var failing = 0
    var rejected: [String: Int] = [:]
    var rows = 0

    mutating func note(_ why: inout [String: Int], _ text: String) { why[text, default: 0] += 1 }

    func print(_ name: String, _ seed: UInt64) {
      Swift.print("\(name), seed \(seed): \(bound) bound, \(rows) rows, \(failing) fail by rights")
      for (why, count) in unbound.sorted(by: { $0.value > $1.value }).prefix(5) {
        Swift.print("  unbound \(count): \(why)")
      }
      for (why, count) in rejected.sorted(by: { $0.value > $1.value }).prefix(8) {
        Swift.print("  rejected \(count): \(why)")
      }
    }
  }

  @Test("SQL returns the same rows as the standard's logic in memory")
  func filters() async throws {
    let seed = PrintedSeed(for: "query filters")
    var random = seed
    var generator = QueryGenerator(seed)
    var tally = Tally()
    var findings = 0
    let count = QueryChance.count(450)
    for _ in 0..<(count / 300 + 1) {
      let dataSet = QueryDataSet.random(&random, products: 45)
      let rig = try await QueryRig(dataSet)
      for _ in 0..<min(count, 300) where findings < 12 {
        let source = generator.pick(Self.sources)
        let filter = generator.filter(source.place, depth: 1 + generator.below(3))
        let url = source.url + "?$filter=" + filter
        let bound: ODataBoundURL
        do { bound = try QueryModel.bind(url) } catch {
          tally.unbound[String("\(error)".prefix(90)), default: 0] += 1
          continue
        }
        guard let condition = bound.options.filter else { continue }
        let expected: [Int64]
        do {
          expected = try Self.entities(source.url, dataSet)
            .filter { try QueryEvaluator(dataSet: dataSet, entity: $0).test(condition) == true }.map(\.id).sorted()
        } catch QueryEvaluator.Failure.unknown(let what) {
          Issue.record("the evaluator does not know \(what): \(filter)")
          findings += 1
          continue
        } catch {
          tally.failing += 1
          continue
        }
        tally.bound += 1
        tally.rows += expected.count
        let ids: [Int64]
        do { ids = try await rig.ids(url).sorted() } catch OfflineODataError.notSupported(_, let message) {
          tally.rejected[message, default: 0] += 1
          continue
        } catch {
          Issue.record("\(url): \(error)")
          findings += 1
          continue
        }
        if ids != expected {
          findings += 1
          let plan = try rig.plan(url)
          let missing = expected.filter { !ids.contains($0) }
          let wrong = ids.filter { !expected.contains($0) }
          Issue.record("\(url)\nmissing \(missing), wrong \(wrong)\n\(plan.sql)\n\(plan.parameters)")
        }
      }
    }
    tally.print("query filters", seed.seed)
    #expect(tally.bound > count * 7 / 10)
    #expect(tally.rows > tally.bound)
    #expect(tally.rejected.values.reduce(0, +) < tally.bound / 10)
  }

  @Test(
    "Random orders match the order in memory: nulls first, equal values by key; computed values match too"
  )
  func orders() async throws {
    let seed = PrintedSeed(for: "query orders")
    var random = seed
    var generator = QueryGenerator(seed)
    var tally = Tally()
    var findings = 0
    let count = QueryChance.count(150)
    for _ in 0..<(count / 150 + 1) {
      let dataSet = QueryDataSet.random(&random)
      let rig = try await QueryRig(dataSet)
      for _ in 0..<min(count, 150) where findings < 12 {
        let computes = generator.chance(40)
        let terms = (0..<(1 + generator.below(3))).map { _ in
          (generator.value(.product), generator.chance(50) ? "%20desc" : "")
        }
        let names = terms.indices.map { "Made\($0)" }
        let text = zip(terms, names).map { "\($0.0) as \($1)" }.joined(separator: ",")
        let order = computes ? zip(names, terms).map { $0 + $1.1 } : terms.map { $0.0 + $0.1 }
        let url =
          "Products?" + (computes ? "$compute=\(text)&$select=ID,\(names.joined(separator: ","))&" : "")
          + "$orderby=" + order.joined(separator: ",")
        let bound: ODataBoundURL
        do { bound = try QueryModel.bind(url) } catch {
          tally.unbound[String("\(error)".prefix(90)), default: 0] += 1
          continue
        }
        let expressions = computes ? bound.options.compute.map(\.expression) : bound.options.orderBy.map(\.expression)
        let values: [(id: Int64, values: [ODataValue])]
        do {
          values = try dataSet.all("Products").map { entity in
            (entity.id, try expressions.map { try Self.value($0, entity, dataSet) })
          }
        } catch {
          tally.failing += 1
          continue
        }
        tally.bound += 1
        let expected = values.sorted { one, other in
          for (place, item) in bound.options.orderBy.enumerated() {
            let order = QueryEvaluator.rank(one.values[place], other.values[place])
            if order != 0 { return item.isDescending ? order > 0 : order < 0 }
          }
          return one.id < other.id
        }
        do {
          let result = try await rig.result(url)
          let isRight = result.rows.compactMap(\.id) == expected.map(\.id)
          let isSame =
            !computes
            || zip(result.rows, expected).allSatisfy { row, wanted in
              zip(names, wanted.values).allSatisfy { Self.isSame(row.values[$0] ?? .null, $1) }
            }
          if !isRight || !isSame {
            findings += 1
            let wrong = zip(result.rows, expected).first { row, wanted in
              row.id != wanted.id
                || computes && !zip(names, wanted.values).allSatisfy { Self.isSame(row.values[$0] ?? .null, $1) }
            }
            Issue.record("\(url)\n\(isRight) \(isSame)\n\(wrong.map { "\($0)" } ?? "")\n\(try rig.plan(url).sql)")
          }
        } catch OfflineODataError.notSupported(_, let message) {
          tally.rejected[message, default: 0] += 1
        } catch {
          findings += 1
          Issue.record("\(url): \(error)")
        }
      }
    }
    tally.print("query orders", seed.seed)
    #expect(tally.bound > count * 6 / 10)
  }

  @Test("Results with nested options match those in memory, and pages of any size add up to the whole")
  func shapes() async throws {
    let seed = PrintedSeed(for: "query shapes")
    var random = seed
    var generator = QueryGenerator(seed)
    var tally = Tally()
    var findings = 0
    let count = QueryChance.count(150)
    for _ in 0..<(count / 100 + 1) {
      let dataSet = QueryDataSet.random(&random, products: 25)
      let rig = try await QueryRig(dataSet)
      for _ in 0..<min(count, 100) where findings < 12 {
        let source = generator.pick(Self.sources)
        generator.outermost = source.place
        let options = generator.options(source.place, depth: 1 + generator.below(3))
        let url = source.url + (options.isEmpty ? "" : "?" + options.joined(separator: "&"))
        let bound: ODataBoundURL
        do { bound = try QueryModel.bind(url) } catch {
          tally.unbound[String("\(error)".prefix(90)), default: 0] += 1
          continue
        }
        guard let any = dataSet.entities.first else { continue }
        let reference = QueryEvaluator(dataSet: dataSet, entity: any)
        let expected: String
        let rows: [Int64]
        do {
          let entities = try Self.entities(source.url, dataSet)
          expected = try reference.describe(bound.options, entities)
          rows = try reference.rows(bound.options, of: entities).map(\.id)
        } catch {
          tally.failing += 1
          continue
        }
        tally.bound += 1
        tally.rows += rows.count
        do {
          let result = try await rig.result(url)
          if result.description != expected {
            findings += 1
            Issue.record("\(url)\nis  \(result)\nnot \(expected)\n\(try rig.plan(url).sql)")
          }
          // The next page's URL has no `$skip`.
          guard bound.options.skip == nil else { continue }
          let pages = try await rig.pages(url, size: 1 + generator.below(5))
          if Array(pages.joined()) != rows {
            findings += 1
            Issue.record("\(url)\npages \(pages)\nnot   \(rows)")
          }
        } catch OfflineODataError.notSupported(_, let message) {
          tally.rejected[message, default: 0] += 1
        } catch {
          findings += 1
          Issue.record("\(url): \(error)")
        }
      }
    }
    tally.print("query shapes", seed.seed)
    #expect(tally.bound > count * 7 / 10)
  }

  private static func value(
    _ expression: ODataBoundExpression, _ entity: QueryEntity, _ dataSet: QueryDataSet
  ) throws -> ODataValue {
    if case .value(let value) = try QueryEvaluator(dataSet: dataSet, entity: entity).item(expression) { return value }
    return .null
  }

  /// Whether a cell is a value.
  private static func isSame(_ cell: SQLValue, _ value: ODataValue) -> Bool {
    switch (cell, value) {
    case (.null, .null): return true
    case (.integer(let number), .boolean(let flag)): return number == (flag ? 1 : 0)
    case (.text("NaN"), .double(let number)): return number.isNaN
    case (.text("NaN"), .single(let number)): return number.isNaN
    case (.text(let text), .string(let wanted)): return text.utf8.elementsEqual(wanted.utf8)
    case (.text(let text), _):
      if let number = QueryEvaluator.decimal(value) { return ODataDecimal(text) == number }
      if case .dateTimeOffset(let point) = value {
        return ODataDateTimeOffset(text).map { $0.isIdentical(to: point) } ?? false
      }
      if case .duration(let duration) = value { return ODataDuration(text) == duration }
      if case .timeOfDay(let time) = value { return ODataTimeOfDay(text) == time }
      return (try? value.text()) == text
    case (.integer(let number), _):
      if case .double(let double) = value { return Double(number) == double }
      return QueryEvaluator.decimal(value) == ODataDecimal(number)
    case (.real(let number), _): return QueryEvaluator.double(value) == number
    default: return false
    }
  }
}
