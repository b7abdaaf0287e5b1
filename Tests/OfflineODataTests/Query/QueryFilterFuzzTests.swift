import OData
import TestSupport
import Testing

@testable import OfflineOData

@Suite("Filters by chance, in SQL and in memory", .timeLimit(.minutes(1)))
struct QueryFilterFuzzTests {
  @Test("What SQL finds is what the standard's logic finds in memory")
  func filters() async throws {
    let seed = PrintedSeed(for: "query filters")
    var random = seed
    var generator = QueryGenerator(seed)
    var count = 0
    var found = 0
    for _ in 0..<3 {
      let world = QueryWorld.random(&random, products: 45)
      let rig = try await QueryRig(world)
      for _ in 0..<200 {
        let filter = generator.filter()
        let url = "Products?$filter=" + filter.replacing("%25'", with: "%25'")
        guard let bound = try? QueryModel.bind(url), let condition = bound.options.filter else { continue }
        count += 1
        let expected = world.all("Products").filter { entity in
          QueryWorldAnswers(world: world, entity: entity).test(condition) == true
        }
        .map(\.id)
        found += expected.count
        let ids: [Int64]
        do { ids = try await rig.ids(url) } catch {
          Issue.record("\(filter): \(error)")
          continue
        }
        if ids != expected {
          let plan = try rig.plan(url)
          let missing = expected.filter { !ids.contains($0) }
          let wrong = ids.filter { !expected.contains($0) }
          Issue.record("\(filter)\nmissing \(missing), wrong \(wrong)\n\(plan.sql)\n\(plan.parameters)")
        }
      }
    }
    print("query filters: \(count) bound, \(found) rows found")
    #expect(count > 500)
    #expect(found > 1000)
  }

  @Test("Orders by chance are those of values in memory: nulls first, equal ones by key")
  func orders() async throws {
    var random = PrintedSeed(for: "query orders")
    let terms = [
      "Name", "Price", "Rating", "Category/Name", "Home/City", "Friends/$count", "Made", "Day", "Life", "Code",
      "Active",
      "Weight", "Stock", "Color", "Shop.Special/Discount", "Category/Parent/ID", "length(Name)", "Big",
    ]
    let world = QueryWorld.random(&random)
    let rig = try await QueryRig(world)
    for _ in 0..<150 {
      let chosen = (0..<Int.random(in: 1...3, using: &random)).map { _ in
        terms[Int.random(in: 0..<terms.count, using: &random)] + (Bool.random(using: &random) ? "%20desc" : "")
      }
      let url = "Products?$orderby=" + chosen.joined(separator: ",")
      let items = try QueryModel.bind(url).options.orderBy
      let expected = world.all("Products").sorted { one, other in
        for item in items {
          let order = compare(item.expression, one, other, world)
          if order != 0 { return item.isDescending ? order > 0 : order < 0 }
        }
        return one.id < other.id
      }
      .map(\.id)
      #expect(try await rig.ids(url) == expected, "\(url)")
    }
  }

  private func compare(
    _ expression: ODataBoundExpression, _ one: QueryEntity, _ other: QueryEntity, _ world: QueryWorld
  ) -> Int {
    func value(_ entity: QueryEntity) -> ODataValue {
      if case .value(let value) = QueryWorldAnswers(world: world, entity: entity).item(expression) {
        value
      } else {
        .null
      }
    }
    let (left, right) = (value(one), value(other))
    if left == .null || right == .null { return (left == .null ? 0 : 1) - (right == .null ? 0 : 1) }
    return QueryWorldAnswers.order(left, right) ?? 0
  }
}
