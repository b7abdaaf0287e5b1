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
    for _ in 0..<4 {
      let world = QueryWorld.random(&random)
      let rig = try await QueryRig(world)
      for _ in 0..<250 {
        let filter = generator.filter()
        let url = "Products?$filter=" + filter.replacing("%25'", with: "%25'")
        guard let bound = try? QueryModel.bind(url), let condition = bound.options.filter else { continue }
        count += 1
        let expected = world.all("Products").filter { entity in
          QueryMemory(world: world, entity: entity).test(condition) == true
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
}
